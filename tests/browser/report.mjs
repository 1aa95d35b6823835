// Opens synthetic reports in a real browser without a network and checks what only a browser can:
// no console error, marks are drawn, tooltips and toggles work, themes, widths, names, contrast.
// Usage: node report.mjs DIR_OF_PAGES [DIR_OF_SCREENSHOTS]
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import path from 'node:path';

const [pages, shots] = process.argv.slice(2);
const faults = [];
let checks = 0;
const check = (fine, words) => {
  checks += 1;
  if (!fine) faults.push(words);
};
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});

const open = async (file, options) => {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) faults.push(`${file}: console: ${m.text()}`); });
  page.on('pageerror', (e) => faults.push(`${file}: ${e.message}`));
  page.on('dialog', (d) => { faults.push(`${file}: a dialog opened: ${d.message()}`); d.dismiss(); });
  await page.route('**/*', (route) => {
    const url = route.request().url();
    if (url.startsWith('file:') || url.startsWith('blob:')) return route.continue();
    faults.push(`${file}: asked for ${url}`);
    return route.abort();
  });
  await page.goto(`file://${path.resolve(pages, file)}`);
  return page;
};

// Contrast of text with its nearest opaque ground, WCAG 2.2.
const contrast = () => {
  const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }).reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll('p,li,td,th,dt,dd,summary,button,h1,h2,h3,code,svg text')) {
    if (!e.textContent.trim() || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const svg = e.namespaceURI.endsWith('svg');
    if (svg && /^t\d+$/.test(e.getAttribute('class') || '')) continue; // on heat cells: tested in Rust
    const seen = ratio(rgb(svg ? style.fill : style.color), ground(e));
    if (seen < 4.5) bad.push(`${e.tagName} ${e.textContent.slice(0, 30)}: ${seen.toFixed(2)}`);
  }
  return bad;
};

const files = fs.readdirSync(pages).filter((f) => f.endsWith('.html')).sort();
check(files.length > 10, `only ${files.length} pages in ${pages}`);
for (const file of files) {
  for (const [width, colorScheme] of [[390, 'dark'], [1600, 'light']]) {
    const started = Date.now();
    const page = await open(file, { viewport: { width, height: 900 }, colorScheme });
    await page.waitForSelector('html[data-ready]', { timeout: 5000 }).catch(() => faults.push(`${file}: the script did not finish`));
    const ready = Date.now() - started;
    if (file === 'many.html') console.log(`${file} at ${width}: interactive after ${ready} ms`);
    await page.waitForSelector('html[data-done]', { timeout: 15000 }).catch(() => faults.push(`${file}: charts were not finished`));
    const at = `${file} at ${width} ${colorScheme}`;
    const spill = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(spill <= 0, `${at}: ${spill} px too wide`);
    const figures = await page.$$eval('figure', (all) => all.map((figure) => {
      const svg = [...figure.querySelectorAll('svg.chart')].find((s) => s.getClientRects().length);
      const title = svg && document.getElementById(svg.getAttribute('aria-labelledby').split(' ')[0]);
      const texts = svg ? [...svg.querySelectorAll('text')] : [];
      const box = svg && svg.getBoundingClientRect();
      const out = texts.filter((t) => {
        const b = t.getBoundingClientRect();
        return b.left < box.left - 1 || b.right > box.right + 1;
      }).map((t) => t.textContent);
      return { id: figure.id, marks: svg ? svg.querySelectorAll('.m').length : 0, name: title ? title.textContent : '',
        unnamed: svg ? [...svg.querySelectorAll('.m')].filter((m) => !m.getAttribute('aria-label')).length : 0, out };
    }));
    for (const f of figures) {
      check(f.marks > 0, `${at}: ${f.id} draws nothing`);
      check(f.name.length > 5, `${at}: ${f.id} has no accessible name`);
      check(f.unnamed === 0, `${at}: ${f.id}: ${f.unnamed} marks without a name`);
      check(f.out.length === 0, `${at}: ${f.id}: text leaves the picture: ${f.out.slice(0, 3).join(' | ')}`);
    }
    check(figures.length > 0, `${at}: no figure`);
    const pale = file === 'many.html' ? [] : await page.evaluate(contrast);
    check(pale.length === 0, `${at}: contrast: ${pale.slice(0, 3).join(' | ')}`);
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check((dark === 'rgb(20, 23, 28)') === (colorScheme === 'dark'), `${at}: background ${dark}`);
    if (shots) {
      fs.mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: path.join(shots, `${file.replace('.html', '')}-${width}.png`), fullPage: file !== 'many.html' });
    }
    await page.context().close();
  }
}

