//! Screens of programs that do the same to many files, whose names are long.

use std::fmt::Write;
use std::io::Cursor;

use super::{LINES, pieces, screen};
use iolab_model::catalog::ratio_text;
use iolab_report::TextStyle;
use iolab_trace::{Limits, Profile, Run, Trace, TracerCost, parse};
use unicode_width::UnicodeWidthStr;

/// A program that reads so many files a byte at a time, and two of them over and over.
fn small_reads(files: usize) -> Trace {
    let mut text = String::new();
    let mut at = 0;
    let mut call = |call: String| {
        let took = if call.starts_with("lseek") { 10 } else { 15 };
        let time = 100.0 + f64::from(at) / 1e4;
        writeln!(text, "1 {time:.6} {call} <0.0000{took}>").unwrap();
        at += 1;
    };
    for file in 0..files {
        let name = format!("/srv/application/releases/current/configuration/part-{file:03}.conf");
        call(format!("openat(AT_FDCWD</d>, \"{name}\", O_RDONLY) = 3<{name}>"));
        (0..50).for_each(|_| call(format!("lseek(3<{name}>, 0, SEEK_CUR) = 0")));
        (0..150 + file).for_each(|_| call(format!("read(3<{name}>, \"\"..., 1) = 1")));
        call(format!("close(3<{name}>) = 0"));
    }
    parse(Cursor::new(text), &Limits::default()).unwrap()
}

fn text(files: usize, width: usize, all: bool) -> String {
    let trace = small_reads(files);
    let style = TextStyle { width, unicode: true, ..TextStyle::default() };
    screen(&trace, &Profile::of(&trace), &style, all)
}

/// Twenty findings differed in the name of the file alone, and filled the screen.
#[test]
fn what_holds_of_many_files_is_said_once() {
    let said = text(20, 80, false);
    let findings: Vec<&str> = said.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(findings.len(), 1, "{said}");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("169 reads of 1 byte in"), "the dearest: {said}");
    assert!(words.contains("(64 KiB: one call); the same for 19 more files ("), "{said}");
    assert!(!said.contains("--all"), "nothing is left out: {said}");
    let all = text(20, 80, true);
    assert_eq!(all.lines().filter(|line| line.starts_with("- ")).count(), 20, "{all}");
    assert!(!text(2, 80, false).contains("the same for"), "two are two");
}

/// Five files with names of two lines each, and the screen ended before what to do about them.
#[test]
fn there_is_room_for_what_to_do_however_many_files_there_are() {
    for width in [60, 80, 100] {
        let said = text(60, width, false);
        assert!(said.lines().count() <= LINES, "{} lines: {said}", said.lines().count());
        assert!(said.lines().any(|line| line.starts_with("- ")), "no finding: {said}");
        // The table has the columns of an ordinary terminal.
        let most = width.max(80);
        assert!(said.lines().all(|line| line.width() <= most), "{said}");
    }
}

/// `…/configura` and `tion/part-003.conf`: names were cut where the column ended.
#[test]
fn names_break_before_a_slash() {
    let name = "/srv/application/releases/current/configuration/part-003.conf";
    let whole = pieces(name, usize::MAX);
    assert_eq!(
        whole,
        ["/srv/application", "/releases/current", "/configuration", "/part-003.conf"]
    );
    assert_eq!(pieces(name, 2), ["…/configuration", "/part-003.conf"]);
    assert_eq!(pieces(name, 1), ["…/part-003.conf"]);
    assert_eq!(pieces("/short/name", 2), ["/short/name"]);
    // A part that is longer than the column breaks where it must.
    let long = pieces(&format!("/a/{}", "x".repeat(60)), usize::MAX);
    assert_eq!(long.concat().len(), 63);
    assert!(long.iter().all(|piece| piece.width() <= 23), "{long:?}");
    let wide = pieces(&"日本".repeat(30), 2);
    assert!(wide.len() <= 2 && wide.iter().all(|piece| piece.width() <= 23), "{wide:?}");
    for line in text(3, 80, true).lines().filter(|line| line.contains("current")) {
        assert!(!line.trim_end().ends_with("configura"), "{line}");
    }
}

fn costs(low_ns: u64, ns: u64, high_ns: u64) -> TracerCost {
    TracerCost { ns, low_ns, high_ns, tail_ns: 0, untraced_ns: 200, wall_ns: 30_000 }
}

