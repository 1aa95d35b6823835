//! What the survey says of writing and copying.

use super::{Finding, plateau, slower_by};
use iolab_model::catalog::{
    Factor, MethodClass, Sync, bytes_text, rate_text, ratio_text, time_text,
};
use iolab_model::result::{Answer, AnswerKind, CellRecord, Document, Phase, Verdict};

/// How fast data become durable, and what a sync costs.
pub(super) fn writing(durable: Option<&Document>, synced: Option<&Document>) -> Finding {
    let mut finding = Finding { label: "Writing", ..Finding::default() };
    if let Some((document, answer)) = durable.and_then(|d| Some((d, d.answers.first()?))) {
        match (answer.kind, plateau(document, answer)) {
            (AnswerKind::Invalid, _) => finding.lines.push(answer.sentence.clone()),
            (_, None) => finding.lines.push("nothing could be measured".to_owned()),
            (_, Some(plateau)) => {
                let speed = plateau.describe(document.experiment.protocol.delta);
                let flush = flush_ns(document).map_or_else(String::new, |ns| {
                    format!(" · the flush at the end takes {}", time_text(ns))
                });
                finding.lines.push(format!("durable {speed}{flush}"));
                finding.advice = Some(format!("{} to write", plateau.advice()));
            }
        }
    }
    if let Some((line, advice)) = synced.and_then(syncs) {
        finding.lines.push(line);
        finding.advice = match (finding.advice, advice) {
            (Some(one), Some(more)) => Some(format!("{one}, {more}")),
            (one, more) => one.or(more),
        };
    }
    finding
}

/// The median time of the one flush at the end, over the cells.
fn flush_ns(document: &Document) -> Option<f64> {
    let samples = document.cells.iter().flat_map(|cell| &cell.samples);
    let counted = samples.filter(|sample| sample.phase == Phase::Steady && sample.counts());
    let mut all: Vec<f64> =
        counted.filter_map(|s| s.measurement.metrics.get("sync_ns").copied()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// What it costs to have each block safe before the next, and which way is cheaper.
fn syncs(document: &Document) -> Option<(String, Option<String>)> {
    let ways: Vec<(&CellRecord, Sync, String)> = document
        .cells
        .iter()
        .filter_map(|cell| {
            let sync = cell.factors.word()?;
            let block = cell.factors.number(Factor::Block)?;
            let estimate = cell.estimate.as_ref()?;
            let name = way(sync);
            let each = time_text(estimate.ns_per_operation.median);
            Some((cell, sync, format!("{} {name} {each}", bytes_text(block))))
        })
        .collect();
    let (first, rest) = ways.split_first()?;
    let mut line = format!("each {}", first.2);
    for (_, _, text) in rest {
        line += &format!(", {text}");
    }
    let winner = document
        .answers
        .iter()
        .filter(|answer| answer.kind == AnswerKind::Winner && ways.len() > 1)
        .find_map(|answer| ways.iter().find(|(cell, ..)| answer.best.contains(&cell.id)));
    let advice =
        winner.map(|(_, sync, _)| format!("{} where each block must be safe", bare(*sync)));
    Some((line, advice))
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

/// The fastest way to copy, and what is told apart from it.
pub(super) fn copying(document: &Document) -> Finding {
    let mut finding = Finding { label: "Copying", ..Finding::default() };
    let Some(answer) = document.answers.first() else { return finding };
    if answer.kind == AnswerKind::Invalid {
        finding.lines.push(answer.sentence.clone());
        return finding;
    }
    let speed = |cell: &CellRecord| {
        cell.estimate.as_ref()?.bytes_per_second.as_ref().map(|speed| speed.median)
    };
    let clones =
        |cell: &CellRecord| MethodClass::of_cell(&cell.factors) == Some(MethodClass::Clones);
    let mut copies: Vec<(&CellRecord, f64)> = document
        .cells
        .iter()
        .filter(|cell| !clones(cell))
        .filter_map(|cell| Some((cell, speed(cell)?)))
        .collect();
    copies.sort_by(|x, y| y.1.total_cmp(&x.1));
    let Some(&(leader, fastest)) = copies.first() else { return finding };
    let like: Vec<String> =
        copies[1..].iter().filter(|c| answer.best.contains(&c.0.id)).map(|c| name(c.0)).collect();
    let mut line = format!("{} {}", name(leader), rate_text(fastest));
    if !like.is_empty() {
        line += &format!(", not told from {}", like.join(", "));
    }
    if let Some((slowest, ratio)) = clearly_slower(&copies, answer, leader) {
        line += &format!(" · {} takes {}", name(slowest), ratio_text(ratio));
    }
    if let Some(cell) = document.cells.iter().find(|cell| clones(cell) && cell.estimate.is_some()) {
        let wall_ns = cell.estimate.as_ref().map_or(0.0, |e| e.wall_ns.median);
        line += &format!(" · a clone takes {}", time_text(wall_ns));
    }
    finding.lines.push(line);
    finding.advice = match answer.kind {
        AnswerKind::Winner | AnswerKind::Tie => Some(format!("{} to copy", name(leader))),
        _ => None,
    };
    finding
}

/// The slowest cell that is proven slower than the leader, and by how much.
fn clearly_slower<'a>(
    copies: &[(&'a CellRecord, f64)],
    answer: &Answer,
    leader: &CellRecord,
) -> Option<(&'a CellRecord, f64)> {
    let proven = |cell: &CellRecord| {
        answer.comparisons.iter().any(|c| {
            (c.a == cell.id && c.b == leader.id && c.verdict == Verdict::Slower)
                || (c.b == cell.id && c.a == leader.id && c.verdict == Verdict::Faster)
        })
    };
    let (cell, _) = copies.iter().rev().find(|(cell, _)| proven(cell))?;
    Some((cell, slower_by(answer, &cell.id, &leader.id)?.0))
}

/// `read-write with 128 KiB blocks`.
fn name(cell: &CellRecord) -> String {
    let method = cell.factors.text(Factor::Method).unwrap_or(&cell.id);
    match cell.factors.number(Factor::Block) {
        Some(block) => format!("{method} with {} blocks", bytes_text(block)),
        None => method.to_owned(),
    }
}
