// Makes the static report interactive; everything is readable without it.
(() => {
  'use strict';
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const make = (name, props) => Object.assign(document.createElement(name), props);
  const data = (() => {
    try { return JSON.parse(document.getElementById('data').textContent); } catch { return {}; }
  })();

  // Light, dark, or as the machine says.
  const themes = ['auto', 'light', 'dark'];
  const themeButton = document.getElementById('theme');
  const setTheme = (name) => {
    if (name === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    themeButton.textContent = `Theme: ${name}`;
    themeButton.dataset.now = name;
    try { localStorage.setItem('iolab-theme', name); } catch { /* a file may have no storage */ }
  };
  let saved = 'auto';
  try { saved = localStorage.getItem('iolab-theme') || 'auto'; } catch { /* as above */ }
  setTheme(themes.includes(saved) ? saved : 'auto');
  themeButton.addEventListener('click', () => {
    setTheme(themes[(themes.indexOf(themeButton.dataset.now) + 1) % themes.length]);
  });
  all('.nojs').forEach((e) => e.classList.remove('nojs'));

  // Tooltips: each mark's <title> becomes its label; pointer and keyboard show it.
  const tip = make('div', { id: 'tip', hidden: true });
  tip.setAttribute('role', 'tooltip');
  document.body.append(tip);
  const show = (mark) => {
    const box = mark.getBoundingClientRect();
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    const x = Math.min(Math.max(4, box.x + box.width / 2 - size.width / 2), innerWidth - size.width - 4);
    const above = box.y - size.height - 8;
    tip.style.left = `${x}px`;
    tip.style.top = `${above > 4 ? above : Math.min(box.bottom + 8, innerHeight - size.height - 4)}px`;
  };
  let hot = null;
  const heat = (mark) => {
    if (hot === mark) return;
    if (hot) hot.classList.remove('hot');
    hot = mark;
    if (mark) { mark.classList.add('hot'); show(mark); } else tip.hidden = true;
  };
  const middle = (mark) => {
    const b = mark.getBoundingClientRect();
    return [b.x + b.width / 2, b.y + b.height / 2];
  };
  const seen = (mark) => !mark.closest('.off') && mark.getClientRects().length > 0;

  const enhance = (svg) => {
    const marks = all('.m', svg);
    marks.forEach((mark, at) => {
      const title = mark.querySelector(':scope > title');
      mark.dataset.tip = title ? title.textContent : '';
      if (title) title.remove();
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', mark.dataset.tip.replace(/\n/g, ', '));
      mark.setAttribute('tabindex', at ? '-1' : '0');
    });
    svg.setAttribute('role', 'group');
    svg.addEventListener('pointermove', (event) => {
      const under = event.target.closest('.m');
      if (under) return heat(under);
      let best = null;
      let least = 22;
      for (const mark of marks) {
        if (!seen(mark)) continue;
        const [x, y] = middle(mark);
        const away = Math.hypot(x - event.clientX, y - event.clientY);
        if (away < least) [best, least] = [mark, away];
      }
      heat(best);
    });
    svg.addEventListener('pointerleave', () => heat(null));
    svg.addEventListener('focusin', (event) => {
      const mark = event.target.closest('.m');
      if (mark) show(mark);
    });
    svg.addEventListener('focusout', () => { tip.hidden = true; });
    // One stop for the Tab key; arrows walk the marks.
    svg.addEventListener('keydown', (event) => {
      const now = event.target.closest('.m');
      if (event.key === 'Escape') { tip.hidden = true; return; }
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!now || !step) return;
      event.preventDefault();
      const open = marks.filter(seen);
      const next = open[(open.indexOf(now) + step + open.length) % open.length];
      if (!next) return;
      now.setAttribute('tabindex', '-1');
      next.setAttribute('tabindex', '0');
      next.focus();
    });
  };
  // One chart at a time, those in sight first: a page of many charts answers at once.
  const waiting = all('svg.chart').sort((a, b) => b.getClientRects().length - a.getClientRects().length);
  const next = () => {
    const svg = waiting.shift();
    if (!svg) { document.documentElement.dataset.done = 'yes'; return; }
    enhance(svg);
    setTimeout(next);
  };

  // The legend shows and hides series, in both layouts of a chart.
  all('figure').forEach((figure) => {
    const keys = all('.key[data-k]', figure);
    const toggle = (k) => {
      const off = !keys.find((key) => key.dataset.k === k).classList.contains('dim');
      keys.filter((key) => key.dataset.k === k).forEach((key) => {
        key.classList.toggle('dim', off);
        key.setAttribute('aria-pressed', String(!off));
      });
      all(`.s[data-k="${k}"]`, figure).forEach((s) => s.classList.toggle('off', off));
    };
    keys.forEach((key) => {
      const title = key.querySelector('title');
      key.setAttribute('role', 'button');
      key.setAttribute('tabindex', '0');
      key.setAttribute('aria-pressed', 'true');
      key.setAttribute('aria-label', `Show ${title ? title.textContent : ''}`);
      key.addEventListener('click', () => toggle(key.dataset.k));
      key.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        toggle(key.dataset.k);
      });
    });
  });

  // Tables sort by a click on their heads.
  const value = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.textContent === '' ? null : cell.textContent;
  };
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b));
  };
  all('table.sort').forEach((table) => {
    const heads = all('thead th', table);
    heads.forEach((head, column) => {
      const button = make('button', { type: 'button', textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const up = head.getAttribute('aria-sort') !== 'ascending';
        heads.forEach((h) => h.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const body = table.tBodies[0];
        const rows = Array.from(body.rows).map((row) => [value(row.cells[column]), row]);
        rows.sort((a, b) => compare(a[0], b[0]) * (up ? 1 : -1));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
  });

  // Downloads, made here: the page asks nothing of anyone.
  const save = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = make('a', { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  const field = (raw) => {
    let text = raw === undefined || raw === null ? '' : String(raw);
    // A name that a spreadsheet would run as a formula stays a name.
    if (typeof raw === 'string' && /^[=+@\t-]/.test(text) && !Number.isFinite(Number(text))) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const csv = (rows) => `${rows.map((row) => row.map(field).join(',')).join('\r\n')}\r\n`;
  const tableOf = (figure) => {
    const same = figure.querySelector('[data-table]');
    return (same ? document.getElementById(same.dataset.table) : figure).querySelector('table');
  };
  const actions = {
    csv(figure) {
      const rows = all('tr', tableOf(figure)).map((row) =>
        Array.from(row.cells).map((cell) => (cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v))));
      save(`${figure.id}.csv`, 'text/csv', csv(rows));
    },
    svg(figure) {
      const copy = figure.querySelector('.wide svg').cloneNode(true);
      copy.setAttribute('role', 'img');
      all('.m', copy).forEach((mark) => {
        const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
        title.textContent = mark.dataset.tip;
        mark.prepend(title);
        ['tabindex', 'role', 'aria-label', 'data-tip'].forEach((name) => mark.removeAttribute(name));
      });
      all('.off', copy).forEach((gone) => gone.remove());
      const style = document.createElementNS('http://www.w3.org/2000/svg', 'style');
      style.textContent = data.svg_style;
      copy.insertBefore(style, copy.children[2] || null);
      save(`${figure.id}.svg`, 'image/svg+xml', new XMLSerializer().serializeToString(copy));
    },
    samples() {
      const rows = [['run', 'cell', ...data.columns]];
      const pick = (run, list, at) => {
        if (Array.isArray(list)) return list[at];
        return 'all' in list ? list.all : run.shared[list.shared][at];
      };
      for (const run of data.runs) {
        for (const cell of run.cells) {
          for (let at = 0; at < (cell.n || 0); at += 1) {
            rows.push([run.id, cell.id, ...cell.samples.map((list) => pick(run, list, at))]);
          }
        }
      }
      save('samples.csv', 'text/csv', csv(rows));
    },
    json() {
      const { svg_style: _style, ...rest } = data;
      save('report.json', 'application/json', JSON.stringify(rest, null, 1));
    },
    copy(_, button) {
      const text = document.getElementById('command').textContent;
      const done = () => { button.textContent = 'Copied'; };
      const fallback = () => {
        getSelection().selectAllChildren(document.getElementById('command'));
        button.textContent = 'Selected: press Ctrl+C';
      };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, fallback);
      else fallback();
    },
  };
  all('button[data-do]').forEach((button) => {
    button.addEventListener('click', () => actions[button.dataset.do](button.closest('figure'), button));
  });
  next();
  document.documentElement.dataset.ready = 'yes';
})();
