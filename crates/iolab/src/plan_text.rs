//! What a run will do, said before it starts: cells, files and their fate, cost, and what is left out.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::plan_files::{WRITES_NOTHING, files};
use super::terminal_io::say;
use super::verbosity::Talk;
use iolab_model::catalog::{
    Factor, Level, bytes_text, harmless, path_to_text, rough_time_text, so_many,
};
use iolab_model::plan::{Cell, Condition, Plan, level_text};
use iolab_run::FEWEST_STEADY;

/// One line each of what is written, removed, changed and skipped, to stderr. Above a report of one
/// screen only what must be known before it starts.
pub fn before_start(plan: &Plan, talk: &Talk) {
    if talk.quiet {
        return;
    }
    if talk.is_brief() {
        let told = files(plan).into_iter().filter(|line| !line.starts_with(WRITES_NOTHING));
        let told = told.chain(commands(plan)).chain(plan.changed.clone()).chain(skipped(plan));
        let told = told.chain(hopeless(plan));
        told.for_each(|line| say(&harmless(&line)));
        return;
    }
    say(&harmless(&plan.title));
    let started = commands(plan);
    let notes = plan.remarks().cloned();
    for line in files(plan).into_iter().chain(started).chain(notes).chain(skipped(plan)) {
        say(&format!("  {line}"));
    }
    if talk.verbose {
        say(&format!("  seed {}; {}", plan.protocol.seed, expectation(plan)));
    } else if let Some(hopeless) = hopeless(plan) {
        say(&format!("  {hopeless}"));
    }
}

/// The plan as data: JSON where that was asked for, else for people.
///
/// # Errors
/// What stdout met.
pub fn write_plan(out: &mut dyn Write, plan: &Plan, format: &str) -> io::Result<()> {
    match format {
        "json" => {
            serde_json::to_writer_pretty(&mut *out, &json(plan))?;
            writeln!(out)
        }
        _ => write_text(out, plan),
    }
}

fn write_text(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    writeln!(out, "{}", harmless(&plan.title))?;
    line(out, "compares", &question(plan))?;
    let same = shared(plan);
    if !same.is_empty() {
        line(out, "always", &same)?;
    }
    let active = plan.cells.iter().filter(|cell| cell.skip.is_none()).count();
    let answers = plan.conditions.iter().filter(|c| !c.cells.is_empty()).count();
    line(
        out,
        "cells",
        &format!(
            "{active} to measure, {} skipped; {}",
            plan.cells.len() - active,
            so_many(answers, "answer")
        ),
    )?;
    for condition in plan.conditions.iter().filter(|c| !c.cells.is_empty()) {
        let names: Vec<&str> =
            condition.cells.iter().map(|at| plan.cells[*at].id.as_str()).collect();
        line(out, "", &format!("{}{}", heading(plan, condition), names.join(", ")))?;
    }
    if plan.baseline.is_some() {
        line(
            out,
            "twin",
            "one cell, drawn at random, runs twice in each round, to show what chance does",
        )?;
    }
    for note in plan.remarks() {
        line(out, "note", note)?;
    }
    for reason in skipped(plan) {
        line(out, "skipped", reason.trim_start_matches("skipped: "))?;
    }
    for file in files(plan) {
        line(out, "files", &file)?;
    }
    for command in commands(plan) {
        line(out, "starts", command.trim_start_matches("starts: "))?;
    }
    line(out, "time", &expectation(plan))?;
    let cost = &plan.cost;
    line(
        out,
        "writes",
        &format!(
            "{}; takes {} of space",
            bytes_text(cost.bytes_written),
            bytes_text(cost.space_bytes)
        ),
    )?;
    let needs = match cost.privileges.is_empty() {
        true => "no privileges".to_owned(),
        false => cost.privileges.join(", "),
    };
    line(out, "needs", &needs)
}

/// The commands that are started, whole.
fn commands(plan: &Plan) -> Vec<String> {
    plan.commands().into_iter().map(|command| format!("starts: {}", harmless(command))).collect()
}

/// A label and a text that wraps under itself at 80 columns.
fn line(out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    const INDENT: usize = 12;
    const WIDTH: usize = 80;
    let mut row = format!("  {label:<10}");
    let mut used = INDENT;
    let text = harmless(text);
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > INDENT && used + 1 + length > WIDTH {
            writeln!(out, "{}", row.trim_end())?;
            row = " ".repeat(INDENT);
            used = INDENT;
        }
        if used > INDENT {
            row.push(' ');
            used += 1;
        }
        row += word;
        used += length;
    }
    writeln!(out, "{}", row.trim_end())
}

