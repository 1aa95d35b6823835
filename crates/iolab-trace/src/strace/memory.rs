//! Where in the program's memory reads went. A log of the same command once more, whose reads stand there
//! with the addresses of their buffers, is held against a trace, thread by thread: of threads that read the
//! same in both, each read is told how far into a page its buffer began, and how many pages it was the first
//! to touch. The kernel finds a page for each of those while the read waits, which takes about as long as to
//! copy some kilobytes; and a buffer at an odd multiple of 16 bytes takes up to half as long again.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Read;

use super::apply::result;
use super::line::{Event, find, line};
use super::reader::next_line;
use super::words::{Words, count, words};
use super::{Limits, RAW_CALLS};
use crate::error::TraceError;
use crate::trace::{ReadMemory, Trace};

/// Tells a trace what a log says of the memory of its reads.
///
/// # Errors
/// The log cannot be read.
pub fn learn_memory(
    trace: &mut Trace,
    log: impl Read,
    limits: &Limits,
) -> std::result::Result<(), TraceError> {
    let mut log = std::io::BufReader::with_capacity(1 << 16, log);
    let (mut seen, mut text) = (Log::default(), Vec::new());
    let mut left = limits.calls;
    while let Some(is_whole) = next_line(&mut log, limits.line_bytes, &mut text)? {
        left = left.saturating_sub(1);
        if is_whole && left > 0 {
            seen.take(&text);
        }
    }
    trace.read_memory = held_against(trace, seen.threads);
    Ok(())
}

/// What one read says of its memory.
#[derive(Clone, Copy)]
struct Seen {
    came_back: i64,
    new_pages: u32,
    /// Bytes into a page, of a read into one buffer that brought something.
    buffer_offset: Option<u16>,
}

/// Reads of a thread, in order.
type Reads = Vec<Seen>;

/// Where the reads of a trace went, of threads whose reads came back with the same.
fn held_against(trace: &Trace, threads: Vec<Reads>) -> Vec<ReadMemory> {
    let mut by_results: HashMap<Vec<i64>, VecDeque<Reads>> = HashMap::new();
    for reads in threads {
        let results = reads.iter().map(|read| read.came_back).collect();
        by_results.entry(results).or_default().push_back(reads);
    }
    let mut recorded = vec![(Vec::new(), Vec::new()); trace.threads.len()];
    for (index, call) in trace.calls.iter().enumerate().filter(|(_, call)| call.kind.reads()) {
        if let Some((calls, results)) = recorded.get_mut(call.thread as usize) {
            calls.push(index as u32);
            results.push(call.result);
        }
    }
    let mut found = Vec::new();
    for (calls, results) in recorded {
        let reads = by_results.get_mut(&results).and_then(VecDeque::pop_front);
        let mut last = None;
        for (call, read) in calls.into_iter().zip(reads.into_iter().flatten()) {
            let Seen { new_pages, buffer_offset: Some(buffer_offset), .. } = read else { continue };
            // The usual read goes where the last one did.
            if new_pages > 0 || last != Some(buffer_offset) {
                found.push(ReadMemory { call, new_pages, buffer_offset });
            }
            last = Some(buffer_offset);
        }
    }
    found.sort_unstable_by_key(|memory| memory.call);
    found
}

/// Ranges of pages that were touched; neighbours are one.
#[derive(Default)]
struct Touched(BTreeMap<u64, u64>);

impl Touched {
    /// Nothing of it is in use any more.
    fn forget(&mut self, start: u64, end: u64) {
        for (from, to) in self.overlapping(start, end) {
            self.0.remove(&from);
            if from < start {
                self.0.insert(from, start);
            }
            if to > end {
                self.0.insert(end, to);
            }
        }
    }

    fn touch(&mut self, start: u64, end: u64) {
        let ranges = self.overlapping(start.saturating_sub(1), end.saturating_add(1));
        let (mut from, mut to) = (start, end);
        for (first, last) in ranges {
            self.0.remove(&first);
            (from, to) = (from.min(first), to.max(last));
        }
        if to > from {
            self.0.insert(from, to);
        }
    }

    /// Pages of it that nothing has touched.
    fn untouched(&self, start: u64, end: u64) -> u64 {
        let ranges = self.overlapping(start, end);
        let touched = ranges.iter().map(|(from, to)| to.min(&end) - from.max(&start));
        end.saturating_sub(start) - touched.sum::<u64>()
    }

