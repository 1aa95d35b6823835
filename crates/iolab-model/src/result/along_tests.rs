use super::{FindingKind, LevelsOf, crossings, within};
use crate::catalog::{Factor, Level, Levels};
use crate::result::apart::tests::answer as known;
use crate::result::{Answer, AnswerKind, Pick};

/// A cell, its regret at least and at most.
type Said<'a> = (&'a str, f64, f64);

fn answer(condition: Levels, best: &[&str], said: &[Said<'_>]) -> Answer {
    let at_most = said.iter().find(|said| said.0 == best[0]).map_or(1.0, |said| said.2);
    let pick = Some(Pick { cell: best[0].into(), at_most });
    let said: Vec<_> = said.iter().map(|(cell, low, high)| (*cell, *low, Some(*high))).collect();
    Answer { condition, pick, ..known(best, &said) }
}

fn sized(method: &str, bytes: u64) -> (String, Levels) {
    let levels = Levels::new()
        .with(Factor::Method, Level::word(method))
        .with(Factor::FileSize, Level::Number(bytes));
    (format!("{method}/{bytes}"), levels)
}

/// By file size in MiB: how many times as long as mmap read takes, at least and at most; under one
/// mmap takes longer; around one it is open.
fn by_size(seen: &[(u64, f64, f64)]) -> (Vec<Answer>, Vec<(String, Levels)>) {
    let mut cells = Vec::new();
    let mut answers = Vec::new();
    for (mebibytes, low, high) in seen {
        let pair = ["read", "mmap"].map(|method| sized(method, mebibytes << 20));
        let [read, mmap] = [pair[0].0.as_str(), pair[1].0.as_str()];
        let at = Levels::new().with(Factor::FileSize, Level::Number(mebibytes << 20));
        answers.push(match (*low > 1.0, *high < 1.0) {
            (true, _) => answer(at, &[mmap], &[(read, *low, *high), (mmap, 1.0, 1.0)]),
            (_, true) => answer(at, &[read], &[(read, 1.0, 1.0), (mmap, 1.0 / high, 1.0 / low)]),
            _ => answer(at, &[read, mmap], &[(read, 1.0, *high), (mmap, 1.0, 1.0 / low)]),
        });
        cells.extend(pair);
    }
    (answers, cells)
}

fn of(cells: &[(String, Levels)]) -> LevelsOf<'_> {
    cells.iter().map(|(id, levels)| (id.as_str(), levels)).collect()
}

fn said(seen: &[(u64, f64, f64)]) -> Vec<String> {
    let (answers, cells) = by_size(seen);
    let found = crossings(&answers, &of(&cells), &[Factor::Method]);
    found.into_iter().map(|(_, finding)| finding.sentence).collect()
}

#[test]
fn a_crossing_lies_between_two_sizes_that_are_both_shown() {
    let read_first = [(1, 0.5, 0.6), (4, 1.4, 1.6), (64, 1.7, 1.9)];
    assert_eq!(said(&read_first), ["mmap wins from 4 MiB (crossing between 1 and 4 MiB)"]);
    // What is open between them is part of where it may lie.
    let open = [(1, 0.5, 0.6), (2, 0.9, 1.1), (1024, 1.4, 1.6)];
    assert_eq!(said(&open), ["mmap wins from 1 GiB (crossing between 1 MiB and 1 GiB)"]);
    let (answers, cells) = by_size(&open);
    let found = crossings(&answers, &of(&cells), &[Factor::Method]);
    assert_eq!(found[0].0, 2);
    let finding = &found[0].1;
    assert_eq!((finding.kind, &*finding.cell), (FindingKind::Crossover, "mmap/1073741824"));
    assert_eq!((finding.after.as_deref(), finding.level.as_str()), (Some("1 MiB"), "1 GiB"));
}

