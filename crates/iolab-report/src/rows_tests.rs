//! Every row that a person reads says of its cell what the bounds of its answer say, and stands where
//! they put it: on the screen, under `--details`, and in the tables of the page, over generated runs of
//! every shape.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::renderers_tests::{RUNS, WIDE, against, answer_of, look, read, text};
use crate::{TextStyle, html};
use iolab_model::catalog::{Factor, Level, bytes_text, phrase, ratio_interval_text, ratio_text};
use iolab_model::result::{Answer, AnswerKind, CellRecord, CellStanding, Document};
use iolab_test::generated::{run, shape};

/// Cells with figures that an answer is about, in the order of the run.
fn cells_of<'a>(doc: &'a Document, answer: &Answer) -> Vec<&'a CellRecord> {
    let timed = doc.cells.iter().filter(|cell| cell.estimate.is_some());
    let of = |cell: &&CellRecord| answer_of(doc, cell).is_some_and(|own| own == answer);
    timed.filter(of).collect()
}

/// What stands in a row below a title: figures end where their title ends, words begin where theirs
/// begins.
fn below(row: &str, titles: &str, title: &str, is_figure: bool) -> String {
    let Some(at) = titles.find(title) else { return String::new() };
    let start = titles[..at].chars().count();
    let letters: Vec<char> = row.chars().collect();
    let part: String = match is_figure {
        true => letters.iter().take(start + title.chars().count()).collect(),
        false => letters.iter().skip(start).collect(),
    };
    let found = match is_figure {
        true => part.trim_end().rsplit("  ").next(),
        false => part.split("  ").next(),
    };
    found.unwrap_or_default().trim().to_owned()
}

fn name_of(row: &str) -> &str {
    row.trim_start().split("  ").next().unwrap_or_default()
}

/// Whether a row of a screen is this cell's: by its id, or by the words for what its rivals differ in.
fn is_named(name: &str, cell: &CellRecord, rivals: &[&CellRecord]) -> bool {
    let differs = |factor: &Factor| {
        let mut levels = rivals.iter().filter_map(|rival| rival.factors.get(*factor));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    };
    let said = |factor: Factor| match (factor, cell.factors.get(factor)?) {
        (Factor::Block, Level::Number(bytes)) => Some(bytes_text(*bytes)),
        (_, level) => Some(phrase(factor, level)),
    };
    let words: Vec<String> = Factor::ALL.into_iter().filter(differs).filter_map(said).collect();
    let alone = words.len() == 1 && format!("{} blocks", words[0]) == name;
    name == cell.id || name == words.join(" ") || alone
}

/// What the rows of an answer are sorted by: who leads, who may be the best, who is slower by how much
/// at least, then who is not compared.
fn rank(answer: &Answer, cell: &CellRecord) -> (bool, u8, f64) {
    let bounded = answer.pick.is_some() || answer.best.len() == 1;
    let leads = bounded && answer.leader() == Some(cell.id.as_str());
    let group = match answer.standing_of(&cell.id) {
        _ if answer.kind == AnswerKind::Invalid || answer.regret.len() < 2 => 2,
        CellStanding::Best | CellStanding::AmongBest => 0,
        CellStanding::Slower => 1,
        CellStanding::NotCompared => 2,
    };
    let low = answer.regret_of(&cell.id).map_or(f64::INFINITY, |regret| regret.low.max(1.0));
    (!leads, group, low)
}

fn is_in_order(before: &(bool, u8, f64), after: &(bool, u8, f64)) -> bool {
    before.partial_cmp(after).is_some_and(|order| order != Ordering::Greater)
}

/// Under `--details` every cell has its row, in the order of the run.
fn details_agree(seed: u64, doc: &Document) {
    let seen = text("table", doc, true);
    let mut lines = seen.lines();
    for answer in &doc.answers {
        let cells = cells_of(doc, answer);
        if cells.is_empty() {
            continue;
        }
        let is_title = |line: &&str| line.starts_with("cell ") && line.contains(" per ");
        let titles = lines.find(is_title).unwrap_or_else(|| panic!("{seed}: no table\n{seen}"));
        for cell in cells {
            let row = lines.next().unwrap();
            assert_eq!(name_of(row), cell.id, "{seed}: {seen}");
            let said = below(row, titles, "against the best", false);
            assert_eq!(said, against(doc, answer, cell), "{seed}: {row}\n{titles}");
        }
    }
}

