//! Commands of the person's as cells: which can be had, what they are, and what is said of them.

use std::collections::BTreeMap;

use super::parts;
use iolab_io::host;
use iolab_model::catalog::{
    Code, Contender, Factor, Family, Level, percent_text, rate_text, time_text,
};
use iolab_model::plan::Plan;
use iolab_model::result::{CellRecord, Document, Environment, Phase, Warning};
use iolab_model::spec::Experiment;

/// The commands of an experiment, with their texts.
fn all<'a>(
    workload: &str,
    factors: &'a BTreeMap<Factor, Vec<Level>>,
) -> impl Iterator<Item = (&'a str, Contender)> {
    let capability = parts::workload(workload).map(|info| info.capability);
    let levels = factors.get(&Factor::Contender).map_or(&[][..], Vec::as_slice);
    levels.iter().filter_map(move |level| match level {
        Level::Word(text) => Some((text.as_str(), Contender::parse(text, capability?).ok()?)),
        _ => None,
    })
}

/// Those that cannot be had, with the reason and the remedy.
pub fn unavailable(experiment: &Experiment, guest: bool) -> BTreeMap<String, String> {
    let why = |contender: &Contender| {
        if guest {
            return Some("commands of this machine are not in the virtual one".to_owned());
        }
        let program = contender.program();
        if host::find_program(&program).is_some() {
            return None;
        }
        Some(match contender.package() {
            Some(package) => format!("{program} is not installed: install the package {package}"),
            None => format!("{program} is not in PATH: install it, or write its whole path"),
        })
    };
    let commands = all(&experiment.workload, &experiment.factors);
    commands.filter_map(|(text, command)| Some((text.to_owned(), why(&command)?))).collect()
}

/// Records the words and the version of each.
pub fn record(plan: &Plan, environment: &mut Environment) {
    for (text, contender) in all(&plan.workload, &plan.factors) {
        let version = host::find_program(&contender.program()).and_then(|p| host::version_line(&p));
        let facts = serde_json::json!({ "argv": contender.template(), "version": version });
        environment.put_named(Family::Contender, text, facts);
    }
}

/// What stands beside the figures of commands: what starting a process costs, what a command says
/// of itself, and that what it reads is assumed.
pub fn notes(document: &Document) -> Vec<Warning> {
    let commands = document.cells.iter().filter(|c| c.factors.get(Factor::Contender).is_some());
    let beside = commands.flat_map(|cell| start_up(cell).into_iter().chain(own_figure(cell)));
    beside.chain(read_assumed(document)).collect()
}

/// The commands that only read: nothing that they leave shows whether they did.
fn read_assumed(document: &Document) -> Option<Warning> {
    let capability = parts::workload(&document.experiment.workload)?.capability;
    let reads = |cell: &&CellRecord| {
        let text = cell.factors.text(Factor::Contender);
        let command = text.and_then(|text| Contender::parse(text, capability).ok());
        cell.estimate.is_some() && command.is_some_and(|command| !command.writes())
    };
    let ids: Vec<&str> = document.cells.iter().filter(reads).map(|cell| cell.id.as_str()).collect();
    let text = match ids.as_slice() {
        [] => return None,
        [one] => format!("{one}: its speed is right if it read everything"),
        several => {
            format!("{}: their speeds are right if they read everything", several.join(", "))
        }
    };
    Some(Warning { code: Code::ReadAssumed, text })
}

fn start_up(cell: &CellRecord) -> Option<Warning> {
    let start_ns = median(cell, "startup_ns")?;
    let wall_ns = cell.estimate.as_ref()?.wall_ns.median;
    let text = format!(
        "{}: {} of {} ({}), measured with `true` in the same trials and not taken off",
        cell.id,
        time_text(start_ns),
        time_text(wall_ns),
        percent_text(start_ns / wall_ns)
    );
    Some(Warning { code: Code::StartUp, text })
}

fn own_figure(cell: &CellRecord) -> Option<Warning> {
    let own = median(cell, "own_bytes_per_second")?;
    let here = cell.estimate.as_ref()?.bytes_per_second.as_ref()?.median;
    let text = format!(
        "{}: it says {} of itself, and is {} here with its start",
        cell.id,
        rate_text(own),
        rate_text(here)
    );
    Some(Warning { code: Code::OwnFigure, text })
}

fn median(cell: &CellRecord, metric: &str) -> Option<f64> {
    let steady = cell.samples.iter().filter(|s| s.phase == Phase::Steady && s.counts());
    let mut all: Vec<f64> =
        steady.filter_map(|s| s.measurement.metrics.get(metric).copied()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}
