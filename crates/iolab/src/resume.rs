//! Going on with a run of the history: one that was interrupted (`iolab run --resume RUN`), or one
//! that left something open (`iolab more RUN`).

use clap::{Parser, Subcommand};

use super::consent_args::ConsentArgs;
use super::factor_args::with_levels_attached;
use super::measure::Measure;
use super::output::OutputArgs;
use super::reported::measured;
use super::run::Run;
use super::store_args::{StoreArgs, load};
use super::terminal_io::{Ending, Failure};
use super::verbosity::Talk;
use iolab_controller::{Error, Prepared, resumed};
use iolab_model::catalog::{Fact, path_from_text};
use iolab_model::result::Document;
use iolab_model::spec::file;

/// How to go on.
#[derive(Clone, Copy, Debug)]
pub struct GoOn<'a> {
    /// Where the result goes; what the command of the run says where absent.
    pub output: Option<&'a OutputArgs>,
    /// Which history.
    pub store: &'a StoreArgs,
    /// What is allowed.
    pub consent: &'a ConsentArgs,
    /// So much more time than it had; the rest of its own where absent.
    pub more_ns: Option<u64>,
}

/// Measures what is left of a run.
///
/// # Errors
/// There is no such run, it is complete, or it cannot be gone on with here.
pub fn resume(run: &str, store: &StoreArgs, consent: &ConsentArgs, talk: &Talk) -> Ending {
    let store = &store.absolute()?;
    let document = load(&store.open()?, run)?;
    let id = document.run.id;
    if document.run.complete {
        return Err(Failure::usage(format!(
            "run {id} is complete, there is nothing to resume; iolab more {id} 60s measures more of it, \
             iolab show {id} shows it"
        )));
    }
    go_on(document, &GoOn { output: None, store, consent, more_ns: None }, talk)
}

/// Goes on with a run.
///
/// # Errors
/// It was imported, or cannot be gone on with here.
pub fn go_on(document: Document, how: &GoOn<'_>, talk: &Talk) -> Ending {
    let (prepared, mut output) = once_more(&document, document.run.seed, how.consent)?;
    if let Some(asked) = how.output {
        output = asked.clone();
    }
    output.store = how.store.clone();
    measure(document, prepared, &output, how.more_ns, talk)
}

/// What a run was asked, prepared where it was made, with this seed; and where its result went.
///
/// # Errors
/// It was imported, starts what nobody allowed, or cannot be had any more.
pub fn once_more(
    document: &Document,
    seed: u64,
    consent: &ConsentArgs,
) -> Result<(Prepared, OutputArgs), Failure> {
    if document.is_imported() {
        return Err(Error::Imported(document.run.id).into());
    }
    go_there(document)?;
    let (prepared, output) = match command_of(document)? {
        Made::Measure(measure) => measure.again(document, seed, &consent.places)?,
        // The file may have changed since: what the run was asked stands in its record.
        Made::Run(_) => {
            let mut written = file::from_document(document);
            written.experiment.protocol.seed = seed;
            (Prepared::of_file(&written, &consent.places.placement())?, OutputArgs::as_table())
        }
    };
    consent.allow(&prepared.plan, &format!("run {}", document.run.id))?;
    Ok((prepared, output))
}

fn measure(
    document: Document,
    mut prepared: Prepared,
    output: &OutputArgs,
    more_ns: Option<u64>,
    talk: &Talk,
) -> Ending {
    let output = output.read()?;
    let argv = document.run.argv.clone();
    let mut resumed = resumed(document, &prepared.plan)?;
    if let Some(more_ns) = more_ns {
        resumed.extend(&mut prepared.plan, more_ns);
    }
    measured(&prepared, argv, Some(resumed), &output, talk)
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
    let arguments = with_levels_attached(arguments);
    Recorded::try_parse_from(arguments).map(|recorded| recorded.made).map_err(|_| {
        Failure::incomparable(format!(
            "run {} was made by a command that this iolab does not know or cannot resume; measure anew",
            document.run.id
        ))
    })
}
