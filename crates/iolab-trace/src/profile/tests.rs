//! Programs with a known fault, and the sentence that names it.

use std::fmt::Write;
use std::io::Cursor;

use iolab_model::catalog::count_text;

use super::{FindingKind, Pattern, Profile};
use crate::strace::{Limits, parse};
use crate::trace::{FileKind, Run, Trace};

/// A log with a line for each of these calls, a millisecond apart; each takes 10 µs of the tracer's
/// and as much as it says.
fn log(calls: impl IntoIterator<Item = (String, u64)>) -> Trace {
    let mut text = String::new();
    // What the tracer costs is seen where a call costs nothing.
    let looks = (0..50).map(|_| ("lseek(3</d/a>, 0, SEEK_CUR) = 0".to_owned(), 0));
    let open = ("openat(AT_FDCWD</d>, \"a\", O_RDWR) = 3</d/a>".to_owned(), 0);
    for (at, (call, ns)) in std::iter::once(open).chain(looks).chain(calls).enumerate() {
        let took = (10_000 + ns) as f64 / 1e9;
        writeln!(text, "1 {}.{:03}000 {call} <{took:.9}>", 100 + at / 1000, at % 1000).unwrap();
    }
    parse(Cursor::new(text), &Limits::default()).unwrap()
}

fn sentence(profile: &Profile, kind: FindingKind) -> &str {
    let found = profile.findings.iter().find(|finding| finding.kind == kind);
    found.map_or("", |finding| &finding.sentence)
}

#[test]
fn small_reads_are_to_be_buffered() {
    let reads = (0..2000).map(|_| ("read(3</d/a>, \"\"..., 1) = 1".to_owned(), 1000));
    let mut trace = log(reads);
    let profile = Profile::of(&trace);
    assert_eq!(
        sentence(&profile, FindingKind::SmallCalls),
        format!("{} reads of 1 byte in /d/a: buffer them (64 KiB: one call)", count_text(2000))
    );
    let row = &profile.files[0];
    assert_eq!((row.reads, row.read_bytes, row.pattern), (2000, 2000, Some(Pattern::Sequential)));
    assert_eq!(row.aligned_share, Some(0.0));
    // The tracer's 10 µs of each call are not the program's.
    assert_eq!(
        (profile.whole.tracer_ns_per_call, profile.whole.file_ns),
        (10_000, Some(2_000_000))
    );
    // With a run of its own: 2 of 5 ms, so 5 of 3 to gain. It said "56 %: 2.74x to gain", the one by the
    // middle of what is known and the other by its end.
    trace.runs.push(Run { wall_ns: 5_000_000, user_ns: 1_000_000, system_ns: 2_000_000 });
    let whole = Profile::of(&trace).whole;
    assert_eq!(whole.file_share, Some(0.4));
    assert!((whole.gain.unwrap() - 5.0 / 3.0).abs() < 1e-9, "{:?}", whole.gain);
    let of_most = 1.0 / (1.0 - whole.file_high_share.unwrap());
    assert!((whole.gain_at_most.unwrap() - of_most).abs() < 1e-9, "{:?}", whole.gain_at_most);
    // One thread's file calls are none of the time in which its own code ran.
    trace.runs[0].user_ns = 4_000_000;
    assert_eq!(Profile::of(&trace).whole.file_share, Some(0.2));
    // Nor are those of processes that follow one another: 41 shells that waited for each other made
    // it "441 ms, 100 %" of 207 ms, of which most was the program's own code.
    let half = trace.calls.len() / 2;
    trace.threads.push(trace.threads[0]);
    trace.calls[half..].iter_mut().for_each(|call| call.thread = 1);
    assert_eq!(Profile::of(&trace).whole.file_share, Some(0.2));
    // Side by side they may well take longer together.
    for at in half..trace.calls.len() {
        trace.calls[at].at_ns = trace.calls[at - half].at_ns;
    }
    assert_eq!(Profile::of(&trace).whole.file_share, Some(0.4));
}

