//! Screens of programs that do the same to many files, whose names are long.

use std::fmt::Write;
use std::io::Cursor;

use super::{LINES, pieces, screen};
use iolab_report::TextStyle;
use iolab_trace::{Limits, Profile, Trace, parse};
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
