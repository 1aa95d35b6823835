//! A trace from its file. The file may be anybody's: every index is checked, no count gets memory that
//! the bytes do not bear out.

use std::io::Read;

use iolab_model::catalog::fnv1a;

use super::expected::{Expected, usual_asked, usual_offset, usual_result};
use super::present;
use super::varint::Bytes;
use super::{MAGIC, VERSION};
use crate::call::{Call, CallKind, NONE};
use crate::error::TraceError;
use crate::trace::{Ending, File, FileKind, Handle, ReadMemory, Run, Thread, Trace, TracerCost};

/// Bytes of a trace's file, at most.
const MOST_BYTES: u64 = 1 << 30;
/// Bytes of all names together, at most: they are told by what they share, which is short to write.
const MOST_NAME_BYTES: usize = 256 << 20;
/// A call takes so many bytes at least: kind, bits, two times.
const LEAST_OF_CALL: usize = 4;

/// Reads a trace.
///
/// # Errors
/// What `from` met, or it is no trace, a later version's, or damaged: with the byte where that was
/// seen.
pub fn read(from: impl Read) -> Result<Trace, TraceError> {
    let mut all = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut all)?;
    if !all.starts_with(MAGIC) {
        return Err(TraceError::NotATrace);
    }
    let too_long = TraceError::Damaged { at_byte: MOST_BYTES, why: "it is larger than 1 GiB" };
    if all.len() as u64 > MOST_BYTES {
        return Err(too_long);
    }
    // The version first: a later one may end otherwise.
    let version = Bytes::new(&all, MAGIC.len()).number()?;
    if version > VERSION {
        return Err(TraceError::Newer { found: version, known: VERSION });
    }
    let sum_at = all.len().saturating_sub(8).max(MAGIC.len());
    let (body, sum) = all.split_at(sum_at);
    if fnv1a(body.iter().copied()).to_le_bytes() != *sum {
        let at_byte = sum_at as u64;
        return Err(TraceError::Damaged { at_byte, why: "its sum is another: bytes are missing" });
    }
    let mut bytes = Bytes::new(body, MAGIC.len());
    bytes.number()?;
    let mut trace = head(&mut bytes)?;
    trace.files = files(&mut bytes)?;
    trace.handles = handles(&mut bytes, trace.files.len())?;
    trace.threads = threads(&mut bytes)?;
    trace.calls = calls(&mut bytes, &trace)?;
    measured(&mut bytes, &mut trace)?;
    let calls = trace.calls.len();
    let started = trace.threads.iter().map(|thread| thread.started_by);
    if started.into_iter().any(|call| call != NONE && call as usize >= calls) {
        return Err(bytes.damaged("a thread was started by no call"));
    }
    Ok(trace)
}

fn head(bytes: &mut Bytes<'_>) -> Result<Trace, TraceError> {
    let mut trace = Trace::default();
    for _ in 0..bytes.count(1)? {
        trace.command.push(bytes.bytes()?.to_vec());
    }
    trace.tracer = String::from_utf8_lossy(bytes.bytes()?).into_owned();
    trace.started_s = bytes.number()?;
    trace.wall_ns = bytes.number()?;
    for _ in 0..bytes.count(3)? {
        let (wall_ns, user_ns, system_ns) = (bytes.number()?, bytes.number()?, bytes.number()?);
        trace.runs.push(Run { wall_ns, user_ns, system_ns });
    }
    let (code, value) = (bytes.number()?, bytes.number()? as u8);
    trace.ending = match code {
        1 => Ending::Exited(value),
        2 => Ending::Killed(value),
        _ => Ending::Unknown,
    };
    trace.other_calls = bytes.number()?;
    trace.skipped_lines = bytes.number()?;
    trace.is_cut = bytes.number()? != 0;
    Ok(trace)
}

/// What earlier versions of iolab did not write.
fn measured(bytes: &mut Bytes<'_>, trace: &mut Trace) -> Result<(), TraceError> {
    if bytes.is_at_end() {
        return Ok(());
    }
    trace.directory = bytes.bytes()?.to_vec();
    if bytes.is_at_end() {
        return Ok(());
    }
    let mut costs = Vec::new();
    for _ in 0..bytes.count(1)? {
        costs.push(bytes.number()?);
    }
    if let [ns, low_ns, high_ns, tail_ns, untraced_ns, wall_ns, ..] = costs[..] {
        let cost = TracerCost { ns, low_ns, high_ns, tail_ns, untraced_ns, wall_ns };
        trace.tracer_cost = Some(cost);
    }
    if !bytes.is_at_end() {
        trace.read_memory = read_memory(bytes, trace.calls.len())?;
    }
    Ok(())
}

fn read_memory(bytes: &mut Bytes<'_>, calls: usize) -> Result<Vec<ReadMemory>, TraceError> {
    let mut found: Vec<ReadMemory> = Vec::new();
    for _ in 0..bytes.count(3)? {
        let (step, new_pages, buffer_offset) = (bytes.index()?, bytes.index()?, bytes.index()?);
        let call = found.last().map_or(0, |memory| memory.call).checked_add(step);
        let call = call.filter(|call| (*call as usize) < calls && (step > 0 || found.is_empty()));
        let place =
            u16::try_from(buffer_offset).ok().filter(|at| u64::from(*at) < ReadMemory::PAGE_BYTES);
        let (Some(call), Some(buffer_offset)) = (call, place) else {
            return Err(bytes.damaged("memory of no read, or none that there is"));
        };
        found.push(ReadMemory { call, new_pages, buffer_offset });
    }
    Ok(found)
}

