//! What a person reads is whole, in one order and in one unit.

use super::Screen;
use super::tests::{all, shown};
use iolab_model::catalog::{AxisWord, Code, Factor, Level, Severity, Sync, Target};
use iolab_model::result::{AnswerKind, Regret, Warning};
use iolab_test::fakes::{document, fake, levels};
use iolab_test::{documents, scenes};

/// "… so that making files may slow down over the …".
#[test]
fn a_warning_is_a_whole_sentence_at_any_width() {
    let long = "ext4 has no journal here, and ".repeat(12);
    for code in Code::ALL.iter().filter(|code| code.severity() >= Severity::Caution) {
        for text in [long.as_str(), "", "short"] {
            let mut doc = documents::winner();
            doc.warnings = vec![Warning { code: *code, text: text.to_owned() }];
            // What moves no ranking is told where there is none.
            doc.answers[0].kind = AnswerKind::Undecided;
            for width in [40, 80, 120] {
                let screen = shown("table", &doc, width, false);
                assert!(!screen.contains('…'), "{code} at {width}:\n{screen}");
                let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
                let told = matches!(code, Code::FewRounds | Code::InsufficientBudget);
                let short = [code.summary(), code.on_screen()];
                let said = short.iter().any(|short| words.contains(&format!("{code}: {short}")));
                assert!(told || said, "{code} at {width}:\n{screen}");
                let whole = words.contains(&format!("{code}: {}: {long}", code.summary()));
                assert!(!whole, "{screen}");
            }
            let details = shown("table", &doc, 80, true);
            let details = details.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(details.contains(text.trim()), "{details}");
        }
    }
}

/// "The next" of the sentence stood third in the table, and once a faster one two rows below it.
#[test]
fn rows_stand_by_what_each_can_cost_at_least() {
    let method = |word| levels(&[(Factor::Method, Level::word(word))]);
    let cells = [("read", 1e8), ("pread", 2e8), ("mmap", 2.2e8), ("splice", 4e8)];
    let cells = cells.map(|(word, wall_ns)| fake(method(word), wall_ns, 1 << 28));
    let mut doc = document(3, "read", &[Factor::Method], 24, cells.to_vec());
    let bound = |cell: &str, low: f64, high: Option<f64>| Regret {
        cell: cell.into(),
        low,
        high,
        excluded: low > 1.0,
    };
    doc.answers[0].kind = AnswerKind::Winner;
    doc.answers[0].best = vec!["read".to_owned()];
    doc.answers[0].regret = vec![
        bound("read", 1.0, Some(1.0)),
        bound("pread", 2.1, Some(2.3)),
        bound("mmap", 1.6, Some(2.9)),
        bound("splice", 3.0, None),
    ];
    let screen = Screen::of(&doc);
    let lines = screen.parts[0].lines(8);
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["read", "mmap", "pread", "splice"], "{lines:?}");
    assert!(screen.held.ends_with(" · rows by the least that each can cost"), "{}", screen.held);
    doc.answers[0].regret[1].low = 1.5;
    assert!(!Screen::of(&doc).held.contains("rows by"));
}

/// 1.43 ms in the sentence, 1430 µs above it.
#[test]
fn what_one_operation_takes_has_one_unit() {
    let cell = |sync: Sync, wall_ns: f64| {
        let method = (Factor::Method, Level::word("write"));
        let mut cell = fake(levels(&[method, (Factor::Sync, sync.level())]), wall_ns, 16 << 20);
        cell.operations = 16;
        cell
    };
    let cells = vec![cell(Sync::Fsync, 16.0 * 1.43e6), cell(Sync::Fdatasync, 16.0 * 1.2e6)];
    let mut doc = document(3, "write", &[Factor::Method], 8, cells);
    for sample in doc.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
        for (id, ns) in [("latency_p50_ns", 820e3), ("latency_p99_ns", 9.1e6)] {
            sample.measurement.metrics.insert(id.into(), ns);
        }
    }
    let screen = Screen::of(&doc);
    assert_eq!(screen.parts.len(), 2, "one answer each");
    for part in &screen.parts {
        assert_eq!(part.titles, ["per write", "writes/s", "speed", "p50", "p99"]);
        let line = &part.lines(8)[0];
        assert!(line.figures[0].ends_with(" ms"), "{line:?}");
        assert_eq!(line.figures[3..], ["0.820 ms", "9.10 ms"], "{line:?}");
    }
    // How many a second: what devices are compared by.
    let rate = |part: &super::Part| part.lines(8)[0].figures[1].parse::<f64>().unwrap();
    let mut rates: Vec<f64> = screen.parts.iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    for (rate, ns) in rates.iter().zip([1.43e6, 1.2e6]) {
        assert!((rate * ns / 1e9 - 1.0).abs() < 0.1, "{rates:?}");
    }
}

