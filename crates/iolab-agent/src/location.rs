//! Where the agent runs. Whatever is to be known of the machine there is asked of the agent there;
//! a location knows how one is started, and what only whoever starts it can know.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::messages::{
    InspectOrder, Inspection, LookOrder, Objection, PlaceTerms, Reply, Request, Sight, SurveyOrder,
};
use super::transport::{LocalChild, Transport};
use iolab_model::plan::{Facts, Plan};
use iolab_model::result::{Environment, Fault, Warning};

/// A place where agents can be started: this machine, a guest. Another one is a type that can
/// [`connect`](Location::connect); the rest is right for a machine that has the files and iolab.
pub trait Location: fmt::Debug {
    /// Starts an agent there.
    ///
    /// # Errors
    /// None can be started: which way was tried, and what would help.
    fn connect(&self) -> Result<Box<dyn Transport>, Fault>;

    /// What an experiment could have there, before anything is made.
    ///
    /// # Errors
    /// It cannot be done there, or the agent cannot be asked.
    fn survey(&self, order: &SurveyOrder) -> Result<Facts, SurveyError> {
        survey_by(&mut *self.connect()?, order)
    }

    /// What can be had and proven there, whatever is going to be measured.
    ///
    /// # Errors
    /// The directory is not there, or the agent cannot be asked.
    fn inspect(&self, order: &InspectOrder) -> Result<Inspection, SurveyError> {
        inspect_by(&mut *self.connect()?, order)
    }

    /// Starts an agent for a plan, with everything that must be there before it.
    ///
    /// # Errors
    /// What must be there cannot be made, or none can be started.
    fn start(&self, plan: &Plan, terms: &PlaceTerms) -> Result<Started, Fault> {
        Ok(Started {
            agent: self.connect()?,
            directory: plan.directory.clone(),
            terms: terms.clone(),
            environment: self.about(),
            warnings: Vec::new(),
        })
    }

    /// The facts that it has beside those of the machine.
    fn about(&self) -> Environment {
        Environment::default()
    }

    /// What is to be said of the machine in the record; `agent` is one that was started there.
    ///
    /// # Errors
    /// The agent cannot be asked.
    fn look(&self, agent: &mut dyn Transport, order: &LookOrder) -> Result<Sight, Fault> {
        look_by(agent, order)
    }

    /// What is to be said of it before the start, where it is not simply here.
    fn note(&self) -> Option<String> {
        None
    }

    /// Of an MPI job: on which machine each rank is, by number; none elsewhere.
    fn machines_of_ranks(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The names of the machines, where several are compared.
    fn hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Numbers of the devices of *this* machine that trials on these files touch: nothing else may
    /// write to them meanwhile. None for files that are elsewhere.
    fn devices_shared(&self, paths: &[PathBuf]) -> Vec<u64> {
        let _ = paths;
        Vec::new()
    }
}

/// An agent that was started for a plan.
pub struct Started {
    /// The line to it.
    pub agent: Box<dyn Transport>,
    /// The directory to work under, there.
    pub directory: PathBuf,
    /// Under which terms places are made there.
    pub terms: PlaceTerms,
    /// Facts of what had to be set up for it.
    pub environment: Environment,
    /// What of them can spoil or explain a result.
    pub warnings: Vec<Warning>,
}

/// Why nothing is known of what an experiment could have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurveyError {
    /// It cannot be done there.
    #[error("{0}")]
    Objected(Objection),
    /// The agent cannot be asked.
    #[error("{0}")]
    Fault(#[from] Fault),
}

/// Asks an agent for a survey.
///
/// # Errors
/// The experiment cannot be done there, or the agent does not answer.
pub fn survey_by(agent: &mut dyn Transport, order: &SurveyOrder) -> Result<Facts, SurveyError> {
    const DOING: &str = "ask what can be had";
    match asked(agent, &Request::Survey(Box::new(order.clone())), DOING)? {
        Reply::Surveyed(facts) => Ok(*facts),
        Reply::Objected(objection) => Err(SurveyError::Objected(objection)),
        other => Err(unexpected_reply(DOING, &other).into()),
    }
}

/// Asks an agent what can be had and proven.
///
/// # Errors
/// The directory is not there, or the agent does not answer.
pub fn inspect_by(
    agent: &mut dyn Transport,
    order: &InspectOrder,
) -> Result<Inspection, SurveyError> {
    const DOING: &str = "ask what can be had and proven";
    match asked(agent, &Request::Inspect(Box::new(order.clone())), DOING)? {
        Reply::Inspected(seen) => Ok(*seen),
        Reply::Objected(objection) => Err(SurveyError::Objected(objection)),
        other => Err(unexpected_reply(DOING, &other).into()),
    }
}

/// Asks an agent for the facts of its machine.
///
/// # Errors
/// It does not answer.
pub fn look_by(agent: &mut dyn Transport, order: &LookOrder) -> Result<Sight, Fault> {
    const DOING: &str = "ask for the facts of the machine";
    match asked(agent, &Request::Look(Box::new(order.clone())), DOING)? {
        Reply::Seen(sight) => Ok(*sight),
        other => Err(unexpected_reply(DOING, &other)),
    }
}

fn asked(agent: &mut dyn Transport, request: &Request, doing: &str) -> Result<Reply, Fault> {
    match agent.ask(request) {
        Ok(Reply::Refused(fault) | Reply::Lost(fault)) => Err(fault),
        Ok(reply) => Ok(reply),
        Err(error) => {
            let cause = agent.ending().unwrap_or_else(|| error.to_string());
            Err(Fault::new(doing, format!("the agent ended: {cause}")).errno(error.raw_os_error()))
        }
    }
}

/// The fault of an agent that answers another question.
pub fn unexpected_reply(doing: &str, reply: &Reply) -> Fault {
    Fault::new(doing, format!("the agent answered something else: {reply:?}"))
}

/// This machine: the agent is a child of this process, and the same program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Here;

impl Location for Here {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        let agent = LocalChild::start().map_err(|error| Fault::of("start the agent", &error))?;
        Ok(Box::new(agent))
    }

    fn devices_shared(&self, paths: &[PathBuf]) -> Vec<u64> {
        devices_of(paths.iter().map(PathBuf::as_path))
    }
}

/// The devices that these paths of this machine are on, each once.
pub fn devices_of<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<u64> {
    let mut all: Vec<u64> =
        paths.filter_map(|path| Some(std::fs::metadata(path).ok()?.dev())).collect();
    all.sort_unstable();
    all.dedup();
    all
}
