//! One file a subcommand: arguments in, exit code out.

mod checksum;
mod clean;
mod compare;
mod completions;
mod contenders;
mod diff;
mod doctor;
mod explain;
mod factor_args;
mod facts;
mod gate;
mod google_benchmark_flags;
mod history;
mod import;
mod list;
mod make;
mod man;
mod measure;
mod output;
mod parts;
mod pin_prune;
mod places;
mod plan_text;
mod progress;
mod protocol_args;
mod quick;
mod record;
mod report;
mod resume;
mod run;
mod schema;
mod selftest;
mod session;
mod show;
mod signals;
mod size_for_time;
mod study;
mod terminal_io;
mod time;
mod trend;
mod vm;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, Parser, Subcommand};

use terminal_io::{Ending, Exit, Failure};

pub use parts::all as parts_of_all;

/// A laboratory for file I/O: which way is faster here, with proof.
#[derive(Parser, Debug)]
#[command(name = "iolab", version, max_term_width = 80, after_help = EXAMPLES)]
#[command(disable_help_subcommand = true, infer_subcommands = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    talk: output::Talk,
}

const EXAMPLES: &str = "\
Examples:
  iolab quick                          a survey of this directory in a minute
  iolab read big.iso --budget 30s      which way to read this file
  iolab read --cache cold,warm         is it the cache?
  iolab syscall                        what a system call costs here
  iolab run --example > mine.toml      a file of experiments to start from
  iolab explain TWIN_OFF               what a warning means

Data goes to stdout, all else to stderr. Exit status: 0 done, 1 internal
error, 2 usage, 3 different (diff), 10 regression, 11 undecided (where asked for), 12 runs cannot
be compared, 20 refused: not safe, or no space; 130 interrupted.";

// Made once in a run and gone at once: boxing it would only complicate the derive.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand, Debug)]
enum Command {
    Quick(quick::Quick),
    #[command(flatten)]
    Measure(measure::Measure),
    Run(run::Run),
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
    Make(make::Make),
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
}

impl Command {
    fn run(self, talk: &output::Talk) -> Ending {
        match self {
            Command::Quick(quick) => quick.run(talk),
            Command::Measure(measure) => measure.run(talk),
            Command::Run(run) => run.run(talk),
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
            Command::Make(make) => make.run(talk),
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
        }
    }
}

/// The whole program.
pub fn main() -> ExitCode {
    // The agent is started by us and is nobody's subcommand: nothing of the controller, not even
    // the reading of arguments, happens in that process.
    if std::env::args_os().nth(1).is_some_and(|word| word == "agent") {
        return iolab_agent::serve();
    }
    if google_benchmark_flags::wanted() {
        return terminal_io::guard(google_benchmark_flags::run);
    }
    terminal_io::guard(|| {
        if let Some(failure) = factor_args::detached_level(std::env::args_os()) {
            return Err(failure);
        }
        match Cli::try_parse() {
            Ok(cli) => cli.command.run(&cli.talk),
            Err(error) => parse_failure(&error),
        }
    })
}

/// The whole command line as data: help, completions and the man page are made from it.
pub fn command() -> clap::Command {
    Cli::command().color(ColorChoice::Auto)
}

fn parse_failure(error: &clap::Error) -> Ending {
    // Whether anyone reads it is theirs to decide: a closed pipe is no error.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Exit::Done),
        _ => Err(Failure::said(Exit::Usage)),
    }
}
