//! A trace into its file.

use std::io::Write;

use iolab_model::catalog::fnv1a;

use super::expected::{Expected, usual_asked, usual_offset, usual_result};
use super::present;
use super::varint::{put, put_bytes, put_signed};
use super::{MAGIC, VERSION};
use crate::call::{Call, NONE};
use crate::error::TraceError;
use crate::trace::{Ending, Trace, TracerCost};

/// Writes a trace.
///
/// # Errors
/// What `out` met.
pub fn write(trace: &Trace, out: &mut impl Write) -> Result<(), TraceError> {
    let mut bytes = Vec::with_capacity(1 << 16);
    bytes.extend_from_slice(MAGIC);
    put(&mut bytes, VERSION);
    head(trace, &mut bytes);
    files(trace, &mut bytes);
    handles_and_threads(trace, &mut bytes);
    calls(trace, &mut bytes);
    measured(trace, &mut bytes);
    let sum = fnv1a(bytes.iter().copied());
    bytes.extend_from_slice(&sum.to_le_bytes());
    out.write_all(&bytes)?;
    Ok(out.flush()?)
}

fn head(trace: &Trace, out: &mut Vec<u8>) {
    put(out, trace.command.len() as u64);
    trace.command.iter().for_each(|word| put_bytes(out, word));
    put_bytes(out, trace.tracer.as_bytes());
    put(out, trace.started_s);
    put(out, trace.wall_ns);
    put(out, trace.runs.len() as u64);
    for run in &trace.runs {
        [run.wall_ns, run.user_ns, run.system_ns].iter().for_each(|ns| put(out, *ns));
    }
    let (code, value) = match trace.ending {
        Ending::Unknown => (0, 0),
        Ending::Exited(status) => (1, status),
        Ending::Killed(signal) => (2, signal),
    };
    put(out, code);
    put(out, u64::from(value));
    put(out, trace.other_calls);
    put(out, trace.skipped_lines);
    put(out, u64::from(trace.is_cut));
}

/// Behind the calls, where readers that do not know of it have ended.
fn measured(trace: &Trace, out: &mut Vec<u8>) {
    let knows_cost = trace.tracer_cost.is_some();
    if !knows_cost && trace.directory.is_empty() && trace.read_memory.is_empty() {
        return;
    }
    put_bytes(out, &trace.directory);
    if let Some(cost) = trace.tracer_cost {
        let TracerCost { ns, low_ns, high_ns, tail_ns, untraced_ns, wall_ns } = cost;
        let all = [ns, low_ns, high_ns, tail_ns, untraced_ns, wall_ns];
        put(out, all.len() as u64);
        all.iter().for_each(|ns| put(out, *ns));
    }
    if !trace.read_memory.is_empty() {
        if !knows_cost {
            put(out, 0);
        }
        read_memory(trace, out);
    }
}

fn read_memory(trace: &Trace, out: &mut Vec<u8>) {
    put(out, trace.read_memory.len() as u64);
    let mut before = 0;
    for memory in &trace.read_memory {
        put(out, u64::from(memory.call.wrapping_sub(before)));
        put(out, u64::from(memory.new_pages));
        put(out, u64::from(memory.buffer_offset));
        before = memory.call;
    }
}

fn files(trace: &Trace, out: &mut Vec<u8>) {
    put(out, trace.files.len() as u64);
    let mut before: &[u8] = &[];
    for file in &trace.files {
        let same = before.iter().zip(&file.name).take_while(|(a, b)| a == b).count();
        put(out, same as u64);
        put_bytes(out, &file.name[same..]);
        out.push(file.kind as u8);
        put(out, file.size_bytes.map_or(0, |bytes| bytes.saturating_add(1)));
        out.push(match file.existed {
            None => 0,
            Some(false) => 1,
            Some(true) => 2,
        });
        before = &file.name;
    }
}

fn handles_and_threads(trace: &Trace, out: &mut Vec<u8>) {
    put(out, trace.handles.len() as u64);
    let mut before = 0;
    for handle in &trace.handles {
        let step = i64::from(handle.file) - before;
        put_signed(out, step * 2 + i64::from(handle.opened));
        before = i64::from(handle.file);
    }
    put(out, trace.threads.len() as u64);
    for thread in &trace.threads {
        put(out, u64::from(thread.number));
        put(out, u64::from(thread.process));
        put(out, u64::from(thread.started_by.wrapping_add(1)));
    }
}

/// The longest unit in which every time is a whole number: a microsecond, for most logs.
fn tick_ns(calls: &[Call]) -> u64 {
    let whole = |ns: u64| ns.is_multiple_of(1000);
    if calls.iter().all(|call| whole(call.at_ns) && whole(call.took_ns)) { 1000 } else { 1 }
}

fn calls(trace: &Trace, out: &mut Vec<u8>) {
    let tick_ns = tick_ns(&trace.calls);
    put(out, tick_ns);
    put(out, trace.calls.len() as u64);
    let mut expected = Expected::new(trace.handles.len());
    for call in &trace.calls {
        one(trace, call, tick_ns, &mut expected, out);
    }
}

fn one(trace: &Trace, call: &Call, tick_ns: u64, expected: &mut Expected, out: &mut Vec<u8>) {
    out.push(call.kind as u8);
    let flags = out.len();
    out.push(0);
    let mut bits = 0;
    if call.thread != expected.thread {
        bits |= present::THREAD;
        put(out, u64::from(call.thread));
    }
    if call.handle != expected.handle {
        bits |= present::HANDLE;
        let before = i64::from(expected.handle.wrapping_add(1));
        put_signed(out, i64::from(call.handle.wrapping_add(1)) - before);
    }
    let (offset, asked) = expected.range(call.handle);
    let offset = usual_offset(call.kind, offset);
    if call.offset != offset {
        bits |= present::OFFSET;
        put_signed(out, call.offset.wrapping_sub(offset) as i64);
    }
    if call.asked != usual_asked(call.kind, asked) {
        bits |= present::ASKED;
        put(out, call.asked);
    }
    if call.result != usual_result(call.kind, call.asked) {
        bits |= present::RESULT;
        put_signed(out, call.result);
    }
    if call.detail != expected.detail(call.kind) {
        bits |= present::DETAIL;
        put(out, u64::from(call.detail));
    }
    if call.file != trace.file_of_handle(call.handle).unwrap_or(NONE) {
        bits |= present::FILE;
        put(out, u64::from(call.file.wrapping_add(1)));
    }
    if call.other != NONE {
        bits |= present::OTHER;
        put(out, u64::from(call.other));
    }
    out[flags] = bits;
    let (at, took) = (call.at_ns / tick_ns, call.took_ns / tick_ns);
    put_signed(out, at.wrapping_sub(expected.end_ticks) as i64);
    put(out, took);
    expected.then(call, at.wrapping_add(took));
}
