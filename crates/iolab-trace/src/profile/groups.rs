//! What many files have in common: little in each of them, and much in all.

use std::collections::BTreeMap;

use iolab_model::catalog::{count_text, percent_text, so_many, time_text};

use super::gather::{Gathered, OfFile};
use super::judge::{MANY, OFTEN, finding, is_opened_again, is_small};
use super::pattern::Pattern;
use super::sentence::{calls_of, short_name};
use super::sum::Sum;
use super::{Finding, FindingKind};
use crate::call::CallKind;
use crate::trace::{FileKind, Trace};

/// Fewer files than these are spoken of one by one.
const FEWEST_FILES: usize = 8;
/// Each file has at least so many calls on average: one call a file cannot be saved.
const CALLS_OF_A_FILE: u64 = 2;
/// Fewer syncs are worth a word, too, where they take this share of the program's time.
const NOTABLE_SHARE: f64 = 0.1;

/// All syncs in one finding: it is their number that costs, over however many files.
pub(super) fn syncs(
    trace: &Trace,
    gathered: &Gathered,
    is_asked: &dyn Fn(u32) -> bool,
    of_ns: u64,
    found: &mut Vec<Finding>,
) {
    let (mut sum, mut names) = (Sum::default(), Vec::new());
    for (index, (file, of)) in trace.files.iter().zip(&gathered.files).enumerate() {
        if of.syncs.calls > 0 && is_asked(index as u32) {
            sum.add_all(&of.syncs);
            names.push(file.name.as_slice());
        }
    }
    let ns = sum.file_ns;
    let share = if of_ns > 0 { (ns as f64 / of_ns as f64).min(1.0) } else { 0.0 };
    let is_worth_it = sum.calls >= OFTEN || (sum.calls > 1 && share >= NOTABLE_SHARE);
    let (Some(first), true) = (names.first(), is_worth_it) else { return };
    let took = time_text(ns as f64);
    let took = match of_ns {
        0 => took,
        _ => format!("{took} (of {}, {})", time_text(of_ns as f64), percent_text(share)),
    };
    let calls = count_text(sum.calls);
    let text = if let [name] = names[..] {
        let name = short_name(name);
        format!("{calls} times {name} is made durable, {took}: gather several writes before each")
    } else {
        let parent = parent(first);
        let files = so_many(names.len(), "file");
        let place = match names.iter().all(|name| self::parent(name) == parent) {
            true => format!("{files} of {}", short_name(parent)),
            false => files,
        };
        let (word, advice) = sync_words(gathered);
        format!("{calls} {word}s, {took}, of {place}: {advice}")
    };
    let files = names.len();
    found.push(Finding { files, ..finding(FindingKind::Syncs, &sum, text) });
}

/// What the program syncs by, and what it could do instead.
fn sync_words(gathered: &Gathered) -> (&'static str, &'static str) {
    let mut kinds = gathered.kinds.keys().filter(|kind| kind.syncs());
    match (kinds.next(), kinds.next()) {
        (Some(CallKind::Sync), None) => {
            (CallKind::Sync.word(), "sync once at the end of a batch, or fdatasync")
        }
        (Some(kind), None) => (kind.word(), "sync once at the end of a batch"),
        _ => ("sync", "sync once at the end of a batch"),
    }
}

/// Small calls and opens of directories whose files have too few each to be named.
pub(super) fn directories(
    trace: &Trace,
    gathered: &Gathered,
    is_asked: &dyn Fn(u32) -> bool,
    found: &mut Vec<Finding>,
) {
    let mut groups: BTreeMap<&[u8], Vec<&OfFile>> = BTreeMap::new();
    for (index, (file, of)) in trace.files.iter().zip(&gathered.files).enumerate() {
        if file.kind == FileKind::Regular && is_asked(index as u32) {
            groups.entry(parent(&file.name)).or_default().push(of);
        }
    }
    for (directory, files) in groups.into_iter().filter(|(_, files)| files.len() >= FEWEST_FILES) {
        of_directory(&short_name(directory), &files, found);
    }
}

fn of_directory(name: &str, files: &[&OfFile], found: &mut Vec<Finding>) {
    let mut say = |kind, of: fn(&OfFile) -> Option<&Sum>, text: &dyn Fn(&Sum, &str) -> String| {
        let sums: Vec<&Sum> =
            files.iter().filter_map(|file| of(file)).filter(|sum| sum.calls > 0).collect();
        let mut sum = Sum::default();
        sums.iter().for_each(|of| sum.add_all(of));
        let enough = MANY.max(CALLS_OF_A_FILE * sums.len() as u64);
        if sums.len() >= FEWEST_FILES && sum.calls >= enough {
            let text = text(&sum, &so_many(sums.len(), "file"));
            let said = finding(kind, &sum, text);
            found.push(Finding { files: sums.len(), ..said });
        }
    };
    say(FindingKind::SmallCalls, |of| rest(of, &of.small_reads), &|sum, files| {
        format!("{} in {files} of {name}: read each at once", calls_of(sum, "read"))
    });
    say(FindingKind::SmallCalls, |of| rest(of, &of.small_writes), &|sum, files| {
        format!("{} in {files} of {name}: gather those of a file", calls_of(sum, "write"))
    });
    say(
        FindingKind::OpenedAgain,
        |of| (of.opens.failed == 0 && !is_opened_again(of)).then_some(&of.opens),
        &|sum, files| {
            let calls = count_text(sum.calls);
            format!("{name}: {files} opened {calls} times: keep them open")
        },
    );
}

/// Small calls that no finding of the file's own speaks of; what jumps gains nothing by a buffer.
fn rest<'a>(of: &OfFile, sum: &'a Sum) -> Option<&'a Sum> {
    (!is_small(of, sum) && of.steps.pattern() != Some(Pattern::Random)).then_some(sum)
}

/// The directory of a name, with its slash.
fn parent(name: &[u8]) -> &[u8] {
    let at = name.iter().rposition(|byte| *byte == b'/');
    at.map_or(&[], |at| &name[..=at])
}
