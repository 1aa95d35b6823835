//! The log from its first line to its last: threads begin, calls are put together, threads end.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read};

use super::Limits;
use super::applied::{Effect, Maker};
use super::apply::apply;
use super::line::{Event, Line, line};
use super::state::{Group, State};
use super::words::words;
use crate::call::NONE;
use crate::error::TraceError;
use crate::trace::{Ending, Thread, Trace};

/// A thread that runs.
struct Live {
    index: u32,
    group: u32,
    begun: Option<Begun>,
}

/// A call on its way.
struct Begun {
    at_ns: u64,
    line: u64,
    words: Vec<u8>,
}

struct Reader {
    state: State,
    live: HashMap<u32, Live>,
    /// The last thread of each number, and the line in which it was first seen.
    numbers: HashMap<u32, (u32, u64)>,
    /// Threads that are about to have a child, by the line in which that began.
    forking: BTreeMap<u64, u32>,
    begun_bytes: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    /// The first line that was not understood.
    garbage: Option<(u64, String)>,
    understood: u64,
}

/// Reads a log of `strace -f -ttt -T -yy` as it comes.
///
/// # Errors
/// It is no log, has no times, or is more than `limits` give memory to; each names its line. Single
/// lines that are not understood are counted, and a log that ends too early is read up to its end.
pub fn parse(log: impl Read, limits: &Limits) -> Result<Trace, TraceError> {
    let mut log = std::io::BufReader::with_capacity(1 << 16, log);
    let mut reader = Reader {
        state: State::new(*limits),
        live: HashMap::new(),
        numbers: HashMap::new(),
        forking: BTreeMap::new(),
        begun_bytes: 0,
        first_ns: None,
        last_ns: 0,
        garbage: None,
        understood: 0,
    };
    let mut text = Vec::new();
    while let Some(is_whole) = next_line(&mut log, limits.line_bytes, &mut text)? {
        reader.state.line += 1;
        match is_whole {
            true => reader.take(&text)?,
            false => reader.skip(&text),
        }
    }
    reader.end()
}

/// Whether a file that begins so is a log of strace: one of its first lines is a call with a time, or
/// a thread's end.
pub fn looks_like_log(beginning: &[u8]) -> bool {
    const LINES: usize = 20;
    beginning.split(|byte| *byte == b'\n').take(LINES).any(|text| {
        let Line { thread, at_ns, event } = line(text);
        !matches!(event, Event::Garbage) && (at_ns.is_some() || thread > 0)
    })
}

/// The next line without its end; false where it is longer than the limit, whose rest is passed over.
pub(super) fn next_line(
    log: &mut impl BufRead,
    limit: u64,
    text: &mut Vec<u8>,
) -> std::io::Result<Option<bool>> {
    text.clear();
    let read = log.by_ref().take(limit).read_until(b'\n', text)?;
    if read == 0 {
        return Ok(None);
    }
    if text.last() == Some(&b'\n') {
        text.pop();
        return Ok(Some(true));
    }
    if (read as u64) < limit {
        return Ok(Some(true));
    }
    // A line of any length takes no memory.
    loop {
        let (used, is_end) = {
            let rest = log.fill_buf()?;
            match rest.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (rest.len(), rest.is_empty()),
            }
        };
        log.consume(used);
        if is_end {
            return Ok(Some(false));
        }
    }
}

impl Reader {
    fn take(&mut self, text: &[u8]) -> Result<(), TraceError> {
        if text.trim_ascii().is_empty() {
            return Ok(());
        }
        let Line { thread, at_ns, event } = line(text);
        if matches!(event, Event::Garbage) {
            self.skip(text);
            return Ok(());
        }
        let Some(at_ns) = at_ns else {
            // Remarks of strace itself have none.
            if matches!(event, Event::Remark | Event::Ended(_)) {
                return Ok(());
            }
            return Err(TraceError::NoTime { line: self.state.line });
        };
        let first = *self.first_ns.get_or_insert(at_ns);
        let at_ns = at_ns.saturating_sub(first);
        self.last_ns = self.last_ns.max(at_ns);
        self.live_thread(thread)?;
        match event {
            Event::Call(call) => self.call(thread, (at_ns, self.state.line), call, text),
            Event::Begun(begun) => self.begin(thread, at_ns, begun),
            Event::Resumed(name, rest) => self.resume(thread, at_ns, name, rest, text),
            Event::Ended(how) => {
                self.understood += 1;
                self.end_thread(thread, how);
                Ok(())
            }
            Event::Remark | Event::Garbage => Ok(()),
        }
    }

