//! Where the time goes: user, system and waiting, stacked from 0, outlined by the wall time. Short
//! trials have one part for user and system, which the kernel cannot tell apart in them.

use super::block::subtitle;
use crate::drawing::cells::{Index, Source, Split};
use crate::drawing::estimate::{Estimated, level_datum, missing_reason, time_interval};
use crate::drawing::labels::{clean, short};
use crate::drawing::model::{Bar, Chart, Datum, Key, Layer, MOST_PANELS, Panel, Table, Tint};
use crate::drawing::scale::{Axis, tick_time};
use crate::shares;
use iolab_model::catalog::{Factor, percent_text, time_text};

/// Most bars of a panel; the slowest are left out.
const MOST_BARS: usize = 20;
/// The parts in the order in which they are stacked.
const PARTS: [(&str, Tint); 4] = [
    ("user", Tint::Series(0)),
    ("system", Tint::Series(1)),
    ("processor (user or system)", Tint::Series(2)),
    ("waiting", Tint::Muted),
];
const WAITING: usize = 3;

/// Where the wall time of one pass went, in ns.
struct Spent {
    wall: f64,
    /// By place in [`PARTS`]; what cannot be told is missing.
    parts: [Option<f64>; 4],
}

impl Spent {
    fn of(source: &Source<'_>) -> Option<Spent> {
        let wall = source.cell.estimate.as_ref()?.wall_ns.median;
        let processor = wall * shares::processor(source.cell)?;
        let good = wall.is_finite() && wall > 0.0 && processor.is_finite() && processor > 0.0;
        let waiting = Some((wall - processor).max(0.0));
        let parts = match shares::user_of_processor(source.cell) {
            Some(user) => [Some(processor * user), Some(processor * (1.0 - user)), None, waiting],
            None => [None, None, Some(processor), waiting],
        };
        good.then_some(Spent { wall, parts })
    }

    /// Its parts with their places.
    fn known(&self) -> impl Iterator<Item = (usize, f64)> {
        self.parts.iter().enumerate().filter_map(|(at, ns)| Some((at, (*ns)?)))
    }

    /// User and system time, of all threads.
    fn processor(&self) -> f64 {
        self.known().filter(|(at, _)| *at != WAITING).map(|(_, ns)| ns).sum()
    }

    /// Of all its parts, which several threads make longer than the wall time.
    fn share(&self, of: f64) -> f64 {
        of / self.known().map(|(_, ns)| ns).sum::<f64>()
    }
}

/// The chart, where cells have processor times.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    let spent: Vec<Spent> = index.cells.iter().filter_map(Spent::of).collect();
    let used = |at: &usize| spent.iter().any(|s| s.parts[*at].is_some());
    let used: Vec<usize> = (0..PARTS.len()).filter(used).collect();
    if used.is_empty() {
        return None;
    }
    let ask = &document.experiment.ask;
    let by: Vec<Split> =
        index.varying(&index.cells, ask).into_iter().filter(|_| !ask.is_empty()).collect();
    let mut groups: Vec<(Vec<crate::drawing::cells::Part>, Vec<Source<'_>>)> = Vec::new();
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
        panel(index, words.join(" · "), cells, &used)
    });
    let panels: Vec<Panel> = panels.collect();
    let mut guide = vec![
        "Outline and whisker: wall time with its interval. A tick instead of an outline: several threads, more processor time than wall time".to_owned(),
    ];
    if spent.iter().any(|s| s.parts[0].is_none()) {
        guide.push("A trial is too short here to split user from system time: most kernels do so by a clock tick, every 4 ms or so".to_owned());
    }
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("{hidden} slower cells are in the table only"));
    }
    Some(Chart {
        slug: "where-time-goes".to_owned(),
        rows: Vec::new(),
        title: title(&spent),
        subtitle: subtitle(index, &[]),
        panels,
        keys: used
            .iter()
            .map(|at| Key { name: PARTS[*at].0.to_owned(), ink: PARTS[*at].1 })
            .collect(),
        notes,
        guide,
        table: table(index),
    })
}

fn panel<'a>(
    index: &Index<'a>,
    title: String,
    mut cells: Vec<Source<'a>>,
    used: &[usize],
) -> Option<Panel> {
    let varying = index.varying(&cells, &[]);
    let time = |s: &Source<'_>| Spent::of(s).map_or(f64::INFINITY, |p| p.wall);
    cells.sort_by(|a, b| time(a).total_cmp(&time(b)));
    cells.truncate(MOST_BARS);
    cells.iter().find(|s| Spent::of(s).is_some())?;
    let names = cells.iter().map(|s| short(&index.name(s, &varying))).collect();
    let bars: Vec<Bar> = cells.iter().enumerate().map(|(row, s)| bar(row, s, used)).collect();
    let ends = bars.iter().filter(|b| !b.missing).flat_map(|b| {
        [b.total, b.high.unwrap_or(b.total), b.parts.iter().map(|(_, length)| length).sum()]
    });
    let x = Axis::from_zero("time of one pass", ends, tick_time);
    Some(Panel { title, x, y: Axis::category("", names), layers: vec![Layer::Bars(bars)] })
}

