//! A study: every experiment a run in the history, then what its claims are judged by.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::Error;
use super::placement::Placement;
use super::prepared::Prepared;
use iolab_model::catalog::Factor;
use iolab_model::plan::{Cell, Plan};
use iolab_model::result::Document;
use iolab_study::{self as study, Claim, LeftOut, Study, Trial};

/// Rounds that the full setting plans for: an answer takes 20, and a forecast is cautious.
const FULL_ROUNDS: u32 = 30;

/// A day.
const NO_END_NS: u64 = 86_400_000_000_000;

/// How a study is run.
#[derive(Clone, Debug, Default)]
pub struct StudyTerms {
    /// Time for all of it; absent: what the study says.
    pub budget_ns: Option<u64>,
    /// Every published level, however long it takes.
    pub full: bool,
    /// Rounds, fixed; absent: as many as the answer needs.
    pub rounds: Option<u32>,
    /// Whether runs of the same experiments are taken from the history, and gone on with.
    pub resume: bool,
    /// The directory to work under, instead of the one that the study names.
    pub directory: Option<PathBuf>,
    /// Where it runs.
    pub placement: Placement,
}

/// Why an experiment of a study gave no run.
#[derive(Debug, thiserror::Error)]
pub enum NotTested {
    /// It was not asked for.
    #[error("it belongs to the full setting: --full")]
    Full,
    /// The person ended the study.
    #[error("the study was interrupted before it")]
    Interrupted,
    /// Every cell of it is skipped.
    #[error("{0}")]
    NoCell(String),
    /// It cannot be had.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// One experiment that was prepared.
pub struct Job<'a> {
    /// What is run.
    pub trial: &'a Trial,
    /// Levels that the budget does not allow.
    pub left_out: Vec<LeftOut>,
    /// The plan of the rest, and where it runs.
    pub planned: Result<Prepared, NotTested>,
}

/// A study that was run.
#[derive(Default)]
pub struct StudyRuns {
    /// By the name of the experiment.
    pub runs: BTreeMap<String, Result<Document, NotTested>>,
    /// Levels that were left out, by the name of the experiment.
    pub left_out: Vec<(String, Vec<LeftOut>)>,
    /// Whether the person ended it.
    pub interrupted: bool,
}

impl StudyTerms {
    /// Every experiment with its part of the budget, and the levels that fit into it. `trials` are
    /// those of the study; they are cut to what is run.
    pub fn jobs<'a>(&self, study: &Study, trials: &'a mut [Trial]) -> Vec<Job<'a>> {
        let budget_ns = self.budget_ns.unwrap_or(study.budget_ns);
        let wanted = |trial: &Trial| self.full || !trial.full;
        let shares: f64 = trials.iter().filter(|t| wanted(t)).map(|trial| trial.share).sum();
        let job = |trial: &'a mut Trial| {
            let claims: Vec<_> = study.claims.iter().filter(|c| c.is_about(&trial.name)).collect();
            let experiment = &mut trial.written.experiment;
            experiment.title = Some(title(study, &trial.name));
            experiment.protocol.budget_ns = (budget_ns as f64 * trial.share / shares) as u64;
            experiment.protocol.rounds = self.rounds.or(experiment.protocol.rounds);
            // A claim about a slow cell needs its rounds as much as one about a fast one.
            experiment.protocol.eliminate.get_or_insert(false);
            if let Some(directory) = &self.directory {
                experiment.directory.clone_from(directory);
            }
            let (left_out, planned) = match wanted(trial) {
                true => self.fitted(trial, &claims),
                false => (Vec::new(), Err(NotTested::Full)),
            };
            Job { trial, left_out, planned }
        };
        trials.iter_mut().map(job).collect()
    }

    /// The levels that are left out, and the plan of the rest.
    fn fitted(
        &self,
        trial: &mut Trial,
        claims: &[&Claim],
    ) -> (Vec<LeftOut>, Result<Prepared, NotTested>) {
        let mut left_out = match self.full {
            true => Vec::new(),
            false => study::sample(&mut trial.written.experiment, claims),
        };
        if self.full && self.budget_ns.is_none() {
            self.lengthen(trial);
        }
        let mut planned = Prepared::of_file(&trial.written, &self.placement);
        // What a round costs is known of a plan only.
        while let Ok(Prepared { plan, .. }) = &planned {
            let spare = self.full || plan.protocol.rounds.is_some();
            let (experiment, rounds) = (&mut trial.written.experiment, plan.cost.rounds);
            if spare || !study::resample(experiment, claims, rounds, &mut left_out) {
                break;
            }
            planned = Prepared::of_file(&trial.written, &self.placement);
        }
        let planned = planned.map_err(NotTested::Failed);
        let planned = planned.and_then(|planned| runnable(&planned.plan).map(|()| planned));
        (left_out, planned.and_then(|planned| useful(&planned.plan, claims).map(|()| planned)))
    }

    /// The full setting takes the time that its rounds take, unless the person names one.
    fn lengthen(&self, trial: &mut Trial) {
        let mut fixed = trial.written.clone();
        let protocol = &mut fixed.experiment.protocol;
        protocol.rounds.get_or_insert(FULL_ROUNDS);
        // A forecast makes trials as short as its budget asks for: this one has no end.
        protocol.budget_ns = NO_END_NS;
        if let Ok(forecast) = Prepared::of_file(&fixed, &self.placement) {
            let protocol = &mut trial.written.experiment.protocol;
            protocol.budget_ns = protocol.budget_ns.max(forecast.plan.cost.time_ns);
        }
    }
}

