//! What people read, as snapshots (from seeded documents), and what must hold at any width.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use iolab_model::result::Document;
use iolab_record::history::{RunStatus, RunSummary};
use iolab_report::{FORMATS, TextStyle, history_json, history_table, write};
use iolab_test::arbitrary::any_document;
use iolab_test::documents::{all, winner};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

fn look(width: usize) -> TextStyle {
    TextStyle { width, ..TextStyle::default() }
}

fn text(format: &str, doc: &Document, look: &TextStyle) -> String {
    let mut out = Vec::new();
    write(format, doc, look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn document(name: &str) -> Document {
    all().into_iter().find(|(n, _)| *n == name).unwrap().1
}

#[test]
fn a_winner_at_three_widths() {
    for width in [40, 80, 120] {
        insta::assert_snapshot!(format!("winner_{width}"), text("table", &winner(), &look(width)));
    }
}

#[test]
fn a_winner_in_ascii_and_in_colour() {
    let ascii =
        text("table", &winner(), &TextStyle { width: 100, unicode: false, ..TextStyle::default() });
    assert!(ascii.is_ascii());
    insta::assert_snapshot!("winner_ascii", ascii);
    let plain = text("table", &winner(), &look(100));
    let colour = text("table", &winner(), &TextStyle { color: true, ..look(100) });
    assert!(colour.contains("\x1b[32m"));
    // Colour changes nothing but colour, and the 16 colours only.
    let mut stripped = String::new();
    for part in colour.split('\x1b') {
        match part.strip_prefix('[').and_then(|p| p.split_once('m')) {
            Some((code, rest)) => {
                assert!(["0", "1", "2", "31", "32", "33"].contains(&code), "{code}");
                stripped += rest;
            }
            None => stripped += part,
        }
    }
    assert_eq!(stripped, plain);
}

#[test]
fn the_other_outcomes() {
    for name in ["tie", "undecided", "invalid", "partial", "skipped only", "failed only", "empty"] {
        let name_of = name.replace(' ', "_");
        insta::assert_snapshot!(name_of, text("table", &document(name), &look(80)));
    }
}

#[test]
fn several_answers_have_their_conditions_as_headings() {
    let mut doc = winner();
    let mut cold = iolab_test::documents::tie();
    for cell in &mut cold.cells {
        cell.id = format!("cold/{}", cell.id);
        let cold_level = iolab_model::catalog::Level::word("cold");
        cell.factors.set(iolab_model::catalog::Factor::Cache, cold_level.clone());
        cold.answers[0].condition.set(iolab_model::catalog::Factor::Cache, cold_level);
    }
    cold.answers[0].best = cold.cells.iter().map(|c| c.id.clone()).collect();
    doc.cells.extend(cold.cells);
    doc.answers.extend(cold.answers);
    insta::assert_snapshot!(text("table", &doc, &look(80)));
}

#[test]
fn markdown_and_the_published_tables() {
    insta::assert_snapshot!("markdown_winner", text("markdown", &winner(), &look(80)));
    insta::assert_snapshot!("markdown_hostile", text("markdown", &document("hostile"), &look(80)));
    insta::assert_snapshot!("asciidoc_winner", text("asciidoc", &winner(), &look(80)));
    insta::assert_snapshot!("published", text("published", &winner(), &look(100)));
    insta::assert_snapshot!("published_markdown", text("published-markdown", &winner(), &look(80)));
    insta::assert_snapshot!("published_csv", text("published-csv", &winner(), &look(80)));
}

#[test]
fn hostile_names_are_harmless_on_the_screen() {
    insta::assert_snapshot!("hostile", text("table", &document("hostile"), &look(80)));
}

/// No line wider than asked, no control character but the line end.
fn harmless(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.width() <= width, "{} > {width}: {line:?}\n{text}", line.width());
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
    assert!(text.ends_with('\n'));
}

#[test]
fn nothing_passes_the_width() {
    for (name, doc) in all() {
        for width in [20, 40, 60, 80, 120, 200] {
            for format in ["table", "published"] {
                eprintln!("{name} as {format} in {width} columns");
                harmless(&text(format, &doc, &look(width)), width);
            }
        }
        // Not even where the terminal has no width at all.
        text("table", &doc, &look(0));
    }
}

#[test]
fn every_format_takes_every_document() {
    for (name, doc) in all() {
        for format in FORMATS {
            eprintln!("{name} as {}", format.id);
            let mut out = Vec::new();
            write(format.id, &doc, &look(80), &mut out).unwrap();
            assert!(!out.is_empty());
        }
    }
}

#[test]
fn an_error_of_the_writer_comes_back_as_it_was() {
    struct Closed(usize);
    impl std::io::Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            match self.0.checked_sub(1) {
                Some(left) => {
                    self.0 = left;
                    Ok(bytes.len())
                }
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in FORMATS {
        for writes in [0, 1, 2] {
            let ended = (format.write)(&winner(), &look(80), &mut Closed(writes));
            if let Err(e) = ended {
                assert_eq!(e.kind(), std::io::ErrorKind::BrokenPipe, "{}", format.id);
            }
        }
        let at_once = (format.write)(&winner(), &look(80), &mut Closed(0));
        assert!(at_once.is_err(), "{} hides a closed pipe", format.id);
    }
    let unknown = write("xml", &winner(), &look(80), &mut Vec::new()).unwrap_err();
    assert!(unknown.to_string().contains("markdown"), "{unknown}");
}

#[test]
fn the_list_of_runs() {
    let run = |id: u64, status, answer: Option<&str>| RunSummary {
        id,
        started: "2026-03-01T10:00:00Z".into(),
        finished: None,
        status,
        title: "read 256 MiB warm\n\x1b[2J".into(),
        workload: "read".into(),
        cells: 12,
        samples: 480,
        answer: answer.map(str::to_owned),
        pinned: false,
        name: None,
        best_ns: None,
    };
    let runs = [
        run(
            1234,
            RunStatus::Complete,
            Some("pread with 64 KiB blocks is fastest here: 1.28× (1.24–1.32) faster than mmap."),
        ),
        run(3, RunStatus::Partial, None),
    ];
    let table = |width: usize, runs: &[RunSummary]| {
        let mut out = Vec::new();
        history_table(runs, &look(width), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    for width in [40, 80, 120] {
        harmless(&table(width, &runs), width);
    }
    insta::assert_snapshot!("history", table(80, &runs));
    assert_eq!(table(80, &[]), "There are no runs yet.\n");
    let mut out = Vec::new();
    history_json(&runs, &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json[0]["id"], 1234);
    assert_eq!(json[1]["status"], "partial");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn any_document_in_any_format_at_any_width(doc in any_document(), width in 20usize..130) {
        for format in FORMATS {
            let mut out = Vec::new();
            write(format.id, &doc, &look(width), &mut out).unwrap();
            prop_assert!(format.binary || std::str::from_utf8(&out).is_ok());
            if ["table", "published"].contains(&format.id) {
                harmless(std::str::from_utf8(&out).unwrap(), width);
            }
        }
    }
}
