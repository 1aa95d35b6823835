//! What is written is read back, is small, and what is damaged is refused.

use super::{VERSION, read, write};
use crate::call::{Call, CallKind, NONE};
use crate::error::TraceError;
use crate::replay::{Choice, How, Program, Replay, When};
use crate::trace::{Ending, File, FileKind, Handle, ReadMemory, Run, Thread, Trace, TracerCost};

fn written(trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(trace, &mut bytes).unwrap();
    bytes
}

/// A program of four threads that reads and writes blocks here and there, sequentially and at odd
/// offsets, with looks at names between.
fn generated(calls: usize, files: u32) -> Trace {
    let mut trace = Trace {
        command: vec![b"a b".to_vec(), b"\xff".to_vec()],
        tracer: "strace 6.1".to_owned(),
        started_s: 1_795_360_036,
        wall_ns: 5_000_000_000,
        runs: vec![Run { wall_ns: 1, user_ns: 2, system_ns: 3 }],
        ending: Ending::Exited(3),
        tracer_cost: Some(TracerCost {
            ns: 7000,
            low_ns: 6900,
            high_ns: 7400,
            tail_ns: 90,
            untraced_ns: 200,
            wall_ns: 25_000,
        }),
        directory: b"/home/ana".to_vec(),
        ..Trace::default()
    };
    for index in 0..files {
        let name = format!("/home/somebody/project/src/module{}/file{index}.dat", index % 50);
        let size_bytes = Some(u64::from(index) * 1000);
        let kind = FileKind::Regular;
        trace.files.push(File { name: name.into_bytes(), kind, size_bytes, existed: Some(true) });
        trace.handles.push(Handle { file: index, opened: true });
    }
    for number in 0..4 {
        trace.threads.push(Thread { number: 4000 + number, process: 0, started_by: NONE });
    }
    let mut random = 12345u64;
    let mut draw = |below: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut at_ns = 0;
    for index in 0..calls {
        at_ns += 1000 * (5 + draw(200));
        let handle = draw(u64::from(files)) as u32;
        let (kind, handle, asked, offset) = match draw(10) {
            0 => (CallKind::Stat, NONE, 0, 0),
            1 => (CallKind::ReadAt, handle, 4096, draw(1 << 30)),
            2..5 => (CallKind::Write, 1, 4096, index as u64 * 4096),
            _ => (CallKind::Read, 2, 131_072, index as u64 * 131_072),
        };
        let file = if handle == NONE { draw(u64::from(files)) as u32 } else { handle };
        trace.calls.push(Call {
            at_ns,
            took_ns: 1000 * (5 + draw(30)),
            offset,
            asked,
            result: if draw(20) == 0 { (asked / 2) as i64 } else { asked as i64 },
            thread: draw(4) as u32,
            file,
            other: NONE,
            handle,
            detail: 0,
            kind,
        });
    }
    let read = |(_, call): &(usize, &Call)| call.kind == CallKind::ReadAt;
    let reads = trace.calls.iter().enumerate().filter(read);
    trace.read_memory = reads
        .map(|(call, _)| ReadMemory { call: call as u32, new_pages: 1, buffer_offset: 336 })
        .collect();
    trace
}

#[test]
fn a_trace_comes_back_as_it_was() {
    for calls in [0, 1, 1000] {
        let trace = generated(calls, 50);
        assert_eq!(read(written(&trace).as_slice()).unwrap(), trace);
    }
    let uncalibrated = Trace { tracer_cost: None, ..generated(100, 5) };
    assert!(!uncalibrated.read_memory.is_empty());
    assert_eq!(read(written(&uncalibrated).as_slice()).unwrap(), uncalibrated);
    assert_eq!(read(written(&Trace::default()).as_slice()).unwrap(), Trace::default());
}

/// 16 MiB and 100 MiB are what docs/trace-format.md promises of a million calls.
#[test]
fn a_million_calls_are_small_in_the_file_and_in_memory() {
    let trace = generated(1_000_000, 2000);
    let bytes = written(&trace);
    assert!(bytes.len() < 16 << 20, "{} bytes", bytes.len());
    let back = read(bytes.as_slice()).unwrap();
    assert_eq!(back.calls.len(), 1_000_000);
    let in_memory = back.calls.capacity() * size_of::<Call>() + bytes.len();
    assert!(in_memory < 100 << 20, "{in_memory} bytes");
}

#[test]
fn what_is_damaged_is_refused_and_says_where() {
    let bytes = written(&generated(50, 4));
    assert!(matches!(read(&b"hello"[..]), Err(TraceError::NotATrace)));
    for end in 8..bytes.len() {
        let refused = read(&bytes[..end]).unwrap_err();
        assert!(matches!(refused, TraceError::Damaged { .. }), "{end}: {refused}");
    }
    let mut later = bytes.clone();
    later[8] = VERSION as u8 + 1;
    let refused = read(later.as_slice()).unwrap_err().to_string();
    assert!(refused.contains("version 2") && refused.contains("newer iolab"), "{refused}");
}

/// A file of somebody who knows the sum: no byte changed makes an index that names nothing.
#[test]
fn what_is_forged_is_read_or_refused() {
    let bytes = written(&generated(30, 4));
    let body = bytes.len() - 8;
    for at in 9..body {
        for change in [0x01, 0x80, 0xff] {
            let mut forged = bytes[..body].to_vec();
            forged[at] ^= change;
            let sum = iolab_model::catalog::fnv1a(forged.iter().copied());
            forged.extend_from_slice(&sum.to_le_bytes());
            if let Ok(trace) = read(forged.as_slice()) {
                let fine = |call: &Call| {
                    (call.thread as usize) < trace.threads.len()
                        && (call.file == NONE || (call.file as usize) < trace.files.len())
                        && (call.handle == NONE || (call.handle as usize) < trace.handles.len())
                };
                assert!(trace.calls.iter().all(fine), "byte {at}");
                let _ = crate::Profile::of(&trace);
                let _ = crate::export::fio_iolog(&trace);
                let _ = Replay::of(&trace);
                for (how, block_bytes) in [(How::Pread, Some(4096)), (How::Mmap, None)] {
                    let choice = Choice {
                        how,
                        block_bytes,
                        sync: When::AtEnd,
                        threads: 2,
                        think: true,
                        ..Choice::default()
                    };
                    let _ = Program::of(&trace, choice);
                }
            }
        }
    }
}
