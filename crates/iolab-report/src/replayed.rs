//! What the replays of a recorded program say of the program: how much less time its file work takes
//! in the best way, what that is worth to the whole of it, and what of it was not replayed.

use iolab_model::catalog::{
    Factor, Family, Level, RECORDED, ReplayThink, WorkloadId, percent_text, phrase,
    ratio_interval_text, ratio_text,
};
use iolab_model::result::{Answer, CellRecord, Document};
use serde_json::Value;

/// Shares of what is not replayed above this are told before all else.
const MUCH: f64 = 0.02;

/// What must be known before the answers: a large part of the program was not replayed, or not as it was
/// asked.
pub(super) fn first(doc: &Document) -> Option<String> {
    let lost = |trace: &Value| {
        let share = |lost: &str, all: &str| {
            let part = trace.get(lost)?.as_f64()?;
            let whole = trace.get(all)?.as_f64()?;
            (whole > 0.0).then_some(part / whole)
        };
        let calls = share("lost_calls", "calls").unwrap_or(0.0);
        let bytes = share("lost_bytes", "bytes").unwrap_or(0.0);
        (calls.max(bytes) > MUCH).then(|| left_out(trace)).flatten()
    };
    let much = |cell: &CellRecord| cached(cell, MUCH).or_else(|| clones(cell, MUCH));
    let of_a_replay = || traces(doc).find_map(lost).or_else(|| doc.cells.iter().find_map(much));
    doc.experiment.is(WorkloadId::Replay).then(of_a_replay).flatten()
}

/// What was not replayed, however little, and what was not done as it was asked.
pub(super) fn notes(doc: &Document) -> Vec<String> {
    match doc.experiment.is(WorkloadId::Replay) {
        true => {
            let of_cell = |cell| [cached(cell, 0.0), clones(cell, 0.0)].into_iter().flatten();
            let of_traces = traces(doc).filter_map(left_out).chain(traces(doc).filter_map(lacking));
            of_traces.chain(doc.cells.iter().flat_map(of_cell)).collect()
        }
        false => Vec::new(),
    }
}

/// How much of a replay past the page cache went through it, where that is more than this share.
fn cached(cell: &CellRecord, little: f64) -> Option<String> {
    let seen = &cell.samples.iter().find(|sample| sample.fault.is_none())?.measurement;
    let direct = seen.metrics.get("direct_bytes")?;
    let share = 1.0 - direct / (seen.bytes.max(1) as f64);
    (share > little).then(|| {
        format!(
            "{}: {} of the bytes are moved at offsets or by lengths that direct I/O cannot have, and \
             went through the page cache",
            cell.id,
            percent_text(share)
        )
    })
}

/// How many clones a replay left out that were refused to the program and would be made here, where that
/// is more than this share of its calls.
fn clones(cell: &CellRecord, little: f64) -> Option<String> {
    let seen = &cell.samples.iter().find(|sample| sample.fault.is_none())?.measurement;
    let clones = *seen.metrics.get("clones_left_out")?;
    let share = clones / (seen.operations as f64 + clones);
    (share > little).then(|| {
        format!(
            "{}: {} of its calls are attempts to clone a file that were refused, and are left out: \
             here they would be taken",
            cell.id,
            percent_text(share)
        )
    })
}

/// What of the contents of its files was not there to be copied.
fn lacking(trace: &Value) -> Option<String> {
    trace.get("data")?.get("lacking")?.as_str().map(str::to_owned)
}

fn left_out(trace: &Value) -> Option<String> {
    trace.get("left_out")?.as_str().map(str::to_owned)
}

fn traces(doc: &Document) -> impl Iterator<Item = &Value> {
    let all = doc.environment.0.iter();
    all.filter(|(key, _)| Family::Trace.holds(key)).map(|(_, value)| value)
}

/// The best way against the recorded one, for the file work and for the whole program; nothing where
/// the recorded one was not measured, or nothing may be claimed.
pub(super) fn sentence(doc: &Document, answer: &Answer) -> Option<String> {
    if !doc.experiment.is(WorkloadId::Replay) {
        return None;
    }
    let cells = || answer.regret.iter().filter_map(|one| cell(doc, one.cell.as_str()));
    let recorded = cells().find(|cell| is_recorded(cell))?;
    let best = cell(doc, answer.pick.as_ref()?.cell.as_str())?;
    if std::ptr::eq(best, recorded) {
        return Some("no way that was tried is faster than the recorded one".to_owned());
    }
    // The bounds of the answer, as everywhere: a pair's own interval may say more than it.
    let ratio = answer.ratio_of(&best.id, &recorded.id)?;
    let apart = answer.apart(&best.id, &recorded.id, doc.experiment.protocol.delta)?;
    let way = ways(doc, best, recorded);
    let file_work = ratio_interval_text(ratio, apart.low, apart.high);
    if best.factors.word() == Some(ReplayThink::Recorded) {
        return Some(format!(
            "with {way} the file work and the program's own time between its calls take \
             {file_work} of their time"
        ));
    }
    let whole = apart.high.map(|most| whole(doc, recorded, most)).unwrap_or_default();
    Some(format!("with {way} the file work takes {file_work} of its time{whole}"))
}

fn cell<'a>(doc: &'a Document, id: &str) -> Option<&'a CellRecord> {
    doc.cells.iter().find(|cell| cell.id == id)
}

fn is_recorded(cell: &CellRecord) -> bool {
    let recorded = Level::word(RECORDED);
    let ways = [Factor::Method, Factor::Block, Factor::Sync, Factor::Readahead, Factor::Threads];
    ways.into_iter().all(|way| cell.factors.get(way).is_none_or(|level| *level == recorded))
}