/// The tracer's part was taken off each row and cut at zero there: kinds came to 3.1 ms, files to 5.2 ms
/// and all to 2.0 ms on one screen. It is taken off each call, once.
#[test]
fn all_sums_of_one_program_agree() {
    // Cheap calls that the tracer takes less of than of others, dear ones, and some that waited.
    let calls = (0..3000_u64).map(|at| match at % 5 {
        0 => (format!("write(3</d/a>, \"\"..., {}) = 10", 10 + at), 400 + at % 700),
        1 => ("newfstatat(AT_FDCWD</d>, \"no\", 0x7, 0) = -1 ENOENT (No such file)".into(), 900),
        2 => ("fsync(3</d/a>) = 0".into(), 5_000 + at * 100),
        3 => ("read(5</d/b>, \"\"..., 100) = 100".into(), if at % 50 == 3 { 900_000 } else { 0 }),
        _ => ("sync() = 0".into(), 100),
    });
    let mut trace = log(calls);
    trace
        .calls
        .iter_mut()
        .filter(|call| call.offset % 3 == 1)
        .for_each(|call| call.took_ns -= 3000);
    let run = Run { wall_ns: 40_000_000, user_ns: 2_000_000, system_ns: 30_000_000 };
    for runs in [vec![], vec![run]] {
        trace.runs = runs;
        let profile = Profile::of(&trace);
        let kinds: u64 = profile.kinds.iter().map(|row| row.file_ns).sum();
        let files: u64 = profile.files.iter().map(|row| row.file_ns).sum();
        assert!(kinds > 1_000_000, "{kinds}");
        assert_eq!((Some(kinds), Some(files)), (profile.whole.file_ns, profile.whole.file_ns));
        let calls: u64 = profile.files.iter().map(|row| row.calls).sum();
        assert_eq!(calls, profile.whole.calls, "sync names no file, and is a call like others");
        assert_eq!(profile.whole.calls, trace.file_calls() as u64);
        let syncs = profile.kinds.iter().filter(|row| row.kind.contains("sync"));
        let fsync = profile.kinds.iter().find(|row| row.kind == "fsync").unwrap();
        assert_eq!(fsync.calls, 600);
        assert!(syncs.count() == 2 && profile.kinds[0].kind == "fsync");
    }
}

#[test]
fn patterns_are_told_apart() {
    let of = |offset: fn(u64) -> u64| {
        let read = |at| (format!("pread64(3</d/a>, \"\"..., 4096, {}) = 4096", offset(at)), 10);
        Profile::of(&log((0..200).map(read))).files[0].clone()
    };
    let sequential = of(|at| at * 4096);
    assert_eq!(
        (sequential.pattern, sequential.aligned_share),
        (Some(Pattern::Sequential), Some(1.0))
    );
    assert_eq!(of(|at| at * 12_288).pattern, Some(Pattern::Strided));
    let random = of(|at| (at * 7919) % 997 * 100);
    assert_eq!(
        (random.pattern, random.aligned_share.unwrap() < 0.1),
        (Some(Pattern::Random), true)
    );
}

#[test]
fn every_fault_has_its_sentence() {
    let mut calls: Vec<(String, u64)> = Vec::new();
    let mut say = |text: &str, ns| calls.push((text.to_owned(), ns));
    for _ in 0..30 {
        say("fsync(3</d/a>) = 0", 2_000_000);
        say("openat(AT_FDCWD</d>, \"conf\", O_RDONLY) = 5</d/conf>", 100);
        say("close(5</d/conf>) = 0", 100);
        say("newfstatat(AT_FDCWD</d>, \"no\", 0x7, 0) = -1 ENOENT (No such file)", 100);
    }
    for _ in 0..3 {
        say("pread64(3</d/a>, \"\"..., 1048576, 0) = 1048576", 1000);
    }
    for _ in 0..40 {
        say("read(3</d/a>, \"\"..., 65536) = 65536", 100);
        say("write(6</d/b>, \"\"..., 65536) = 65536", 100);
        say("read(7<pipe:[1]>, \"\"..., 10) = 10", 5_000_000_000);
    }
    let trace = log(calls);
    let profile = Profile::of(&trace);
    let say = |kind| sentence(&profile, kind);
    let syncs = say(FindingKind::Syncs);
    assert!(syncs.starts_with("30 times /d/a is made durable, 60.0 ms (of "), "{syncs}");
    assert!(syncs.ends_with("%): gather several writes before each"), "{syncs}");
    let again = "3 MiB of 5632 KiB read from /d/a were read before: keep them";
    assert_eq!(say(FindingKind::ReadAgain), again);
    assert_eq!(say(FindingKind::OpenedAgain), "/d/conf is opened 30 times: keep it open");
    assert_eq!(
        say(FindingKind::NeverUsed),
        "/d/conf is opened and never read or written: leave it closed"
    );
    assert!(say(FindingKind::NotFound).starts_with("30 of 61 names asked for are not there"));
    assert!(
        say(FindingKind::CopiedByHand).contains("2560 KiB of /d/a pass through"),
        "{}",
        say(FindingKind::CopiedByHand)
    );
    // Waiting for a pipe is no file I/O.
    assert_eq!(profile.whole.elsewhere_calls, 40);
    assert!(profile.whole.file_ns.unwrap() < 1_000_000_000);
    assert_eq!(profile.findings[0].kind, FindingKind::Syncs, "the dearest first");
    assert!(trace.files.iter().any(|file| file.kind == FileKind::Pipe));
}

