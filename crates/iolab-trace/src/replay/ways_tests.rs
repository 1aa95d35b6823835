//! The same work in another way: advice, think time, rings, past the page cache.

use std::io::Cursor;

use super::logs::{on_a, plain, reads, steps, trace, written_and_synced};
use super::{Action, Advice, Choice, How, Program, Replay, Step};
use crate::strace::{Limits, parse};
use crate::trace::{Run, Trace, TracerCost};

fn by(trace: &Trace, choice: Choice) -> Vec<Step> {
    Program::of(trace, choice).lanes.into_iter().flatten().collect()
}

/// Advice on the order of reads by the slot that it is for, and the calls around it.
#[test]
fn advice_is_told_of_each_file_that_is_read_before_it_is() {
    let trace = trace(&[
        "1 read(0</d/in>, \"\"..., 10) = 10",
        "1 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 3</d/a>",
        "1 fadvise64(3</d/a>, 0, 0, POSIX_FADV_RANDOM) = 0",
        "1 openat(AT_FDCWD</d>, \"b\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 4</d/b>",
        "1 pread64(3</d/a>, \"\"..., 10, 90) = 10",
        "1 fadvise64(3</d/a>, 0, 0, POSIX_FADV_DONTNEED) = 0",
        "1 write(4</d/b>, \"\"..., 10) = 10",
    ]);
    let with = |readahead| {
        let all = by(&trace, Choice { readahead, ..Choice::default() });
        all.iter().map(|step| (step.action, step.slot, step.flags)).collect::<Vec<_>>()
    };
    let recorded = with(Advice::Recorded);
    let (read, open, told) = (recorded[0], recorded[1], recorded[2]);
    assert_eq!((read.0, open.0, told), (Action::Read, Action::Open, (Action::Advise, open.1, 1)));
    let rest = &recorded[3..];
    assert_eq!(rest[2], (Action::Advise, open.1, 4), "of pages, not of an order");
    assert_eq!(with(Advice::Normal), [&[read, open], rest].concat());
    for (advice, number) in [(Advice::Random, 1), (Advice::Sequential, 2)] {
        let told = |slot| (Action::Advise, slot, number);
        let all = [&[told(read.1), read, open, told(open.1)], rest].concat();
        assert_eq!(with(advice), all, "b is only written");
    }
}

/// Time in calls is none of the program's own, whether they are replayed or not.
#[test]
fn think_time_is_what_lies_between_calls() {
    let log = "1 100.000000 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 3</d/a> <0.000100>\n\
               1 100.001000 read(3</d/a>, \"\"..., 10) = 10 <0.000100>\n\
               1 100.002000 write(1<pipe:[7]>, \"\"..., 10) = 10 <0.500000>\n\
               1 100.503000 read(3</d/a>, \"\"..., 10) = 10 <0.000100>\n\
               1 100.503100 read(3</d/a>, \"\"..., 10) = 0 <0.000100>\n";
    let mut trace = parse(Cursor::new(log), &Limits::default()).unwrap();
    let with = |trace: &Trace, block_bytes, think| {
        let all = by(trace, Choice { block_bytes, think, ..Choice::default() });
        all.iter().map(|step| (step.action, step.asked)).collect::<Vec<_>>()
    };
    let (open, think) = ((Action::Open, 0), |us: u64| (Action::Think, us * 1000));
    let read = (Action::Read, 10);
    assert_eq!(with(&trace, None, false), [open, read, read, read]);
    let recorded = [open, think(900), read, think(900 + 1000), read, read];
    assert_eq!(with(&trace, None, true), recorded, "900 µs to the pipe and 1 ms from it");
    // A buffer in the program makes fewer calls and takes none of its time.
    let gathered = [open, think(900), (Action::Read, 64), think(1900), (Action::Read, 64)];
    assert_eq!(with(&trace, Some(64), true), gathered);
    // What the tracer took between two calls was not the program's.
    let zero = TracerCost { ns: 0, low_ns: 0, high_ns: 0, tail_ns: 0, untraced_ns: 0, wall_ns: 0 };
    trace.tracer_cost = Some(TracerCost { ns: 7000, tail_ns: 1000, wall_ns: 28_000, ..zero });
    let less = [open, think(880), read, think(880 + 980), read, read];
    assert_eq!(with(&trace, None, true), less);
    // It added more where calls were dearer to it: by itself the program's own code took 1.24 ms.
    trace.runs = vec![Run { wall_ns: 3_000_000, user_ns: 1_240_000, system_ns: 0 }];
    let own = [open, think(380), read, think(380 + 480), read, read];
    assert_eq!(with(&trace, None, true), own);
}

/// What passes between calls of a program that worked for so long by itself, in µs; nothing is no step.
fn own_us(trace: &mut Trace, user_us: u64) -> Vec<u64> {
    trace.runs = vec![Run { wall_ns: 9_000_000, user_ns: user_us * 1000, system_ns: 0 }];
    let all = by(trace, Choice { think: true, ..Choice::default() });
    let own = all.iter().filter(|step| step.action == Action::Think);
    own.map(|step| step.asked / 1000).collect()
}

