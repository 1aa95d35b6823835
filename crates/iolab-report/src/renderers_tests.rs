//! All that speaks of a run says the same of it: over 200 generated runs each renderer is held
//! against the bounds of the answers, and none may name another best, another factor or another
//! interval, nor say more than the answers do.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::chart::charts_for;
use crate::compare::{Gate, GateVerdict, Row, Terms, compare_within, gate_table};
use crate::google_benchmark::benchmark_name;
use crate::survey::{Topic, screen};
use crate::{TextStyle, write};
use iolab_model::catalog::{Code, Factor, Level, percent_text, ratio_digits, ratio_text};
use iolab_model::result::{
    Answer, AnswerKind, CellRecord, CellStanding, CellStatus, Document, Regret, Verdict, Warning,
};
use iolab_test::generated::{Shape, run, shape};

pub const RUNS: u64 = 200;
pub const WIDE: usize = 4000;

pub fn look(details: bool) -> TextStyle {
    TextStyle { width: WIDE, details, ..TextStyle::default() }
}

pub fn text(format: &str, doc: &Document, details: bool) -> String {
    let mut out = Vec::new();
    write(format, doc, &look(details), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Text as a reader sees it: without markup, in one line.
fn plain(raw: &str) -> String {
    read(raw, false)
}

pub fn read(raw: &str, is_html: bool) -> String {
    let mut out = String::new();
    let mut tag = false;
    for c in raw.chars() {
        match c {
            '<' if is_html => tag = true,
            '>' if tag => tag = false,
            '\\' => {}
            c if !tag => out.push(c),
            _ => {}
        }
    }
    for (entity, c) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#39;", "'"),
        ("&quot;", "\""),
        ("&#95;", "_"),
        ("&#40;", "("),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, c);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What may be said of a cell beside the best, from the bounds alone.
pub fn against(_: &Document, answer: &Answer, cell: &CellRecord) -> String {
    let regret = answer.regret_of(&cell.id);
    let bound = |r: &Regret| answer.slower_form().text(r.low, r.high);
    let best = answer.best.contains(&cell.id);
    match (answer.kind, best, regret) {
        (AnswerKind::Invalid, ..) => String::new(),
        (_, true, _) if answer.best.len() == 1 && answer.regret.len() <= 1 => String::new(),
        (_, true, _) if answer.best.len() == 1 => "best".to_owned(),
        (AnswerKind::Tie, true, Some(r)) => format!("tied, {}", bound(r)),
        (_, true, Some(r)) => format!("may be best, {}", bound(r)),
        (_, false, Some(r)) if r.low > 1.0 => bound(r),
        (_, false, Some(r)) if r.excluded && r.high.is_some() => bound(r),
        (_, false, Some(r)) if r.excluded => "slower, not settled by how much".to_owned(),
        _ if cell.status == CellStatus::Eliminated => "not compared".to_owned(),
        _ => String::new(),
    }
}

pub fn answer_of<'a>(doc: &'a Document, cell: &CellRecord) -> Option<&'a Answer> {
    doc.answers.iter().find(|a| a.condition.iter().all(|(f, l)| cell.factors.get(f) == Some(l)))
}

/// Rows of the Markdown table of cells, as fields.
fn table_rows(markdown: &str) -> Vec<Vec<String>> {
    let rows = markdown.lines().filter(|line| line.starts_with("| "));
    let fields = |line: &str| {
        let inside = line.trim_matches('|');
        inside.split(" | ").map(|field| plain(field.trim_matches([' ', '|']))).collect()
    };
    rows.map(fields).collect()
}

/// Sentences and rows of the formats for people.
fn reports_agree(seed: u64, doc: &Document) {
    for format in ["table", "markdown", "asciidoc", "html"] {
        for details in [false, true] {
            let seen = read(&text(format, doc, details), format == "html");
            for answer in &doc.answers {
                let sentence = plain(&answer.sentence);
                assert!(seen.contains(&sentence), "{seed} {format} {details}: {sentence}\n{seen}");
            }
        }
    }
    let rows = table_rows(&text("markdown", doc, true));
    for cell in doc.cells.iter().filter(|cell| cell.estimate.is_some()) {
        let row = rows.iter().find(|row| row[0] == plain(&cell.id));
        let row = row.unwrap_or_else(|| panic!("{seed}: no row of {}", cell.id));
        let expected = answer_of(doc, cell).map_or(String::new(), |a| against(doc, a, cell));
        assert_eq!(row[row.len() - 1], expected, "{seed}: {}", cell.id);
    }
    // One screen has other names and says the same of as many cells.
    let short = table_rows(&text("markdown", doc, false));
    for answer in &doc.answers {
        let of = doc.cells.iter().filter(|c| c.estimate.is_some() && answer.best.contains(&c.id));
        for cell in of {
            let expected = against(doc, answer, cell).replace("at most ", "≤ ");
            let said = short.iter().any(|row| row[row.len() - 1] == expected);
            assert!(said, "{seed}: {expected} of {} in {short:?}", cell.id);
        }
    }
}

