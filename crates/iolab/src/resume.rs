//! `iolab run --resume RUN`: goes on with a run that was interrupted or killed.

use clap::Parser;

use super::history::{StoreArgs, load};
use super::measure::Measure;
use super::output::{Output, Talk};
use super::places::PlaceArgs;
use super::session::{Resumed, Session};
use super::terminal_io::{Ending, Failure};
use super::{Cli, Command, plan_text, run};
use iolab_model::catalog::{Fact, path_from_text};
use iolab_model::plan::Plan;
use iolab_model::result::{CellRecord, Document, Sample, Twin};
use iolab_model::spec::file;
use iolab_run::{CellOutcome, ExclusionReason, History, Left, TwinTrial};

/// Measures what is left of a run.
///
/// # Errors
/// There is no such run, it is complete, or it cannot be gone on with here.
pub fn resume(run: &str, store: StoreArgs, places: PlaceArgs, talk: &Talk) -> Ending {
    let document = load(&store.open(&[])?, run)?;
    let id = document.run.id;
    if document.run.complete {
        return Err(Failure::usage(format!(
            "run {id} is complete, there is nothing to resume; see it with iolab show {id}"
        )));
    }
    go_there(&document)?;
    match command_of(&document)? {
        Made::By(measure) => measure.resume(document, store, talk),
        Made::FromFile => from_file(document, store, &places, talk),
    }
}

/// The file may have changed since: what the run was asked stands in its record.
fn from_file(document: Document, store: StoreArgs, places: &PlaceArgs, talk: &Talk) -> Ending {
    let written = file::from_document(&document);
    let output = Output::recording(store);
    let (plan, guest, places) = run::plan_of(&written, places)?;
    plan_text::before_start(&plan, talk);
    let argv = document.run.argv.clone();
    let resumes = Some(resumed(document, &plan)?);
    let places = places.terms(&plan);
    Session { plan: &plan, output: &output, talk, argv, resumes, places, guest }.run()
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

/// What made a run.
#[allow(clippy::large_enum_variant)] // Looked at once.
enum Made {
    By(Measure),
    FromFile,
}

fn command_of(document: &Document) -> Result<Made, Failure> {
    let arguments = document.run.argv.iter().map(|text| path_from_text(text).into_os_string());
    match Cli::try_parse_from(arguments).map(|cli| cli.command) {
        Ok(Command::Measure(measure)) => Ok(Made::By(measure)),
        Ok(Command::Run(_)) => Ok(Made::FromFile),
        _ => Err(Failure::incomparable(format!(
            "run {} was made by a command that this iolab does not know or cannot resume; measure anew",
            document.run.id
        ))),
    }
}

/// What is known of the run, for a plan that must be the same.
///
/// # Errors
/// The plan of today has other cells: a file or the machine has changed.
pub fn resumed(document: Document, plan: &Plan) -> Result<Resumed, Failure> {
    let same = document.cells.len() == plan.cells.len()
        && document.cells.iter().zip(&plan.cells).all(|(then, now)| then.factors == now.levels);
    if !same {
        return Err(Failure::incomparable(format!(
            "the cells of run {} are not those that its command makes today (a file, the space or iolab has changed); measure anew",
            document.run.id
        )));
    }
    let second_trial = |(id, sample): (&str, &Sample)| {
        let cell = document.cells.iter().position(|cell| cell.id == id)?;
        Some(TwinTrial { cell, sample: sample.clone() })
    };
    let history = History {
        cells: document.cells.iter().map(outcome).collect(),
        twin: document.twin.iter().flat_map(Twin::trials).filter_map(second_trial).collect(),
        epoch_rounds: document.experiment.protocol.epoch_rounds,
        elapsed_ns: elapsed_ns(&document),
    };
    Ok(Resumed { document, history })
}

fn outcome(cell: &CellRecord) -> CellOutcome {
    let round = cell.samples.last().map_or(0, |sample| sample.round);
    let reason = cell.reason.clone().unwrap_or_default();
    let why = ExclusionReason::of(cell);
    CellOutcome { samples: cell.samples.clone(), left: why.map(|why| Left { round, why, reason }) }
}

/// The time that the trials took: what is known of a run that was killed.
fn elapsed_ns(document: &Document) -> u64 {
    let twins = document.twin.iter().flat_map(|twin| &twin.samples);
    let all = document.cells.iter().flat_map(|cell| &cell.samples).chain(twins);
    all.fold(0, |sum, sample| sum.saturating_add(sample.measurement.wall_ns))
}
