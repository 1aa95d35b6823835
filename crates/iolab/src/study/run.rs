//! `iolab study run`: every experiment a run in the history, then the claims.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::load::{file_of, load};
use super::pages::{write_index, write_pages};
use crate::consent_args::ConsentArgs;
use crate::console::argv;
use crate::plan_text;
use crate::store_args::StoreArgs;
use crate::terminal_io::{self, Ending, Exit, Failure, hanging};
use crate::verbosity::Talk;
use iolab_controller::StudyRun;
use iolab_controller::study::{Job, StudyRuns, StudyTerms};
use iolab_model::catalog::{ascii_text, bytes_text, rough_time_text};
use iolab_model::spec::{parse_duration_ns, parse_rounds};
use iolab_study::{self as study, Evidence, Ruling, SHIPPED, Study};

/// Error allowed for each claim.
pub(super) const ALPHA: f64 = 0.05;

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
    consent: ConsentArgs,
}

impl RunStudies {
    /// Measures and judges.
    ///
    /// # Errors
    /// A study that does not exist or is written wrongly. An experiment that cannot be had costs
    /// its own claims alone: they are not tested.
    pub fn run(self, talk: &Talk) -> Ending {
        let mut ending = Exit::Done;
        let mut judged = Vec::new();
        let studies = self.studies()?;
        let terms = self.terms()?;
        for (study, file) in &studies {
            let mut trials = study.experiments.clone();
            let jobs = terms.jobs(study, &mut trials);
            if self.plan {
                print_plans(study, &jobs)?;
                continue;
            }
            for prepared in jobs.iter().filter_map(|job| job.planned.as_ref().ok()) {
                let allow = |file: &String| self.consent.allow(&prepared.plan, file);
                file.as_ref().map_or(Ok(()), allow)?;
            }
            let store = self.store.store.as_deref();
            let talk = &talk.of_parts();
            let run = StudyRun { terms: &terms, store, argv: argv(), alpha: ALPHA, console: talk };
            let outcome = run.measure(study, jobs)?;
            judged.push((study, self.conclude(study, &outcome, talk)?));
            if outcome.interrupted {
                ending = Exit::Interrupted;
                break;
            }
        }
        match &self.output {
            Some(directory) if judged.len() > 1 => write_index(directory, &judged).map(|()| ending),
            _ => Ok(ending),
        }
    }

    /// Each with the file that it stands in.
    fn studies(&self) -> Result<Vec<(Study, Option<String>)>, Failure> {
        let read = |name: &Path| Ok((load(name)?, file_of(name)));
        match self.names.iter().any(|name| name == Path::new("all")) {
            true => SHIPPED.iter().map(|(name, _)| read(Path::new(name))).collect(),
            false => self.names.iter().map(|name| read(name)).collect(),
        }
    }

    fn terms(&self) -> Result<StudyTerms, Failure> {
        let budget = self.budget.as_deref().map(parse_duration_ns).transpose();
        let rounds = self.rounds.as_deref().map(parse_rounds).transpose();
        let placement = self.consent.places.placement();
        if placement.compared().is_some() {
            let why = "--on: what a study claims is judged on one machine; name one";
            return Err(Failure::usage(why));
        }
        Ok(StudyTerms {
            budget_ns: budget.map_err(Failure::usage)?,
            full: self.full,
            rounds: rounds.map_err(Failure::usage)?,
            resume: self.resume,
            directory: self.directory.clone(),
            placement,
        })
    }

    fn conclude(
        &self,
        study: &Study,
        outcome: &StudyRuns,
        talk: &Talk,
    ) -> Result<Vec<Ruling>, Failure> {
        let runs = outcome
            .runs
            .iter()
            .map(|(name, run)| (name.clone(), run.as_ref().map_err(ToString::to_string)));
        let evidence = Evidence { runs: runs.collect(), alpha: ALPHA };
        let rulings: Vec<Ruling> =
            study.claims.iter().map(|claim| study::judge(claim, &evidence)).collect();
        let look = talk.look();
        let lines = study::summary(study, &rulings);
        let lines = lines.iter().map(|(head, text)| hanging(head, text, look.width));
        let text: String = lines.collect();
        let text = if look.unicode { text } else { ascii_text(&text) };
        terminal_io::data(|out| out.write_all(text.as_bytes()))?;
        if let Some(directory) = &self.output {
            write_pages(directory, study, outcome, &evidence, &rulings)?;
        }
        Ok(rulings)
    }
}

fn print_plans(study: &Study, jobs: &[Job<'_>]) -> Ending {
    terminal_io::data(|out| {
        writeln!(out, "{}", study.title)?;
        for job in jobs {
            writeln!(out)?;
            match &job.planned {
                Ok(prepared) => plan_text::write_plan(out, &prepared.plan, "table")?,
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
    let plans = || jobs.iter().filter_map(|job| job.planned.as_ref().ok()).map(|p| &p.plan);
    let time_ns: u64 = plans().map(|plan| plan.cost.time_ns).sum();
    let space_bytes = plans().map(|plan| plan.cost.space_bytes).max().unwrap_or(0);
    format!(
        "in all: {} experiments, about {}, up to {} of space",
        plans().count(),
        rough_time_text(time_ns as f64),
        bytes_text(space_bytes)
    )
}