/// What programs read.
fn data_agree(seed: u64, doc: &Document) {
    let json: serde_json::Value = serde_json::from_str(&text("json", doc, false)).unwrap();
    let own = serde_json::to_value(&doc.answers).unwrap();
    for (at, answer) in doc.answers.iter().enumerate() {
        for key in ["best", "pick", "findings"] {
            assert_eq!(json["answers"][at][key], own[at][key], "{seed}: {key}");
        }
        assert_eq!(
            json["answers"][at]["regret"].as_array().map_or(0, Vec::len),
            answer.regret.len()
        );
    }
    let csv = text("cells", doc, false);
    let mut read = csv::Reader::from_reader(csv.as_bytes());
    let titles = read.headers().unwrap().clone();
    let at = |name: &str| titles.iter().position(|title| title == name).unwrap();
    for row in read.records().map(Result::unwrap) {
        let cell = doc.cells.iter().find(|cell| cell.id == row[at("cell")]).unwrap();
        let Some(answer) = answer_of(doc, cell) else { continue };
        let regret = answer.regret_of(&cell.id);
        let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        assert_eq!(row[at("regret_low")], number(regret.map(|r| r.low)), "{seed}");
        assert_eq!(row[at("regret_high")], number(regret.and_then(|r| r.high)), "{seed}");
        let picked = answer.pick.as_ref().is_some_and(|pick| *pick.cell == *cell.id);
        assert_eq!(row[at("pick")], picked.to_string(), "{seed}");
        let standing = match answer.standing_of(&cell.id) {
            CellStanding::Best => "best",
            CellStanding::AmongBest => "may be best",
            CellStanding::Slower => "slower",
            CellStanding::NotCompared => "",
        };
        assert_eq!(&row[at("standing")], standing, "{seed}: {}", cell.id);
    }
}

/// What tools of Google Benchmark read: medians of the trials that count, and no word on who is ahead.
fn benchmarks_agree(seed: u64, doc: &Document) {
    let written = text("google-benchmark", doc, false);
    let json: serde_json::Value = serde_json::from_str(&written).unwrap();
    let rows = json["benchmarks"].as_array().unwrap();
    let mut medians = 0;
    for cell in doc.cells.iter().filter(|cell| cell.estimate.is_some()) {
        let name = benchmark_name(&doc.experiment.workload, &cell.factors) + "_median";
        let Some(row) = rows.iter().find(|row| row["name"] == name.as_str()) else { continue };
        let median = cell.estimate.as_ref().unwrap().wall_ns.median;
        let said = row["real_time"].as_f64().unwrap();
        assert!((said / median - 1.0).abs() < 1e-9, "{seed}: {name} {said} {median}");
        medians += 1;
    }
    let several = |cell: &CellRecord| cell.estimate.as_ref().is_some_and(|e| e.wall_ns.n > 1);
    assert_eq!(medians > 0, doc.cells.iter().any(several), "{seed}: {rows:?}");
    assert!(!CLAIMS.iter().any(|claim| written.contains(claim)), "{seed}: {written}");
}

/// Every factor and percentage that the bounds of a run allow to be said.
fn allowed(doc: &Document) -> BTreeSet<String> {
    let all = RefCell::new(BTreeSet::new());
    let add = |ratio: f64| {
        // A column of factors has a digit more near one.
        let texts =
            [ratio_text(ratio), format!("{}×", ratio_digits(ratio)), format!("{ratio:.3}×")];
        all.borrow_mut().extend(texts.into_iter().chain([percent_text(ratio - 1.0)]));
    };
    let protocol = &doc.experiment.protocol;
    add(1.0 + protocol.delta);
    for answer in &doc.answers {
        let bounds = || answer.regret.iter().flat_map(|r| [Some(r.low), r.high]).flatten();
        bounds().for_each(add);
        let highs = || answer.regret.iter().filter_map(|r| r.high);
        for low in bounds() {
            highs().for_each(|high| add(low / high));
            highs().for_each(|high| add(high / low));
        }
        // What matters may be widened for an answer: it stands in its findings.
        for word in answer.findings.iter().flat_map(|found| found.sentence.split("within ").skip(1))
        {
            let words: Vec<&str> = word.split(' ').take(2).collect();
            all.borrow_mut().insert(words.join(" "));
        }
    }
    all.into_inner()
}