// What a person does, on one page.
const page = await open('blocks.html', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
await page.waitForSelector('html[data-done]');
const first = page.locator('figure#time-by-block .wide svg .m').first();
await first.hover();
const tip = page.locator('#tip');
check(await tip.isVisible(), 'no tooltip under the pointer');
check((await tip.textContent()).includes('rounds'), `tooltip says ${await tip.textContent()}`);
await page.mouse.move(2, 2);
check(!(await tip.isVisible()), 'the tooltip stays');
await first.focus();
const before = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
await page.keyboard.press('ArrowRight');
const after = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
check(before && after && before !== after, 'arrow keys do not walk the marks');
check(await tip.isVisible(), 'no tooltip on focus');
await page.keyboard.press('Escape');
check(!(await tip.isVisible()), 'Escape does not close the tooltip');

const visible = () => page.locator('figure#time-by-block .wide svg .s:not(.off)').count();
const shown = await visible();
const key = page.locator('figure#time-by-block .wide svg .key').first();
await key.click();
check((await visible()) < shown, 'the legend hides nothing');
check((await key.getAttribute('aria-pressed')) === 'false', 'the legend does not say that it is off');
await key.focus();
await page.keyboard.press('Enter');
check((await visible()) === shown, 'the legend does not bring a series back');

await page.locator('figure#time-by-block summary').click();
const table = page.locator('figure#time-by-block table');
const column = await table.locator('thead th').evaluateAll((heads) => heads.findIndex((h) => h.textContent === 'time of a pass'));
const times = () => table.locator(`tbody tr td:nth-child(${column + 1})`).evaluateAll((cells) => cells.map((c) => Number(c.dataset.v)));
await table.locator('thead th button').nth(column).click();
const up = await times();
check(up.every((v, i) => i === 0 || v >= up[i - 1]), `not sorted: ${up}`);
await table.locator('thead th button').nth(column).click();
const down = await times();
check(down[0] === Math.max(...up), 'a second click does not turn the order');

const theme = page.locator('#theme');
await theme.click();
await theme.click();
const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
check(colour === 'rgb(20, 23, 28)', `dark on demand: ${colour}`);

const download = async (selector) => {
  const [file] = await Promise.all([page.waitForEvent('download'), page.locator(selector).click()]);
  return [file.suggestedFilename(), fs.readFileSync(await file.path(), 'utf8')];
};
const [csvName, csv] = await download('figure#time-by-block button[data-do=csv]');
check(csvName === 'time-by-block.csv' && csv.split('\r\n').length === 20, `${csvName}: ${csv.split('\r\n').length} lines`);
const [, svg] = await download('figure#time-by-block button[data-do=svg]');
check(svg.startsWith('<svg') && svg.includes('<style>') && svg.includes('<title>') && svg.includes('prefers-color-scheme'), 'the SVG does not stand alone');
const [, samples] = await download('button[data-do=samples]');
check(samples.split('\r\n').length === 18 * 27 + 2, `${samples.split('\r\n').length} lines of samples`);
await page.context().close();

// The charts with more than one kind of mark.
const calls = await open('costs.html', { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' });
await calls.waitForSelector('html[data-done]');
const cost = calls.locator('figure#cost-by-file-size .wide svg');
check((await cost.locator('.ideal .b').count()) >= 2, 'no fitted line with its band');
check((await cost.locator('.k0 .m.f').count()) > 20 && (await cost.locator('.k0 .m.ho').count()) === 0, 'the first touch is not filled');
check((await cost.locator('.k1 .m.ho').count()) > 20 && (await cost.locator('.k1 .m.f').count()) === 0, 'later touches are not hollow');
await cost.locator('.k0 .m.faint').first().focus();
check((await calls.locator('#tip').textContent()).includes('a call'), 'a round does not say what it cost');
const later = cost.locator('.key').nth(1);
const drawn = () => cost.locator('.s.k1:not(.off)').count();
const all = await drawn();
await later.click();
check(all >= 8 && (await drawn()) === 0, `the legend leaves ${await drawn()} of ${all} layers of later touches`);
await calls.context().close();

const singles = await open('latencies.html', { viewport: { width: 1280, height: 900 } });
await singles.waitForSelector('html[data-done]');
const ladder = singles.locator('figure#single-operations .wide svg');
check((await ladder.locator('.s > .n').count()) === 3, 'not a line a method');
await ladder.locator('.m.ho').first().focus();
check((await singles.locator('#tip').textContent()).includes('the longest'), 'the longest is not named');
await singles.context().close();

const many = await open('files.html', { viewport: { width: 1280, height: 900 } });
check((await many.locator('figure#system-calls').count()) === 0, 'files are drawn as system calls');
check((await many.locator('figure#throughput-by-threads .wide svg').textContent()).includes('processor time a file'), 'no processor time a file');
await many.context().close();

// The downloaded SVG draws by itself.
const alone = path.join(fs.mkdtempSync('/tmp/iolab-svg-'), 'chart.svg');
fs.writeFileSync(alone, svg);
const picture = await browser.newPage();
await picture.goto(`file://${alone}`);
check(await picture.evaluate(() => document.querySelectorAll('.m').length > 10), 'the downloaded SVG is empty');
fs.rmSync(path.dirname(alone), { recursive: true });

// Without a script everything is still there.
const plain = await open('blocks.html', { javaScriptEnabled: false, viewport: { width: 1280, height: 900 } });
check(await plain.locator('figure svg').first().isVisible(), 'no picture without a script');
check(!(await plain.locator('#theme').isVisible()), 'a dead button without a script');

await browser.close();
console.log(`${checks} checks on ${files.length} pages, ${faults.length} faults`);
for (const fault of faults.slice(0, 60)) console.error(`FAULT ${fault}`);
process.exit(faults.length ? 1 : 0);
