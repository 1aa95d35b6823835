//! An experiment at the ranks of an MPI job: how many of them work in each cell, and what they cannot do
//! together.

use iolab_agent::{Location, catalog};
use iolab_model::catalog::{Factor, Level};
use iolab_model::plan::Plan;
use iolab_model::spec::Experiment;

use super::error::Error;
use super::shift;

/// What would be of one rank alone, or cannot be put together from all, and why.
const NOT_TOGETHER: [(Factor, &str); 4] = [
    (Factor::Contender, "commands are not started at ranks"),
    (Factor::Place, "a place that is made is of one machine; name a directory that all share"),
    (Factor::SourcePlace, "a place that is made is of one machine"),
    (Factor::Memory, "a memory limit is of one machine"),
];

/// The experiment as it is measured at a location: at ranks all of them work where nothing else is said.
///
/// # Errors
/// Ranks are asked for where there are none, or more than there are; what they cannot do together.
pub fn settle(experiment: &Experiment, location: &dyn Location) -> Result<Experiment, Error> {
    let mut experiment = experiment.clone();
    let refuse = |why: String| Err(Error::NoLocation(why));
    let machines = location.machines_of_ranks();
    if machines.is_empty() {
        let of_ranks = [Factor::Ranks, Factor::Share, Factor::Shift];
        return match of_ranks.iter().find(|factor| experiment.factors.contains_key(factor)) {
            Some(factor) => refuse(format!(
                "--{factor}: ranks are those of an MPI job: mpirun -np 4 iolab {} … --mpi",
                experiment.workload
            )),
            None => Ok(experiment),
        };
    }
    let all = machines.len() as u64;
    if !catalog::workload(&experiment.workload).is_some_and(|info| info.has(Factor::Ranks)) {
        return refuse(format!("--mpi: {} is not measured at ranks", experiment.workload));
    }
    let asked = |factor: &Factor| experiment.factors.contains_key(factor);
    if let Some((factor, why)) = NOT_TOGETHER.iter().find(|(factor, _)| asked(factor)) {
        return refuse(format!("--mpi with --{factor}: {why}"));
    }
    let levels =
        experiment.factors.entry(Factor::Ranks).or_insert_with(|| vec![Level::Number(all)]);
    let fits = |level: &Level| matches!(level, Level::Number(count) if (1..=all).contains(count));
    match levels.iter().find(|level| !fits(level)) {
        Some(level) => refuse(format!(
            "--{}: there are {all} ranks, and {level} are none of them; start more: mpirun -np N",
            Factor::Ranks
        )),
        None => {
            shift::settle(&mut experiment, &machines).map_err(Error::NoLocation)?;
            Ok(experiment)
        }
    }
}

/// What a plan costs where each of several ranks makes and writes as much.
pub fn spread(plan: &mut Plan) {
    let counts = plan.factors.get(&Factor::Ranks).into_iter().flatten();
    let most = counts.filter_map(Level::number).max().unwrap_or(1);
    plan.cost.bytes_written = plan.cost.bytes_written.saturating_mul(most);
    plan.cost.space_bytes = plan.cost.space_bytes.saturating_mul(most);
}