/// `3.10×` and `2 %` in a text; the first of `3.10–3.60×` counts as a figure of its kind.
fn figures(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (at, unit) in text.match_indices(['×', '%']) {
        let before = text[..at].trim_end();
        let start = before.rfind(|c: char| !c.is_ascii_digit() && !['.', '–'].contains(&c));
        let start = start.map_or(0, |at| at + before[at..].chars().next().unwrap().len_utf8());
        let join = if unit == "%" { " " } else { "" };
        let numbers = before[start..].split('–').filter(|number| !number.is_empty());
        all.extend(numbers.map(|number| format!("{number}{join}{unit}")));
    }
    all
}

/// Words that claim who is the best.
const CLAIMS: [&str; 6] =
    ["fastest", " wins", "is ahead", "faster than", ": best of ", "one winner"];

/// Whether one way alone may be the best in an answer, and is named in the text.
fn is_won(doc: &Document, text: &str) -> bool {
    let texts = |cell: &CellRecord| -> Vec<String> {
        let levels = cell.factors.iter();
        levels.map(|(f, l)| iolab_model::catalog::phrase(f, l)).collect()
    };
    let sound = doc.answers.iter().filter(|answer| answer.kind != AnswerKind::Invalid);
    sound.filter(|answer| !answer.best.is_empty()).any(|answer| {
        let best = doc.cells.iter().filter(|cell| answer.best.contains(&cell.id));
        let mut names = best.map(|cell| cell.factors.text(iolab_model::catalog::Factor::Method));
        let first = names.next();
        let one_way = names.all(|name| Some(name) == first);
        let all = doc.cells.iter().filter(|cell| answer.best.contains(&cell.id));
        (one_way || answer.best.len() == 1)
            && (doc.answers.len() > 1
                || all.flat_map(texts).any(|word| {
                    let short = word.trim_end_matches(" blocks").trim_start_matches("cache ");
                    text.to_lowercase().replace('-', " ").contains(&short.to_lowercase())
                }))
    })
}

/// What pictures and a survey are headed with.
fn says_no_more(seed: u64, doc: &Document, allowed: &BTreeSet<String>, what: &str, said: &str) {
    if said.contains("by the medians") {
        assert!(!CLAIMS.iter().any(|claim| said.contains(claim)), "{seed} {what}: {said}");
        return;
    }
    for figure in figures(said) {
        assert!(allowed.contains(&figure), "{seed} {what}: {figure} in {said:?}\n{allowed:?}");
    }
    if CLAIMS.iter().any(|claim| said.contains(claim)) {
        assert!(is_won(doc, said), "{seed} {what}: {said:?} {:?}", doc.answers);
    }
}

fn titles_agree(seed: u64, doc: &Document) {
    // These tell of times and shares, not of who is the best.
    const OF_OTHER_THINGS: [&str; 3] = ["where-the-time-goes", "samples-by-round", "latency"];
    let allowed = allowed(doc);
    for chart in charts_for(std::slice::from_ref(doc)) {
        let other = OF_OTHER_THINGS.iter().any(|slug| chart.slug.contains(slug));
        if other {
            let claims = CLAIMS.iter().any(|claim| chart.title.contains(claim));
            assert!(!claims, "{seed} {}: {}", chart.slug, chart.title);
        } else if !chart.title.contains("goes to") && !chart.title.contains(" waiting") {
            says_no_more(seed, doc, &allowed, &chart.slug, &chart.title);
        }
    }
    let topic = match shape(seed) {
        Shape::Blocks => Topic::Warm,
        Shape::Sizes => Topic::Mapping,
        Shape::Threads => Topic::Small,
        _ => return,
    };
    let seen = screen("heading", &[(topic, doc.clone())], "next", &look(false));
    let lines = seen.lines().filter(|line| !line.starts_with("Confidence"));
    for line in lines {
        // The spread of a speed is no bound of an answer.
        let claims = line.split(" · ").filter(|part| !part.contains('±'));
        let said = claims.collect::<Vec<_>>().join(" · ");
        says_no_more(seed, doc, &allowed, "quick", &said);
    }
}

/// One pair, as the answer's bounds have it.
fn row_agrees(seed: u64, answer: &Answer, (old, new): (&str, &str), row: &Row) {
    let (a, b) = (answer.regret_of(new).unwrap(), answer.regret_of(old).unwrap());
    let sole = |r: &Regret| answer.best.len() == 1 && *r.cell == *answer.best[0];
    let most = |r: &Regret| if sole(r) { Some(1.0) } else { r.high };
    let low = most(b).map(|high| a.low.max(1.0) / high);
    let high = most(a).map(|high| high / b.low.max(1.0));
    if answer.kind != AnswerKind::Invalid {
        assert_eq!((row.low, row.high), (low, high), "{seed}: {old} {new}");
    }
    let slower = low.is_some_and(|low| low > 1.0) || sole(b) && a.excluded;
    let faster = high.is_some_and(|high| high < 1.0) || sole(a) && b.excluded;
    match row.verdict {
        Verdict::Slower => assert!(slower, "{seed}: {row:?}"),
        Verdict::Faster => assert!(faster, "{seed}: {row:?}"),
        _ => assert!(answer.kind == AnswerKind::Invalid || !slower && !faster, "{seed}: {row:?}"),
    }
}