/// A compiler works for long between two calls, and all of its time was given to the short gaps beside.
#[test]
fn what_a_program_worked_in_a_long_gap_is_not_given_to_the_short_ones() {
    let log = "1 100.000000 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 3</d/a> <0.000100>\n\
               1 100.000600 read(3</d/a>, \"\"..., 10) = 10 <0.000100>\n\
               1 100.001200 read(3</d/a>, \"\"..., 10) = 10 <0.000100>\n\
               1 100.006300 read(3</d/a>, \"\"..., 10) = 10 <0.000100>\n";
    let mut trace = parse(Cursor::new(log), &Limits::default()).unwrap();
    let mut gaps_us = |user_us| own_us(&mut trace, user_us);
    assert_eq!(gaps_us(5400), [300, 300, 4800]);
    assert_eq!(gaps_us(8000), [500, 500, 5000]);
    // It worked for less than that gap: it waited there.
    assert_eq!(gaps_us(600), [300, 300, 4800]);
}

/// A tracer takes about as long each time, and the program beside it is slower: its own time is what
/// differs, in parts that are as they were. A python that reads lines had 3 µs between two reads for 14.
#[test]
fn a_program_that_a_tracer_slows_down_has_its_own_time_in_proportion() {
    let (mut at_us, mut log) = (0, String::new());
    for gap_us in [0, 50, 50, 50, 90, 90, 90, 350, 1550] {
        at_us += gap_us;
        log += &format!("1 100.{at_us:06} read(3</d/a>, \"\"..., 10) = 10 <0.000000>\n");
    }
    let mut trace = parse(Cursor::new(log), &Limits::default()).unwrap();
    // 1920 µs are left beyond 50 each, and it took 1600 by itself.
    assert_eq!(own_us(&mut trace, 1600), [33, 33, 33, 250, 1250]);
    // It worked for less than the long one: there it waited.
    assert_eq!(own_us(&mut trace, 210), [20, 20, 20, 150, 1500]);
}

#[test]
fn a_ring_takes_reads_writes_and_syncs_and_nothing_else() {
    let mut calls = vec!["lseek(3</d/a>, 50, SEEK_SET) = 50".to_owned()];
    calls.extend(reads(1, 10));
    calls.extend(written_and_synced(&["fsync", "fdatasync"]));
    let program = Program::of(&on_a(&calls), Choice { how: How::Ring, ..Choice::default() });
    assert_eq!(
        steps(&program),
        [
            plain(Action::Open),
            (Action::RingRead, 50, 10, 10),
            (Action::RingWrite, 20, 7, 7),
            plain(Action::RingSync),
            plain(Action::RingDataSync),
            plain(Action::Close),
        ]
    );
}

/// What is aligned goes through a second opening, which makes nothing; the rest stays where it was.
#[test]
fn what_is_aligned_goes_past_the_cache() {
    let trace = trace(&[
        "1 openat(AT_FDCWD</d>, \"a\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</d/a>",
        "1 write(3</d/a>, \"\"..., 512) = 512",
        "1 write(3</d/a>, \"\"..., 1024) = 1024",
        "1 write(3</d/a>, \"\"..., 100) = 100",
        "1 write(3</d/a>, \"\"..., 512) = 512",
        "1 close(3</d/a>) = 0",
        "1 openat(AT_FDCWD</d>, \"b\", O_RDONLY) = 3</d/b>",
        "1 read(3</d/b>, \"\"..., 100) = 100",
    ]);
    let direct = |block_bytes| {
        Program::of(&trace, Choice { how: How::Direct(512), block_bytes, ..Choice::default() })
    };
    let program = direct(None);
    assert_eq!(program.direct, (2, 1536));
    let (first, second) = (program.lanes[0][0].slot, program.lanes[0][1].slot);
    let of_a: Vec<_> = program.lanes[0].iter().take(8).map(|s| (s.action, s.slot)).collect();
    let write = Action::WriteAt;
    assert_eq!(
        of_a,
        [
            (Action::Open, first),
            (Action::Open, second),
            (write, second),
            (write, second),
            (write, first),
            (write, first),
            (Action::Close, second),
            (Action::Close, first),
        ]
    );
    assert_eq!(program.lanes[0][1].flags, 1 | 64, "O_WRONLY and O_DIRECT");
    assert_eq!(program.lanes[0].len(), 10, "nothing of b is aligned: it is opened once");
    assert_eq!(program.slots, second + 1);
    // A buffer of the program's makes more of it aligned, and ends where the file ends.
    assert_eq!(direct(Some(2048)).direct, (1, 2048));
}