    fn overlapping(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let before = self.0.range(..end).rev();
        let mut found: Vec<(u64, u64)> =
            before.map(|(from, to)| (*from, *to)).take_while(|(_, to)| *to > start).collect();
        found.reverse();
        found
    }
}

/// The memory of a process.
#[derive(Default)]
struct Memory {
    touched: Touched,
    /// Where its heap ends.
    end: u64,
}

impl Memory {
    /// A read has put so many bytes there. Pages that it shares with what lies before and behind were
    /// touched by the allocator, whose notes stand there.
    fn read(&mut self, address: u64, bytes: u64) -> u32 {
        let end = address.saturating_add(bytes);
        let (first, last) =
            (address.div_ceil(ReadMemory::PAGE_BYTES), end / ReadMemory::PAGE_BYTES);
        let new = if last > first { self.touched.untouched(first, last) } else { 0 };
        self.touched.touch(address / ReadMemory::PAGE_BYTES, end.div_ceil(ReadMemory::PAGE_BYTES));
        u32::try_from(new).unwrap_or(u32::MAX)
    }

    fn forget(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes).div_ceil(ReadMemory::PAGE_BYTES);
        self.touched.forget(address / ReadMemory::PAGE_BYTES, end);
    }

    fn heap_ends(&mut self, end: u64) {
        if end < self.end {
            self.forget(end, self.end - end);
        }
        self.end = end;
    }
}

/// A thread of the log.
struct Live {
    /// Index of [`Log::threads`].
    thread: usize,
    memory: usize,
    begun: Vec<u8>,
}

#[derive(Default)]
struct Log {
    threads: Vec<Reads>,
    memories: Vec<Memory>,
    live: HashMap<u32, Live>,
}

impl Log {
    fn take(&mut self, text: &[u8]) {
        let line = line(text);
        match line.event {
            Event::Call(call) => self.call(line.thread, call),
            Event::Begun(begun) => begun.clone_into(&mut self.thread(line.thread).begun),
            Event::Resumed(_, rest) => {
                let mut whole = std::mem::take(&mut self.thread(line.thread).begun);
                whole.extend_from_slice(rest);
                self.call(line.thread, &whole);
            }
            Event::Ended(_) => drop(self.live.remove(&line.thread)),
            Event::Remark | Event::Garbage => (),
        }
    }

    /// A thread that is new has memory of its own: after a fork each page is copied as it is written to.
    fn thread(&mut self, number: u32) -> &mut Live {
        self.live.entry(number).or_insert_with(|| {
            self.threads.push(Vec::new());
            self.memories.push(Memory::default());
            let (thread, memory) = (self.threads.len() - 1, self.memories.len() - 1);
            Live { thread, memory, begun: Vec::new() }
        })
    }

    fn call(&mut self, number: u32, text: &[u8]) {
        let Some(words) = words(text) else { return };
        let came_back = came_back(words.came_back);
        let live = self.thread(number);
        let (thread, memory) = (live.thread, live.memory);
        let argument = |at: usize| words.arguments.get(at).copied().and_then(count).unwrap_or(0);
        let (Some(reads), Some(known)) =
            (self.threads.get_mut(thread), self.memories.get_mut(memory))
        else {
            return;
        };
        if RAW_CALLS.iter().any(|name| name.as_bytes() == words.name) {
            let (address, bytes) = (argument(1), u64::try_from(came_back).unwrap_or(0));
            let buffer_offset = (bytes > 0).then_some((address % ReadMemory::PAGE_BYTES) as u16);
            let new_pages = known.read(address, bytes);
            return reads.push(Seen { came_back, new_pages, buffer_offset });
        }
        match words.name {
            b"readv" | b"preadv" | b"preadv2" => {
                reads.push(Seen { came_back, new_pages: 0, buffer_offset: None });
            }
            _ if came_back < 0 => (),
            b"brk" => known.heap_ends(came_back as u64),
            b"munmap" => known.forget(argument(0), argument(1)),
            b"madvise" if gives_back(&words) => known.forget(argument(0), argument(1)),
            b"execve" | b"execveat" => *known = Memory::default(),
            _ if shares(&words) => self.shares(came_back as u32, memory),
            _ => (),
        }
    }

    /// A thread that began has this memory.
    fn shares(&mut self, number: u32, memory: usize) {
        let is_new = !self.live.contains_key(&number);
        let live = self.thread(number);
        if is_new {
            live.memory = memory;
        }
    }
}

fn gives_back(words: &Words<'_>) -> bool {
    words.arguments.get(2).is_some_and(|advice| *advice == b"MADV_DONTNEED")
}