/// On the screen the best rows, in the order of what each can cost, and what the rest comes to.
fn screen_agrees(seed: u64, doc: &Document) {
    let seen = text("table", doc, false);
    let mut lines = seen.lines();
    let mut titles = "";
    for answer in &doc.answers {
        let cells = cells_of(doc, answer);
        let mut left = cells.clone();
        let mut last = None;
        while !left.is_empty() {
            let row = lines.next().unwrap_or_else(|| panic!("{seed}: rows are missing\n{seen}"));
            let name = name_of(row);
            if row.ends_with("against the best") || row.contains(" speed") || row.contains(" per ")
            {
                titles = row;
                continue;
            }
            if let Some(many) = name.strip_suffix(" more").and_then(|n| n.parse::<usize>().ok()) {
                assert_eq!(many, left.len(), "{seed}: {seen}");
                let said = below(row, titles, "against the best", false);
                assert_eq!(said, rest_of(answer, &left), "{seed}: {seen}");
                break;
            }
            let Some(at) = left.iter().position(|cell| is_named(name, cell, &cells)) else {
                continue;
            };
            let cell = left.remove(at);
            let expected = against(doc, answer, cell).replace("at most ", "≤ ");
            assert_eq!(below(row, titles, "against the best", false), expected, "{seed}: {seen}");
            let own = rank(answer, cell);
            assert!(last.is_none_or(|last| is_in_order(&last, &own)), "{seed}: {row}\n{seen}");
            last = Some(own);
        }
    }
}

/// What is said of several cells in one line: the least and the most that any of them takes.
fn rest_of(answer: &Answer, cells: &[&CellRecord]) -> String {
    let known: Vec<_> = cells.iter().filter_map(|cell| answer.regret_of(&cell.id)).collect();
    match known.len() {
        0 => String::new(),
        n if n < cells.len() => "not all compared".to_owned(),
        _ => {
            let low = known.iter().map(|r| r.low).fold(f64::INFINITY, f64::min);
            let high = known.iter().try_fold(1.0, |most: f64, r| Some(most.max(r.high?)));
            answer.slower_form().text(low, high).replace("at most ", "≤ ")
        }
    }
}

/// A table of the page: its titles and the fields of its rows.
struct PageTable {
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let after = text.split(start).skip(1);
    after.filter_map(|part| part.split(end).next()).collect()
}

fn tables(page: &str) -> Vec<PageTable> {
    let table = |html: &str| {
        let titles = between(html, "<th ", "</th>");
        let field = |html: &&str| read(&format!("<td {html}"), true);
        let rows = between(html, "<tr>", "</tr>").into_iter().skip(1);
        PageTable {
            titles: titles.iter().map(|html| read(&format!("<th {html}"), true)).collect(),
            rows: rows
                .map(|row| between(row, "<td", "</td>").iter().map(field).collect())
                .collect(),
        }
    };
    between(page, "<table class=\"sort\">", "</table>").into_iter().map(table).collect()
}

/// The table of ranks names no other best, no other bound and no other order than the answer.
fn ranking_agrees(seed: u64, doc: &Document, found: &PageTable) {
    let at = |title: &str| found.titles.iter().position(|own| own == title).unwrap();
    let mut last: Option<(&Answer, (bool, u8, f64))> = None;
    for row in &found.rows {
        let cell = doc.cells.iter().find(|cell| cell.id == row[at("cell")]).unwrap();
        let answer = answer_of(doc, cell).unwrap();
        let best = answer.best.contains(&cell.id) && answer.kind != AnswerKind::Invalid;
        assert_eq!(row[at("tie set")], if best { "yes" } else { "no" }, "{seed}: {row:?}");
        if let Some(regret) = answer.regret_of(&cell.id) {
            let most = regret.high.map_or(String::new(), ratio_text);
            assert_eq!(row[at("low")], ratio_text(regret.low), "{seed}: {row:?}");
            assert_eq!(row[at("high")], most, "{seed}: {row:?}");
        }
        let alone = best && answer.best.len() == 1;
        assert_eq!(row[at("rank")] == "1", alone || answer.regret.len() == 1, "{seed}: {row:?}");
        let own = rank(answer, cell);
        let follows = last.filter(|(before, _)| *before == answer);
        assert!(
            follows.is_none_or(|(_, last)| is_in_order(&last, &own)),
            "{seed}: {:?}",
            found.rows
        );
        last = Some((answer, own));
    }
}

