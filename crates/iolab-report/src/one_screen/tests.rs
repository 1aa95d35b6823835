use super::Screen;
use crate::{TextStyle, write};
use iolab_model::catalog::{AxisWord, Code, Fact, Factor, Level, Sync};
use iolab_model::result::{AnswerKind, CellStanding, Document, Warning};
use iolab_test::fakes::{document, fake, levels};
use iolab_test::{documents, scenes};

pub(super) fn all() -> impl Iterator<Item = (&'static str, Document)> {
    documents::all().into_iter().chain(scenes::all())
}

pub(super) fn shown(format: &str, doc: &Document, width: usize, details: bool) -> String {
    let mut out = Vec::new();
    let look = TextStyle { width, details, ..TextStyle::default() };
    write(format, doc, &look, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_run_fits_one_screen_and_ends_on_its_answer() {
    for (name, doc) in all() {
        for width in [80, 120] {
            let text = shown("table", &doc, width, false);
            let screen = Screen::of(&doc);
            let most = screen.most_lines();
            assert!(text.lines().count() <= most, "{name} at {width}, {most} lines:\n{text}");
            let last = text.lines().last().unwrap();
            assert!(doc.run.id == 0 || last.starts_with("Run "), "{name}:\n{text}");
        }
    }
}

#[test]
fn the_best_stands_first_and_at_most_eight_rows_beside_the_rest() {
    let doc = scenes::blocks();
    let screen = Screen::of(&doc);
    let lines = screen.parts[0].lines(super::MOST_ROWS);
    assert_eq!(lines.len(), super::MOST_ROWS + 1);
    assert!(lines[8].name.ends_with(" more"), "{}", lines[8].name);
    let answer = &doc.completed().answers[0];
    let leader = doc.cells.iter().find(|c| Some(c.id.as_str()) == answer.leader()).unwrap();
    assert_eq!(answer.standing_of(&leader.id), CellStanding::AmongBest);
    let block = leader.factors.number(iolab_model::catalog::Factor::Block).unwrap();
    assert!(lines[0].name.contains(&iolab_model::catalog::bytes_text(block)), "{}", lines[0].name);
    // One row more is shown itself: a line for it would be no shorter.
    let mut fewer = doc.clone();
    fewer.cells.truncate(super::MOST_ROWS + 1);
    let lines = Screen::of(&fewer).parts[0].lines(super::MOST_PRICES);
    assert_eq!(lines.len(), super::MOST_ROWS + 1);
    assert!(lines.iter().all(|line| !line.name.ends_with(" more")));
}

/// "4 more" stood where the prices of four calls were asked for.
#[test]
fn of_a_list_of_prices_each_is_shown() {
    let mut doc = scenes::ladder();
    let few = |cell: &iolab_model::result::CellRecord| cell.id.ends_with("/0");
    doc.cells.retain(few);
    doc.answers.clear();
    let screen = Screen::of(&doc);
    let lines = screen.parts[0].lines(super::MOST_PRICES);
    assert_eq!(lines.len(), doc.cells.len());
    assert!(lines.len() > super::MOST_ROWS + 1, "{lines:?}");
}

#[test]
fn all_that_was_held_constant_is_said_and_nothing_that_varied() {
    let held = Screen::of(&documents::winner()).held;
    assert_eq!(held, "ext4 on nvme0n1 · 1 thread · cache warm · 9 rounds");
    let tie = Screen::of(&documents::tie()).held;
    assert!(tie.contains("pread") && !tie.contains("blocks"), "{tie}");
}

/// Blocks of 4 KiB and 1 MiB, read cold ahead of a window of 8 MiB, were told to be alike, and why stood
/// among the details alone.
#[test]
fn cold_blocks_that_the_read_ahead_hides_are_warned_of() {
    let with = |cache: &str, blocks: &[u64], window: u64, more: &[(Factor, Level)]| {
        let cells = blocks.iter().map(|block| {
            let at = [
                (Factor::Method, Level::word("pread")),
                (Factor::Block, Level::Number(*block)),
                (Factor::Cache, Level::word(cache)),
            ];
            fake(levels(&[&at, more].concat()), 1e7, 1 << 26)
        });
        let mut doc = document(1, "read", &[Factor::Block], 24, cells.collect());
        doc.environment.put(Fact::DeviceReadAheadBytes, window);
        let of = |code| Warning { code, text: "seen".into() };
        doc.warnings =
            vec![of(Code::PageReporting), of(Code::BusyMachine), of(Code::ReadaheadLarge)];
        doc
    };
    let warned = |doc: Document| {
        let careful = Screen::of(&doc).careful;
        assert!(careful.len() <= 2, "{careful:?}");
        careful.iter().any(|(code, _)| *code == Code::ReadaheadLarge)
    };
    let window = 8 << 20;
    assert!(warned(with("cold", &[4096, 1 << 20], window, &[])));
    assert!(warned(with("remount", &[4096, 8 << 20], window, &[])));
    // A block that is far larger shows what its size does; a warm one is not read ahead at all.
    assert!(!warned(with("cold", &[4096, 64 << 20], window, &[])));
    assert!(!warned(with("warm", &[4096, 1 << 20], window, &[])));
    // Past the page cache, and where it is told not to, nothing is read ahead.
    let direct = [(Factor::Direct, Level::word("on"))];
    assert!(!warned(with("cold", &[4096, 1 << 20], window, &direct)));
    let random = [(Factor::Readahead, Level::word("random"))];
    assert!(!warned(with("cold", &[4096, 1 << 20], window, &random)));
}

/// A write of 64 KiB and its fsync took half as long as those of 1 MiB, and stood above them.
#[test]
fn synced_writes_of_several_sizes_stand_in_the_order_of_their_speed() {
    let cell = |method: &str, block: u64, wall_ns: f64| {
        let levels =
            levels(&[(Factor::Method, Level::word(method)), (Factor::Sync, Sync::Fsync.level())])
                .with(Factor::Block, Level::Number(block));
        let mut cell = fake(levels, wall_ns, 16 << 20);
        cell.operations = (16 << 20) / block;
        cell
    };
    let cells = vec![
        cell("write", 64 << 10, 2.0e9),
        cell("pwrite", 512 << 10, 0.25e9),
        cell("write", 1 << 20, 0.17e9),
    ];
    let doc = document(3, "write", &[Factor::Method, Factor::Block], 8, cells);
    let lines = Screen::of(&doc).parts[0].lines(8);
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["write 1 MiB", "pwrite 512 KiB", "write 64 KiB"], "{lines:?}");
}

/// A write of 1.1 ms and its fsync stood below "per pass", because without a sync there was a pass.
#[test]
fn a_pass_and_a_write_have_no_title_in_common() {
    let cell = |sync: Sync, block: u64, wall_ns: f64| {
        let levels =
            levels(&[(Factor::Method, Level::word("write")), (Factor::Sync, sync.level())]);
        let mut cell = fake(levels.with(Factor::Block, Level::Number(block)), wall_ns, 16 << 20);
        cell.operations = (16 << 20) / block;
        cell
    };
    let cells = [Sync::None, Sync::Fsync].into_iter();
    let cells = cells.flat_map(|sync| {
        [(64 << 10, 0.2e9), (1 << 20, 0.17e9)].map(|(block, wall_ns)| cell(sync, block, wall_ns))
    });
    let doc = document(3, "write", &[Factor::Block], 8, cells.collect());
    let screen = Screen::of(&doc);
    assert_eq!(screen.parts.len(), 2, "{doc:?}");
    assert_eq!(screen.common_titles(), None);
    let text = shown("table", &doc, 80, false);
    assert!(text.contains("per 16 MiB") && text.contains("per write"), "{text}");
    assert!(!text.contains("per pass"), "{text}");
}

/// "per write" stood above 49 ms of a copy in one call and 0.9 ms of one in sixty-four.
#[test]
fn synced_copies_are_told_by_the_pass() {
    let mut doc = iolab_test::documents::winner();
    doc.experiment.workload = iolab_model::catalog::WorkloadId::Copy.word().to_owned();
    for cell in &mut doc.cells {
        cell.factors.set(Factor::Sync, Level::word("fsync"));
    }
    let text = shown("table", &doc, 80, false);
    assert!(text.contains("per 256 MiB") && !text.contains("per write"), "{text}");
}

/// The time of a part stood among those of whole files, as if it were one.
#[test]
fn a_time_that_was_worked_out_is_marked_beside_those_that_were_not() {
    let mut doc = documents::winner();
    let bounded = |doc: &mut Document, cell: usize| {
        for sample in &mut doc.cells[cell].samples {
            sample.measurement.flags.push(iolab_model::catalog::Code::Bounded);
        }
    };
    let marks = |doc: &Document| -> (String, usize) {
        let part = &Screen::of(doc).parts[0];
        let lines = part.lines(8);
        let marked = lines.iter().filter(|line| line.figures[0].starts_with("≈ "));
        (part.titles[0].clone(), marked.count())
    };
    assert!(!marks(&doc).0.contains('≈') && marks(&doc).1 == 0);
    bounded(&mut doc, 0);
    let (title, marked) = marks(&doc);
    assert!(!title.contains('≈') && marked == 1, "{title} {marked}");
    let details = shown("table", &doc, 120, true);
    assert_eq!(details.matches("≈ ").count(), 1, "{details}");
    (1..doc.cells.len()).for_each(|cell| bounded(&mut doc, cell));
    let (title, marked) = marks(&doc);
    assert!(title.starts_with("≈ per ") && marked == 0, "{title} {marked}");
}

/// A run of one cell called it "best", of one.
#[test]
fn one_cell_is_not_called_the_best() {
    let mut doc = documents::winner();
    let id = doc.cells[0].id.clone();
    doc.cells.truncate(1);
    doc.answers.truncate(1);
    let answer = &mut doc.answers[0];
    answer.best = vec![id.clone()];
    answer.regret.retain(|regret| *regret.cell == *id);
    answer.comparisons.clear();
    answer.sentence = "pread: 4 GiB/s; nothing to compare it with".to_owned();
    for details in [false, true] {
        let text = shown("table", &doc, 80, details);
        assert!(!text.contains("  best"), "{text}");
    }
}

#[test]
fn details_have_every_cell_and_end_on_the_answer_too() {
    for format in ["table", "markdown", "asciidoc"] {
        let doc = scenes::blocks();
        let (short, whole) = (shown(format, &doc, 160, false), shown(format, &doc, 160, true));
        let cells = |text: &str| doc.cells.iter().filter(|c| text.contains(c.id.as_str())).count();
        assert_eq!(cells(&whole), doc.cells.len(), "{whole}");
        assert!(short.lines().count() < whole.lines().count(), "{format}");
        let at = |text: &str, of: &str| text.find(of).unwrap_or_else(|| panic!("{of}: {text}"));
        assert!(at(&whole, "ONE") < at(&whole, "could not be told apart"), "{whole}");
    }
}

/// The table had another cell with a lesser median above or below what was named, and nobody said why.
#[test]
fn what_is_named_and_has_not_the_least_median_has_its_reason() {
    let mut doc = documents::tie().completed().into_owned();
    let said = |doc: &Document| Screen::of(doc).answers.join(" ");
    let slow = doc.answers[0].leader().unwrap().to_owned();
    let bounds = |doc: &mut Document, at_most: f64| {
        let answer = &mut doc.answers[0];
        answer.kind = iolab_model::result::AnswerKind::Undecided;
        answer.pick = Some(iolab_model::result::Pick { cell: slow.as_str().into(), at_most });
    };
    let slower = |doc: &mut Document, by: f64| {
        let least = doc.cells.iter().filter_map(|cell| cell.estimate.as_ref());
        let least = least.map(|e| e.wall_ns.median).fold(f64::INFINITY, f64::min);
        for cell in doc.cells.iter_mut().filter(|cell| cell.id == slow) {
            cell.estimate.as_mut().unwrap().wall_ns.median = least * by;
        }
    };
    doc.experiment.protocol.delta = 0.02;
    slower(&mut doc, 1.0);
    assert!(!said(&doc).contains("The median of"), "{}", said(&doc));
    slower(&mut doc, 1.25);
    bounds(&mut doc, 1.3);
    assert!(
        said(&doc).contains(" is 20 % less, but what it may lose is bounded less well"),
        "{}",
        said(&doc)
    );
    bounds(&mut doc, 1.005);
    assert!(
        said(&doc).ends_with("but of those within 2 % the simplest is taken"),
        "{}",
        said(&doc)
    );
}

/// "queue depth 8" stood over reads that have one request under way, and a command had no name beside
/// its blocks.
#[test]
fn a_queue_is_said_of_those_that_have_one_and_a_command_has_its_name() {
    let cell = |factors: &[(Factor, Level)]| fake(levels(factors), 1e8, 1 << 28);
    let block = (Factor::Block, Level::Number(65536));
    let method = |name| (Factor::Method, Level::word(name));
    let cells = vec![
        cell(&[method("pread"), block.clone()]),
        cell(&[method("io_uring"), block.clone(), (Factor::QueueDepth, Level::Number(8))]),
        cell(&[(Factor::Contender, Level::word("dd")), block]),
        cell(&[(Factor::Contender, Level::word("dd")), (Factor::Block, Level::Number(4096))]),
    ];
    let doc = document(3, "read", &[Factor::Method, Factor::Block], 8, cells);
    let screen = Screen::of(&doc);
    assert!(screen.held.contains("queue depth 8 (io_uring)"), "{}", screen.held);
    let names: Vec<String> = screen.parts[0].lines(8).into_iter().map(|line| line.name).collect();
    assert!(
        names.contains(&"dd 64 KiB".to_owned()) && names.contains(&"dd 4 KiB".to_owned()),
        "{names:?}"
    );
}

/// A command that could not be measured was refused three times: before the start, in the report and
/// below it.
#[test]
fn what_was_skipped_and_told_before_is_not_said_again() {
    let mut doc = documents::winner();
    let cell = doc.cells.last_mut().unwrap();
    (cell.estimate, cell.reason) = (None, Some("it cannot be had here".to_owned()));
    cell.status = iolab_model::result::CellStatus::Skipped;
    let said = |doc: &Document, skips_told: bool| {
        let mut out = Vec::new();
        let look = TextStyle { skips_told, ..TextStyle::default() };
        write("table", doc, &look, &mut out).unwrap();
        String::from_utf8(out).unwrap().contains("it cannot be had here")
    };
    assert!(said(&doc, false) && !said(&doc, true));
    // What failed was told to nobody.
    doc.cells.last_mut().unwrap().status = iolab_model::result::CellStatus::Failed;
    assert!(said(&doc, true));
}

/// That the host takes memory back stood on nearly every screen of a guest, and changed no ranking.
#[test]
fn what_moves_times_and_no_ranking_is_for_the_details() {
    let told = |doc: &Document| {
        let careful = Screen::of(doc).careful;
        careful.iter().any(|(code, _)| *code == Code::PageReporting)
    };
    let with = |mut doc: Document| {
        doc.warnings = vec![Warning { code: Code::PageReporting, text: "seen".into() }];
        doc
    };
    let mut doc = with(documents::winner().completed().into_owned());
    doc.answers.iter_mut().flat_map(|a| &mut a.regret).for_each(|r| {
        if r.excluded {
            (r.low, r.high) = (1.2, Some(1.3));
        }
    });
    assert!(!told(&doc), "a clear ranking holds");
    assert!(shown("table", &doc, 80, true).contains("PAGE_REPORTING"), "the details have it");
    assert!(!told(&with(documents::tie())), "so does that none is better");
    let mut little = doc.clone();
    little.answers[0].regret.iter_mut().filter(|r| r.excluded).for_each(|r| r.low = 1.01);
    assert!(told(&little), "next time another may be");
    let mut open = doc.clone();
    open.answers[0].kind = AnswerKind::Undecided;
    assert!(told(&open));
    doc.answers.clear();
    assert!(told(&doc), "figures alone move with it");
}
