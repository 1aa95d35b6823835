//! The parts of the page beside the charts: answers, tables, environment, warnings, the command.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::super::remarks;
use super::super::view_model::raise;
use crate::chart::{Datum, Table, clean, condition_text};
use iolab_model::catalog::{
    Code, Severity, count_text, percent_text, rough_time_text, time_text, xml_text,
};
use iolab_model::result::{Answer, AnswerKind, Document, Grade, Twin, Warning};

/// Up to so many answers stand large.
const FEW_ANSWERS: usize = 3;
/// Most answers shown open; the rest is one click away.
const OPEN_ANSWERS: usize = 8;
/// Most answers shown at all.
const MOST_ANSWERS: usize = 400;

/// Escaped, with control and direction characters made visible.
pub fn text(raw: &str) -> String {
    xml_text(&clean(raw))
}

/// The answers, the first thing on the page.
pub fn answers(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    if document.answers.is_empty() {
        let why = match document.run.complete {
            true => "No answer: nothing that could be compared was measured.",
            false => "No answer: the run was stopped before one was found.",
        };
        return write!(out, "<div class=\"answer\"><p>{why}</p></div>");
    }
    for line in remarks::before(document) {
        write!(out, "<p class=\"answer\">{}</p>", text(&line))?;
    }
    let many = document.answers.len() > FEW_ANSWERS;
    if many {
        write!(out, "<div class=\"answers\">")?;
    }
    for (at, one) in document.answers.iter().take(MOST_ANSWERS).enumerate() {
        if at == OPEN_ANSWERS {
            let more = count_text((document.answers.len() - OPEN_ANSWERS) as u64);
            write!(out, "<details><summary>{more} more answers</summary>")?;
        }
        answer(out, document, one, !many)?;
    }
    if document.answers.len() > OPEN_ANSWERS {
        write!(out, "</details>")?;
    }
    if many {
        write!(out, "</div>")?;
        better(out, document)?;
    }
    notes(out, document)
}

/// What was found beside the answers.
fn notes(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let notes = remarks::notes(document);
    if notes.is_empty() {
        return Ok(());
    }
    write!(out, "<ul>")?;
    for note in notes {
        write!(out, "<li>{}</li>", text(&note))?;
    }
    write!(out, "</ul>")
}

/// What would raise the grades, each thing once.
fn better(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let raises: BTreeSet<&str> =
        document.answers.iter().filter_map(|a| a.raise.as_deref()).collect();
    for raise in raises.into_iter().take(4) {
        write!(out, "<p class=\"muted\">Better with: {}</p>", text(raise))?;
    }
    Ok(())
}

fn answer(
    out: &mut dyn Write,
    document: &Document,
    answer: &Answer,
    alone: bool,
) -> io::Result<()> {
    let kind = match answer.kind {
        AnswerKind::Winner => "winner",
        AnswerKind::Tie => "tie",
        AnswerKind::Undecided => "undecided",
        AnswerKind::Invalid => "invalid",
    };
    let grade = match answer.grade {
        Grade::A => "grade A, good",
        Grade::B => "grade B, fair",
        Grade::C => "grade C, rough",
        Grade::Invalid => "not sound",
    };
    write!(out, "<div class=\"answer {kind}\"><p>{}</p>", text(&answer.sentence))?;
    if let Some(worth) = remarks::worth(document, answer) {
        write!(out, "<p>{}</p>", text(&worth))?;
    }
    write!(out, "<p class=\"muted\">")?;
    if !answer.condition.is_empty() {
        write!(out, "{} · ", text(&condition_text(&answer.condition)))?;
    }
    write!(
        out,
        "<span class=\"chip\">{kind}</span> <span class=\"chip\">{grade}</span> {} rounds",
        answer.rounds
    )?;
    if let Some(detectable) = answer.detectable.filter(|d| d.is_finite()) {
        write!(
            out,
            " · differences from {} up would have been seen",
            percent_text(detectable - 1.0)
        )?;
    }
    write!(out, "</p>")?;
    if let Some(raise) = raise(answer).filter(|_| alone) {
        write!(out, "<p class=\"muted\">Better with: {}</p>", text(raise))?;
    }
    write!(out, "</div>")
}

/// A table that scrolls within its own box and can be sorted.
pub fn table(out: &mut dyn Write, table: &Table, caption: &str) -> io::Result<()> {
    let caption = text(caption);
    write!(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">")?;
    write!(out, "<table class=\"sort\"><caption class=\"vh\">{caption}</caption><thead><tr>")?;
    for (at, column) in table.columns.iter().enumerate() {
        let number = table.rows.iter().filter_map(|r| r.get(at)).any(|d| d.value.is_some());
        let class = if number { " class=\"num\"" } else { "" };
        write!(out, "<th scope=\"col\"{class}>{}</th>", xml_text(column))?;
    }
    write!(out, "</tr></thead><tbody>")?;
    for row in &table.rows {
        write!(out, "<tr>")?;
        for datum in row {
            field(out, datum)?;
        }
        writeln!(out, "</tr>")?;
    }
    write!(out, "</tbody></table></div>")
}