    fn skip(&mut self, text: &[u8]) {
        self.state.trace.skipped_lines += 1;
        let line = self.state.line;
        self.garbage.get_or_insert_with(|| {
            let shown = String::from_utf8_lossy(&text[..text.len().min(60)]);
            (line, shown.escape_debug().to_string())
        });
    }

    /// The thread of this number, made where it is new: a child may be seen before its parent's call
    /// has come back.
    fn live_thread(&mut self, number: u32) -> Result<(), TraceError> {
        if self.live.contains_key(&number) {
            return Ok(());
        }
        // Of several the one that has waited longest.
        let parent = self.forking.values().next().and_then(|parent| self.live.get(parent));
        let parent = parent.map(|live| {
            let words = live.begun.as_ref().map(|begun| begun.words.as_slice());
            (live.index, live.group, words.is_some_and(shares))
        });
        self.start(number, parent)
    }

    /// A thread begins; of its parent: index, group, and whether it shares its descriptors.
    fn start(&mut self, number: u32, parent: Option<(u32, u32, bool)>) -> Result<(), TraceError> {
        let index = self.state.trace.threads.len() as u32;
        self.state.within(u64::from(index), self.state.limits.threads, "threads")?;
        let (group, process) = match parent {
            Some((parent, group, true)) => {
                if let Some(found) = self.state.groups.get_mut(&group) {
                    found.users += 1;
                }
                (group, self.state.trace.threads[parent as usize].process)
            }
            Some((_, group, false)) => {
                let copy = self.state.groups.get(&group).cloned().unwrap_or_default();
                (self.state.group(copy)?, index)
            }
            None => (self.state.group(Group::default())?, index),
        };
        self.state.trace.threads.push(Thread { number, process, started_by: NONE });
        self.live.insert(number, Live { index, group, begun: None });
        self.numbers.insert(number, (index, self.state.line));
        Ok(())
    }

    fn begin(&mut self, thread: u32, at_ns: u64, words: &[u8]) -> Result<(), TraceError> {
        self.understood += 1;
        let Some(live) = self.live.get_mut(&thread) else { return Ok(()) };
        let line = self.state.line;
        let before = live.begun.replace(Begun { at_ns, line, words: words.to_vec() });
        if is_fork(words) {
            self.forking.insert(line, thread);
        }
        self.begun_bytes += words.len() as u64;
        self.forget(before.as_ref());
        self.state.within(self.begun_bytes, self.state.limits.begun_bytes, "bytes of begun calls")
    }

    fn resume(
        &mut self,
        thread: u32,
        at_ns: u64,
        name: &[u8],
        rest: &[u8],
        text: &[u8],
    ) -> Result<(), TraceError> {
        let begun = self.live.get_mut(&thread).and_then(|live| live.begun.take());
        self.forget(begun.as_ref());
        let Some(Begun { at_ns: began_ns, mut words, line }) = begun else {
            // Its beginning is before the log's, or it is a restarted call.
            self.skip(text);
            return Ok(());
        };
        if !words.starts_with(name) {
            self.skip(text);
            return Ok(());
        }
        words.extend_from_slice(rest);
        self.call(thread, (began_ns.min(at_ns), line), &words, text)
    }

    /// A call is no longer on its way.
    fn forget(&mut self, begun: Option<&Begun>) {
        if let Some(begun) = begun {
            self.begun_bytes -= begun.words.len() as u64;
            self.forking.remove(&begun.line);
        }
    }

