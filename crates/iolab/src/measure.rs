//! The subcommands that measure, one for each workload of the catalog.

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use textwrap::{Options, WordSeparator, WordSplitter};

use super::console::argv;
use super::factor_args::{self, Axes};
use super::output::OutputArgs;
use super::place_args::PlaceArgs;
use super::plan_text;
use super::protocol_args::ProtocolArgs;
use super::reported::{measured, session};
use super::terminal_io::{self, Ending, Exit, Failure};
use super::verbosity::Talk;
use iolab_agent::catalog::{self, WORKLOADS};
use iolab_controller::Prepared;
use iolab_model::catalog::{WorkloadInfo, capital_text};
use iolab_model::plan::Plan;
use iolab_model::result::Document;
use iolab_model::spec::{Experiment, file};

/// What was written after the name of a workload.
#[derive(Clone, Debug)]
pub struct Measure {
    info: &'static WorkloadInfo,
    /// Read when it runs, so that one kind of error message serves all.
    axes: ArgMatches,
    protocol: ProtocolArgs,
    output: OutputArgs,
    places: PlaceArgs,
}

impl Measure {
    /// Measures, or prints the plan.
    ///
    /// # Errors
    /// What was asked wrongly or cannot be had.
    pub fn run(self, talk: &Talk) -> Ending {
        let experiment = self.experiment()?;
        let output = self.output.read()?;
        let prepared = self.prepared(&experiment)?;
        if self.protocol.plan {
            let format = &self.output.format;
            return terminal_io::data(|out| plan_text::write_plan(out, &prepared.plan, format));
        }
        measured(&prepared, argv(), None, &output, talk)
    }

    /// The run of this command again: its plan with that seed, and where its result went. What the
    /// command allowed is not allowed for that.
    ///
    /// # Errors
    /// What cannot be had any more.
    pub fn again(
        mut self,
        document: &Document,
        seed: u64,
        consent: &PlaceArgs,
    ) -> Result<(Prepared, OutputArgs), Failure> {
        self.protocol.fix_seed(seed);
        self.places = self.places.allowing(consent);
        let mut experiment = self.experiment()?;
        // What gives way to other levels did not always: the run is what it was.
        let recorded = file::from_document(document).experiment.factors;
        for axis in self.info.factors.iter().filter(|axis| axis.gives_way) {
            if let Some(levels) = recorded.get(&axis.factor) {
                experiment.factors.entry(axis.factor).or_insert_with(|| levels.clone());
            }
        }
        let prepared = self.prepared(&experiment)?;
        Ok((prepared, self.output))
    }

    /// The plan, altered, and where it runs.
    ///
    /// # Errors
    /// What was asked wrongly or cannot be had.
    pub fn planned(&self, alter: &dyn Fn(&mut Plan)) -> Result<Prepared, Failure> {
        let mut prepared = self.prepared(&self.experiment()?)?;
        alter(&mut prepared.plan);
        Ok(prepared)
    }

    /// Measures and records what was planned, and reports nothing.
    ///
    /// # Errors
    /// What ended it.
    pub fn measured(&self, prepared: &Prepared, talk: &Talk) -> Result<Document, Failure> {
        let output = self.output.read()?;
        let measured = session(prepared, argv(), None, &output, talk)?.measure()?;
        match measured.failure {
            Some(failure) => Err(failure.into()),
            None if measured.document.run.complete => Ok(measured.document),
            None => Err(Failure::said(Exit::Interrupted)),
        }
    }

    fn prepared(&self, experiment: &Experiment) -> Result<Prepared, Failure> {
        Ok(Prepared::of(experiment, &self.places.placement())?)
    }

    fn experiment(&self) -> Result<Experiment, Failure> {
        let Axes { factors, directory } =
            factor_args::read(self.info, &self.axes, self.places.is_elsewhere())?;
        let protocol = self.protocol.read()?;
        let workload = self.info.part.id.to_owned();
        Ok(Experiment { title: None, workload, directory, factors, protocol })
    }
}

fn command(info: &'static WorkloadInfo) -> Command {
    let command = factor_args::augment(Command::new(info.part.id), info);
    let command = PlaceArgs::augment_args(ProtocolArgs::augment_args(command));
    let command = OutputArgs::augment_args(command);
    let command = command.mut_args(|arg| {
        let rare = !COMMON.contains(&arg.get_id().as_str());
        arg.hide_short_help(rare)
    });
    // Last: the groups of options bring texts of their own. Each begins as other helps do.
    command
        .about(capital_text(info.part.summary))
        .long_about(None)
        .after_help(first_examples(info))
        .after_long_help(examples(info))
}

/// What most questions take: `-h` is one screen of these, `--help` has all.
const COMMON: [&str; 16] = [
    "paths",
    "what",
    "file-size",
    "files",
    "sizes",
    "operation",
    "method",
    "place",
    "block",
    "threads",
    "cache",
    "sync",
    "direct",
    "budget",
    "plan",
    "details",
];
/// Examples of a short help.
const FEW_EXAMPLES: usize = 2;

fn first_examples(info: &WorkloadInfo) -> String {
    let mut text = String::from("Examples:");
    for (line, _) in info.examples.iter().take(FEW_EXAMPLES) {
        text += &format!("\n  {}", shell_lines(&format!("iolab {line}")));
    }
    let id = info.part.id;
    text + &format!("\n\niolab {id} --help has every option and level, with more examples.")
}

fn examples(info: &WorkloadInfo) -> String {
    let mut text = String::from("Examples:");
    for (line, why) in info.examples {
        text += &format!("\n  {}\n      {why}", shell_lines(&format!("iolab {line}")));
    }
    text + "\n\nSizes: 64Ki = 64K = 65536, 64kB = 64000. Lists and ranges on any axis:\n4Ki,64Ki and 1..64Ki:x2 and 4Ki..64Ki:+4Ki.\n\nExit status: 0 done, also where nothing is decided; 20 refused; 21 something\nasked for by name was not measured; 130 interrupted."
}

/// A command as it can be typed, on lines that a terminal of 80 columns holds.
fn shell_lines(command: &str) -> String {
    let whole = Options::new(72)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(command, whole).join(" \\\n    ")
}

impl FromArgMatches for Measure {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Measure, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, axes) = matches.subcommand().ok_or_else(missing)?;
        Ok(Measure {
            info: catalog::workload(name).ok_or_else(missing)?,
            protocol: ProtocolArgs::from_arg_matches(axes)?,
            output: OutputArgs::from_arg_matches(axes)?,
            places: PlaceArgs::from_arg_matches(axes)?,
            axes: axes.clone(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Measure::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for Measure {
    fn augment_subcommands(parent: Command) -> Command {
        WORKLOADS.iter().fold(parent, |parent, info| parent.subcommand(command(info)))
    }

    fn augment_subcommands_for_update(parent: Command) -> Command {
        Measure::augment_subcommands(parent)
    }

    fn has_subcommand(name: &str) -> bool {
        catalog::workload(name).is_some()
    }
}
