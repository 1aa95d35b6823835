//! fio's iolog, version 2 (fio's HOWTO, "Trace file format v2"): blocks of files with their offsets.

use std::fmt::Write;

use crate::call::{Call, CallKind, NONE};
use crate::trace::{FileKind, Trace};

/// What fio is given, and what it cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioLog {
    /// The file.
    pub text: String,
    /// Blocks and syncs that are in it.
    pub calls: u64,
    /// Calls on files that the format has no words for: stat, rename, mmap and their kin.
    pub left_out: u64,
    /// A line of shell for each file that is read: fio makes none that the log did not write first.
    pub files: String,
}

/// The blocks and syncs of a trace in the order in which they came back. Files are named by their
/// number (`file12`), never by their own name: fio writes to what the log names.
pub fn fio_iolog(trace: &Trace) -> FioLog {
    let mut log = FioLog {
        text: "fio version 2 iolog\n".to_owned(),
        calls: 0,
        left_out: 0,
        files: String::new(),
    };
    let mut reached = vec![0; trace.files.len()];
    let mut state = vec![State::Unnamed; trace.files.len()];
    for call in &trace.calls {
        let regular = |file: u32| trace.file(file).is_some_and(|f| f.kind == FileKind::Regular);
        if call.kind.is_of_processes() {
            continue;
        }
        match lines(trace, call).filter(|lines| lines.iter().all(|line| regular(line.file))) {
            Some(lines) => {
                log.calls += 1;
                for line in lines {
                    if let (true, Some((offset, bytes))) = (line.action == READ, line.range) {
                        let end: &mut u64 = &mut reached[line.file as usize];
                        *end = (*end).max(offset.saturating_add(bytes));
                    }
                    line.put(&mut state, &mut log.text);
                }
            }
            None if matches!(call.kind, CallKind::Open | CallKind::Close) => (),
            None => log.left_out += 1,
        }
    }
    for (index, bytes) in reached.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        let _ = writeln!(log.files, "truncate -s {bytes} file{index}");
    }
    for (index, state) in state.iter().enumerate() {
        if *state == State::Open {
            let _ = writeln!(log.text, "file{index} close");
        }
    }
    log
}

const READ: &str = "read";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unnamed,
    Open,
}

struct Line {
    file: u32,
    action: &'static str,
    /// Offset and bytes.
    range: Option<(u64, u64)>,
}

impl Line {
    fn put(&self, state: &mut [State], text: &mut String) {
        let (file, action) = (self.file, self.action);
        // Writing to a text cannot fail.
        if state[file as usize] == State::Unnamed {
            let _ = writeln!(text, "file{file} add\nfile{file} open");
            state[file as usize] = State::Open;
        }
        let _ = match self.range {
            Some((offset, bytes)) => writeln!(text, "file{file} {action} {offset} {bytes}"),
            None => writeln!(text, "file{file} {action} 0 0"),
        };
    }
}

/// The lines that a call is; nothing where it is none.
fn lines(trace: &Trace, call: &Call) -> Option<Vec<Line>> {
    let moved = call.moved_bytes();
    let line = |file, action, range| Line { file, action, range };
    let range = Some((call.offset, moved));
    match call.kind {
        _ if call.file == NONE || call.result < 0 => None,
        kind if kind.reads() && moved > 0 => Some(vec![line(call.file, READ, range)]),
        kind if kind.writes() && moved > 0 => Some(vec![line(call.file, "write", range)]),
        kind if kind.copies() && moved > 0 => {
            let to = trace.file_of_handle(call.other)?;
            Some(vec![line(call.file, READ, range), line(to, "write", range)])
        }
        CallKind::Sync => Some(vec![line(call.file, "sync", None)]),
        CallKind::DataSync => Some(vec![line(call.file, "datasync", None)]),
        _ => None,
    }
}