/// Nobody could tell whether the time of fallocate was in what preallocation was told to gain.
#[test]
fn preallocation_says_what_its_time_leaves_out() {
    let of = |targets: &[&'static str]| {
        let target = |word| levels(&[(Factor::Target, Level::word(word))]);
        let cells = targets.iter().map(|word| fake(target(*word), 1e8, 1 << 26)).collect();
        Screen::of(&document(3, "write", &[Factor::Target], 8, cells)).held
    };
    let said = "the time of fallocate itself is not included";
    assert!(of(&["new", "preallocated"]).contains(said));
    assert!(!of(&["new", "overwrite"]).contains(said));
}

/// At 40 columns the column that says who is slower, and by how much, was left out.
#[test]
fn a_narrow_screen_says_by_how_much_each_is_slower_and_parts_no_number_from_its_unit() {
    for (name, doc) in all() {
        let text = shown("table", &doc, 40, false);
        let broken = |line: &str| {
            let word = line.split_whitespace().next().unwrap_or_default();
            line.starts_with(word) && ["B", "KiB", "MiB", "GiB", "ms", "µs"].contains(&word)
        };
        assert!(!text.lines().any(broken), "{name}:\n{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{name}:\n{text}");
    }
    let text = shown("table", &scenes::blocks(), 40, false);
    assert!(text.contains("as long\n") || text.contains("slower\n"), "{text}");
    let text = shown("table", &documents::winner(), 40, false);
    assert!(text.lines().any(|line| line.ends_with("  best")), "{text}");
}

/// "pread/memory=3906250Ki could not be told apart: differences under 884 % could not be seen".
#[test]
fn no_screen_speaks_in_keys_or_of_what_nobody_asked() {
    for (seed, run) in (0..200).filter_map(|seed| Some((seed, iolab_test::generated::run(seed)?))) {
        let screen = shown("table", &run, 80, false);
        let words: Vec<&str> = screen.split_whitespace().collect();
        for word in ["could not be seen", "no budget of", "place × ", "memory="] {
            assert!(!words.join(" ").contains(word), "{seed}: {word}\n{screen}");
        }
        // What is more than three times as long is a factor, not per cent.
        for pair in words.windows(2).filter(|pair| pair[1].starts_with('%')) {
            let ends =
                pair[0].split('–').filter_map(|end| end.trim_matches('(').parse::<f64>().ok());
            assert!(ends.fold(0.0, f64::max) <= 200.0, "{seed}: {pair:?}\n{screen}");
        }
    }
}

/// Of four ways that were asked for two stood there and "2 more" were the others, because a name of two
/// lines left no room.
#[test]
fn ways_that_were_asked_for_have_their_rows_where_shorter_names_make_room() {
    let cell = |sync: Sync, target: Target, wall_ns: f64| {
        let word = |factor, level| (factor, level);
        let ways = [word(Factor::Sync, sync.level()), word(Factor::Target, target.level())];
        let mut cell = fake(levels(&ways), wall_ns, 1 << 20);
        cell.operations = 256;
        cell
    };
    let ways = [Sync::Fsync, Sync::Fdatasync, Sync::Dsync, Sync::Sync];
    let targets = [Target::Append, Target::Preallocated];
    let all = ways.into_iter().flat_map(|sync| targets.map(|target| (sync, target)));
    let cells: Vec<_> =
        (0..).zip(all).map(|(at, (s, t))| cell(s, t, 3e7 + 1e6 * f64::from(at))).collect();
    let mut doc = document(3, "write", &[Factor::Sync, Factor::Target], 8, cells);
    let text =
        "writes vary from run to run, and so do ratios, by more than any interval shows".to_owned();
    doc.warnings = vec![
        Warning { code: Code::PageReporting, text: text.clone() },
        Warning { code: Code::BusyMachine, text },
    ];
    let screen = shown("table", &doc, 80, false);
    let folded = |line: &str| line.split_whitespace().nth(1) == Some("more");
    assert!(!screen.lines().any(folded), "{screen}");
    for way in ["fsync", "fdatasync", "O_DSYNC", "O_SYNC"] {
        let rows = screen.lines().filter(|line| line.starts_with(way) && line.contains(" µs"));
        assert_eq!(rows.count(), 2, "{way}:\n{screen}");
    }
    assert!(screen.lines().count() <= 23, "{screen}");
}
