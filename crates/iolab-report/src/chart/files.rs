//! Many files with one number of workers: files a second and what each costs in processor time, a
//! row a cell, a panel a job. (With several numbers of workers see `scaling`.)

use std::collections::BTreeMap;

use super::block::subtitle;
use crate::drawing::cells::{Index, Part, Source, Split};
use crate::drawing::estimate::{Estimated, curve_table, missing_reason, tip};
use crate::drawing::labels::short;
use crate::drawing::model::{Chart, Layer, MOST_PANELS, Mark, Panel, Point, Series};
use crate::drawing::scale::{Axis, span, tick_time};
use crate::drawing::throughput::{Pace, ends};
use crate::latency::over_rounds;
use iolab_model::catalog::{Factor, time_text};
use iolab_model::result::{CellStanding, Summary};

/// Most rows of a panel; the slowest are left out.
const MOST_ROWS: usize = 20;

/// The chart of files by cell.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    if Pace::of(index) != Pace::Files || index.numbers(Factor::Threads).len() > 1 {
        return None;
    }
    let by = index.varying(&index.cells, &document.experiment.ask);
    let mut jobs: BTreeMap<Vec<Part>, Vec<Source<'_>>> = BTreeMap::new();
    for source in &index.cells {
        jobs.entry(by.iter().map(|s| index.part(*s, source)).collect()).or_default().push(*source);
    }
    let most = MOST_PANELS / 2;
    let hidden = jobs.len().saturating_sub(most);
    let mut jobs: Vec<Vec<Source<'_>>> = jobs.into_values().take(most).collect();
    let cut: usize = jobs.iter().map(|cells| cells.len().saturating_sub(MOST_ROWS)).sum();
    for cells in &mut jobs {
        let rate = |s: &Source<'_>| Pace::Files.speed(s).map_or(0.0, |s| s.median);
        cells.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        cells.truncate(MOST_ROWS);
    }
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("{hidden} more panels are in the table only"));
    }
    if cut > 0 {
        notes.push(format!("{cut} slower cells are in the table only"));
    }
    Some(Chart {
        slug: "files".to_owned(),
        rows: vec![2; jobs.len()],
        title: title(index, &jobs, &by),
        subtitle: subtitle(index, &[]),
        panels: jobs.iter().flat_map(|cells| panels(index, cells, &by)).collect(),
        keys: Vec::new(),
        notes,
        guide: vec!["Processor time: of all workers together, user and system".to_owned()],
        table: curve_table(index, Estimated::of(index)),
    })
}

fn processor(source: &Source<'_>) -> Option<Summary> {
    over_rounds(source.cell, "processor_ns_per_file").filter(|s| s.median > 0.0)
}

fn panels<'a>(index: &Index<'a>, cells: &[Source<'a>], by: &[Split]) -> [Panel; 2] {
    let words = by.iter().filter_map(|s| Some(index.split_text(*s, cells.first()?, true)));
    let title = words.collect::<Vec<_>>().join(" · ");
    let varying = index.varying(cells, &[]);
    let names: Vec<String> = cells.iter().map(|s| short(&index.name(s, &varying))).collect();
    let all = |of: &dyn Fn(&Source<'a>) -> Option<Summary>| -> Vec<f64> {
        cells.iter().filter_map(of).flat_map(|s| ends(&s)).collect()
    };
    let rate = |s: &Source<'a>| Pace::Files.speed(s);
    let rates = Pace::Files.axis(all(&rate));
    let times = Axis::from_zero("processor time a file", all(&processor), tick_time);
    let panel = |x: Axis, of: &dyn Fn(&Source<'a>) -> Option<Summary>| Panel {
        title: title.clone(),
        x,
        y: Axis::category("", names.clone()),
        layers: vec![Layer::Series(Series::marks(
            cells.iter().enumerate().map(|(row, s)| dot(s, row, of(s))).collect(),
        ))],
    };
    [panel(rates, &rate), panel(times, &processor)]
}

fn dot(source: &Source<'_>, row: usize, seen: Option<Summary>) -> Point {
    let y = row as f64;
    let Some(seen) = seen else {
        let (x, mark, tip) = (f64::NAN, Mark::Missing, missing_reason(source));
        return Point { x, y, low: None, high: None, mark, tip };
    };
    let mut words = Estimated::Pass
        .of_cell(source.cell)
        .map_or_else(String::new, |value| tip(source, Estimated::Pass, value));
    for told in [
        Pace::Files.speed(source).map(|s| Pace::Files.text(s.median)),
        processor(source).map(|s| format!("{} of processor time a file", time_text(s.median))),
    ] {
        words += &told.map(|told| format!("\n{told}")).unwrap_or_default();
    }
    Point { x: seen.median, y, low: seen.low, high: seen.high, mark: Mark::Filled, tip: words }
}

/// The most files a second, and what one of them costs.
fn title<'a>(index: &Index<'a>, jobs: &[Vec<Source<'a>>], by: &[Split]) -> String {
    let rate = |s: &Source<'_>| Pace::Files.speed(s).map(|s| s.median);
    let leaders = jobs.iter().filter_map(|cells| cells.first()).filter(|s| rate(s).is_some());
    let words = leaders.take(3).map(|s| {
        let speed = Pace::Files.text(rate(s).unwrap_or(0.0));
        let job: Vec<String> = by.iter().map(|split| index.split_text(*split, s, true)).collect();
        let cost =
            processor(s).map(|c| format!(", {} of processor time each", time_text(c.median)));
        match job.is_empty() {
            true => format!("{speed}{}", cost.unwrap_or_default()),
            false => format!("{} {speed}", job.join(" ")),
        }
    });
    let words: Vec<String> = words.collect();
    match (jobs, words.is_empty()) {
        (_, true) => "Many files: nothing measured yet".to_owned(),
        ([cells], _) if cells.len() > 1 => {
            let varying = index.varying(cells, &[]);
            let answers = || index.documents.iter().flat_map(|d| &d.answers);
            let won = |s: &&Source<'a>| {
                answers().any(|a| a.standing_of(&s.cell.id) == CellStanding::Best)
            };
            match cells.iter().find(won).map(|s| (s, rate(s))) {
                Some((winner, speed)) => {
                    let speed = Pace::Files.text(speed.unwrap_or(0.0));
                    format!("{} is ahead: {speed}", index.name(winner, &varying))
                }
                None => {
                    let all = cells.iter().filter_map(rate);
                    let (low, high) = span(all).unwrap_or((0.0, 0.0));
                    let [low, high] = [low, high].map(|v| Pace::Files.text(v));
                    let low = low.trim_end_matches(" files/s");
                    format!("No cell is shown to be ahead: {low} to {high}")
                }
            }
        }
        _ => words.join("; "),
    }
}