/// A time that was three times too high stood there as one figure, with "a guess" behind it.
#[test]
fn a_share_that_is_not_known_is_a_range() {
    let said = |cost: TracerCost, wall_ns: u64| {
        let mut trace = small_reads(3);
        trace.tracer_cost = Some(cost);
        trace.runs.push(Run { wall_ns, user_ns: 0, system_ns: 0 });
        let style = TextStyle { width: 80, unicode: true, ..TextStyle::default() };
        let profile = Profile::of(&trace);
        let whole = &profile.whole;
        let shares = [whole.file_low_share, whole.file_share, whole.file_high_share];
        let shares: Vec<f64> = shares.into_iter().flatten().collect();
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
        assert!(shares.is_sorted(), "{shares:?}");
        let text = screen(&trace, &profile, &style, false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let known = said(costs(4_900, 5_000, 5_100), 1_000_000_000);
    assert!(known.contains("file calls take about 5"), "{known}");
    assert!(known.contains("which adds 5.00 µs to a call (4.90 µs to 5.10 µs)"), "{known}");
    let wide = said(costs(5_000, 13_500, 16_000), 1_000_000_000);
    assert!(wide.contains("file calls take at most 5"), "{wide}");
    assert!(wide.contains("up to 0.5"), "{wide}");
    // Hardly any is hardly any, whatever the tracer adds.
    assert!(wide.contains("(hardly any: it is not the files)"), "{wide}");
    assert!(!wide.contains("iolab replay") && !wide.contains("takes most"), "{wide}");
    let open = said(costs(5_000, 13_500, 16_000), 8_000_000);
    assert!(open.contains("(iolab replay measures it)"), "it decides: {open}");
    assert!(open.contains("; read takes most of that"), "{open}");
    assert!(wide.contains("≤ "), "so are the times of files: {wide}");
    // Never more than the program took.
    let short = said(costs(5_000, 6_000, 16_000), 1_000_000);
    assert!(short.contains("100 %"), "{short}");
}

/// A program that appends to many files of a directory and syncs each time.
fn syncs() -> Trace {
    let mut text = String::new();
    for at in 0..600 {
        let name = format!("/srv/application/logs/l{:03}", at % 60);
        let calls = [
            (format!("openat(AT_FDCWD</d>, \"{name}\", O_WRONLY|O_APPEND) = 3<{name}>"), 20),
            (format!("write(3<{name}>, \"\"..., 10) = 10"), 15),
            (format!("fsync(3<{name}>) = 0"), 900),
            (format!("close(3<{name}>) = 0"), 10),
        ];
        for (call_at, (call, took)) in calls.iter().enumerate() {
            let time = 100.0 + f64::from(at) / 1e3 + call_at as f64 / 1e5;
            writeln!(text, "1 {time:.6} {call} <0.{took:06}>").unwrap();
        }
    }
    parse(Cursor::new(text), &Limits::default()).unwrap()
}

#[test]
fn many_files_of_a_directory_are_one_row_and_the_first_sentence_concludes() {
    let mut trace = syncs();
    trace.tracer_cost = Some(costs(1_000, 9_000, 12_000));
    let style = TextStyle { width: 80, unicode: true, ..TextStyle::default() };
    let mut said = |wall_ns| {
        trace.runs = vec![Run { wall_ns, user_ns: 0, system_ns: 0 }];
        screen(&trace, &Profile::of(&trace), &style, false)
    };
    let text = said(800_000_000);
    assert!(text.contains("…/logs/ (60 files)"), "{text}");
    assert!(!text.contains("l000"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("(most of it)") && words.contains("; fsync takes most of that"),
        "{text}"
    );
    assert!(!words.contains("iolab replay"), "syncs are most of it: {text}");
    let less = said(3_000_000_000).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(less.contains("(less than half)"), "{less}");
    let all = screen(&trace, &Profile::of(&trace), &style, true);
    assert!(all.contains("/l000") && !all.contains("(60 files)"), "{all}");
}

/// What the whole is stands first, what to do next, and files last.
#[test]
fn the_answer_stands_before_what_to_do_and_that_before_files() {
    let said = text(20, 80, false);
    let at = |part: &str| said.lines().position(|line| line.starts_with(part)).unwrap();
    assert!(at("file calls take") <= 2, "{said}");
    assert!(at("file calls take") < at("- ") && at("- ") < at("file  "), "{said}");
}

/// 41 threads of the shim that looks for python3 were told as those of a program with one.
#[test]
fn threads_of_a_shim_are_not_the_programs() {
    let mut text = String::new();
    for process in 1..=9 {
        let program = if process == 9 { "/usr/bin/python3" } else { "/opt/shims/python3" };
        writeln!(
            text,
            "{process} 100.{process}00000 execve(\"{program}\", [], 0x7ff) = 0 <0.000020>"
        )
        .unwrap();
        let calls = if process == 9 { 30 } else { 1 };
        for at in 0..calls {
            let call = "newfstatat(AT_FDCWD</d>, \"a\", {st_mode=S_IFREG|0644}, 0) = 0";
            writeln!(text, "{process} 100.{process}{at:05} {call} <0.000020>").unwrap();
        }
    }
    let trace = parse(Cursor::new(text), &Limits::default()).unwrap();
    let profile = Profile::of(&trace);
    assert_eq!((profile.whole.threads, profile.whole.program_threads), (9, 1));
    let style = TextStyle { width: 100, unicode: true, ..TextStyle::default() };
    let said = screen(&trace, &profile, &style, false);
    assert!(said.contains("9 threads, 1 of them of python3"), "{said}");
}

/// "56 %: at most 2.74× to gain": the share was the middle of what is known, the gain its upper end.
#[test]
fn the_gain_is_that_of_the_share_that_is_told() {
    let mut trace = small_reads(3);
    let said = |trace: &Trace| {
        let style = TextStyle { width: 100, unicode: true, ..TextStyle::default() };
        let text = screen(trace, &Profile::of(trace), &style, false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    trace.runs.push(Run { wall_ns: 6_000_000, user_ns: 0, system_ns: 0 });
    trace.tracer_cost = Some(costs(8_500, 9_000, 9_200));
    let known = Profile::of(&trace).whole;
    let (share, gain) = (known.file_share.unwrap(), known.gain.unwrap());
    assert!((gain - 1.0 / (1.0 - share)).abs() < 1e-9 && share > 0.2, "{share} {gain}");
    assert!(said(&trace).contains(&format!(": roughly {} to gain", ratio_text(gain))));
    trace.tracer_cost = Some(costs(5_000, 13_500, 16_000));
    let open = Profile::of(&trace).whole;
    let (share, gain) = (open.file_high_share.unwrap(), open.gain_at_most.unwrap());
    assert!((gain - 1.0 / (1.0 - share)).abs() < 1e-9, "{share} {gain}");
    assert!(said(&trace).contains(&format!(": at most {} to gain", ratio_text(gain))));
}
