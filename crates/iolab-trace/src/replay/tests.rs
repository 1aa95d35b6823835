//! Traces of our own, and what becomes of them.

use proptest::prelude::*;

use super::logs::{on_a, plain, reads, steps, trace, writes, written_and_synced};
use super::{Action, Choice, How, Inherited, NodeKind, Program, Reason, Replay, Step, When};
use crate::call::{CallKind, NONE};
use crate::trace::Trace;

fn in_blocks(block: u64) -> Choice {
    Choice { block_bytes: Some(block), ..Choice::default() }
}

/// What moves bytes of one file, and in which order of bytes.
fn moved(program: &Program) -> Vec<(Action, u64, u64)> {
    steps(program)
        .into_iter()
        .filter(|step| step.0.counts_bytes())
        .map(|(action, offset, asked, _)| (action, offset, asked))
        .collect()
}

#[test]
fn calls_come_again_as_they_were() {
    let mut calls = reads(2, 10);
    calls.push("lseek(3</d/a>, 5, SEEK_SET) = 5".into());
    calls.push("read(3</d/a>, \"\"..., 100) = 15".into());
    calls.extend(written_and_synced(&["fsync"]));
    let trace = on_a(&calls);
    let replay = Replay::of(&trace);
    let sizes: Vec<_> = replay.files.iter().map(|node| (node.kind, node.bytes)).collect();
    assert_eq!(sizes, [(NodeKind::Directory, 0), (NodeKind::File, 20)]);
    assert_eq!(replay.coverage.lost(), (0, 0));
    let (before, after) = (&replay.changes[0].before[0], replay.changes[0].after.as_ref().unwrap());
    assert_eq!((replay.changes.len(), before.bytes, after.bytes), (1, 20, 27));
    let program = Program::of(&trace, Choice::default());
    assert_eq!(
        steps(&program),
        [
            plain(Action::Open),
            (Action::Read, 0, 10, 10),
            (Action::Read, 10, 10, 10),
            (Action::Seek, 5, 0, 0),
            (Action::Read, 5, 100, 15),
            (Action::WriteAt, 20, 7, 7),
            plain(Action::Sync),
            plain(Action::Close),
        ]
    );
    assert_eq!((program.bytes, program.calls, program.made_calls()), (42, 8, 8));
}

#[test]
fn neighbouring_calls_become_blocks_and_nothing_else_does() {
    let mut calls = reads(10, 100);
    calls.push("read(3</d/a>, \"\"..., 100) = 0".into());
    calls.push("lseek(3</d/a>, 0, SEEK_SET) = 0".into());
    calls.extend(writes(5, 100));
    calls.push("fdatasync(3</d/a>) = 0".into());
    calls.extend(writes(5, 100));
    let trace = on_a(&calls);
    let program = Program::of(&trace, in_blocks(300));
    let (read, write) = (Action::Read, Action::Write);
    assert_eq!(
        steps(&program)[1..],
        [
            (read, 0, 300, 300),
            (read, 300, 300, 300),
            (read, 600, 300, 300),
            // The end of the file: a buffer asks for a whole block there, and once more.
            (read, 900, 300, 100),
            (read, 1000, 300, 0),
            (Action::Seek, 0, 0, 0),
            (write, 0, 300, 300),
            (write, 300, 200, 200),
            (Action::DataSync, 0, 0, 0),
            (write, 500, 300, 300),
            (write, 800, 200, 200),
        ]
    );
    // A block as small as the calls are, and one that is smaller, leave them as they are.
    for block in [100, 7] {
        let same = Program::of(&trace, in_blocks(block));
        assert_eq!(steps(&same), steps(&Program::of(&trace, Choice::default())), "{block}");
    }
}

#[test]
fn what_is_read_in_the_middle_asks_for_no_more_than_the_program_did() {
    let mut calls = vec!["fstat(3</d/a>, {st_mode=S_IFREG|0644, st_size=100000, ...}) = 0".into()];
    calls.extend(reads(5, 100));
    calls.push("fstat(3</d/a>, {st_mode=S_IFREG|0644, st_size=100000, ...}) = 0".into());
    calls.extend(reads(1, 100));
    let program = Program::of(&on_a(&calls), in_blocks(300));
    let expected = [(Action::Read, 0, 300), (Action::Read, 300, 200), (Action::Read, 500, 100)];
    assert_eq!(moved(&program), expected);
}