fn bar(row: usize, source: &Source<'_>, used: &[usize]) -> Bar {
    let value = Estimated::Pass.of_cell(source.cell);
    let (Some(p), Some(value)) = (Spent::of(source), value) else {
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
    let lines = p.known().map(|(at, ns)| {
        format!("\n{} {} ({})", PARTS[at].0, time_text(ns), percent_text(ns / p.wall))
    });
    let tip = format!(
        "{}\nwall {}{}",
        clean(&source.cell.id),
        time_interval(value),
        lines.collect::<String>()
    );
    let key = |at: usize| used.iter().position(|known| *known == at);
    let parts = p.known().filter_map(|(at, ns)| Some((key(at)?, ns))).collect();
    Bar { row, parts, total: p.wall, low: value.low, high: value.high, missing: false, tip }
}

/// The part with the largest share, over all cells by the median of shares. It is most of the time
/// where it is half of every cell's.
fn title(spent: &[Spent]) -> String {
    let split = spent.iter().all(|s| s.parts[0].is_some());
    let shares = |part: &dyn Fn(&Spent) -> f64| {
        let mut all: Vec<f64> = spent.iter().map(|s| s.share(part(s))).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let waiting = ("waiting", shares(&|s| s.parts[WAITING].unwrap_or(0.0)));
    let all = match split {
        true => vec![
            ("the program itself", shares(&|s| s.parts[0].unwrap_or(0.0))),
            ("the kernel", shares(&|s| s.parts[1].unwrap_or(0.0))),
            waiting,
        ],
        false => vec![("the processor", shares(&Spent::processor)), waiting],
    };
    let middle = |shares: &[f64]| shares.get(shares.len() / 2).copied().unwrap_or(0.0);
    let most = all.into_iter().max_by(|a, b| middle(&a.1).total_cmp(&middle(&b.1)));
    let ends = most.and_then(|(name, all)| Some((name, *all.first()?, *all.last()?)));
    let Some((name, low, high)) = ends else { return "Where the time goes".to_owned() };
    let span = match high - low > 0.03 {
        true => format!("{:.0}–{:.0} %", low * 100.0, high * 100.0),
        false => format!("{:.0} %", high * 100.0),
    };
    // Beyond the wall time a share of it means nothing.
    let several = spent.iter().any(|s| s.processor() > s.wall * 1.1);
    match (low >= 0.5, several, name) {
        (true, true, "waiting") => "Most of the time is waiting".to_owned(),
        (true, true, name) => format!("Most of the time goes to {name}"),
        (true, false, "waiting") => format!("Most of the time is waiting: {span}"),
        (true, false, name) => format!("Most of the time goes to {name}: {span}"),
        (false, true, _) => "Where the time goes differs between the cells".to_owned(),
        (false, false, "waiting") => format!("Waiting takes {span} of the time"),
        (false, false, name) => format!("{span} of the time goes to {name}"),
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
    columns.extend(["wall", "user", "system", "processor", "waiting"].map(str::to_owned));
    let rows = index.cells.iter().take(2000).map(|source| {
        let mut row: Vec<Datum> = varying.iter().map(|v| level_datum(index, *v, source)).collect();
        if row.is_empty() {
            row.push(Datum::text(clean(&source.cell.id)));
        }
        let time =
            |ns: Option<f64>| ns.map_or(Datum::default(), |ns| Datum::number(ns, time_text(ns)));
        let spent = Spent::of(source);
        let part = |at: usize| time(spent.as_ref().and_then(|s| s.parts[at]));
        let processor = time(spent.as_ref().map(Spent::processor));
        row.extend([
            time(spent.as_ref().map(|s| s.wall)),
            part(0),
            part(1),
            processor,
            part(WAITING),
        ]);
        row
    });
    Table { columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::chart;
    use crate::drawing::cells::Index;
    use crate::drawing::model::{Chart, Layer};
    use iolab_model::catalog::{Factor, Level};
    use iolab_test::fakes::{document, fake, levels};

    /// Cells with a wall time and their shares of user and system time.
    fn of(cells: &[(&str, f64, (f64, f64))]) -> Chart {
        let cells = cells.iter().map(|(method, wall_ns, cpu)| {
            let mut cell =
                fake(levels(&[(Factor::Method, Level::word(*method))]), *wall_ns, 1 << 20);
            cell.cpu = *cpu;
            cell
        });
        let run = document(5, "copy", &[Factor::Method], 12, cells.collect());
        chart(&Index::new(std::slice::from_ref(&run))).unwrap()
    }

    /// copy_file_range of a small file, which is the kernel's work alone, was once drawn as 100 %
    /// user time: its trials of a millisecond met no tick.
    #[test]
    fn trials_of_a_few_ticks_are_not_split_into_user_and_system() {
        let short = of(&[("copy_file_range", 1e6, (0.95, 0.0)), ("splice", 2e6, (0.0, 0.97))]);
        let keys: Vec<&str> = short.keys.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(keys, ["processor (user or system)", "waiting"]);
        assert!(
            short.title.starts_with("Most of the time goes to the processor: 9"),
            "{}",
            short.title
        );
        assert!(short.guide.iter().any(|line| line.contains("too short")), "{:?}", short.guide);
        let Layer::Bars(bars) = &short.panels[0].layers[0] else { panic!("bars") };
        assert!(bars.iter().all(|bar| bar.parts.iter().map(|p| p.0).eq([0, 1])));
        let long = of(&[("copy_file_range", 1e8, (0.0, 0.95)), ("splice", 2e8, (0.0, 0.97))]);
        assert!(long.title.starts_with("Most of the time goes to the kernel: 9"), "{}", long.title);
        assert_eq!(long.keys.len(), 3);
    }

    #[test]
    fn most_of_the_time_is_half_of_it_in_every_cell() {
        let mixed = of(&[
            ("read", 1e8, (0.8, 0.13)),
            ("splice", 1e8, (0.0, 1.0)),
            ("mmap", 1e8, (0.1, 0.9)),
        ]);
        assert_eq!(mixed.title, "13–100 % of the time goes to the kernel");
    }
}