/// Whether it began a thread, or a process until it begins another program.
fn shares(words: &Words<'_>) -> bool {
    let begins = [&b"clone"[..], b"clone3", b"vfork"].contains(&words.name);
    let with_memory = words.arguments.iter().any(|word| find(word, b"CLONE_VM").is_some());
    begins && (with_memory || words.name == b"vfork")
}

/// As [`result`], but a raw count and an address have their values.
fn came_back(text: &[u8]) -> i64 {
    count(text).and_then(|number| i64::try_from(number).ok()).unwrap_or_else(|| result(text))
}

#[cfg(test)]
mod tests {
    use super::super::CALLS_OF_MEMORY;
    use super::{RAW_CALLS, came_back, learn_memory};
    use crate::call::UNKNOWN_RESULT;
    use crate::{Limits, Trace, parse};

    /// A program that reads twice, and starts another that reads once.
    const LOG: &str = "\
        7 1.0 read(3</a>, \"\"..., 16384) = 16384 <0.1>\n\
        7 1.1 read(3</a>, \"\"..., 16384) = 16384 <0.1>\n\
        7 1.2 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.1>\n\
        8 1.3 pread64(3</a>, \"\"..., 8192, 0) = 8192 <0.1>\n\
        8 1.4 read(4</b>, 0x1, 10) = -1 EISDIR (Is a directory) <0.1>\n";

    fn trace() -> Trace {
        parse(LOG.as_bytes(), &Limits::default()).unwrap()
    }

    fn learned(log: &str) -> Vec<(u32, u32, u16)> {
        let mut trace = trace();
        learn_memory(&mut trace, log.as_bytes(), &Limits::default()).unwrap();
        trace.read_memory.iter().map(|of| (of.call, of.new_pages, of.buffer_offset)).collect()
    }

    #[test]
    fn the_first_read_into_memory_brings_its_pages_into_use() {
        let again = "\
            70 read(0x3, 0x10010, 0x4000) = 0x4000\n\
            70 read(0x3, 0x10010, 0x4000) = 0x4000\n\
            80 pread64(0x3, 0x10000, 0x2000, 0) = 0x2000\n\
            80 read(0x4, 0x1, 0xa) = -1 (errno 21)\n\
            80 +++ exited with 0 +++\n";
        // Of four pages and a bit the outer two are the allocator's; the child's are its own.
        assert_eq!(learned(again), [(0, 3, 16), (3, 2, 0)]);
        let freed = again.replacen("4000\n", "4000\n70 munmap(0x10000, 24576) = 0\n", 1);
        assert_eq!(learned(&freed), [(0, 3, 16), (1, 3, 16), (3, 2, 0)]);
        let trimmed = again.replacen("70 read", "70 brk(NULL) = 0x16000\n70 read", 1).replacen(
            "4000\n",
            "4000\n70 brk(0x12000) = 0x12000\n",
            1,
        );
        assert_eq!(learned(&trimmed), [(0, 3, 16), (1, 2, 16), (3, 2, 0)]);
        let shared = again.replace("80 pread", "70 clone(flags=CLONE_VM|CLONE_FS) = 80\n80 pread");
        assert_eq!(learned(&shared), [(0, 3, 16), (3, 0, 0)]);
    }

    /// Another run may read otherwise: then nothing is said of that thread.
    #[test]
    fn a_thread_that_read_something_else_says_nothing() {
        let otherwise = "70 read(0x3, 0x10000, 0x4000) = 0x3000\n\
            80 pread64(0x3, 0x10000, 0x2000, 0) = 0x2000\n\
            80 read(0x4, 0x1, 0xa) = -1 EISDIR (Is a directory)\n";
        assert_eq!(learned(otherwise), [(3, 2, 0)]);
        assert!(learned("").is_empty() && learned("nonsense\n9 read(\n").is_empty());
    }

    #[test]
    fn results_are_read_raw_and_in_words() {
        let all = [("0x10", 16), ("5", 5), ("-1 (errno 4)", -4), ("-1 EINTR (Interrupted)", -4)];
        all.iter().for_each(|(text, number)| assert_eq!(came_back(text.as_bytes()), *number));
        assert_eq!((came_back(b"?"), came_back(b"")), (UNKNOWN_RESULT, UNKNOWN_RESULT));
        assert!(RAW_CALLS.iter().all(|name| CALLS_OF_MEMORY.contains(name)));
    }
}