#[test]
fn syncs_go_or_come_once_and_no_longer_part_blocks() {
    let one = ["write(3</d/a>, \"\"..., 100) = 100".to_owned(), "fsync(3</d/a>) = 0".to_owned()];
    let calls: Vec<String> = std::iter::repeat_n(one, 4).flatten().collect();
    let trace = on_a(&calls);
    let with = |sync| {
        let choice = Choice { sync, ..in_blocks(1000) };
        steps(&Program::of(&trace, choice)).iter().map(|step| step.0).collect::<Vec<_>>()
    };
    let (open, write, sync) = (Action::Open, Action::Write, Action::Sync);
    assert_eq!(with(When::Recorded), [open, write, sync, write, sync, write, sync, write, sync]);
    assert_eq!(with(When::Never), [open, write]);
    assert_eq!(with(When::AtEnd), [open, write, open, sync, Action::Close]);
    // The program ends and closes it.
    assert_eq!(with(When::AtClose), with(When::AtEnd));
}

/// A file that is closed and opened again is durable when that is over, and what is only read never.
#[test]
fn what_is_written_is_synced_before_it_is_closed_for_the_last_time() {
    let trace = trace(&[
        "1 openat(AT_FDCWD</d>, \"in\", O_RDONLY) = 3</d/in>",
        "1 openat(AT_FDCWD</d>, \"out\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4</d/out>",
        "1 openat(AT_FDCWD</d>, \"copy\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 5</d/copy>",
        "1 read(3</d/in>, \"\"..., 10) = 10",
        "1 write(4</d/out>, \"\"..., 10) = 10",
        "1 fsync(4</d/out>) = 0",
        "1 close(4</d/out>) = 0",
        "1 sendfile(5</d/copy>, 3</d/in>, [0] => [10], 10) = 10",
        "1 openat(AT_FDCWD</d>, \"out\", O_WRONLY|O_APPEND) = 4</d/out>",
        "1 write(4</d/out>, \"\"..., 10) = 10",
        "1 close(4</d/out>) = 0",
        "1 close(3</d/in>) = 0",
        "1 close(5</d/copy>) = 0",
    ]);
    let choice = Choice { sync: When::AtClose, ..Choice::default() };
    let lanes = Program::of(&trace, choice).lanes;
    let all: Vec<(Action, u32)> = lanes[0].iter().map(|step| (step.action, step.slot)).collect();
    let syncs: Vec<_> = all.windows(2).filter(|pair| pair[0].0 == Action::Sync).collect();
    let last = |slot| [(Action::Sync, slot), (Action::Close, slot)];
    // The working directory has the first of all slots.
    assert_eq!(syncs, [&last(4), &last(3)], "{all:?}");
}

#[test]
fn pread_needs_no_seek_and_a_mapping_no_read() {
    let mut calls = vec!["lseek(3</d/a>, 50, SEEK_SET) = 50".to_owned()];
    calls.extend(reads(1, 10));
    calls.push("read(3</d/a>, \"\"..., 10) = 0".into());
    calls.push("close(3</d/a>) = 0".into());
    let mut trace = on_a(&calls);
    // Opened for reading alone.
    trace.calls[0].detail = 0;
    let by = |how| {
        let program = Program::of(&trace, Choice { how, ..Choice::default() });
        steps(&program).iter().map(|(action, offset, ..)| (*action, *offset)).collect::<Vec<_>>()
    };
    let (open, close) = ((Action::Open, 0), (Action::Close, 0));
    assert_eq!(by(How::Pread), [open, (Action::ReadAt, 50), (Action::ReadAt, 60), close]);
    let mapped = [(Action::MapWhole, 0), (Action::ReadMapped, 50), (Action::Unmap, 0)];
    assert_eq!(by(How::Mmap), [open, mapped[0], mapped[1], mapped[2], close]);
}

