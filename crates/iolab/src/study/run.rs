//! `iolab study run`: every experiment a run in the history, then the claims.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::load::load;
use crate::console::argv;
use crate::place_args::PlaceArgs;
use crate::plan_text;
use crate::store_args::StoreArgs;
use crate::terminal_io::{self, Ending, Exit, Failure, say};
use crate::verbosity::Talk;
use iolab_controller::study::{Job, StudyRun, StudyRuns, StudyTerms};
use iolab_model::result::Document;
use iolab_model::spec::{parse_duration_ns, parse_rounds};
use iolab_report as report;
use iolab_study::{self as study, Evidence, Page, Ruling, SHIPPED, Study};

/// Error allowed for each claim.
const ALPHA: f64 = 0.05;

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

impl RunStudies {
    /// Measures and judges.
    ///
    /// # Errors
    /// A study that does not exist or is written wrongly. An experiment that cannot be had costs
    /// its own claims alone: they are not tested.
    pub fn run(self, talk: &Talk) -> Ending {
        let mut ending = Exit::Done;
        let studies = self.studies()?;
        let terms = self.terms()?;
        for study in &studies {
            let mut trials = study.experiments.clone();
            let jobs = terms.jobs(study, &mut trials);
            if self.plan {
                print_plans(study, &jobs)?;
                continue;
            }
            let store = self.store.store.as_deref();
            let run = StudyRun { terms: &terms, store, argv: argv(), console: talk };
            let outcome = run.measure(study, jobs)?;
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

    fn terms(&self) -> Result<StudyTerms, Failure> {
        let budget = self.budget.as_deref().map(parse_duration_ns).transpose();
        let rounds = self.rounds.as_deref().map(parse_rounds).transpose();
        Ok(StudyTerms {
            budget_ns: budget.map_err(Failure::usage)?,
            full: self.full,
            rounds: rounds.map_err(Failure::usage)?,
            resume: self.resume,
            directory: self.directory.clone(),
            placement: self.places.placement(),
        })
    }

    fn conclude(&self, study: &Study, outcome: &StudyRuns) -> Result<(), Failure> {
        let runs = outcome
            .runs
            .iter()
            .map(|(name, run)| (name.clone(), run.as_ref().map_err(ToString::to_string)));
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
        Ok(())
    })
}

fn write_pages(
    directory: &Path,
    study: &Study,
    outcome: &StudyRuns,
    evidence: &Evidence<'_>,
    rulings: &[Ruling],
) -> Result<(), Failure> {
    let write = |name: String, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|error| {
            Failure::internal(format!(
                "write {}: {error}; the runs are in the history",
                path.display()
            ))
        })
    };
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::internal(format!("make {}: {error}", directory.display())))?;
    let documents = || outcome.runs.values().filter_map(|run| run.as_ref().ok());
    let machine = documents().next().map(machine).unwrap_or_default();
    let left_out = &outcome.left_out;
    let page = Page { study, rulings, evidence, left_out, machine: &machine };
    write(format!("{}.md", study.name), study::page(&page))?;
    for table in &study.tables {
        write(format!("{}-{}.csv", study.name, table.id), study::csv(table, evidence))?;
    }
    for (name, run) in &outcome.runs {
        let Ok(document) = run else { continue };
        let charts = directory.join(format!("{}-{name}", study.name));
        // A run without a finished cell has no chart, and its page says why.
        if let Err(error) = report::export("svg", &charts, document) {
            say(&format!("{}: {name}: {error}", study.name));
        }
    }
    Ok(())
}

/// `6.18` of `6.18.4-amd64`: what comes behind says who built it.
fn version(release: &str) -> String {
    release.split(['.', '-']).take(2).collect::<Vec<_>>().join(".")
}

/// The machine as far as a reader of a page wants to know it.
fn machine(document: &Document) -> String {
    let fact = |key: &str| {
        let value = document.environment.0.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let parts = [
        fact("cpu.model"),
        fact("cpu.count").map(|count| format!("{count} processors")),
        fact("kernel.release").map(|release| format!("Linux {}", version(&release))),
        fact("file_system.type"),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    if known.is_empty() { "an unknown machine".into() } else { known.join(", ") }
}
