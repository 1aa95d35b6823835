//! `iolab run FILE.toml`: experiments written in a file; `iolab run --resume RUN`: a run again.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::measure::plan_in;
use super::output::{self, Output, OutputArgs, Talk};
use super::places::PlaceArgs;
use super::session::{self, Session};
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::{factor_args, facts, parts, plan_text, protocol_args, resume};
use iolab_io::place::vm::Kernel;
use iolab_io::workload::WORKLOADS;
use iolab_model::catalog::{Factor, Level, path_to_text};
use iolab_model::plan::Plan;
use iolab_model::spec::Experiment;
use iolab_model::spec::file::{self, Loaded, MOST_BYTES, Words, Written};

/// Run the experiments of a file, or go on with a run that was interrupted
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab run --example > mine.toml      a commented file to start from\n  iolab run mine.toml --plan           what it would cost; nothing is done\n  iolab run mine.toml                  each experiment becomes a run in the history\n  iolab export last toml=again.toml    the file for a run that was made\n  iolab run --resume last              what was measured stays"
)]
pub struct Run {
    /// The file of experiments; - is stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present_any = ["resume", "example"])]
    file: Option<PathBuf>,
    /// Go on with a run that was interrupted: its number, or last
    #[arg(long, value_name = "RUN", conflicts_with = "file")]
    resume: Option<String>,
    /// Print a commented file of experiments
    #[arg(long, conflicts_with_all = ["file", "resume"])]
    example: bool,
    /// Print the cells and what they will cost, and do nothing
    #[arg(long, conflicts_with_all = ["resume", "example"])]
    plan: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    places: PlaceArgs,
}

impl Run {
    /// Measures what the file asks for, or what is left of a run.
    ///
    /// # Errors
    /// What is written wrongly or cannot be had.
    pub fn run(self, talk: &Talk) -> Ending {
        if self.example {
            return output::text(file::EXAMPLE);
        }
        if let Some(run) = &self.resume {
            return resume::resume(run, self.output.store.clone(), self.places.clone(), talk);
        }
        let Some(path) = &self.file else { return Err(Failure::internal("no file")) };
        let written = read(path)?;
        if self.plan {
            return self.print_plans(&written);
        }
        let jobs = self.jobs(&written)?;
        measure_all(&jobs, talk)
    }

    fn print_plans(&self, written: &[Written]) -> Ending {
        let plans: Vec<Plan> = written
            .iter()
            .map(|one| Ok(self.job(one, written.len() > 1)?.plan))
            .collect::<Result<_, Failure>>()?;
        terminal_io::data(|out| {
            for (number, plan) in plans.iter().enumerate() {
                if number > 0 && self.output.format != "json" {
                    writeln!(out)?;
                }
                plan_text::write_plan(out, plan, &self.output.format)?;
            }
            Ok(())
        })
    }

    /// Everything is read and planned before the first trial, so that a slip in the last
    /// experiment is told at once.
    fn jobs(&self, written: &[Written]) -> Result<Vec<Job>, Failure> {
        let several = written.len() > 1;
        written.iter().map(|one| self.job(one, several)).collect()
    }

    fn job(&self, written: &Written, several: bool) -> Result<Job, Failure> {
        let mut args = self.output.clone();
        if several && args.has_exports() {
            return Err(Failure::usage(
                "--export would write one file for several experiments; write export = \"…\" into each of them",
            ));
        }
        if several {
            args.read()?.only_for_several(2)?;
        }
        // What the command line says of it has been read: what is wrong now is the file's.
        args.read()?;
        args.add_exports(written.exports.iter().map(OsString::from));
        let exports = written.export_place.as_ref().unwrap_or(&written.place);
        let output = args.read().map_err(|failure| failure.at(exports))?;
        let (plan, guest, places) = plan_of(written, &self.places)?;
        output.spare_files_of(&plan).map_err(|failure| failure.at(exports))?;
        Ok(Job { plan, output, places, guest })
    }
}

/// An experiment that can be measured.
struct Job {
    plan: Plan,
    output: Output,
    places: PlaceArgs,
    guest: Option<Kernel>,
}

