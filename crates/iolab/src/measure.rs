//! The subcommands that measure, one for each workload of the catalog.

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

use super::factor_args::{self, Axes};
use super::history::StoreArgs;
use super::output::{OutputArgs, Talk};
use super::places::PlaceArgs;
use super::protocol_args::ProtocolArgs;
use super::session::{self, Session};
use super::terminal_io::{self, Ending, Failure};
use super::{facts, parts, plan_text, resume};
use iolab_io::workload::WORKLOADS;
use iolab_model::catalog::WorkloadInfo;
use iolab_model::plan::{self, Plan};
use iolab_model::result::Document;
use iolab_model::spec::Experiment;

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
        let guest = self.places.guest(&experiment)?;
        let plan = plan_in(&experiment, guest.is_some())?;
        if self.protocol.plan {
            return terminal_io::data(|out| plan_text::write_plan(out, &plan, &self.output.format));
        }
        plan_text::before_start(&plan, talk);
        let argv = session::argv();
        let places = self.places.terms(&plan);
        Session { plan: &plan, output: &output, talk, argv, resumes: None, places, guest }.run()
    }

    /// Goes on with a run that this command began.
    ///
    /// # Errors
    /// What cannot be had any more.
    pub fn resume(mut self, document: Document, store: StoreArgs, talk: &Talk) -> Ending {
        self.protocol.fix_seed(document.run.seed);
        self.output.store = store;
        let output = self.output.read()?;
        let experiment = self.experiment()?;
        let guest = self.places.guest(&experiment)?;
        let plan = plan_in(&experiment, guest.is_some())?;
        plan_text::before_start(&plan, talk);
        let argv = document.run.argv.clone();
        let resumes = Some(resume::resumed(document, &plan)?);
        let places = self.places.terms(&plan);
        Session { plan: &plan, output: &output, talk, argv, resumes, places, guest }.run()
    }

    /// The plan, altered.
    ///
    /// # Errors
    /// What was asked wrongly or cannot be had.
    pub fn planned(&self, alter: &dyn Fn(&mut Plan)) -> Result<Plan, Failure> {
        let experiment = self.experiment()?;
        let guest = self.places.guest(&experiment)?;
        let mut plan = plan_in(&experiment, guest.is_some())?;
        alter(&mut plan);
        Ok(plan)
    }

    /// Measures and records the altered plan, and reports nothing.
    ///
    /// # Errors
    /// What ended it.
    pub fn measured(&self, alter: &dyn Fn(&mut Plan), talk: &Talk) -> Result<Document, Failure> {
        let output = self.output.read()?;
        let plan = self.planned(alter)?;
        let guest = self.places.guest(&self.experiment()?)?;
        let places = self.places.terms(&plan);
        let argv = session::argv();
        let session =
            Session { plan: &plan, output: &output, talk, argv, resumes: None, places, guest };
        match session.measure()? {
            (document, None) if document.run.complete => Ok(document),
            (_, None) => Err(Failure::said(terminal_io::Exit::Interrupted)),
            (_, Some(failure)) => Err(failure),
        }
    }

    fn experiment(&self) -> Result<Experiment, Failure> {
        let Axes { factors, directory } = factor_args::read(self.info, &self.axes)?;
        let protocol = self.protocol.read()?;
        let workload = self.info.part.id.to_owned();
        Ok(Experiment { title: None, workload, directory, factors, protocol })
    }
}

/// The plan of an experiment on this machine.
///
/// # Errors
/// What was asked wrongly or cannot be had.
pub fn plan_of(experiment: &Experiment) -> Result<Plan, Failure> {
    plan_in(experiment, false)
}

/// The same, in a virtual machine on this one or not.
///
/// # Errors
/// What was asked wrongly or cannot be had.
pub fn plan_in(experiment: &Experiment, guest: bool) -> Result<Plan, Failure> {
    let unknown = || Failure::usage(format!("there is no workload {}", experiment.workload));
    let info = parts::workload(&experiment.workload).ok_or_else(unknown)?;
    parts::check(experiment, info).map_err(Failure::usage)?;
    let facts = facts::gather(experiment, guest)?;
    plan::make(experiment, info, parts::all(), &facts).map_err(failure)
}

fn failure(error: plan::PlanError) -> Failure {
    match error.is_refusal() {
        true => Failure::refused(error),
        false => Failure::usage(error),
    }
}

fn command(info: &'static WorkloadInfo) -> Command {
    let command = factor_args::augment(Command::new(info.part.id), info);
    let command = PlaceArgs::augment_args(ProtocolArgs::augment_args(command));
    let command = OutputArgs::augment_args(command);
    // Last: the groups of options bring texts of their own.
    command.about(info.part.summary).long_about(None).after_help(examples(info))
}

fn examples(info: &WorkloadInfo) -> String {
    let mut text = String::from("Examples:");
    for (line, why) in info.examples {
        text += &format!("\n  iolab {line}\n      {why}");
    }
    text + "\n\nSizes: 64Ki = 64K = 65536, 64kB = 64000. Lists and ranges on any axis:\n4Ki,64Ki and 1..64Ki:x2 and 4Ki..64Ki:+4Ki."
}

impl FromArgMatches for Measure {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Measure, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, axes) = matches.subcommand().ok_or_else(missing)?;
        Ok(Measure {
            info: parts::workload(name).ok_or_else(missing)?,
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
        parts::workload(name).is_some()
    }
}