fn gates_agree(seed: u64, doc: &Document) {
    let place = |id: &str| doc.cells.iter().position(|cell| cell.id == id).unwrap();
    let terms = Terms { alpha: 0.05, delta: 0.05, anyway: false };
    for answer in doc.answers.iter().filter(|answer| answer.regret.len() > 1) {
        let ids: Vec<&str> = answer.regret.iter().map(|regret| regret.cell.as_str()).collect();
        for pair in ids.windows(2) {
            let (old, new) = (pair[0], pair[1]);
            let sides = ("old".to_owned(), "new".to_owned());
            let wanted = [(place(old), place(new))];
            let Ok(compared) = compare_within(doc, &wanted, sides, &terms) else { continue };
            row_agrees(seed, answer, (old, new), &compared.rows[0]);
            let gate = Gate::of(compared);
            let mut out = Vec::new();
            gate_table(&gate, &look(false), &mut out).unwrap();
            let said = String::from_utf8(out).unwrap();
            let apart = answer.apart(new, old, 0.05);
            let regressed = apart.is_some_and(|a| a.low.is_some_and(|low| low > 1.05));
            assert_eq!(gate.gate == GateVerdict::Regression, regressed, "{seed}: {said}");
            assert_eq!(said.contains("Regression"), regressed, "{seed}: {said}");
        }
    }
}

/// Three places chose a leader, three found a plateau, eight turned a comparison round: the headline
/// said 1.31–1.40×, the picture 1.35× of a pair and "4 threads give 5.23×" of two medians, and the
/// gate failed a build over what the answer had left open.
#[test]
fn all_that_speaks_of_a_run_says_the_same_and_no_more() {
    let mut kinds = BTreeSet::new();
    let mut found = BTreeSet::new();
    let mut wrong = Vec::new();
    for seed in 0..RUNS {
        let doc = run(seed).unwrap_or_else(|| panic!("{seed}: no run"));
        kinds.extend(doc.answers.iter().map(|answer| format!("{:?}", answer.kind)));
        let findings = doc.answers.iter().flat_map(|answer| &answer.findings);
        found.extend(findings.map(|finding| format!("{:?}", finding.kind)));
        for check in [reports_agree, data_agree, benchmarks_agree, titles_agree, gates_agree] {
            let seen = std::panic::catch_unwind(|| check(seed, &doc));
            wrong.extend(seen.is_err().then_some(seed));
        }
    }
    assert!(wrong.is_empty(), "runs that are told in two ways: {wrong:?}");
    // The runs have all that can be said.
    let all = |seen: &BTreeSet<String>| seen.iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(all(&kinds), "Invalid Tie Undecided Winner");
    assert_eq!(all(&found), "Crossover Plateau Scaling");
}

/// A run with all that makes a screen long: names that wrap, reasons, warnings, long sentences.
fn crowded(mut doc: Document) -> Document {
    let place = "on overlay+metacopy+volatile:size=1Gi,noatime,data=journal";
    for cell in &mut doc.cells {
        let levels = cell.factors.clone();
        cell.factors =
            levels.with(Factor::SourcePlace, Level::word(format!("{place},{}", cell.id)));
    }
    let many = "a reason of which nobody would have thought that it is so long ".repeat(9);
    if let Some(cell) = doc.cells.last_mut().filter(|_| doc.run.id.is_multiple_of(2)) {
        (cell.status, cell.reason) = (CellStatus::Failed, Some(many.clone()));
    }
    for code in [Code::PageReporting, Code::BusyMachine, Code::TwinOff] {
        doc.warnings.push(Warning { code, text: many.clone() });
    }
    doc
}

/// 24 lines of 80 columns for one answer and 6 for each further one: 26 to 60 were seen.
#[test]
fn every_generated_run_fits_one_screen() {
    let lines = |doc: &Document| {
        let mut out = Vec::new();
        write("table", doc, &TextStyle::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let mut long = Vec::new();
    for seed in 0..RUNS {
        let doc = run(seed).unwrap_or_else(|| panic!("{seed}: no run"));
        let most = 24 + 6 * doc.answers.len().saturating_sub(1);
        for doc in [doc.clone(), crowded(doc)] {
            let text = lines(&doc);
            let wide = text.lines().any(|line| line.chars().count() > 80);
            let count = text.lines().count();
            if count > most || wide {
                long.push(format!("{seed}: {count} lines of {most}\n{text}"));
            }
        }
    }
    assert!(long.is_empty(), "{} screens are too long: {}", long.len(), long[0]);
}
