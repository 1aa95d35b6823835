//! What a reviewer would write: each sentence says what was seen and what to do.

use iolab_model::catalog::{bytes_text, count_text, so_many, time_text};

use super::gather::{Gathered, OfFile};
use super::groups;
use super::judge::{MANY, OFTEN, finding, is_opened_again, is_small};
use super::origin::Origins;
use super::pattern::Pattern;
use super::sentence::{calls_of, short_name};
use super::sum::Sum;
use super::{Finding, FindingKind};
use crate::call::CallKind;
use crate::trace::{File, FileKind, Trace};

/// What a buffer would gather small calls into.
const BUFFER_BYTES: u64 = 64 << 10;
/// Syncs come first from this share of the program's time on: no other call is as dear.
const NOTABLE_SHARE: f64 = 0.05;
/// A file that is read again costs little below this.
const MUCH_BYTES: u64 = 1 << 20;

/// Those about the program's own files, the dearest first; then what starting it took, in one and then
/// by findings of its own.
pub(super) fn findings(
    trace: &Trace,
    gathered: &Gathered,
    origins: &Origins,
    of_ns: u64,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for of_start in [false, true] {
        let mut said = Vec::new();
        let is_asked = |file: u32| origins.is_of_start(file) == of_start;
        for (index, (file, of)) in trace.files.iter().zip(&gathered.files).enumerate() {
            if is_asked(index as u32) {
                of_file(file, of, &mut said);
            }
        }
        groups::syncs(trace, gathered, &is_asked, of_ns, &mut said);
        groups::directories(trace, gathered, &is_asked, &mut said);
        passed_on(trace, gathered, &is_asked, &mut said);
        never_used(trace, gathered, &is_asked, &mut said);
        not_found(gathered, &is_asked, &mut said);
        if !of_start {
            unseen(trace, &mut said);
        }
        let is_first = |finding: &Finding| {
            finding.kind == FindingKind::Syncs
                && finding.file_ns as f64 >= of_ns as f64 * NOTABLE_SHARE
        };
        said.sort_by_key(|finding| {
            std::cmp::Reverse((is_first(finding), finding.file_ns, finding.calls))
        });
        said.iter_mut().for_each(|finding| finding.of_start = of_start);
        if of_start {
            found.extend(start(gathered, origins));
        }
        found.extend(said);
    }
    found
}

/// What loaders, interpreters and wrappers did before and around the program's own work, in one line.
fn start(gathered: &Gathered, origins: &Origins) -> Option<Finding> {
    let mut sum = Sum::default();
    let files = gathered.files.iter().enumerate();
    let of_start = files.filter(|(index, _)| origins.is_of_start(*index as u32));
    of_start.for_each(|(_, of)| sum.add_all(&of.all));
    if sum.calls == 0 {
        return None;
    }
    let name = match origins.program.is_empty() {
        true => "the program".to_owned(),
        false => short_name(&origins.program),
    };
    let others = match origins.programs.saturating_sub(1) {
        0 => String::new(),
        1 => " and another program".to_owned(),
        others => format!(" and {} other programs", count_text(others as u64)),
    };
    let calls = if sum.calls == 1 { "call" } else { "calls" };
    let text = format!(
        "start of {name}{others}: {} {calls}, {}",
        count_text(sum.calls),
        time_text(sum.file_ns as f64)
    );
    Some(finding(FindingKind::Start, &sum, text))
}

fn of_file(file: &File, of: &OfFile, found: &mut Vec<Finding>) {
    let name = short_name(&file.name);
    let mut say = |kind, sum: &Sum, sentence| found.push(finding(kind, sum, sentence));
    for (sum, verb) in [(&of.small_reads, "read"), (&of.small_writes, "write")] {
        // A pattern that jumps gains nothing by a buffer.
        if is_small(of, sum) {
            let calls = calls_of(sum, verb);
            let fewer = match sum.bytes.div_ceil(BUFFER_BYTES) {
                0 | 1 => "one call".to_owned(),
                fewer => format!("{} calls", count_text(fewer)),
            };
            let text = format!("{calls} in {name}: buffer them (64 KiB: {fewer})");
            say(FindingKind::SmallCalls, sum, text);
        }
    }
    let again = of.read.clone().again_bytes();
    if again >= MUCH_BYTES && again * 2 >= of.reads.bytes {
        let (all, again) = (bytes_text(of.reads.bytes), bytes_text(again));
        let text = format!("{again} of {all} read from {name} were read before: keep them");
        say(FindingKind::ReadAgain, &of.reads, text);
    }
    let moves = of.reads.calls + of.writes.calls;
    // A few headers of a library that a hundred programs load are no random access.
    let long = moves >= MANY && moves >= of.opens.calls.saturating_mul(OFTEN);
    if of.steps.pattern() == Some(Pattern::Random) && long {
        let sum = if of.reads.calls >= of.writes.calls { &of.reads } else { &of.writes };
        let verb = if of.reads.calls >= of.writes.calls { "read" } else { "write" };
        let text = format!(
            "{} here and there in {name}: sort them, or ask ahead (posix_fadvise, io_uring)",
            calls_of(sum, verb)
        );
        say(FindingKind::RandomAccess, sum, text);
    }
    let is_directory = file.kind == FileKind::Directory;
    if of.most_looks >= MANY && !is_directory {
        let calls = count_text(of.looked_up.calls);
        let text = format!("{name} is looked up {calls} times: ask once and keep the answer");
        say(FindingKind::AskedAgain, &of.looked_up, text);
    }
    if is_opened_again(of) && !is_directory {
        let calls = count_text(of.opens.calls);
        let text = format!("{name} is opened {calls} times: keep it open");
        say(FindingKind::OpenedAgain, &of.opens, text);
    }
}