fn files(bytes: &mut Bytes<'_>) -> Result<Vec<File>, TraceError> {
    let count = bytes.count(5)?;
    let mut files: Vec<File> = Vec::with_capacity(count);
    let mut name_bytes = 0;
    for _ in 0..count {
        let same = bytes.number()?;
        let rest = bytes.bytes()?;
        let before = files.last().map(|file| file.name.as_slice()).unwrap_or_default();
        let same = usize::try_from(same).ok().and_then(|same| before.get(..same));
        let same = same.ok_or_else(|| bytes.damaged("a name begins with more than there is"))?;
        let name = [same, rest].concat();
        name_bytes += name.len();
        if name_bytes > MOST_NAME_BYTES {
            return Err(bytes.damaged("more than 256 MiB of names"));
        }
        let kind = FileKind::ALL.get(usize::from(bytes.byte()?)).copied();
        let kind = kind.ok_or_else(|| bytes.damaged("a kind of file that there is not"))?;
        let size_bytes = bytes.number()?.checked_sub(1);
        let existed = match bytes.byte()? {
            0 => None,
            1 => Some(false),
            _ => Some(true),
        };
        files.push(File { name, kind, size_bytes, existed });
    }
    Ok(files)
}

fn handles(bytes: &mut Bytes<'_>, files: usize) -> Result<Vec<Handle>, TraceError> {
    let count = bytes.count(1)?;
    let mut handles = Vec::with_capacity(count);
    let mut before = 0i64;
    for _ in 0..count {
        let word = bytes.signed()?;
        let file = before.wrapping_add(word >> 1);
        let known = u32::try_from(file).ok().filter(|file| (*file as usize) < files);
        let index = known.ok_or_else(|| bytes.damaged("a handle of no file"))?;
        handles.push(Handle { file: index, opened: word & 1 == 1 });
        before = file;
    }
    Ok(handles)
}

fn threads(bytes: &mut Bytes<'_>) -> Result<Vec<Thread>, TraceError> {
    let count = bytes.count(3)?;
    let mut threads = Vec::with_capacity(count);
    for _ in 0..count {
        let (number, process) = (bytes.index()?, bytes.index()?);
        let started_by = bytes.index()?.wrapping_sub(1);
        if process as usize >= count {
            return Err(bytes.damaged("a thread of no process"));
        }
        threads.push(Thread { number, process, started_by });
    }
    Ok(threads)
}

fn calls(bytes: &mut Bytes<'_>, trace: &Trace) -> Result<Vec<Call>, TraceError> {
    let tick_ns = bytes.number()?;
    let count = bytes.count(LEAST_OF_CALL)?;
    let mut expected = Expected::new(trace.handles.len());
    let mut calls = Vec::with_capacity(count);
    for _ in 0..count {
        calls.push(one(bytes, trace, tick_ns, &mut expected)?);
    }
    Ok(calls)
}

fn one(
    bytes: &mut Bytes<'_>,
    trace: &Trace,
    tick_ns: u64,
    expected: &mut Expected,
) -> Result<Call, TraceError> {
    let kind = CallKind::from_code(bytes.byte()?);
    let kind = kind.ok_or_else(|| bytes.damaged("a kind of call that there is not"))?;
    let bits = bytes.byte()?;
    let has = |bit: u8| bits & bit != 0;
    let thread = if has(present::THREAD) { bytes.index()? } else { expected.thread };
    let handle = match has(present::HANDLE) {
        true => {
            let before = i64::from(expected.handle.wrapping_add(1));
            let next = before.wrapping_add(bytes.signed()?);
            let next = u32::try_from(next).map_err(|_| bytes.damaged("no such handle"))?;
            next.wrapping_sub(1)
        }
        false => expected.handle,
    };
    let (last_end, last_asked) = expected.range(handle);
    let mut offset = usual_offset(kind, last_end);
    if has(present::OFFSET) {
        offset = offset.wrapping_add(bytes.signed()? as u64);
    }
    let asked = match has(present::ASKED) {
        true => bytes.number()?,
        false => usual_asked(kind, last_asked),
    };
    let result = match has(present::RESULT) {
        true => bytes.signed()?,
        false => usual_result(kind, asked),
    };
    let detail = if has(present::DETAIL) { bytes.index()? } else { expected.detail(kind) };
    let file = match has(present::FILE) {
        true => bytes.index()?.wrapping_sub(1),
        false => trace.file_of_handle(handle).unwrap_or(NONE),
    };
    let other = if has(present::OTHER) { bytes.index()? } else { NONE };
    let at = expected.end_ticks.wrapping_add(bytes.signed()? as u64);
    let took = bytes.number()?;
    let (at_ns, took_ns) = (at.wrapping_mul(tick_ns), took.wrapping_mul(tick_ns));
    let call =
        Call { at_ns, took_ns, offset, asked, result, thread, file, other, handle, detail, kind };
    checked(&call, trace).map_err(|why| bytes.damaged(why))?;
    expected.then(&call, at.wrapping_add(took));
    Ok(call)
}

/// Every index names something.
fn checked(call: &Call, trace: &Trace) -> Result<(), &'static str> {
    let within = |index: u32, count: usize| index == NONE || (index as usize) < count;
    let (files, handles, threads) = (trace.files.len(), trace.handles.len(), trace.threads.len());
    let others = match call.kind {
        CallKind::Rename | CallKind::Link => files,
        CallKind::Fork | CallKind::Wait => threads,
        _ => handles,
    };
    match () {
        () if (call.thread as usize) >= threads => Err("a call of no thread"),
        () if !within(call.file, files) => Err("a call on no file"),
        () if !within(call.handle, handles) => Err("a call on no handle"),
        () if !within(call.other, others) => Err("a call whose other side is nothing"),
        () => Ok(()),
    }
}
