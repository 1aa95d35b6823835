//! An experiment on several machines that are compared: the machine is one of its factors.

use iolab_agent::{Location, catalog};
use iolab_model::catalog::{Factor, Level, list_text};
use iolab_model::spec::Experiment;

use super::error::Error;

/// What is of one machine alone, and why.
const OF_ONE: [(Factor, &str); 2] = [
    (
        Factor::Place,
        "a place that is made is of one machine; name a directory that each of them has",
    ),
    (Factor::SourcePlace, "a place that is made is of one machine"),
];

/// The experiment as it is measured at a location: on each of the machines that are compared.
///
/// # Errors
/// Machines are named where others are, or none; what cannot be compared among them.
pub fn settle(experiment: &Experiment, location: &dyn Location) -> Result<Experiment, Error> {
    let mut experiment = experiment.clone();
    let refuse = |why: String| Err(Error::NoLocation(why));
    let there: Vec<Level> = location.hosts().iter().map(Level::word).collect();
    let named = experiment.factors.get(&Factor::Host).cloned();
    if let Some(named) = named.filter(|named| *named != there) {
        let names: Vec<String> = named.iter().map(ToString::to_string).collect();
        return refuse(format!(
            "machines are named on the command line: --on {}, as they are written here",
            names.join(",")
        ));
    }
    if there.is_empty() {
        return Ok(experiment);
    }
    if !catalog::workload(&experiment.workload).is_some_and(|info| info.has(Factor::Host)) {
        return refuse(format!("--on: {} is measured on one machine", experiment.workload));
    }
    let asked = |factor: &Factor| experiment.factors.contains_key(factor);
    if let Some((factor, why)) = OF_ONE.iter().find(|(factor, _)| asked(factor)) {
        let hosts = list_text(&location.hosts());
        return refuse(format!("--{factor} on {hosts}: {why}"));
    }
    experiment.factors.insert(Factor::Host, there);
    Ok(experiment)
}