#[test]
fn there_is_no_crossing_where_one_side_is_open_or_nothing_changes() {
    assert!(said(&[(1, 0.5, 0.6), (4, 0.9, 1.6)]).is_empty());
    assert!(said(&[(1, 0.9, 1.1), (4, 1.4, 1.6)]).is_empty());
    assert!(said(&[(1, 1.2, 1.3), (4, 1.4, 1.6)]).is_empty());
    // Excluded, by how much is not settled: no interval on its side of one.
    let (mut answers, cells) = by_size(&[(1, 0.5, 0.6), (4, 1.4, 1.6)]);
    answers[0].regret[1].low = 1.0;
    assert!(crossings(&answers, &of(&cells), &[Factor::Method]).is_empty());
    // An answer that is not sound shows neither.
    let (mut answers, cells) = by_size(&[(1, 0.5, 0.6), (4, 1.4, 1.6)]);
    answers[1].kind = AnswerKind::Invalid;
    assert!(crossings(&answers, &of(&cells), &[Factor::Method]).is_empty());
}

#[test]
fn a_way_that_wins_for_a_while_does_not_win_from_there_on() {
    let there_and_back = [(1, 0.5, 0.6), (4, 1.4, 1.6), (64, 0.5, 0.6)];
    let expected = [
        "mmap wins at 4 MiB (crossing between 1 and 4 MiB)",
        "read wins from 64 MiB (crossing between 4 and 64 MiB)",
    ];
    assert_eq!(said(&there_and_back), expected);
}

fn along(
    factor: Factor,
    levels: &[u64],
    best: &[&str],
    bounds: &[Said<'_>],
) -> Vec<super::Finding> {
    let cells: Vec<(String, Levels)> = levels
        .iter()
        .map(|n| (n.to_string(), Levels::new().with(factor, Level::Number(*n))))
        .collect();
    let answer = answer(Levels::new(), best, bounds);
    within(&answer, &of(&cells), &[factor], 0.02)
}

#[test]
fn how_far_it_scales_is_what_the_fewest_workers_take() {
    let four = [("1", 3.1, 3.6), ("2", 1.5, 1.8), ("4", 1.0, 1.01), ("8", 1.0, 1.004)];
    let found = along(Factor::Threads, &[1, 2, 4, 8], &["4", "8"], &four);
    let expected =
        "4 threads are the fewest within 2 % of the best; 1 thread takes 3.10–3.60× as long";
    assert_eq!(found[0].sentence, expected);
    assert_eq!(found[0].kind, FindingKind::Scaling);
    assert_eq!(found[0].fewest.and_then(|times| times.low), Some(3.1));
    let ranks = along(Factor::Ranks, &[1, 2, 4, 8], &["4", "8"], &four);
    assert_eq!(ranks[0].sentence, expected.replace("thread", "rank"));
    let none = along(Factor::Threads, &[1, 2], &["1", "2"], &[("1", 1.0, 1.01), ("2", 1.0, 1.01)]);
    assert_eq!(
        none[0].sentence,
        "1 thread is within 2 % of the best, more gain nothing that matters"
    );
    // What is not shown to be slower has no such interval.
    let open = [("1", 1.0, 1.5), ("2", 1.0, 1.01)];
    let open = along(Factor::Threads, &[1, 2], &["2", "1"], &open);
    assert_eq!(open[0].sentence, "2 threads are the fewest within 2 % of the best");
    assert!(open[0].fewest.is_none());
}

#[test]
fn the_least_level_that_is_good_enough() {
    let blocks = [("4096", 1.8, 1.9), ("65536", 1.0, 1.015), ("1048576", 1.0, 1.0)];
    let found = along(Factor::Block, &[4096, 65536, 1 << 20], &["1048576", "65536"], &blocks);
    assert_eq!(found[0].sentence, "64 KiB is the smallest block within 2 % of the best");
    assert_eq!((&*found[0].cell, found[0].at_most), ("65536", Some(1.015)));
    let queue = [("1", 1.8, 1.9), ("8", 1.0, 1.015)];
    let found = along(Factor::QueueDepth, &[1, 8], &["8"], &queue);
    assert_eq!(found[0].sentence, "8 is the shallowest queue within 2 % of the best");
    assert!(along(Factor::Block, &[4096, 65536], &["65536"], &blocks[..2]).is_empty());
}
