//! `iolab study run`: every experiment a run in the history, then the claims.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::super::history::StoreArgs;
use super::super::output::{Output, Talk};
use super::super::places::PlaceArgs;
use super::super::plan_text;
use super::super::resume::resumed;
use super::super::session::{self, Session};
use super::super::terminal_io::{self, Ending, Exit, Failure, say};
use super::compare::newest;
use super::pages::write_pages;
use super::{load, plan};
use iolab_model::catalog::{bytes_text, rough_time_text};
use iolab_model::plan::Plan;
use iolab_model::result::Document;
use iolab_model::spec::{parse_duration_ns, parse_rounds};
use iolab_study::{self as study, Claim, Evidence, LeftOut, Ruling, SHIPPED, Study, Trial};

/// Error allowed for each claim.
pub(super) const ALPHA: f64 = 0.05;

/// Rounds that the full setting plans for: an interval needs about ten, a narrow one more.
const FULL_ROUNDS: u32 = 20;

/// A day.
const NO_END_NS: u64 = 86_400_000_000_000;

/// Run studies and judge their claims
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab study run read-vs-mmap\n  iolab study run read-vs-mmap many-files --budget 3m\n  iolab study run copy-buffer-sizes --full --plan\n  iolab study run all --output pages"
)]
pub struct RunStudies {
    /// Names of the list, or files; all means every one that comes with iolab
    #[arg(value_name = "NAME", required = true, value_hint = ValueHint::FilePath)]
    names: Vec<PathBuf>,
    /// Time for each study [default: what the study says]
    #[arg(long, value_name = "DURATION")]
    budget: Option<String>,
    /// Every published level, however long it takes
    #[arg(long)]
    full: bool,
    /// Rounds, fixed; else as many as the answer needs
    #[arg(long, value_name = "N")]
    rounds: Option<String>,
    /// Print what would be run and what it would cost, and do nothing
    #[arg(long)]
    plan: bool,
    /// Take runs of the same experiments from the history; go on with those that were interrupted
    #[arg(long)]
    resume: bool,
    /// The directory to work under, instead of the one that the study names
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,
    /// Write a page (Markdown), the tables (CSV) and the charts (SVG) of each study to this directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    places: PlaceArgs,
}

/// One experiment that was prepared.
struct Job<'a> {
    trial: &'a Trial,
    left_out: Vec<LeftOut>,
    planned: Result<Planned, String>,
}

type Planned = (Plan, Option<iolab_io::place::vm::Kernel>, PlaceArgs);

/// A study that was run.
pub(super) struct Outcome {
    pub(super) runs: BTreeMap<String, Result<Document, String>>,
    pub(super) left_out: Vec<(String, Vec<LeftOut>)>,
    interrupted: bool,
}

impl RunStudies {
    /// Measures and judges.
    ///
    /// # Errors
    /// A study that does not exist or is written wrongly. An experiment that cannot be had costs
    /// its own claims alone: they are not tested.
    pub fn run(self, talk: &Talk) -> Ending {
        let mut ending = Exit::Done;
        let studies = self.studies()?;
        for study in &studies {
            let mut trials = study.experiments.clone();
            let jobs = self.jobs(study, &mut trials)?;
            if self.plan {
                print_plans(study, &jobs)?;
                continue;
            }
            let outcome = self.measure(study, &jobs, talk)?;
            self.conclude(study, &outcome)?;
            if outcome.interrupted {
                ending = Exit::Interrupted;
                break;
            }
        }
        Ok(ending)
    }

    fn studies(&self) -> Result<Vec<Study>, Failure> {
        let all = self.names.iter().any(|name| name == Path::new("all"));
        match all {
            true => SHIPPED.iter().map(|(name, _)| load(Path::new(name))).collect(),
            false => self.names.iter().map(|name| load(name)).collect(),
        }
    }

