//! What the survey says of writing and copying.

use super::pick::{Pick, is_advised};
use super::{Finding, Line, NOTHING, plateau};
use iolab_model::catalog::{Factor, MethodClass, Sync, Until, bytes_text, rate_text, time_text};
use iolab_model::result::{AnswerKind, CellRecord, Document};

/// How fast data become durable, and what a sync costs.
pub(super) fn writing(durable: Option<&Document>, synced: Option<&Document>) -> Finding {
    let mut finding = Finding::of("Writing");
    if let Some((document, answer)) = durable.and_then(|d| Some((d, d.answers.first()?))) {
        match (answer.kind, plateau(document, answer)) {
            (AnswerKind::Invalid, _) => finding.say(answer.sentence.clone()),
            (_, None) => finding.say(NOTHING),
            (_, Some(plateau)) => {
                let flush = flush_ns(document)
                    .map(|ns| format!("the flush at the end takes {}", time_text(ns)));
                finding.lines.push(plateau.line(Until::Durable.word()).with(flush));
                if plateau.advised {
                    finding.advise(format!("{} to write", plateau.advice()), answer);
                }
            }
        }
    }
    if let Some(document) = synced {
        syncs(document, &mut finding);
    }
    finding
}

/// The median time of the one flush at the end, over the cells.
fn flush_ns(document: &Document) -> Option<f64> {
    let samples = document.cells.iter().flat_map(|cell| &cell.samples);
    let counted = samples.filter(|sample| sample.is_steady());
    let mut all: Vec<f64> =
        counted.filter_map(|s| s.measurement.metrics.get("sync_ns").copied()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// What it costs to have each block safe before the next, and which way is cheaper.
fn syncs(document: &Document, finding: &mut Finding) -> Option<()> {
    let answer = document.answers.iter().find(|answer| answer.leader().is_some())?;
    let pick = Pick::of(document, answer)?;
    let named = |cell: &CellRecord| cell.factors.word().map_or_else(|| cell.id.clone(), bare);
    let each = time_text(pick.cell.estimate.as_ref()?.ns_per_operation.median);
    let block = bytes_text(pick.cell.factors.number(Factor::Block)?);
    let sync = pick.cell.factors.word()?;
    let line = Line::of(format!("each {block} {} {each}: {}", way(sync), pick.standing()));
    finding.lines.push(line.with(pick.behind(&named)));
    if is_advised(answer, &pick.cell.id) {
        finding.advise(format!("{} where each block must be safe", bare(sync)), answer);
    }
    Some(())
}

fn way(sync: Sync) -> String {
    match sync {
        Sync::Dsync | Sync::Sync => format!("with {}", bare(sync)),
        _ => format!("and {}", bare(sync)),
    }
}

fn bare(sync: Sync) -> String {
    match sync {
        Sync::Dsync => "O_DSYNC".to_owned(),
        Sync::Sync => "O_SYNC".to_owned(),
        other => other.to_string(),
    }
}

/// The way to copy that the answer says to take, what may be as fast, and what is slower.
pub(super) fn copying(document: &Document) -> Finding {
    let mut finding = Finding::of("Copying");
    let Some(answer) = document.answers.first() else { return finding };
    if answer.kind == AnswerKind::Invalid {
        finding.say(answer.sentence.clone());
        return finding;
    }
    let Some(pick) = Pick::of(document, answer) else { return finding };
    let leader = pick.cell;
    let speed = leader.estimate.as_ref().and_then(|e| e.bytes_per_second.as_ref());
    // Without a steady round there is neither a speed nor a bound.
    let Some(speed) = speed.map(|speed| rate_text(speed.median)) else {
        finding.say(super::NOTHING);
        return finding;
    };
    let line = Line::of(format!("{speed} · {}: {}", name(leader), pick.standing()));
    let clones = |cell: &&CellRecord| {
        MethodClass::of_cell(&cell.factors) == Some(MethodClass::Clones) && cell.estimate.is_some()
    };
    let clone = document.cells.iter().find(clones).map(|cell| {
        let wall_ns = cell.estimate.as_ref().map_or(0.0, |e| e.wall_ns.median);
        format!("a clone takes {}", time_text(wall_ns))
    });
    finding.lines.push(line.with(pick.behind(&name)).with(clone));
    if is_advised(answer, &leader.id) {
        finding.advise(format!("{} to copy", name(leader)), answer);
    }
    finding
}

/// `read-write with 128 KiB blocks`.
fn name(cell: &CellRecord) -> String {
    let method = cell.factors.text(Factor::Method).unwrap_or(&cell.id);
    match cell.factors.number(Factor::Block) {
        Some(block) => format!("{method} with {} blocks", bytes_text(block)),
        None => method.to_owned(),
    }
}