/// Three files copied one after the other, as cp does, each renamed where it belongs.
fn copies() -> Trace {
    let mut lines = vec![
        "1 openat(AT_FDCWD</d>, \"from\", O_RDONLY|O_DIRECTORY) = 3</d/from>".to_owned(),
        "1 getdents64(3</d/from>, 0x55 /* 5 entries */, 32768) = 120".to_owned(),
        "1 mkdir(\"/d/to\", 0777) = 0".to_owned(),
    ];
    for name in ["a", "b", "c"] {
        lines.extend([
            format!("1 openat(AT_FDCWD</d>, \"from/{name}\", O_RDONLY) = 4</d/from/{name}>"),
            format!(
                "1 openat(AT_FDCWD</d>, \"{name}.new\", O_WRONLY|O_CREAT, 0666) = 5</d/{name}.new>"
            ),
            format!("1 read(4</d/from/{name}>, \"\"..., 10) = 10"),
            format!("1 write(5</d/{name}.new>, \"\"..., 10) = 10"),
            format!("1 close(5</d/{name}.new>) = 0"),
            format!("1 close(4</d/from/{name}>) = 0"),
            format!("1 rename(\"/d/{name}.new\", \"/d/to/{name}\") = 0"),
        ]);
    }
    lines.push("1 sync() = 0".to_owned());
    trace(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn files_one_after_the_other_are_worked_on_side_by_side() {
    let trace = copies();
    let with = |threads| Program::of(&trace, Choice { threads, ..Choice::default() });
    let recorded = with(0);
    assert_eq!((recorded.lanes.len(), with(1).lanes), (1, recorded.lanes.clone()));
    let team = with(3);
    assert_eq!((team.lanes.len(), team.made_calls()), (3, recorded.made_calls()));
    let words = |lane: &[Step]| lane.iter().map(|step| step.action).collect::<Vec<_>>();
    let (signal, wait) = (Action::Signal, Action::Await);
    let file = [
        Action::Open,
        Action::Open,
        Action::Read,
        Action::Write,
        Action::Close,
        Action::Close,
        Action::Rename,
    ];
    // The others begin when the directory is read and made, and all have ended before the sync.
    for lane in &team.lanes[1..] {
        assert_eq!(words(lane), [&[wait], &file[..], &[signal]].concat());
    }
    let first = [Action::Open, Action::List, Action::MakeDirectory, signal];
    let last = [wait, wait, Action::SyncAll];
    assert_eq!(words(&team.lanes[0]), [&first[..], &file, &last].concat());
    assert_eq!(team.events, 3);
}

/// A log that all files are written to has their writes in the recorded order.
#[test]
fn what_files_share_keeps_its_order() {
    let mut lines = vec!["1 write(1</d/log>, \"\"..., 5) = 5".to_owned()];
    for name in ["a", "b"] {
        lines.extend([
            format!("1 openat(AT_FDCWD</d>, \"{name}\", O_RDONLY) = 4</d/{name}>"),
            "1 write(1</d/log>, \"\"..., 5) = 5".to_owned(),
            format!("1 close(4</d/{name}>) = 0"),
        ]);
    }
    let trace = trace(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let team = Program::of(&trace, Choice { threads: 2, ..Choice::default() });
    let told = |lane: &[Step]| {
        let events = lane.iter().filter(|step| !step.action.is_call());
        events.map(|step| (step.action, step.other)).collect::<Vec<_>>()
    };
    // b may be opened when the first line of the log is written, and writes after a has.
    assert_eq!(team.lanes.len(), 2);
    let writes = team.lanes.iter().map(|lane| told(lane));
    let [first, second] = writes.collect::<Vec<_>>().try_into().unwrap();
    let both = [&first[..], &second].concat();
    assert!(both.iter().any(|(action, _)| *action == Action::Await), "{both:?}");
    let offsets = |lane: &[Step]| -> Vec<u64> {
        lane.iter().filter(|s| s.action == Action::Write).map(|s| s.offset).collect()
    };
    let mut all: Vec<u64> = team.lanes.iter().flat_map(|lane| offsets(lane)).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 5, 10]);
}

/// Where a copy lies a refused clone may be taken, and would change what comes after.
#[test]
fn a_clone_goes_to_the_copy_and_a_refused_one_where_it_is_refused() {
    let log = |answer| {
        format!(
            "1 1.0 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 3</d/a> <0.1>\n\
             1 1.1 read(3</d/a>, \"\"..., 50) = 50 <0.1>\n\
             1 1.2 openat(AT_FDCWD</d>, \"b\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4</d/b> <0.1>\n\
             1 1.3 ioctl(4</d/b>, BTRFS_IOC_CLONE or FICLONE, 3</d/a>) = {answer} <0.1>\n"
        )
    };
    let steps = |answer, clones| {
        let trace = parse(Cursor::new(log(answer)), &Limits::default()).unwrap();
        let replay = Replay::of(&trace);
        assert_eq!(replay.coverage.lost(), (0, 0));
        let all = by(&trace, Choice { clones, ..Choice::default() });
        let clone = all.iter().find(|step| step.action == Action::Clone).copied();
        let size = replay.changes[0].after.as_ref().unwrap().bytes;
        (clone.map(|step| (step.slot, step.other, step.expected)), size, replay.refused_clones)
    };
    // From the first that was opened to the second; the working directory has slot 0.
    for clones in [false, true] {
        assert_eq!(steps("0", clones), (Some((1, 2, 0)), 50, 0));
    }
    let refused = "-1 EOPNOTSUPP (Operation not supported)";
    assert_eq!(steps(refused, false), (Some((1, 2, -95)), 0, 1));
    assert_eq!(steps(refused, true), (None, 0, 1));
}