/// What stands in the picture of it when somebody points at a mark.
fn tips_agree(seed: u64, doc: &Document, page: &str) -> usize {
    let mut seen = 0;
    for tip in between(page, "<title>", "</title>") {
        let tip = read(tip, true);
        let Some((named, _)) = tip.split_once(" the time of the best") else { continue };
        let cell = doc.cells.iter().find(|cell| named.starts_with(&format!("{} ", cell.id)));
        let cell = cell.unwrap_or_else(|| panic!("{seed}: {tip}"));
        let answer = answer_of(doc, cell).unwrap();
        let Some(regret) = answer.regret_of(&cell.id) else { continue };
        let bounds = ratio_interval_text(1.0, Some(regret.low), regret.high);
        let (_, bounds) = bounds.split_once(' ').unwrap();
        assert!(named.ends_with(bounds), "{seed}: {tip:?}, not {bounds}");
        seen += 1;
    }
    seen
}

fn page_agrees(seed: u64, doc: &Document) -> [usize; 2] {
    let mut page = Vec::new();
    html::write(std::slice::from_ref(doc), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let badges = between(&page, "<div class=\"answer ", "\">");
    for (badge, answer) in badges.iter().zip(&doc.answers) {
        let kind = format!("{:?}", answer.kind).to_lowercase();
        assert_eq!(**badge, kind, "{seed}: {}", answer.sentence);
        assert!(page.contains(&format!("<span class=\"chip\">{kind}</span>")), "{seed}");
    }
    assert_eq!(badges.len(), doc.answers.len(), "{seed}");
    let all = tables(&page);
    let rankings = all.iter().filter(|table| table.titles.contains(&"tie set".to_owned()));
    let rows = rankings.map(|table| {
        ranking_agrees(seed, doc, table);
        table.rows.len()
    });
    // The best and how much longer others take is said by that table alone.
    let speaks = |title: &String| title.contains("best") || title.contains("fastest");
    let others = all.iter().filter(|table| !table.titles.contains(&"tie set".to_owned()));
    let more = others.flat_map(|table| &table.titles).find(|title| speaks(title));
    assert_eq!(more, None, "{seed}: a second table speaks of the best");
    [rows.sum(), tips_agree(seed, doc, &page)]
}

/// The sentence, the badge and the titles were held against the findings, and the rows below them were
/// not: another factor, another order or another best could have stood there.
#[test]
fn every_row_says_what_the_findings_say_of_its_cell() {
    let mut wrong = Vec::new();
    let (mut shapes, mut ranked, mut tips) = (BTreeSet::new(), 0, 0);
    for seed in 0..RUNS {
        let doc = run(seed).unwrap_or_else(|| panic!("{seed}: no run"));
        shapes.insert(format!("{:?}", shape(seed)));
        for check in [details_agree, screen_agrees] {
            let seen = std::panic::catch_unwind(|| check(seed, &doc));
            wrong.extend(seen.is_err().then_some(seed));
        }
        match std::panic::catch_unwind(|| page_agrees(seed, &doc)) {
            Ok([rows, marks]) => (ranked, tips) = (ranked + rows, tips + marks),
            Err(_) => wrong.push(seed),
        }
    }
    assert!(wrong.is_empty(), "runs whose rows say something else: {wrong:?}");
    assert_eq!(shapes.len(), 11, "{shapes:?}");
    assert!(ranked > 500 && tips > 500, "{ranked} rows, {tips} tips");
}

/// A width at which nothing is left out; else the rows above would be of some columns.
#[test]
fn nothing_is_left_out_of_a_wide_table() {
    assert_eq!(look(true).width, WIDE);
    let narrow = TextStyle { width: 80, ..look(true) };
    let doc = run(1).unwrap();
    let mut out = Vec::new();
    crate::write("table", &doc, &narrow, &mut out).unwrap();
    let narrow = String::from_utf8(out).unwrap();
    // Each row has its bound at eighty columns too.
    let bounds =
        doc.cells.iter().filter_map(|cell| Some(against(&doc, answer_of(&doc, cell)?, cell)));
    for bound in bounds.filter(|bound| !bound.is_empty()) {
        let words: Vec<&str> = narrow.split_whitespace().collect();
        assert!(words.join(" ").contains(&bound), "{bound}\n{narrow}");
    }
}
