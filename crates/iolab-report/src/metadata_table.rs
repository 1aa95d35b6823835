//! What metadata calls show beside their times: cost against file size, what was copied up, and
//! what a cheap change put off. One sentence each.

use std::collections::BTreeMap;

use iolab_model::catalog::{
    Factor, Level, Levels, NamedCall, Touch, bytes_text, list_text, time_text,
};
use iolab_model::result::{CellRecord, Document, Summary};
use iolab_stats::{Line, line, median};

/// Points of a round further off the line than this share of the cost are told.
const MISFIT: f64 = 0.25;

/// The sentences, in the order of the cells.
pub(super) fn notes(doc: &Document) -> Vec<String> {
    let calls = |cell: &&CellRecord| cell.factors.get(Factor::Pass).is_some();
    let cells: Vec<&CellRecord> = doc.cells.iter().filter(calls).collect();
    let mut notes = lines(&cells);
    notes.extend(put_off(&cells));
    notes.extend(cells.iter().filter_map(|cell| copied_up(cell)));
    notes
}

/// What a group of cells shares but for one factor, in words.
pub(super) fn named(levels: &Levels) -> String {
    let word = |factor| levels.text(factor).map(str::to_owned);
    let on = word(Factor::Place).map(|place| format!("on {place}"));
    let touch = levels.word().filter(|touch: &Touch| *touch != Touch::Steady);
    let pass = touch.map(|touch| format!("({touch})"));
    let all = [word(Factor::Operation), on, pass];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Cells that differ in this factor alone.
fn groups<'a>(cells: &[&'a CellRecord], but: Factor) -> Vec<(Levels, Vec<&'a CellRecord>)> {
    let mut groups: Vec<(Levels, Vec<&CellRecord>)> = Vec::new();
    for cell in cells {
        let key = cell.factors.only(|factor| factor != but);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(cell),
            None => groups.push((key, vec![cell])),
        }
    }
    groups
}

/// Cost against file size where there are three sizes or more.
fn lines(cells: &[&CellRecord]) -> Vec<String> {
    let told = |(key, members): (Levels, Vec<&CellRecord>)| {
        let fit = fitted(&members)?;
        Some(line_text(&named(&key), &fit))
    };
    groups(cells, Factor::FileSize).into_iter().filter_map(told).collect()
}

/// Cost of a call against bytes of the file, by round.
pub(super) fn fitted(members: &[&CellRecord]) -> Option<Line> {
    let mut rounds: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for cell in members {
        let bytes = cell.factors.number(Factor::FileSize)? as f64;
        let steady = cell.samples.iter().filter(|s| s.is_steady());
        for sample in steady {
            let operations = sample.measurement.operations.max(1) as f64;
            let cost = sample.measurement.wall_ns as f64 / operations;
            rounds.entry(sample.round).or_default().push((bytes, cost));
        }
    }
    line(&rounds.into_values().collect::<Vec<_>>())
}

/// What a fitted line shows of the cost, never more than its interval does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// The whole interval lies above zero.
    Grows,
    /// The whole interval lies below zero.
    Falls,
    /// Over all sizes the cost changes by less than what matters.
    None,
    /// The interval holds zero, and more than what matters.
    NotShown,
    /// Too few rounds for an interval.
    Unknown,
}

impl Growth {
    /// Of sizes up to `range` bytes, where shares of the cost up to `delta` do not matter.
    pub(super) fn of(fit: &Line, range: f64, delta: f64) -> Growth {
        let (Some(low), Some(high)) = (fit.slope.low, fit.slope.high) else {
            return Growth::Unknown;
        };
        let matters = delta * fit.intercept.median.abs();
        match low.abs().max(high.abs()) * range <= matters {
            true => Growth::None,
            false if low > 0.0 => Growth::Grows,
            false if high < 0.0 => Growth::Falls,
            false => Growth::NotShown,
        }
    }

    /// The finding about a call.
    pub(super) fn sentence(self, call: &str) -> String {
        match self {
            Growth::Grows => format!("{call} grows with the file size"),
            Growth::Falls => format!("{call} costs less on larger files"),
            Growth::None => format!("{call} does not depend on the file size"),
            Growth::NotShown => format!("No growth of {call} with the file size is shown"),
            Growth::Unknown => {
                format!("Too few rounds to say whether {call} grows with the file size")
            }
        }
    }
}