/// The plan of an experiment of a file, and where it runs.
///
/// # Errors
/// What cannot be had, with the place in the file.
pub fn plan_of(
    written: &Written,
    places: &PlaceArgs,
) -> Result<(Plan, Option<Kernel>, PlaceArgs), Failure> {
    let located = |failure: Failure| failure.at(&written.place);
    let places = places.with_guest(written.vm, &written.kernel, &written.modules);
    let experiment = anchored(&written.experiment).map_err(located)?;
    protocol_args::refuse_forbidden(&experiment.protocol.cpus).map_err(located)?;
    let guest = places.guest(&experiment).map_err(located)?;
    let directory = written.directory_place.as_ref().unwrap_or(&written.place);
    facts::check(&experiment).map_err(|failure| failure.at(directory))?;
    let plan = plan_in(&experiment, guest.is_some()).map_err(located)?;
    Ok((plan, guest, places))
}

/// Relative names start in the working directory, as on the command line.
fn anchored(experiment: &Experiment) -> Result<Experiment, Failure> {
    let mut experiment = experiment.clone();
    experiment.directory = factor_args::absolute(&experiment.directory)?;
    for level in experiment.factors.get_mut(&Factor::File).into_iter().flatten() {
        if let Level::Path(path) = level {
            *path = factor_args::absolute(path)?;
        }
    }
    Ok(experiment)
}

/// One run after the other. One that fails costs itself alone; Ctrl-C ends the rest too.
fn measure_all(jobs: &[Job], talk: &Talk) -> Ending {
    let mut ending = Ok(Exit::Done);
    for (number, job) in jobs.iter().enumerate() {
        if jobs.len() > 1 && !talk.quiet {
            say(&format!("experiment {} of {}", number + 1, jobs.len()));
        }
        match job.measure(talk) {
            Ok(Exit::Interrupted) => return Ok(Exit::Interrupted),
            Ok(_) => {}
            Err(failure) if ending.is_ok() => {
                failure.tell();
                ending = Err(Failure::said(failure.exit()));
            }
            Err(failure) => failure.tell(),
        }
    }
    ending
}

impl Job {
    fn measure(&self, talk: &Talk) -> Ending {
        plan_text::before_start(&self.plan, talk);
        Session {
            plan: &self.plan,
            output: &self.output,
            talk,
            argv: session::argv(),
            resumes: None,
            places: self.places.terms(&self.plan),
            guest: self.guest.clone(),
        }
        .run()
    }
}

fn read(path: &Path) -> Result<Vec<Written>, Failure> {
    let loaded = load(path).map_err(Failure::usage)?;
    let words = Words { workloads: WORKLOADS, parts: parts::all() };
    let mut include = |from: &Loaded, name: &str| {
        let beside = from.identity.parent().unwrap_or(Path::new("."));
        load(&beside.join(iolab_model::catalog::path_from_text(name)))
    };
    file::read(&loaded, words, protocol_args::drawn_seed(), &mut include).map_err(Failure::usage)
}

/// A file of text, never more of it than a person would write.
fn load(path: &Path) -> Result<Loaded, String> {
    const WHAT: &str = "a file of experiments";
    let stdin = path == Path::new("-");
    let name = if stdin { "stdin".to_owned() } else { path_to_text(path) };
    let why = |error: io::Error| format!("{name}: {error}; name {WHAT}");
    let (text, identity) = if stdin {
        let here = std::env::current_dir().unwrap_or_default();
        (toml_text(io::stdin().lock(), &name, WHAT)?, here.join("-"))
    } else {
        let text = toml_text(File::open(path).map_err(why)?, &name, WHAT)?;
        (text, std::fs::canonicalize(path).map_err(why)?)
    };
    Ok(Loaded { text, name, identity })
}

/// What is written there, at most a byte more than [`MOST_BYTES`] of it; `what` it should be is
/// for the message.
pub(super) fn toml_text(source: impl Read, name: &str, what: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    source
        .take(MOST_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{name}: {error}; name {what}"))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{name}: byte {at} is not UTF-8; {what} is TOML, which is text")
    })
}