#[test]
fn what_would_come_out_otherwise_is_left_out_and_counted() {
    let trace = trace(&[
        "1 openat(AT_FDCWD</d>, \"gone\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "1 openat(AT_FDCWD</d>, \"secret\", O_RDONLY) = -1 EACCES (Permission denied)",
        "1 openat(AT_FDCWD</d>, \"new\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 3</d/new>",
        "1 fcntl(3</d/new>, F_SETLK, {}) = 0",
        "1 write(3</d/new>, \"\"..., 9) = 9",
        // Somebody else has made it longer.
        "1 pread64(3</d/new>, \"\"..., 100, 0) = 50",
        "1 close(3</d/new>) = 0",
        "1 rename(\"/d/new\", \"/d/newer\") = 0",
        "1 stat(\"/d/new\", 0x7f) = -1 ENOENT (No such file or directory)",
        "1 unlink(\"/d/newer\") = 0",
        "1 write(1<pipe:[77]>, \"\"..., 5) = 5",
        "1 openat(AT_FDCWD</d>, \"/dev/null\", O_RDONLY) = 4</dev/null<char 1:3>>",
    ]);
    let coverage = Replay::of(&trace).coverage;
    let lost: Vec<_> = coverage.left_out.keys().copied().collect();
    assert_eq!(
        lost,
        [
            (Reason::Kind, CallKind::Other),
            (Reason::Error, CallKind::Open),
            (Reason::Unlike, CallKind::ReadAt),
        ]
    );
    assert_eq!((coverage.calls, coverage.lost(), coverage.elsewhere), (10, (3, 50), 2));
    assert!(coverage.words().unwrap().contains("30 % of its calls"), "{:?}", coverage.words());
    let program = Program::of(&trace, Choice::default());
    let expected: Vec<i64> = program.lanes[0].iter().map(|step| step.expected).collect();
    assert_eq!(expected, [-2, 0, 9, 0, 0, -2, 0]);
    assert_eq!(Replay::of(&trace).changes, [], "made and gone again");
}

#[test]
fn a_directory_that_moves_takes_its_files_along() {
    let trace = trace(&[
        "1 stat(\"/d/old/x\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0",
        "1 rename(\"/d/old\", \"/d/other\") = 0",
        "1 openat(AT_FDCWD</d>, \"other/x\", O_RDONLY) = 3</d/other/x>",
        "1 read(3</d/other/x>, \"\"..., 100) = 5",
        "1 mkdir(\"/d/other\", 0777) = -1 EEXIST (File exists)",
        "1 rmdir(\"/d/other\") = -1 ENOTEMPTY (Directory not empty)",
    ]);
    let replay = Replay::of(&trace);
    assert_eq!(replay.coverage.lost(), (0, 0), "{:?}", replay.coverage.left_out);
    let gone = replay.changes.iter().filter(|change| change.after.is_none());
    assert_eq!((replay.changes.len(), gone.count()), (2, 1));
}

#[test]
fn a_name_is_never_one_of_the_trace() {
    let mut hostile = on_a(&reads(1, 10));
    for name in [&b"/../../etc/passwd"[..], b"../up", b"/d/./a", b"/d/a\0b", b"", b"/", b"//"] {
        hostile.files[hostile.calls[0].file as usize].name = name.to_vec();
        let replay = Replay::of(&hostile);
        let program = Program::of(&hostile, Choice::default());
        let names = replay.files.iter().map(|node| &node.path).chain(&program.paths);
        for name in names {
            let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_/.".contains(&byte);
            let text = name.to_bytes();
            assert!(text.iter().copied().all(fine) && !text.starts_with(b"/"), "{name:?}");
            assert!(text == b"." || !text.contains(&b'.'), "{name:?}");
        }
    }
}

#[test]
fn threads_wait_where_files_and_starts_say_so() {
    let trace = trace(&[
        "1 openat(AT_FDCWD</d>, \"a\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 3</d/a>",
        "1 clone(child_stack=NULL, flags=SIGCHLD) = 2",
        "2 stat(\"/d/x\", 0x7f) = -1 ENOENT (No such file or directory)",
        "1 write(3</d/a>, \"\"..., 10) = 10",
        "2 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 4</d/a>",
        "2 read(4</d/a>, \"\"..., 10) = 10",
        "2 +++ exited with 0 +++",
        "1 wait4(-1, NULL, 0, NULL) = 2",
        "1 unlink(\"/d/a\") = 0",
    ]);
    let program = Program::of(&trace, Choice::default());
    let words = |lane: &[Step]| lane.iter().map(|step| step.action).collect::<Vec<_>>();
    let (signal, wait) = (Action::Signal, Action::Await);
    assert_eq!(
        [words(&program.lanes[0]), words(&program.lanes[1])],
        [
            vec![Action::Open, signal, Action::Write, signal, wait, Action::Unlink],
            vec![wait, Action::Stat, Action::Open, wait, Action::Read, signal],
        ]
    );
    // Every event that is awaited is told, once, by another thread.
    let told: Vec<u32> =
        program.lanes.iter().flatten().filter(|s| s.action == signal).map(|s| s.other).collect();
    assert_eq!(told.len() as u32, program.events);
}

#[test]
fn programs_one_after_the_other_need_two_threads() {
    let mut lines =
        vec!["1 stat(\"/d/x\", 0x7f) = -1 ENOENT (No such file or directory)".to_owned()];
    for child in 2..50 {
        lines.push(format!("1 clone(child_stack=NULL, flags=SIGCHLD) = {child}"));
        lines.push(format!("{child} stat(\"/d/x\", 0x7f) = -1 ENOENT (No such file or directory)"));
        lines.push(format!("{child} +++ exited with 0 +++"));
        lines.push(format!("1 wait4(-1, NULL, 0, NULL) = {child}"));
    }
    lines.push("1 stat(\"/d/x\", 0x7f) = -1 ENOENT (No such file or directory)".to_owned());
    let trace = trace(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let program = Program::of(&trace, Choice::default());
    assert_eq!((trace.threads.len(), program.lanes.len()), (49, 2));
}

#[test]
fn what_was_open_before_is_opened_before() {
    let trace =
        trace(&["1 read(0</d/in>, \"\"..., 100) = 40", "1 write(1</d/out>, \"\"..., 40) = 40"]);
    let program = Program::of(&trace, Choice::default());
    let open: Vec<bool> = program.inherited.iter().map(|one: &Inherited| one.writes).collect();
    assert_eq!(open, [false, true]);
    assert!(program.lanes[0].iter().all(|step| step.slot != NONE));
    assert_eq!(Replay::of(&trace).coverage.lost(), (0, 0));
}

/// A call of a random program on one file, and where it is in the file.
#[derive(Clone, Debug)]
enum Move {
    Read(u64),
    Write(u64),
    Seek(u64),
    Sync,
    Look,
}

fn any_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        4 => (1..200_u64).prop_map(Move::Read),
        4 => (1..200_u64).prop_map(Move::Write),
        1 => (0..2000_u64).prop_map(Move::Seek),
        1 => Just(Move::Sync),
        1 => Just(Move::Look),
    ]
}

