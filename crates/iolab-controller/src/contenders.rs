//! Commands of the person's as cells: what they are, and what is said of them.

use std::collections::BTreeMap;

use iolab_agent::catalog;
use iolab_model::catalog::{Code, Contender, Factor, Family, percent_text, rate_text, time_text};
use iolab_model::plan::Plan;
use iolab_model::result::{CellRecord, Document, Environment, Warning};

/// The programs whose versions belong into the record.
pub fn programs(plan: &Plan) -> Vec<String> {
    let commands = catalog::commands(&plan.workload, &plan.factors);
    commands.map(|(_, contender)| contender.program()).collect()
}

/// Records the words and the version of each.
pub fn record(plan: &Plan, versions: &BTreeMap<String, String>, environment: &mut Environment) {
    for (text, contender) in catalog::commands(&plan.workload, &plan.factors) {
        let version = versions.get(&contender.program());
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
    let capability = catalog::capability(&document.experiment.workload)?;
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
    let steady = cell.samples.iter().filter(|s| s.is_steady());
    let mut all: Vec<f64> =
        steady.filter_map(|s| s.measurement.metrics.get(metric).copied()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}