fn question(plan: &Plan) -> String {
    match plan.ask.is_empty() {
        true => "nothing: one cell is measured".to_owned(),
        false => plan.ask.iter().map(|f| f.name()).collect::<Vec<_>>().join(", "),
    }
}

fn shared(plan: &Plan) -> String {
    // One method and one command are two cells: neither is everywhere.
    let beside = |factor| {
        plan.factors.contains_key(&Factor::Contender)
            && matches!(factor, Factor::Method | Factor::Contender)
    };
    let one = |(factor, levels): (&Factor, &Vec<Level>)| match levels.as_slice() {
        [level] if !beside(*factor) => Some(format!("{factor} {}", level_text(*factor, level))),
        _ => None,
    };
    plan.factors.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

/// What tells a condition from the others: `cache cold: `.
fn heading(plan: &Plan, condition: &Condition) -> String {
    let varies = |f: &Factor| plan.factors.get(f).is_some_and(|levels| levels.len() > 1);
    let levels: Vec<String> = condition
        .levels
        .iter()
        .filter(|(factor, _)| varies(factor))
        .map(|(factor, level)| format!("{factor} {}", level_text(factor, level)))
        .collect();
    match levels.is_empty() {
        true => String::new(),
        false => format!("{}: ", levels.join(", ")),
    }
}

/// Skipped cells, those of one reason together.
fn skipped(plan: &Plan) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<&Cell>> = BTreeMap::new();
    for cell in &plan.cells {
        if let Some(reason) = &cell.skip {
            reasons.entry(reason).or_default().push(cell);
        }
    }
    let told = |(reason, cells): (&str, Vec<&Cell>)| {
        let more = match cells.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        // A reason often begins with the name.
        match reason.starts_with(&cells[0].id) && cells.len() == 1 {
            true => format!("skipped: {reason}"),
            false => format!("skipped: {}{more}: {reason}", cells[0].id),
        }
    };
    reasons.into_iter().map(told).collect()
}

/// A budget in which no machine comes to an answer.
fn hopeless(plan: &Plan) -> Option<String> {
    let short = plan.protocol.rounds.is_none() && plan.cost.rounds_at_best < FEWEST_STEADY;
    short.then(|| {
        format!(
            "even on a fast machine {} at most fit, and an answer takes {FEWEST_STEADY}: take a \
             longer --budget, or fewer levels",
            so_many(plan.cost.rounds_at_best as usize, "round")
        )
    })
}

fn expectation(plan: &Plan) -> String {
    let time = rough_time_text(plan.cost.time_ns as f64);
    if let Some(hopeless) = hopeless(plan) {
        return format!("at most {time}; {hopeless}");
    }
    match plan.protocol.rounds {
        Some(rounds) => format!("about {time} for {rounds} rounds"),
        None if plan.cost.rounds < FEWEST_STEADY => format!(
            "at most {time}; on a slow machine {} fit, on a fast one {}, and an answer takes \
             {FEWEST_STEADY}; the first rounds show it",
            so_many(plan.cost.rounds as usize, "round"),
            plan.cost.rounds_at_best
        ),
        None => format!(
            "at most {time}; {} rounds or more fit, fewer are needed if the answer is clear sooner",
            plan.cost.rounds
        ),
    }
}

fn json(plan: &Plan) -> serde_json::Value {
    let cells: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            serde_json::json!({
                "id": cell.id, "factors": cell.levels, "answer": cell.condition,
                "skipped": cell.skip,
            })
        })
        .collect();
    let answers: Vec<_> = plan.conditions.iter().map(|c| &c.levels).collect();
    let files: Vec<_> = plan
        .instances
        .iter()
        .map(|i| serde_json::json!({"path": i.path.as_deref().map(path_to_text), "bytes": i.bytes}))
        .collect();
    serde_json::json!({
        "title": plan.title,
        "workload": plan.workload,
        "directory": path_to_text(&plan.directory),
        "factors": plan.factors,
        "ask": plan.ask,
        "seed": plan.protocol.seed,
        "cells": cells,
        "answers": answers,
        "files": files,
        "twin": plan.baseline.map(|at| &plan.cells[at].id),
        "notes": plan.remarks().collect::<Vec<_>>(),
        "cost": {
            "time_ns": plan.cost.time_ns,
            "rounds": plan.cost.rounds, "rounds_at_best": plan.cost.rounds_at_best,
            "bytes_written": plan.cost.bytes_written,
            "space_bytes": plan.cost.space_bytes,
            "privileges": plan.cost.privileges,
        },
    })
}