/// A log of the moves, as a kernel would answer them on a file of 1000 bytes.
fn log(moves: &[Move]) -> Trace {
    let (mut at, mut size) = (0, 1000_u64);
    let look = |size| format!("fstat(3</d/a>, {{st_mode=S_IFREG|0644, st_size={size}, ...}}) = 0");
    let mut calls = vec![look(size)];
    for one in moves {
        calls.push(match one {
            Move::Read(bytes) => {
                let came = size.saturating_sub(at).min(*bytes);
                at += came;
                format!("read(3</d/a>, \"\"..., {bytes}) = {came}")
            }
            Move::Write(bytes) => {
                at += bytes;
                size = size.max(at);
                format!("write(3</d/a>, \"\"..., {bytes}) = {bytes}")
            }
            Move::Seek(to) => {
                at = *to;
                format!("lseek(3</d/a>, {to}, SEEK_SET) = {to}")
            }
            Move::Sync => "fsync(3</d/a>) = 0".to_owned(),
            Move::Look => look(size),
        });
    }
    on_a(&calls)
}

/// The bytes that steps read, and those that they write, each byte once a time, in order; between
/// syncs, which part them.
fn bytes_of(program: &Program) -> Vec<(bool, u64)> {
    let mut all = Vec::new();
    for step in program.lanes.iter().flatten() {
        if step.action.counts_bytes() {
            let range = step.offset..step.offset + step.expected.unsigned_abs();
            all.extend(range.map(|byte| (step.action.writes(), byte)));
        }
        if step.action == Action::Sync {
            all.push((true, u64::MAX));
        }
    }
    all
}

proptest! {
    /// Whatever the block, the same bytes are read and written in the same order, no write crosses a
    /// sync, and every call comes back as a kernel would answer it.
    #[test]
    fn blocks_cover_what_was_recorded(
        moves in proptest::collection::vec(any_move(), 0..60),
        block in 1..700_u64,
        how in prop_oneof![Just(How::Recorded), Just(How::Pread), Just(How::Direct(10))],
    ) {
        let trace = log(&moves);
        let recorded = Program::of(&trace, Choice::default());
        prop_assert_eq!(recorded.made_calls(), trace.calls.len() as u64);
        let gathered = Program::of(&trace, Choice { how, ..in_blocks(block) });
        prop_assert_eq!(bytes_of(&recorded), bytes_of(&gathered));
        // Past the cache the file is opened once more.
        let more = u64::from(how == How::Direct(10));
        prop_assert!(gathered.made_calls() <= recorded.made_calls() + more);
        let (mut at, mut size) = (0, 1000_u64);
        for step in gathered.lanes.iter().flatten() {
            let here = if matches!(step.action, Action::ReadAt | Action::WriteAt) { step.offset } else { at };
            match step.action {
                Action::Seek => at = step.offset,
                action if action.reads() => {
                    prop_assert_eq!(here, step.offset);
                    prop_assert_eq!(size.saturating_sub(here).min(step.asked), step.expected.unsigned_abs());
                    at = here + step.expected.unsigned_abs();
                }
                action if action.writes() => {
                    prop_assert_eq!(here, step.offset);
                    at = here + step.asked;
                    size = size.max(at);
                }
                _ => (),
            }
        }
    }
}