fn field(out: &mut dyn Write, datum: &Datum) -> io::Result<()> {
    match datum.value {
        Some(value) => {
            write!(out, "<td data-v=\"{}\">{}</td>", brief(value), xml_text(&datum.text))
        }
        None if datum.text.is_ascii() => write!(out, "<td>{}</td>", xml_text(&datum.text)),
        None => write!(out, "<td dir=\"auto\">{}</td>", xml_text(&datum.text)),
    }
}

/// A number for programs: whole, or with nine digits.
fn brief(value: f64) -> String {
    match value.abs() {
        v if v.fract() == 0.0 && v < 1e18 => format!("{value:.0}"),
        v if v >= 1e9 => format!("{value:.0}"),
        v if v >= 1e-3 => {
            let text = format!("{value:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:e}"),
    }
}

/// Warnings of the run and of its answers, each code once, with what it means.
pub fn warnings(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let mut by_code: BTreeMap<Code, Vec<&Warning>> = BTreeMap::new();
    let all = document.answers.iter().flat_map(|a| &a.warnings);
    for warning in document.warnings.iter().chain(all) {
        let known = by_code.entry(warning.code).or_default();
        if known.iter().all(|w| w.text != warning.text) {
            known.push(warning);
        }
    }
    if by_code.is_empty() {
        return write!(out, "<p>None.</p>");
    }
    let mut codes: Vec<(Code, Vec<&Warning>)> = by_code.into_iter().collect();
    codes.sort_by_key(|(code, _)| std::cmp::Reverse(code.severity()));
    for (code, warnings) in codes {
        let word = match code.severity() {
            Severity::Note => "note",
            Severity::Caution => "caution",
            Severity::Invalid => "invalid",
        };
        write!(
            out,
            "<details><summary><code>{}</code> <span class=\"chip\">{word}</span> {}</summary>",
            code.id(),
            xml_text(code.summary())
        )?;
        for warning in warnings.iter().take(20) {
            write!(out, "<p>{}</p>", text(&warning.text))?;
        }
        if warnings.len() > 20 {
            write!(out, "<p class=\"muted\">and {} more</p>", warnings.len() - 20)?;
        }
        write!(out, "<p class=\"muted\">{}</p></details>", xml_text(code.explanation()))?;
    }
    Ok(())
}

/// How it was measured.
pub fn protocol(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    let p = &document.experiment.protocol;
    let mut facts = vec![
        (
            "Rounds",
            format!(
                "{} steady, file instances renewed every {}",
                p.steady_rounds,
                p.epoch_rounds.max(1)
            ),
        ),
        ("Stopped", if p.stopped.is_empty() { "–".to_owned() } else { p.stopped.clone() }),
        (
            "Error allowed",
            format!("{} for each answer, at any stopping time", percent_text(p.alpha)),
        ),
        ("What matters", format!("differences from {} up", percent_text(p.delta))),
        ("Budget", rough_time_text(p.budget_ns as f64)),
        (
            "Clock",
            format!(
                "step {}, cost of a pair {}",
                time_text(p.clock_resolution_ns),
                time_text(p.clock_cost_ns)
            ),
        ),
    ];
    if let Some(twin) = &document.twin {
        let number = |v: Option<f64>| {
            v.filter(|v| v.is_finite()).map_or("?".to_owned(), |v| format!("{v:.3}"))
        };
        let words = format!(
            "{}× ({}–{}): {} against itself",
            number(twin.ratio),
            number(twin.low),
            number(twin.high),
            match twin.cell == Twin::ANY {
                true => "a cell drawn at random each round".to_owned(),
                false => format!("the cell {}", twin.cell),
            }
        );
        facts.push(("Twin", words));
    }
    write!(out, "<dl class=\"facts\">")?;
    for (name, fact) in facts {
        write!(out, "<dt>{name}</dt><dd>{}</dd>", text(&fact))?;
    }
    write!(out, "</dl>")
}

/// Every fact of the machine that was recorded.
pub fn environment(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    write!(out, "<dl class=\"facts\">")?;
    for (name, value) in &document.environment.0 {
        let value = match value {
            serde_json::Value::String(words) => words.clone(),
            other => other.to_string(),
        };
        write!(out, "<dt>{}</dt><dd dir=\"auto\">{}</dd>", text(name), text(&value))?;
    }
    write!(out, "</dl>")
}