/// 640 files with five syncs each had no finding at all: each of them was too little.
#[test]
fn what_is_little_in_each_of_many_files_is_one_finding() {
    let appends = (0..3000).flat_map(|at| {
        let name = format!("/d/logs/l{}", at % 640);
        [
            (
                format!("openat(AT_FDCWD</d>, \"{name}\", O_WRONLY|O_CREAT|O_APPEND) = 5<{name}>"),
                900_000,
            ),
            (format!("write(5<{name}>, \"\"..., 10) = 10"), 1000),
            (format!("fsync(5<{name}>) = 0"), 200_000),
            (format!("close(5<{name}>) = 0"), 0),
        ]
    });
    let mut trace = log(appends);
    trace.runs.push(Run { wall_ns: 4_000_000_000, user_ns: 0, system_ns: 2_000_000_000 });
    let profile = Profile::of(&trace);
    let three = count_text(3000);
    let syncs: Vec<_> = profile.findings.iter().filter(|f| f.kind == FindingKind::Syncs).collect();
    assert_eq!(syncs.len(), 1, "{syncs:?}");
    // Opens take longer here, and yet syncs stand first.
    let first = &profile.findings[0];
    assert_eq!((first.kind, first.files, first.calls), (FindingKind::Syncs, 640, 3000));
    assert!(profile.findings.iter().any(|finding| finding.file_ns > first.file_ns));
    assert!(
        first.sentence.starts_with(&format!(
            "{three} fsyncs, 600 ms (of 4.00 s, 15 %), of 640 files of /d/logs/: "
        )),
        "{}",
        first.sentence
    );
    assert!(first.sentence.ends_with("sync once at the end of a batch, or fdatasync"));
    assert_eq!(
        sentence(&profile, FindingKind::OpenedAgain),
        format!("/d/logs/: 640 files opened {three} times: keep them open")
    );
    assert_eq!(
        sentence(&profile, FindingKind::SmallCalls),
        format!("{three} writes of 10 bytes in 640 files of /d/logs/: gather those of a file")
    );
}

/// A call a file is what many files cost.
#[test]
fn one_open_and_one_write_a_file_are_no_fault() {
    let writes = (0..640).flat_map(|at| {
        let name = format!("/d/out/{at}");
        [
            (format!("openat(AT_FDCWD</d>, \"{name}\", O_WRONLY|O_CREAT) = 5<{name}>"), 1000),
            (format!("write(5<{name}>, \"\"..., 10) = 10"), 1000),
            (format!("close(5<{name}>) = 0"), 0),
        ]
    });
    let profile = Profile::of(&log(writes));
    assert_eq!(sentence(&profile, FindingKind::OpenedAgain), "");
    assert_eq!(sentence(&profile, FindingKind::SmallCalls), "");
}

#[test]
fn a_log_without_times_says_so() {
    let text = "1 1.0 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 3</d/a>\n1 1.1 sync() = 0\n";
    let trace = parse(Cursor::new(text), &Limits::default()).unwrap();
    let whole = Profile::of(&trace).whole;
    assert_eq!((whole.file_ns, whole.file_share, whole.gain_at_most), (None, None, None));
}