/// What the best way does otherwise: `64 KiB blocks, no sync`.
fn ways(doc: &Document, best: &CellRecord, recorded: &CellRecord) -> String {
    let ask = &doc.experiment.ask;
    let differs = best.factors.iter().filter(|(factor, level)| {
        ask.contains(factor) && recorded.factors.get(*factor) != Some(level)
    });
    let all: Vec<String> = differs.map(|(factor, level)| phrase(factor, level)).collect();
    all.join(", ")
}

/// What that is worth to the program, where its own time is known: its other time stays. Where the tracer
/// hid what its calls took, the replay of them as they were recorded stands for that.
fn whole(doc: &Document, recorded: &CellRecord, ratio: f64) -> String {
    let name = recorded.factors.get(Factor::Trace).map(ToString::to_string);
    let trace = name.and_then(|name| doc.environment.0.get(&Family::Trace.key(&name)));
    let number = |key: &str| trace?.get(key)?.as_f64().filter(|ns| *ns > 0.0);
    let replayed = || Some(recorded.estimate.as_ref()?.wall_ns.median);
    let files = match number("program_file_ns") {
        Some(ns) => Some((ns, "file calls")),
        None => replayed().map(|ns| (ns, "file calls by this replay")),
    };
    let (Some(program), Some((files, calls))) = (number("program_ns"), files) else {
        return String::new();
    };
    let share = (files / program).min(1.0);
    let takes = ratio_text(1.0 - share + share * ratio);
    let share = percent_text(share);
    format!("; the whole program, {share} of it {calls}, at most about {takes}")
}

#[cfg(test)]
pub(super) use tests::replay;

#[cfg(test)]
mod tests {
    use super::{first, notes, sentence};
    use iolab_model::catalog::{AxisWord, Factor, Family, Level, Levels, RECORDED, ReplayThink};
    use iolab_model::result::{AnswerKind, Document, Verdict};
    use iolab_test::documents::{answer, cell, comparison, empty};

    /// Blocks of 64 KiB against the recorded ones.
    pub(in super::super) fn replay(more: &dyn Fn(Levels) -> Levels) -> Document {
        let mut doc = empty();
        doc.experiment.workload = "replay".into();
        doc.experiment.ask = vec![Factor::Block];
        let way = |block| more(Levels::new().with(Factor::Block, block));
        doc.cells = vec![
            cell("recorded/64Ki", way(Level::Number(65536)), 10.0, 1),
            cell("recorded/recorded", way(Level::word(RECORDED)), 40.0, 2),
        ];
        let mut answer = answer(AnswerKind::Winner, &["recorded/64Ki"], "64 KiB blocks are best");
        let (a, b) = ("recorded/64Ki", "recorded/recorded");
        answer.comparisons = vec![comparison(a, b, 0.25, Verdict::Faster, true)];
        doc.answers = vec![answer];
        doc.completed().into_owned()
    }

    /// The file work alone is not what took that part of its time.
    #[test]
    fn times_with_the_programs_own_in_them_say_so() {
        let said = |more: &dyn Fn(Levels) -> Levels| {
            let doc = replay(more);
            sentence(&doc, &doc.answers[0]).unwrap()
        };
        let without = said(&|levels| levels);
        assert!(without.starts_with("with 64 KiB blocks the file work takes 0.25×"), "{without}");
        let with = said(&|levels| levels.with(Factor::Think, ReplayThink::Recorded.level()));
        let words = "with 64 KiB blocks the file work and the program's own time between its calls";
        assert!(with.starts_with(words) && with.ends_with("of their time"), "{with}");
    }

    /// Twenty recordings beside other work knew nothing of what calls took: the page promised a sentence
    /// that was not there.
    #[test]
    fn the_whole_program_is_told_of_where_the_tracer_hid_its_calls() {
        let said = |file_ns: serde_json::Value| {
            let mut doc = replay(&|levels| levels.with(Factor::Trace, Level::word("a.trace")));
            let known = serde_json::json!({ "program_ns": 50e6, "program_file_ns": file_ns });
            doc.environment.put_named(Family::Trace, "a.trace", known);
            sentence(&doc, &doc.answers[0]).unwrap()
        };
        let (known, hidden) = (said(25_000_000.into()), said(0.into()));
        assert!(known.contains("the whole program, 50 % of it file calls, at most"), "{known}");
        let by_replay = "% of it file calls by this replay, at most about 0.4";
        assert!(hidden.contains(by_replay), "{hidden}");
        assert_eq!(said(serde_json::Value::Null), hidden);
    }

    #[test]
    fn what_went_through_the_page_cache_is_told() {
        let mut doc = replay(&|levels| levels);
        assert_eq!((first(&doc), notes(&doc)), (None, vec![]));
        for (share, is_much) in [(0.99, false), (0.9, true)] {
            let seen = &mut doc.cells[0].samples[0].measurement;
            let bytes = seen.bytes as f64 * share;
            seen.metrics.insert("direct_bytes".into(), bytes);
            let told = notes(&doc);
            assert!(told[0].starts_with("recorded/64Ki: 1"), "{told:?}");
            assert_eq!(first(&doc).is_some(), is_much, "{share}");
        }
    }

    /// On the disk cp was refused what the scratch place has: its replay there is another program's.
    #[test]
    fn clones_that_were_left_out_are_told() {
        for (calls, is_much) in [(999, false), (9, true)] {
            let mut doc = replay(&|levels| levels);
            let seen = &mut doc.cells[1].samples[0].measurement;
            seen.operations = calls;
            seen.metrics.insert("clones_left_out".into(), 1.0);
            let told = notes(&doc);
            assert!(told[0].starts_with("recorded/recorded: ") && told.len() == 1, "{told:?}");
            assert_eq!(first(&doc), is_much.then(|| told[0].clone()));
        }
    }
}