/// The slope in ns per byte as text a MiB, and its interval in parentheses where there is one.
fn slope_parts(fit: &Line) -> (String, String) {
    const MIB: f64 = 1_048_576.0;
    let mib = |ns_per_byte: f64| {
        let sign = if ns_per_byte < 0.0 { "−" } else { "" };
        format!("{sign}{}", time_text((ns_per_byte * MIB).abs()))
    };
    let interval = match (fit.slope.low, fit.slope.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", mib(low), mib(high)),
        _ => String::new(),
    };
    (mib(fit.slope.median), interval)
}

/// `0.1 ns a MiB (−0.2 ns to 0.3 ns)`.
pub(super) fn slope_text(fit: &Line) -> String {
    let (slope, interval) = slope_parts(fit);
    format!("{slope} a MiB{interval}")
}

/// A fitted line as a sentence.
pub(super) fn line_text(name: &str, fit: &Line) -> String {
    let misfit = match fit.worst_misfit > MISFIT {
        true => "; a size lies far off this line",
        false => "",
    };
    let (slope, interval) = slope_parts(fit);
    let slope = match (fit.slope.low, fit.slope.high) {
        (Some(low), Some(high)) if low <= 0.0 && high >= 0.0 => {
            format!("no growth with file size shown: {slope} a MiB{interval}")
        }
        (Some(_), Some(_)) => format!("{slope} more for each MiB of the file{interval}"),
        _ => format!("{slope} more for each MiB of the file, in too few rounds for an interval"),
    };
    let start = time_text(fit.intercept.median.max(0.0));
    format!("{name}: {start} a call, and {slope}{misfit}.")
}

fn estimate(cell: &CellRecord) -> Option<&Summary> {
    cell.estimate.as_ref().map(|estimate| &estimate.ns_per_operation)
}

/// A chmod, the first write after it, and both: what was saved now is paid then.
fn put_off(cells: &[&CellRecord]) -> Vec<String> {
    let told = |(key, members): (Levels, Vec<&CellRecord>)| {
        let of = |call: NamedCall| {
            let cell = members.iter().find(|c| c.factors.word() == Some(call))?;
            Some(time_text(estimate(cell)?.median))
        };
        let size = key.number(Factor::FileSize).map(bytes_text);
        let size = size.map(|size| format!(", files of {size}")).unwrap_or_default();
        let (now, later, sum) =
            (of(NamedCall::Chmod)?, of(NamedCall::WriteAfterChmod)?, of(NamedCall::ChmodWrite)?);
        let place = key.text(Factor::Place).unwrap_or("the directory");
        let pass = key.word().map_or("", Touch::word);
        Some(format!(
            "On {place} ({pass}{size}): chmod {now} now, the write after it {later}, both in one \
             {sum}."
        ))
    };
    groups(cells, Factor::Operation).into_iter().filter_map(told).collect()
}

/// What a call has brought to the upper layer, by the counts taken there.
fn copied_up(cell: &CellRecord) -> Option<String> {
    let per_call = |id: &str| {
        let counted = cell.samples.iter().filter(|s| s.is_steady());
        let values: Vec<f64> = counted
            .filter_map(|s| {
                Some(s.measurement.metrics.get(id)? / s.measurement.operations.max(1) as f64)
            })
            .collect();
        median(&values)
    };
    // Of a later touch the copy-up came before the window.
    cell.factors.word().filter(|touch: &Touch| *touch == Touch::First)?;
    let inodes = per_call("copy_up_inodes")?;
    let marked = per_call("copy_up_metacopies").unwrap_or(0.0);
    let bytes = per_call("copy_up_bytes").unwrap_or(0.0);
    let removed = per_call("copy_up_whiteouts").unwrap_or(0.0);
    let mut said = Vec::new();
    if marked >= 0.5 {
        said.push("metadata alone".to_owned());
    }
    if bytes >= 0.5 {
        said.push(format!("{} of data", bytes_text(bytes.round() as u64)));
    }
    if removed >= 0.5 {
        said.push("a whiteout".to_owned());
    }
    if said.is_empty() && inodes >= 0.5 {
        said.push("names alone".to_owned());
    }
    let name = named(&cell.factors);
    let size = match cell.factors.get(Factor::FileSize) {
        Some(Level::Number(bytes)) => format!(", files of {}", bytes_text(*bytes)),
        _ => String::new(),
    };
    Some(match said.is_empty() {
        true => format!("{name}{size}: nothing was copied up."),
        false => format!("{name}{size}: each call copied up {}.", list_text(&said)),
    })
}