    /// Every experiment with its part of the budget, and the levels that fit into it.
    fn jobs<'a>(&self, study: &Study, trials: &'a mut [Trial]) -> Result<Vec<Job<'a>>, Failure> {
        let budget_ns = match &self.budget {
            Some(text) => parse_duration_ns(text).map_err(Failure::usage)?,
            None => study.budget_ns,
        };
        let rounds =
            self.rounds.as_deref().map(parse_rounds).transpose().map_err(Failure::usage)?;
        let wanted = |trial: &Trial| self.full || !trial.full;
        let shares: f64 = trials.iter().filter(|t| wanted(t)).map(|trial| trial.share).sum();
        let mut jobs = Vec::new();
        for trial in trials {
            let claims: Vec<_> = study.claims.iter().filter(|c| c.is_about(&trial.name)).collect();
            let experiment = &mut trial.written.experiment;
            experiment.title = Some(title(study, &trial.name));
            experiment.protocol.budget_ns = (budget_ns as f64 * trial.share / shares) as u64;
            experiment.protocol.rounds = rounds.or(experiment.protocol.rounds);
            // A claim about a slow cell needs its rounds as much as one about a fast one.
            experiment.protocol.eliminate.get_or_insert(false);
            if let Some(directory) = &self.directory {
                experiment.directory.clone_from(directory);
            }
            let (left_out, planned) = match wanted(trial) {
                true => self.fitted(trial, &claims),
                false => (Vec::new(), Err("it belongs to the full setting: --full".to_owned())),
            };
            jobs.push(Job { trial, left_out, planned });
        }
        Ok(jobs)
    }

    /// The levels that are left out, and the plan of the rest.
    fn fitted(
        &self,
        trial: &mut Trial,
        claims: &[&Claim],
    ) -> (Vec<LeftOut>, Result<Planned, String>) {
        let mut left_out = match self.full {
            true => Vec::new(),
            false => study::sample(&mut trial.written.experiment, claims),
        };
        if self.full && self.budget.is_none() {
            self.lengthen(trial);
        }
        let mut planned = plan(trial, &self.places);
        // What a round costs is known of a plan only.
        while let Ok((first, ..)) = &planned {
            let spare = self.full || first.protocol.rounds.is_some();
            let (experiment, rounds) = (&mut trial.written.experiment, first.cost.rounds);
            if spare || !study::resample(experiment, claims, rounds, &mut left_out) {
                break;
            }
            planned = plan(trial, &self.places);
        }
        let planned = planned.map_err(|failure| failure.text().to_owned());
        (left_out, planned.and_then(|planned| runnable(&planned.0).map(|()| planned)))
    }

    /// The full setting takes the time that its rounds take, unless the person names one.
    fn lengthen(&self, trial: &mut Trial) {
        let mut fixed = trial.clone();
        let protocol = &mut fixed.written.experiment.protocol;
        protocol.rounds.get_or_insert(FULL_ROUNDS);
        // A forecast makes trials as short as its budget asks for: this one has no end.
        protocol.budget_ns = NO_END_NS;
        if let Ok((forecast, ..)) = plan(&fixed, &self.places) {
            let protocol = &mut trial.written.experiment.protocol;
            protocol.budget_ns = protocol.budget_ns.max(forecast.cost.time_ns);
        }
    }

    fn measure(&self, study: &Study, jobs: &[Job<'_>], talk: &Talk) -> Result<Outcome, Failure> {
        let mut outcome =
            Outcome { runs: BTreeMap::new(), left_out: Vec::new(), interrupted: false };
        for (number, job) in jobs.iter().enumerate() {
            let name = &job.trial.name;
            if !job.left_out.is_empty() {
                outcome.left_out.push((name.clone(), job.left_out.clone()));
            }
            let run = match (&job.planned, outcome.interrupted) {
                (_, true) => Err("the study was interrupted before it".to_owned()),
                (Err(why), _) => Err(why.clone()),
                (Ok(planned), _) => {
                    if !talk.quiet {
                        say(&format!(
                            "{}: experiment {} of {}, {name}",
                            study.name,
                            number + 1,
                            jobs.len()
                        ));
                    }
                    let (run, failure) = self.one(planned, talk)?;
                    outcome.interrupted = run.as_ref().is_ok_and(interrupted);
                    if let Some(failure) = failure {
                        failure.tell();
                    }
                    run
                }
            };
            if let (Err(why), false) = (&run, talk.quiet) {
                say(&format!("{}: {name} is not tested: {why}", study.name));
            }
            outcome.runs.insert(name.clone(), run);
        }
        Ok(outcome)
    }

    /// The run of an experiment: from the history, gone on with, or new.
    fn one(
        &self,
        (plan, guest, places): &Planned,
        talk: &Talk,
    ) -> Result<(Result<Document, String>, Option<Failure>), Failure> {
        let mut resumes = None;
        if let Some(document) = self.earlier(&plan.title)? {
            // A run of other cells, after a change of the study or of the machine, is none.
            let complete = document.run.complete;
            if let Ok(found) = resumed(document, plan) {
                if complete {
                    return Ok((Ok(found.document), None));
                }
                resumes = Some(found);
            }
        }
        plan_text::before_start(plan, talk);
        let output = Output::recording(self.store.clone());
        let session = Session {
            plan,
            output: &output,
            talk,
            argv: session::argv(),
            resumes,
            places: places.terms(plan),
            guest: guest.clone(),
        };
        match session.measure() {
            Ok((document, failure)) => Ok((Ok(document), failure)),
            Err(failure) if failure.exit() == Exit::Interrupted => Err(failure),
            Err(failure) => Ok((Err(failure.text().to_owned()), None)),
        }
    }

    fn earlier(&self, title: &str) -> Result<Option<Document>, Failure> {
        if !self.resume {
            return Ok(None);
        }
        newest(&self.store.open(&[])?, title, u64::MAX)
    }

    fn conclude(&self, study: &Study, outcome: &Outcome) -> Result<(), Failure> {
        let runs = outcome
            .runs
            .iter()
            .map(|(name, run)| (name.clone(), run.as_ref().map_err(Clone::clone)));
        let evidence = Evidence { runs: runs.collect(), alpha: ALPHA };
        let rulings: Vec<Ruling> =
            study.claims.iter().map(|claim| study::judge(claim, &evidence)).collect();
        terminal_io::data(|out| out.write_all(study::summary(study, &rulings).as_bytes()))?;
        match &self.output {
            Some(directory) => write_pages(directory, study, outcome, &evidence, &rulings),
            None => Ok(()),
        }
    }
}