/// Why no cell of a plan can run.
fn runnable(plan: &Plan) -> Result<(), NotTested> {
    match plan.cells.iter().any(|cell| cell.skip.is_none()) {
        true => Ok(()),
        false => {
            let why = plan.cells.iter().find_map(|cell| cell.skip.clone());
            Err(NotTested::NoCell(why.unwrap_or_else(|| "it has no cell".into())))
        }
    }
}

/// Why a run would tell nothing: every claim about it needs a file system that cannot be had.
fn useful(plan: &Plan, claims: &[&Claim]) -> Result<(), NotTested> {
    let lacking = |name: &String| {
        let of = |cell: &&Cell| {
            let place = cell.levels.text(Factor::Place).unwrap_or_default();
            place.split(':').next() == Some(name.as_str())
        };
        let mut cells = plan.cells.iter().filter(of).map(|cell| cell.skip.clone()).peekable();
        cells.peek().is_some().then(|| cells.collect::<Option<Vec<String>>>()).flatten()?.pop()
    };
    let idle = |claim: &&Claim| claim.needs.file_systems.iter().find_map(lacking);
    match claims.iter().map(idle).collect::<Option<Vec<String>>>() {
        Some(whys) => whys.into_iter().next().map_or(Ok(()), |why| Err(NotTested::NoCell(why))),
        None => Ok(()),
    }
}

/// What an experiment of a study is called in the history.
pub fn title(study: &Study, experiment: &str) -> String {
    format!("study {}: {experiment}", study.name)
}

#[cfg(test)]
mod tests {
    use super::{NotTested, useful};
    use iolab_agent::catalog::{self, WORKLOADS};
    use iolab_model::catalog::{Factor, Level};
    use iolab_model::spec::file::{Source, Words};
    use iolab_test::virtual_machine::{PlanShape, plan};

    fn told(needs: [&str; 2]) -> Result<(), NotTested> {
        let claim = |needs: &str| {
            format!(
                "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"same-value\"\n{needs}\n"
            )
        };
        let text = format!(
            "title = \"t\"\nsummary = \"s\"\nbudget = \"1s\"\n[[experiment]]\nname = \"e\"\nworkload = \"read\"\n{}{}",
            claim(needs[0]),
            claim(needs[1])
        );
        let words = Words { workloads: WORKLOADS, parts: catalog::all() };
        let study = iolab_study::read("t", &Source { name: "t", text: &text }, words, 1).unwrap();
        let mut plan = plan(&PlanShape::new(2, 1));
        for (cell, place) in plan.cells.iter_mut().zip(["ext4", "jfs:size=1Gi"]) {
            cell.levels.set(Factor::Place, Level::word(place));
        }
        plan.cells[1].skip = Some("no jfs here".into());
        useful(&plan, &study.claims.iter().collect::<Vec<_>>())
    }

    /// A minute was measured of which no claim could say anything.
    #[test]
    fn what_only_a_lacking_file_system_could_tell_is_not_measured() {
        let (jfs, ext4) =
            ("needs = { file-system = \"jfs\" }", "needs = { file-system = \"ext4\" }");
        assert_eq!(told([jfs, jfs]).unwrap_err().to_string(), "no jfs here");
        assert!(told([jfs, ""]).is_ok() && told([jfs, ext4]).is_ok() && told(["", ""]).is_ok());
    }
}
