//! `iolab run FILE.toml`: experiments written in a file; `iolab run --resume RUN`: a run again.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::consent_args::ConsentArgs;
use super::console::argv;
use super::output::{self, Output, OutputArgs};
use super::plan_text;
use super::presets;
use super::protocol_args::drawn_seed;
use super::reported::measured;
use super::store_args::StoreArgs;
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::toml_text::{NoText, toml_text};
use super::verbosity::Talk;
use iolab_agent::catalog::{self, WORKLOADS};
use iolab_controller::Prepared;
use iolab_model::catalog::{harmless, path_to_text};
use iolab_model::plan::Plan;
use iolab_model::spec::file::{self, Loaded, Words, Written};

/// Run the experiments of a file, or go on with a run that was interrupted
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab run --example > mine.toml      a commented file to start from\n  iolab run mine.toml --plan           what it would cost; nothing is done\n  iolab run mine.toml                  each experiment becomes a recorded run\n  iolab export last toml=again.toml    the file for a run that was made\n  mpirun -np 4 iolab run ior-hard --mpi  which comes with iolab\n  iolab run --resume last              what was measured stays"
)]
pub struct Run {
    /// The file of experiments; - is stdin. At the ranks of an MPI job also ior-easy, ior-hard,
    /// mdtest-easy or mdtest-hard, which come with iolab
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present_any = ["resume", "example"])]
    file: Option<PathBuf>,
    /// Go on with a run that was interrupted: its number, or last
    #[arg(long, value_name = "RUN", conflicts_with = "file")]
    resume: Option<String>,
    /// Print a commented file of experiments, or those that come with iolab under this name
    #[arg(long, conflicts_with = "resume")]
    example: bool,
    /// Print the cells and what they will cost, and do nothing
    #[arg(long, conflicts_with_all = ["resume", "example"])]
    plan: bool,
    /// Let the exports that stand in the file replace files that are there
    #[arg(long, help_heading = "Consent", conflicts_with_all = ["resume", "example"])]
    replace: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

impl Run {
    /// The run to go on with, which history it is in, and where it may go on.
    pub fn resumes(&self) -> Option<(&str, &StoreArgs, &ConsentArgs)> {
        Some((self.resume.as_deref()?, &self.output.store, &self.consent))
    }

    /// Measures what the file asks for.
    ///
    /// # Errors
    /// What is written wrongly or cannot be had.
    pub fn run(self, talk: &Talk) -> Ending {
        if self.example {
            let named = self.file.as_deref().map(|name| presets::find(name).ok_or(name));
            return match named {
                None => output::text(file::EXAMPLE),
                Some(Ok(preset)) => output::text(preset),
                Some(Err(name)) => Err(Failure::usage(format!(
                    "--example {}: no such experiments come with iolab; see iolab run --help",
                    path_to_text(name)
                ))),
            };
        }
        let Some(path) = &self.file else { return Err(Failure::internal("no file")) };
        let written = read(path)?;
        if !talk.quiet {
            presets::find(path).into_iter().flat_map(presets::about).for_each(say);
        }
        if self.plan {
            return self.print_plans(&written);
        }
        let jobs = self.jobs(&written)?;
        for (job, written) in jobs.iter().zip(&written) {
            self.spare(written)?;
            self.consent.allow(&job.prepared.plan, &path_to_text(path))?;
        }
        measure_all(&jobs, talk)
    }

    /// A file may be somebody else's, and says where to write: what is there stays.
    fn spare(&self, written: &Written) -> Result<(), Failure> {
        let paths = written.exports.iter().filter_map(|export| export.split_once('='));
        let taken = paths.map(|(_, path)| path).find(|path| {
            let is_folder = Path::new(path).is_dir();
            !self.replace && !is_folder && std::fs::symlink_metadata(path).is_ok()
        });
        let Some(path) = taken else { return Ok(()) };
        let refused = Failure::refused(format!(
            "an export would replace {}, which is there: name another, or say --replace",
            harmless(path)
        ));
        Err(refused.at(written.export_place.as_ref().unwrap_or(&written.place)))
    }

    fn print_plans(&self, written: &[Written]) -> Ending {
        let plans: Vec<Plan> = written
            .iter()
            .map(|one| {
                let mut plan = self.job(one, written.len() > 1)?.prepared.plan;
                plan.notes.extend(one.exports.iter().map(|export| writes(export)));
                Ok(plan)
            })
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
        let prepared = Prepared::of_file(written, &self.consent.places.placement())?;
        output.spare_files_of(&prepared.plan).map_err(|failure| failure.at(exports))?;
        Ok(Job { exports: written.exports.clone(), prepared, output })
    }
}

/// What the file asks to be written.
fn writes(export: &str) -> String {
    format!("writes a report: {}", harmless(export))
}

/// An experiment that can be measured.
struct Job {
    /// What the file writes of it.
    exports: Vec<String>,
    prepared: Prepared,
    output: Output,
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
        if !talk.quiet {
            self.exports.iter().for_each(|export| say(&format!("  {}", writes(export))));
        }
        measured(&self.prepared, argv(), None, &self.output, talk)
    }
}

fn read(path: &Path) -> Result<Vec<Written>, Failure> {
    let loaded = presets::load(path).map_or_else(|| load(path), Ok).map_err(Failure::usage)?;
    let words = Words { workloads: WORKLOADS, parts: catalog::all() };
    let mut include = |from: &Loaded, name: &str| {
        let beside = from.identity.parent().unwrap_or(Path::new("."));
        load(&beside.join(iolab_model::catalog::path_from_text(name)))
    };
    file::read(&loaded, words, drawn_seed(), &mut include).map_err(Failure::usage)
}

/// A file of text, never more of it than a person would write.
fn load(path: &Path) -> Result<Loaded, String> {
    const WHAT: &str = "a file of experiments";
    let stdin = path == Path::new("-");
    let name = if stdin { "stdin".to_owned() } else { path_to_text(path) };
    let read = || {
        Ok(match stdin {
            true => {
                let here = std::env::current_dir().unwrap_or_default();
                (toml_text(io::stdin().lock())?, here.join("-"))
            }
            false => (toml_text(File::open(path)?)?, std::fs::canonicalize(path)?),
        })
    };
    // The reader of files names the line that asks for one, and takes any reason in words.
    let (text, identity) = read().map_err(|why: NoText| why.of(&name, WHAT))?;
    Ok(Loaded { text, name, identity })
}