/// A copy by hand of more than a little, file by file.
fn passed_on(
    trace: &Trace,
    gathered: &Gathered,
    is_asked: &dyn Fn(u32) -> bool,
    found: &mut Vec<Finding>,
) {
    // Whose the copy is that is made tells whose work it is.
    let all = gathered.passed_on.iter().filter(|((_, to), _)| is_asked(*to));
    let large = all.filter(|(_, sum)| sum.calls >= OFTEN || sum.bytes >= MUCH_BYTES);
    let mut large: Vec<_> = large.collect();
    large.sort_by_key(|(files, sum)| (std::cmp::Reverse(sum.bytes), **files));
    for ((from, to), sum) in large.into_iter().take(3) {
        let name =
            |index: &u32| trace.file(*index).map_or_else(String::new, |f| short_name(&f.name));
        let (from, to) = (name(from), name(to));
        let bytes = bytes_text(sum.bytes / 2);
        let text = format!(
            "{bytes} of {from} pass through the program to {to}: copy_file_range(2) keeps them in \
             the kernel"
        );
        found.push(finding(FindingKind::CopiedByHand, sum, text));
    }
}

/// Files that were opened for nothing.
fn never_used(
    trace: &Trace,
    gathered: &Gathered,
    is_asked: &dyn Fn(u32) -> bool,
    found: &mut Vec<Finding>,
) {
    let all = trace.files.iter().zip(&gathered.files).enumerate();
    let all = all.filter(|(index, _)| is_asked(*index as u32)).map(|(_, both)| both);
    let idle = all.filter(|(file, of)| {
        let opened = of.opens.calls > of.opens.failed;
        opened && !of.used && file.kind == FileKind::Regular
    });
    let mut idle: Vec<_> = idle.collect();
    let Some((first, of)) = idle.first().copied() else { return };
    let mut sum = Sum::default();
    idle.drain(..).for_each(|(_, of)| sum.calls += of.opens.calls);
    let name = short_name(&first.name);
    let text = match sum.calls - of.opens.calls {
        0 => format!("{name} is opened and never read or written: leave it closed"),
        others => {
            let others = count_text(others);
            format!("{name} and {others} more are opened and never read or written")
        }
    };
    found.push(finding(FindingKind::NeverUsed, &sum, text));
}

/// Names that were asked for in vain.
fn not_found(gathered: &Gathered, is_asked: &dyn Fn(u32) -> bool, found: &mut Vec<Finding>) {
    let mut sum = Sum::default();
    let lost = gathered.not_found.iter().filter(|(file, _)| is_asked(**file));
    lost.for_each(|(_, of)| sum.add_all(of));
    let asked = [CallKind::Stat, CallKind::Open, CallKind::ReadLink];
    let all = asked.iter().filter_map(|kind| gathered.kinds.get(kind)).map(|sum| sum.calls);
    let all: u64 = all.sum();
    if sum.calls < OFTEN {
        return;
    }
    let (lost, all) = (count_text(sum.calls), count_text(all));
    let text = format!("{lost} of {all} names asked for are not there: shorten the search path");
    found.push(finding(FindingKind::NotFound, &sum, text));
}

/// What the log cannot show.
fn unseen(trace: &Trace, found: &mut Vec<Finding>) {
    let rings = trace.calls.iter().filter(|call| call.kind == CallKind::Ring).count() as u64;
    let maps = trace.calls.iter().filter(|call| {
        let regular = trace.file(call.file).is_some_and(|file| file.kind == FileKind::Regular);
        // Read-only ones are mostly what a program is made of: libraries, locales.
        call.kind == CallKind::Map && regular && call.detail & 3 == 3
    });
    let maps = maps.count() as u64;
    let mut say = |calls: u64, text: String| {
        let sum = Sum { calls, ..Sum::default() };
        found.push(finding(FindingKind::Unseen, &sum, text));
    };
    if rings > 0 {
        let calls = count_text(rings);
        say(rings, format!("{calls} calls of io_uring: what they asked for cannot be seen"));
    }
    if maps > 0 {
        let mappings = so_many(maps as usize, "shared writable mapping");
        say(maps, format!("{mappings}: what is read and written there makes no call"));
    }
}
