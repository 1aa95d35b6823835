//! What `iolab study run --output` writes: a page, its tables and plots, the charts of its runs.

use std::path::Path;

use super::machine::machine;
use crate::terminal_io::{Failure, say};
use iolab_controller::study::StudyRuns;
use iolab_report as report;
use iolab_study::{self as study, Evidence, Page, Ruling, Study};

/// Writes all of it to a directory.
pub(super) fn write_pages(
    directory: &Path,
    study: &Study,
    outcome: &StudyRuns,
    evidence: &Evidence<'_>,
    rulings: &[Ruling],
) -> Result<(), Failure> {
    let write = |name: String, text: String| write(directory, &name, &text);
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::internal(format!("make {}: {error}", directory.display())))?;
    let documents = || outcome.runs.values().filter_map(|run| run.as_ref().ok());
    let machine = documents().next().map(machine).unwrap_or_default();
    let left_out = &outcome.left_out;
    let charts = &charts(directory, study, outcome);
    let page = Page { study, rulings, evidence, left_out, machine: &machine, charts };
    write(format!("{}.md", study.name), study::page(&page))?;
    for table in &study.tables {
        write(format!("{}-{}.csv", study.name, table.id), study::csv(table, evidence))?;
    }
    for plot in &study.plots {
        write(format!("{}-{}.csv", study.name, plot.id), study::plot_csv(plot, evidence))?;
        if let Some(drawn) = study::svg(plot, evidence) {
            write(format!("{}-{}.svg", study.name, plot.id), drawn)?;
        }
    }
    Ok(())
}

/// Writes the page that leads to those of several studies.
pub(super) fn write_index(
    directory: &Path,
    judged: &[(&Study, Vec<Ruling>)],
) -> Result<(), Failure> {
    let all: Vec<(&Study, &[Ruling])> =
        judged.iter().map(|(study, rulings)| (*study, &rulings[..])).collect();
    write(directory, "README.md", &study::index(&all))
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = directory.join(name);
    report::export_with(&path, &|out| out.write_all(text.as_bytes()))
        .map_err(|error| Failure::internal(format!("{error}; the runs are in the history")))
}

/// Writes the charts of each run into a directory of its own; their paths from the page.
fn charts(directory: &Path, study: &Study, outcome: &StudyRuns) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (name, run) in &outcome.runs {
        let Ok(document) = run else { continue };
        let folder = format!("{}-{name}", study.name);
        // A run without a finished cell has no chart, and its page says why.
        if let Err(error) = report::export("svg", &directory.join(&folder), document, false) {
            say(&format!("{}: {name}: {error}", study.name));
            continue;
        }
        let files = std::fs::read_dir(directory.join(&folder)).into_iter().flatten().flatten();
        let mut paths: Vec<String> = files
            .filter_map(|file| file.file_name().into_string().ok())
            .map(|file| format!("{folder}/{file}"))
            .collect();
        paths.sort();
        all.push((name.clone(), paths));
    }
    all
}
