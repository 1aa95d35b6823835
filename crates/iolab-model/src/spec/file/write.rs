//! An experiment → the file that makes it again.

use std::fmt::Write;
use std::path::PathBuf;

use super::experiment::Written;
use crate::catalog::{Fact, Factor, Kind, Level, path_from_text, path_to_text};
use crate::result::Document;
use crate::spec::{Experiment, KeyForm, PROTOCOL_KEYS, Protocol, format_bytes};

/// What a recorded run was asked, every choice made, so that it makes the same plan again.
pub fn from_document(document: &Document) -> Written {
    let record = &document.experiment;
    let level = |factor: Factor, value: &serde_json::Value| match (value, factor.kind()) {
        (serde_json::Value::Number(number), _) => number.as_u64().map(Level::Number),
        (serde_json::Value::String(text), Kind::Path) => Some(Level::Path(path_from_text(text))),
        (serde_json::Value::String(text), _) => Some(Level::word(text.as_str())),
        _ => None,
    };
    let factors = record.factors.iter().map(|(factor, values)| {
        (*factor, values.iter().filter_map(|value| level(*factor, value)).collect())
    });
    let environment = &document.environment;
    // Runs recorded before the directory was kept were mostly made where they were started.
    let directory =
        record.directory.as_deref().or_else(|| environment.text(Fact::RunWorkingDirectory));
    Written {
        experiment: Experiment {
            title: Some(document.run.title.clone()),
            workload: record.workload.clone(),
            directory: path_from_text(directory.unwrap_or(".")),
            factors: factors.filter(|(_, levels): &(_, Vec<_>)| !levels.is_empty()).collect(),
            protocol: Protocol::recorded(document),
        },
        seeded: true,
        exports: Vec::new(),
        vm: environment.get(Fact::GuestAccelerator).is_some(),
        kernel: None::<PathBuf>,
        modules: None,
        place: format!("run {}", document.run.id),
        directory_place: None,
        export_place: None,
    }
}

/// The experiment as TOML, which reads back as the same.
pub fn write(written: &Written) -> String {
    let Experiment { title, workload, directory, factors, protocol } = &written.experiment;
    let mut text = String::from("[[experiment]]\n");
    let mut line = |key: &str, value: String| text.push_str(&format!("{key} = {value}\n"));
    if let Some(title) = title {
        line("title", quoted(title));
    }
    line("workload", quoted(workload));
    line("directory", quoted(&path_to_text(directory)));
    if written.vm {
        line("vm", "true".to_owned());
    }
    for (key, path) in [("kernel", &written.kernel), ("modules", &written.modules)] {
        if let Some(path) = path {
            line(key, quoted(&path_to_text(path)));
        }
    }
    if !written.exports.is_empty() {
        line("export", list(&written.exports));
    }
    if !factors.is_empty() {
        text.push_str("\n[experiment.factors]\n");
    }
    for (factor, levels) in factors {
        let levels: Vec<String> = levels.iter().map(|level| level_text(*factor, level)).collect();
        let _ = writeln!(text, "{factor} = {}", list(&levels));
    }
    write_protocol(&mut text, protocol);
    text
}

fn write_protocol(text: &mut String, protocol: &Protocol) {
    text.push_str("\n[experiment.protocol]\n");
    for key in &PROTOCOL_KEYS {
        let texts = (key.get)(protocol);
        if let Some(first) = texts.first() {
            // In quotes where TOML's integers (64 bits with a sign) end.
            let bare = match key.form {
                KeyForm::Count => first.parse::<i64>().is_ok(),
                KeyForm::Flag => true,
                KeyForm::List | KeyForm::Time | KeyForm::Share | KeyForm::Space => false,
            };
            let value = if bare { first.clone() } else { list(&texts) };
            let _ = writeln!(text, "{} = {value}", key.name);
        }
    }
}

fn level_text(factor: Factor, level: &Level) -> String {
    match (level, factor.kind()) {
        (Level::Number(number), Kind::Bytes) => format_bytes(*number),
        _ => level.to_string(),
    }
}

fn list(items: &[String]) -> String {
    match items {
        [one] => quoted(one),
        many => {
            let items: Vec<String> = many.iter().map(|item| quoted(item)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

/// Text as a TOML string on one line.
fn quoted(text: &str) -> String {
    // What needs no escape is easier to read as it stands.
    let plain = |c: char| !c.is_control() && c != '\'';
    if text.contains(['\\', '"']) && text.chars().all(plain) {
        return format!("'{text}'");
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}
