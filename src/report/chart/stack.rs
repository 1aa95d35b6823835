//! Where the time goes: user, system and waiting, stacked from 0, outlined by the wall time.

use super::block::subtitle;
use super::cells::{Index, Source, Split};
use super::estimate::{Estimated, level_datum, missing_reason, time_interval};
use super::model::{Bar, Chart, Datum, Ink, Key, Layer, MOST_PANELS, Panel, Table};
use super::scale::{Axis, tick_time};
use super::words::{clean, short};
use crate::catalog::{Factor, percent_text, time_text};

/// Most bars of a panel; the slowest are left out.
const MOST_BARS: usize = 20;
/// Cells whose times are within this factor share an axis; a longer bar would hide the others.
const KEYS: [(&str, Ink); 3] =
    [("user", Ink::Series(0)), ("system", Ink::Series(1)), ("waiting", Ink::Muted)];

struct Split3 {
    user: f64,
    system: f64,
    waiting: f64,
    wall: f64,
}

/// The chart, where cells have processor times.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    let measured = index.cells.iter().filter(|s| parts(s).is_some()).count();
    if measured == 0 {
        return None;
    }
    let ask = &document.experiment.ask;
    let by: Vec<Split> =
        index.varying(&index.cells, ask).into_iter().filter(|_| !ask.is_empty()).collect();
    let mut groups: Vec<(Vec<super::cells::Part>, Vec<Source<'_>>)> = Vec::new();
    for source in &index.cells {
        let key: Vec<_> = by.iter().map(|split| index.part(*split, source)).collect();
        match groups.iter().position(|(known, _)| *known == key) {
            Some(at) => groups[at].1.push(*source),
            None => groups.push((key, vec![*source])),
        }
    }
    let mut hidden = 0;
    let panels = groups.into_iter().take(MOST_PANELS).filter_map(|(_, cells)| {
        let words: Vec<String> =
            by.iter().filter_map(|s| Some(index.split_text(*s, cells.first()?, true))).collect();
        hidden += cells.len().saturating_sub(MOST_BARS);
        panel(index, words.join(" · "), cells)
    });
    let panels: Vec<Panel> = panels.collect();
    let guide = vec![
        "Outline and whisker: wall time with its interval. A tick instead of an outline: several threads, more processor time than wall time".to_owned(),
    ];
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("{hidden} slower cells are in the table only"));
    }
    Some(Chart {
        slug: "where-time-goes".to_owned(),
        rows: Vec::new(),
        title: title(index),
        subtitle: subtitle(index, &[]),
        panels,
        keys: KEYS.map(|(name, ink)| Key { name: name.to_owned(), ink }).to_vec(),
        notes,
        guide,
        table: table(index),
    })
}

fn parts(source: &Source<'_>) -> Option<Split3> {
    let estimate = source.cell.estimate.as_ref()?;
    let (wall, user, system) =
        (estimate.wall_ns.median, estimate.user_ns.median, estimate.system_ns.median);
    let good = wall.is_finite() && user.is_finite() && system.is_finite() && wall > 0.0;
    let waiting = (wall - user - system).max(0.0);
    (good && user + system > 0.0).then_some(Split3 { user, system, waiting, wall })
}

fn panel<'a>(index: &Index<'a>, title: String, mut cells: Vec<Source<'a>>) -> Option<Panel> {
    let varying = index.varying(&cells, &[]);
    let time = |s: &Source<'_>| parts(s).map_or(f64::INFINITY, |p| p.wall);
    cells.sort_by(|a, b| time(a).total_cmp(&time(b)));
    cells.truncate(MOST_BARS);
    cells.iter().find(|s| parts(s).is_some())?;
    let names = cells.iter().map(|s| short(&index.name(s, &varying))).collect();
    let bars: Vec<Bar> = cells.iter().enumerate().map(|(row, s)| bar(row, s)).collect();
    let ends = bars.iter().filter(|b| !b.missing).flat_map(|b| {
        [b.total, b.high.unwrap_or(b.total), b.parts.iter().map(|(_, length)| length).sum()]
    });
    let x = Axis::from_zero("time of one pass", ends, tick_time);
    Some(Panel { title, x, y: Axis::category("", names), layers: vec![Layer::Bars(bars)] })
}

fn bar(row: usize, source: &Source<'_>) -> Bar {
    let value = Estimated::Pass.of_cell(source.cell);
    let (Some(p), Some(value)) = (parts(source), value) else {
        return Bar {
            row,
            parts: Vec::new(),
            total: 0.0,
            low: None,
            high: None,
            missing: true,
            tip: missing_reason(source),
        };
    };
    let share = |part: f64| percent_text(part / p.wall);
    let tip = format!(
        "{}\nwall {}\nuser {} ({})\nsystem {} ({})\nwaiting {} ({})",
        clean(&source.cell.id),
        time_interval(value),
        time_text(p.user),
        share(p.user),
        time_text(p.system),
        share(p.system),
        time_text(p.waiting),
        share(p.waiting)
    );
    let parts = vec![(0, p.user), (1, p.system), (2, p.waiting)];
    Bar { row, parts, total: p.wall, low: value.low, high: value.high, missing: false, tip }
}

/// The largest share, over all cells by the median of shares.
fn title(index: &Index<'_>) -> String {
    let shares = |part: fn(&Split3) -> f64| {
        let mut all: Vec<f64> =
            // Processor time is counted in ticks and may come out above the wall time.
            index.cells.iter().filter_map(parts).map(|p| (part(&p) / p.wall).min(1.0)).collect();
        all.sort_by(f64::total_cmp);
        (all.first().copied(), all.get(all.len() / 2).copied().unwrap_or(0.0), all.last().copied())
    };
    let user = shares(|p| p.user);
    let system = shares(|p| p.system);
    let waiting = shares(|p| p.waiting);
    let all = [("the program itself", user), ("the kernel", system), ("waiting", waiting)];
    let (name, (low, _, high)) =
        all.into_iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1)).unwrap_or(("waiting", waiting));
    // Beyond the wall time a share of it means nothing.
    let several = index.cells.iter().filter_map(parts).any(|p| p.user + p.system > p.wall * 1.1);
    let span = match (low, high) {
        _ if several => String::new(),
        (Some(low), Some(high)) if (high - low) > 0.03 => {
            format!(": {:.0}–{:.0} %", low * 100.0, high * 100.0)
        }
        (_, Some(high)) => format!(": {:.0} %", high * 100.0),
        _ => String::new(),
    };
    match name {
        "waiting" => format!("Most of the time is waiting{span}"),
        name => format!("Most of the time goes to {name}{span}"),
    }
}

fn table(index: &Index<'_>) -> Table {
    let varying = index.varying(&index.cells, &[]);
    let mut columns: Vec<String> = varying
        .iter()
        .map(|split| match split {
            Split::Run => "run".to_owned(),
            Split::Factor(factor) => Factor::name(*factor).to_owned(),
        })
        .collect();
    if columns.is_empty() {
        columns.push("cell".to_owned());
    }
    columns.extend(["wall", "user", "system", "waiting"].map(str::to_owned));
    let rows = index.cells.iter().take(2000).map(|source| {
        let mut row: Vec<Datum> = varying.iter().map(|v| level_datum(index, *v, source)).collect();
        if row.is_empty() {
            row.push(Datum::text(clean(&source.cell.id)));
        }
        let figures =
            parts(source).map_or([f64::NAN; 4], |p| [p.wall, p.user, p.system, p.waiting]);
        row.extend(figures.map(|ns| Datum::number(ns, time_text(ns))));
        row
    });
    Table { columns, rows: rows.collect() }
}