    /// A whole call, with when and in which line it began.
    fn call(
        &mut self,
        thread: u32,
        (at_ns, began_line): (u64, u64),
        call: &[u8],
        text: &[u8],
    ) -> Result<(), TraceError> {
        let Some(words) = words(call) else {
            self.skip(text);
            return Ok(());
        };
        self.understood += 1;
        let Some(live) = self.live.get(&thread) else { return Ok(()) };
        let maker = Maker { thread: live.index, group: live.group, at_ns };
        let Some((mut call, effect)) = apply(&mut self.state, &words, maker)? else {
            self.state.trace.other_calls += 1;
            return Ok(());
        };
        let count = self.state.trace.calls.len() as u64;
        self.state.within(count, self.state.limits.calls, "calls")?;
        self.last_ns = self.last_ns.max(at_ns.saturating_add(call.took_ns));
        match effect {
            Effect::Nothing => (),
            Effect::Began(number, shares) => {
                // A child may be seen, and even end, before its parent's call has come back.
                let seen = self.numbers.get(&number).filter(|(_, line)| *line > began_line);
                if seen.is_none() && !self.live.contains_key(&number) {
                    self.start(number, Some((maker.thread, maker.group, shares)))?;
                }
                if let Some((child, _)) = self.numbers.get(&number) {
                    call.other = *child;
                    self.state.trace.threads[*child as usize].started_by = count as u32;
                }
            }
            Effect::WaitedFor(number) => {
                call.other = self.numbers.get(&number).map_or(NONE, |(index, _)| *index);
            }
        }
        self.state.trace.calls.push(call);
        Ok(())
    }

    fn end_thread(&mut self, number: u32, how: &[u8]) {
        let Some(live) = self.live.remove(&number) else { return };
        self.forget(live.begun.as_ref());
        self.state.leave(live.group);
        if live.index == 0 {
            self.state.trace.ending = ending(how);
        }
    }

    fn end(mut self) -> Result<Trace, TraceError> {
        if self.understood == 0 {
            return Err(match self.garbage {
                Some((line, text)) => TraceError::NotALog { line, text },
                None => TraceError::Empty,
            });
        }
        self.state.trace.is_cut = !self.live.is_empty();
        self.state.trace.wall_ns = self.last_ns;
        // Seconds since 1970, where the log counts from there.
        let first_s = self.first_ns.unwrap_or(0) / 1_000_000_000;
        self.state.trace.started_s = if first_s > 1_000_000_000 { first_s } else { 0 };
        Ok(self.state.finish())
    }
}

fn is_fork(words: &[u8]) -> bool {
    [&b"clone("[..], b"clone3(", b"fork(", b"vfork("].iter().any(|name| words.starts_with(name))
}

fn shares(words: &[u8]) -> bool {
    super::line::find(words, b"CLONE_FILES").is_some()
}

/// `exited with 3 +++`, `killed by SIGKILL +++`.
fn ending(how: &[u8]) -> Ending {
    let text = String::from_utf8_lossy(how);
    let word = |start: &str| text.strip_prefix(start).and_then(|rest| rest.split(' ').next());
    if let Some(status) = word("exited with ").and_then(|status| status.parse().ok()) {
        return Ending::Exited(status);
    }
    match word("killed by ") {
        Some(name) => Ending::Killed(signal_number(name)),
        None => Ending::Unknown,
    }
}

/// Numbers of signals that end programs; 0 for another.
fn signal_number(name: &str) -> u8 {
    let known = [
        ("SIGHUP", 1),
        ("SIGINT", 2),
        ("SIGQUIT", 3),
        ("SIGILL", 4),
        ("SIGABRT", 6),
        ("SIGBUS", 7),
        ("SIGFPE", 8),
        ("SIGKILL", 9),
        ("SIGSEGV", 11),
        ("SIGPIPE", 13),
        ("SIGTERM", 15),
    ];
    known.iter().find(|(known, _)| *known == name).map_or(0, |(_, number)| *number)
}
