//! The whole command line: every subcommand, and who does it.

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, Parser, Subcommand};

use super::terminal_io::{Ending, Exit, Failure};
use super::verbosity::Talk;
use super::{
    cached, checksum, clean, compare, completions, diff, doctor, explain, gate, history, import,
    list, make, man, measure, more, pin_prune, profile, quick, record, report, rerun, resume, run,
    schema, selftest, show, size_for_time, study, trend, unknown_option,
};

/// A laboratory for file I/O: which way is faster here, with proof.
#[derive(Parser, Debug)]
#[command(name = "iolab", version, max_term_width = 80, after_help = EXAMPLES)]
#[command(disable_help_subcommand = true, infer_subcommands = false)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub talk: Talk,
}

const EXAMPLES: &str = "\
Examples:
  iolab quick                          a survey of this directory in a minute
  iolab read big.iso --budget 30s      which way to read this file
  iolab read --cache cold,warm         is it the cache?
  iolab syscall                        what a system call costs here
  iolab record -- make -j4             what your program does with files
  iolab run --example > mine.toml      a file of experiments to start from
  iolab explain TWIN_OFF               what a warning means

Data goes to stdout, all else to stderr. Exit status: 0 done, also where
the answer is that nothing is decided; 1 internal error, 2 usage, 3 different
(diff), 10 regression (gate), 11 not decided (gate --undecided-fails), 12 runs
cannot be compared, 20 refused: not safe, or no space, 21 something asked for
by name was not measured, 130 interrupted.";

/// The subcommands.
// Made once in a run and gone at once: boxing it would only complicate the derive.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand, Debug)]
pub enum Command {
    Quick(quick::Quick),
    #[command(flatten)]
    Measure(measure::Measure),
    Run(run::Run),
    More(more::More),
    Rerun(rerun::Rerun),
    Study(study::StudyCommand),
    History(history::History),
    Show(show::Show),
    Report(report::Report),
    Trend(trend::Trend),
    Compare(compare::Compare),
    Gate(gate::Gate),
    Import(import::Import),
    Pin(pin_prune::Pin),
    Prune(pin_prune::Prune),
    Export(show::Export),
    Record(record::Record),
    Profile(profile::ProfileCommand),
    Make(make::Make),
    Cached(cached::Cached),
    Checksum(checksum::Checksum),
    Diff(diff::Diff),
    Fit(size_for_time::Fit),
    List(list::List),
    Explain(explain::Explain),
    Doctor(doctor::Doctor),
    Clean(clean::Clean),
    Selftest(selftest::Selftest),
    Schema(schema::Schema),
    Completions(completions::Completions),
    Man(man::Man),
    #[command(hide = true)]
    ShortCalls(record::calibrate::ShortCalls),
}

impl Command {
    /// Does what was asked.
    ///
    /// # Errors
    /// What the subcommand met.
    pub fn run(self, talk: &Talk) -> Ending {
        match self {
            Command::Quick(quick) => quick.run(talk),
            Command::Measure(measure) => measure.run(talk),
            Command::Run(run) => match run.resumes() {
                Some((number, store, consent)) => resume::resume(number, store, consent, talk),
                None => run.run(talk),
            },
            Command::More(more) => more.run(talk),
            Command::Rerun(rerun) => rerun.run(talk),
            Command::Study(study) => study.run(talk),
            Command::History(history) => history.run(talk),
            Command::Show(show) => show.run(talk),
            Command::Report(report) => report.run(talk),
            Command::Trend(trend) => trend.run(talk),
            Command::Compare(compare) => compare.run(talk),
            Command::Gate(gate) => gate.run(talk),
            Command::Import(import) => import.run(talk),
            Command::Pin(pin) => pin.run(talk),
            Command::Prune(prune) => prune.run(talk),
            Command::Export(export) => export.run(talk),
            Command::Record(record) => record.run(talk),
            Command::Profile(profile) => profile.run(talk),
            Command::Make(make) => make.run(talk),
            Command::Cached(cached) => cached.run(talk),
            Command::Checksum(checksum) => checksum.run(),
            Command::Diff(diff) => diff.run(talk),
            Command::Fit(fit) => fit.run(talk),
            Command::List(list) => list.run(),
            Command::Explain(explain) => explain.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Clean(clean) => clean.run(talk),
            Command::Schema(schema) => schema.run(),
            Command::Completions(completions) => completions.run(&mut command()),
            Command::Selftest(selftest) => selftest.run(talk),
            Command::Man(man) => man.run(command()),
            Command::ShortCalls(calls) => calls.run(),
        }
    }
}

/// The whole command line as data: help, completions and the man page are made from it.
pub fn command() -> clap::Command {
    Cli::command().color(ColorChoice::Auto)
}

/// Help and the version are no failure; what is wrong with the words is told.
///
/// # Errors
/// The words are wrong.
pub fn parse_failure(error: clap::Error) -> Ending {
    let error = unknown_option::with_tip(error, &command());
    // Whether anyone reads it is theirs to decide: a closed pipe is no error.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Exit::Done),
        _ => Err(Failure::said(Exit::Usage)),
    }
}
