//! What a run will do, said before it starts: cells, files and their fate, cost, and what is left out.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::terminal_io::say;
use super::verbosity::Talk;
use iolab_agent::MOST_LOOKED_AT;
use iolab_model::catalog::{
    Factor, Level, bytes_text, count_text, harmless, path_to_text, rough_time_text, so_many,
};
use iolab_model::plan::{Cell, Condition, FileUse, Instance, Plan, level_text};
use iolab_model::tree::TreeOrder;
use iolab_run::FEWEST_STEADY;

const WRITES_NOTHING: &str = "writes nothing";

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
    let notes = plan.changed.iter().chain(&plan.notes).cloned();
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
    for note in plan.changed.iter().chain(&plan.notes) {
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

/// The files and their fate.
fn files(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let sizes = |used: &dyn Fn(FileUse) -> bool| -> Vec<(u64, u64)> {
        let made = plan.instances.iter().filter(|i| i.path.is_none() && i.tree.is_none());
        let made = made.filter(|i| used(i.used));
        made.map(|i| (i.files.unwrap_or(1), i.total_bytes())).collect()
    };
    let made = sizes(&|used| used != FileUse::Absent);
    let in_turn = sizes(&|used| used == FileUse::Absent);
    let directory = directories(plan);
    let sum = made.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let files = made.iter().fold(0u64, |sum, (files, _)| sum.saturating_add(*files));
    let trees = trees(plan);
    match made.as_slice() {
        [] if in_turn.is_empty() && trees.is_empty() && !plan.copies => {
            lines.push(WRITES_NOTHING.to_owned());
        }
        [] => {}
        [(1, bytes)] => lines.push(format!(
            "makes one file of {} in {directory}, removed afterwards",
            bytes_text(*bytes)
        )),
        _ => lines.push(format!(
            "makes {} files, {} in all, in {directory}, removed afterwards",
            count_text(files),
            bytes_text(sum)
        )),
    }
    if let Some((_, most)) = in_turn.iter().max_by_key(|(_, bytes)| *bytes) {
        lines.push(format!(
            "writes files of up to {} in {directory}, one at a time, each removed after its trial",
            bytes_text(*most)
        ));
    }
    for instance in &plan.instances {
        if let Some(path) = &instance.path {
            let mut size = bytes_text(instance.bytes);
            let mut after = "after each";
            if let Some(TreeOrder::Found(files)) = instance.tree {
                size = format!("{} files, {size}", count_text(files));
                if files > MOST_LOOKED_AT {
                    after = "at the end, for it has many files";
                }
            }
            let mut promise = "never writes to it".to_owned();
            if !plan.commands().is_empty() {
                promise += &format!("; whether a command did is looked at {after}");
            }
            lines.push(format!("reads {} ({size}), {promise}", path_to_text(path)));
        }
    }
    if plan.copies {
        lines.push("makes one copy at a time, verifies and removes it".to_owned());
    }
    lines.extend(trees);
    lines
}

/// Where files are made that stand alone: in the directory, also in images there, and in the
/// directories that are places.
fn directories(plan: &Plan) -> String {
    let own = path_to_text(&plan.directory);
    let made = plan.instances.iter().filter(|i| i.path.is_none() && i.tree.is_none());
    let mut all: Vec<&str> = Vec::new();
    for place in made.map(|instance| instance.place.as_deref().unwrap_or_default()) {
        let directory = place.strip_prefix("dir:").unwrap_or(&own);
        if !all.contains(&directory) {
            all.push(directory);
        }
    }
    if all.is_empty() { own } else { all.join(" and ") }
}

/// The trees that are made, and for how long: one line for those that are alike.
fn trees(plan: &Plan) -> Vec<String> {
    let directory = path_to_text(&plan.directory);
    let mut alike: Vec<(&Instance, usize, Vec<&str>)> = Vec::new();
    for instance in plan.instances.iter().filter(|i| i.path.is_none()) {
        let Some(tree) = &instance.tree else { continue };
        let same = |other: &Instance| {
            let files = other.tree.as_ref().map(|t| (t.files(), matches!(t, TreeOrder::Each(_))));
            files == Some((tree.files(), matches!(tree, TreeOrder::Each(_))))
                && other.bytes == instance.bytes
        };
        let place = instance.place.as_deref().unwrap_or(&directory);
        match alike.iter_mut().find(|(other, ..)| same(other)) {
            None => alike.push((instance, 1, vec![place])),
            Some((_, count, places)) => {
                *count += 1;
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
    }
    let told = |(instance, count, places): &(&Instance, usize, Vec<&str>)| {
        trees_alike(instance, *count, &format!("in {}", places.join(", ")))
    };
    let mut lines: Vec<String> = alike.iter().filter_map(told).collect();
    let recorded = |i: &Instance| matches!(i.tree, Some(TreeOrder::Recorded(_)));
    if plan.instances.iter().any(recorded) {
        lines.push("what a trial changes of them is made anew after it".to_owned());
    }
    let copies = |i: &Instance| i.tree.is_some() && !recorded(i) && copied(plan, i.id);
    if plan.instances.iter().any(copies) {
        lines.push(format!("copies are made in {directory}, each removed after its trial"));
    }
    lines
}

/// So many trees like this one.
fn trees_alike(instance: &Instance, count: usize, places: &str) -> Option<String> {
    let tree = instance.tree.as_ref()?;
    let (files, bytes) = (count_text(tree.files()), bytes_text(instance.bytes));
    let of = |word: &str| match instance.bytes {
        0 => format!("{files} empty files"),
        _ => format!("{files} files, {bytes} {word}"),
    };
    Some(match (tree, count) {
        // Only one of them is there at a time.
        (TreeOrder::Each(_), _) => format!(
            "makes a tree of {}, {places}, or part of it in a trial, removed after it",
            of("in all")
        ),
        (_, 1) => format!("makes a tree of {}, {places}, removed afterwards", of("in all")),
        (_, n) => format!("makes {n} trees of {}, {places}, removed afterwards", of("each")),
    })
}

/// Whether a cell copies this tree: it stands, and the cell has a way to copy.
fn copied(plan: &Plan, instance: usize) -> bool {
    let its = |cell: &&Cell| cell.instance == Some(instance);
    plan.cells.iter().filter(its).any(|cell| cell.levels.get(Factor::Method).is_some())
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
        "notes": plan.changed.iter().chain(&plan.notes).collect::<Vec<_>>(),
        "cost": {
            "time_ns": plan.cost.time_ns,
            "rounds": plan.cost.rounds, "rounds_at_best": plan.cost.rounds_at_best,
            "bytes_written": plan.cost.bytes_written,
            "space_bytes": plan.cost.space_bytes,
            "privileges": plan.cost.privileges,
        },
    })
}
