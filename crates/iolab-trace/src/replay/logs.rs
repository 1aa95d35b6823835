//! For tests: logs of our own, and the steps that become of them.

use std::io::Cursor;

use super::{Action, Program};
use crate::strace::{Limits, parse};
use crate::trace::Trace;

/// A log with these lines, each a call of the thread that is named first.
pub(super) fn trace(lines: &[&str]) -> Trace {
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let (thread, call) = line.split_once(' ').unwrap();
        text += &format!("{thread} {}.{:06} {call} <0.000010>\n", 100 + at / 1000, at % 1000);
    }
    parse(Cursor::new(text), &Limits::default()).unwrap()
}

/// Calls of one thread that has /d/a open.
pub(super) fn on_a(calls: &[String]) -> Trace {
    let open = "1 openat(AT_FDCWD</d>, \"a\", O_RDWR) = 3</d/a>".to_owned();
    let calls = calls.iter().map(|call| format!("1 {call}"));
    let all: Vec<String> = [open].into_iter().chain(calls).collect();
    trace(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

pub(super) fn reads(count: usize, bytes: u64) -> Vec<String> {
    vec![format!("read(3</d/a>, \"\"..., {bytes}) = {bytes}"); count]
}

/// Seven bytes are written at byte 20, synced by these calls, and the file is closed.
pub(super) fn written_and_synced(by: &[&str]) -> Vec<String> {
    let write = "pwrite64(3</d/a>, \"\"..., 7, 20) = 7".to_owned();
    let syncs = by.iter().map(|call| format!("{call}(3</d/a>) = 0"));
    [write].into_iter().chain(syncs).chain(["close(3</d/a>) = 0".to_owned()]).collect()
}

pub(super) fn writes(count: usize, bytes: u64) -> Vec<String> {
    vec![format!("write(3</d/a>, \"\"..., {bytes}) = {bytes}"); count]
}

pub(super) fn steps(program: &Program) -> Vec<(Action, u64, u64, i64)> {
    let all = program.lanes.iter().flatten();
    all.map(|step| (step.action, step.offset, step.asked, step.expected)).collect()
}

/// As [`steps`] has a call that is asked for nothing and comes back with nothing.
pub(super) const fn plain(action: Action) -> (Action, u64, u64, i64) {
    (action, 0, 0, 0)
}