/// What an experiment of a study is called in the history.
pub(super) fn title(study: &Study, experiment: &str) -> String {
    format!("study {}: {experiment}", study.name)
}

fn interrupted(document: &Document) -> bool {
    !document.run.complete
}

/// Why no cell of a plan can run.
fn runnable(plan: &Plan) -> Result<(), String> {
    match plan.cells.iter().any(|cell| cell.skip.is_none()) {
        true => Ok(()),
        false => Err(plan
            .cells
            .iter()
            .find_map(|cell| cell.skip.clone())
            .unwrap_or_else(|| "it has no cell".into())),
    }
}

fn print_plans(study: &Study, jobs: &[Job<'_>]) -> Ending {
    terminal_io::data(|out| {
        writeln!(out, "{}", study.title)?;
        for job in jobs {
            writeln!(out)?;
            match &job.planned {
                Ok((plan, ..)) => plan_text::write_plan(out, plan, "table")?,
                Err(why) => writeln!(out, "{}: not tested: {why}", job.trial.name)?,
            }
            for axis in &job.left_out {
                let levels = axis.levels.join(", ");
                writeln!(out, "  left out for the budget: {} {levels}", axis.factor)?;
            }
        }
        writeln!(out, "\n{}", altogether(jobs))
    })
}

/// Time and space of all experiments: one after the other, so that the largest needs the space.
fn altogether(jobs: &[Job<'_>]) -> String {
    let plans = || jobs.iter().filter_map(|job| job.planned.as_ref().ok()).map(|(plan, ..)| plan);
    let time_ns: u64 = plans().map(|plan| plan.cost.time_ns).sum();
    let space_bytes = plans().map(|plan| plan.cost.space_bytes).max().unwrap_or(0);
    format!(
        "in all: {} experiments, about {}, up to {} of space",
        plans().count(),
        rough_time_text(time_ns as f64),
        bytes_text(space_bytes)
    )
}
