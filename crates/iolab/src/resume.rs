//! `iolab run --resume RUN`: goes on with a run that was interrupted or killed.

use clap::{Parser, Subcommand};

use super::measure::Measure;
use super::output::Output;
use super::place_args::PlaceArgs;
use super::reported::measured;
use super::run::Run;
use super::store_args::{StoreArgs, load};
use super::terminal_io::{Ending, Failure};
use super::verbosity::Talk;
use iolab_controller::{Prepared, resumed};
use iolab_model::catalog::{Fact, path_from_text};
use iolab_model::result::Document;
use iolab_model::spec::file;

/// Measures what is left of a run.
///
/// # Errors
/// There is no such run, it is complete, or it cannot be gone on with here.
pub fn resume(run: &str, store: &StoreArgs, places: &PlaceArgs, talk: &Talk) -> Ending {
    let document = load(&store.open()?, run)?;
    let id = document.run.id;
    if document.run.complete {
        return Err(Failure::usage(format!(
            "run {id} is complete, there is nothing to resume; see it with iolab show {id}"
        )));
    }
    go_there(&document)?;
    match command_of(&document)? {
        Made::Measure(measure) => measure.resume(document, store.clone(), talk),
        Made::Run(_) => from_file(document, store, places, talk),
    }
}

/// The file may have changed since: what the run was asked stands in its record.
fn from_file(document: Document, store: &StoreArgs, places: &PlaceArgs, talk: &Talk) -> Ending {
    let prepared = Prepared::of_file(&file::from_document(&document), &places.placement())?;
    let output = Output::recording(store.clone());
    let argv = document.run.argv.clone();
    let resumes = Some(resumed(document, &prepared.plan)?);
    measured(&prepared, argv, resumes, &output, talk)
}

/// Relative names of the command line start in the directory it was given in.
fn go_there(document: &Document) -> Result<(), Failure> {
    let Some(text) = document.environment.text(Fact::RunWorkingDirectory) else {
        return Ok(());
    };
    std::env::set_current_dir(path_from_text(text)).map_err(|error| {
        Failure::incomparable(format!("the run was made in {text}: {error}; it cannot go on here"))
    })
}

/// The commands that make a run which can be gone on with.
#[derive(Parser)]
#[command(name = "iolab", disable_help_subcommand = true, infer_subcommands = false)]
struct Recorded {
    #[command(subcommand)]
    made: Made,
    // What was said then does not matter now.
    #[command(flatten)]
    _talk: Talk,
}

/// What made a run.
#[allow(clippy::large_enum_variant)] // Looked at once.
#[derive(Subcommand)]
enum Made {
    #[command(flatten)]
    Measure(Measure),
    Run(Run),
}

fn command_of(document: &Document) -> Result<Made, Failure> {
    let arguments = document.run.argv.iter().map(|text| path_from_text(text).into_os_string());
    Recorded::try_parse_from(arguments).map(|recorded| recorded.made).map_err(|_| {
        Failure::incomparable(format!(
            "run {} was made by a command that this iolab does not know or cannot resume; measure anew",
            document.run.id
        ))
    })
}
