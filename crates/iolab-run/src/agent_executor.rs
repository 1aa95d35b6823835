//! The executor on a real machine: an agent behind a [`Transport`]. An agent that dies costs the
//! trial it was at; a new one is started and the file instances are made again.

use std::io;
use std::path::Path;
use std::time::Instant;

use super::{ClockFacts, Executor, ExecutorError, TrialOrder};
use iolab_agent::{
    Content, InstanceOrder, PlaceTerms, Reply, Request, Transport, TrialRequest, unexpected_reply,
};
use iolab_model::catalog::path_to_text;
use iolab_model::plan::{FileUse, Instance, Plan};
use iolab_model::result::{Fault, Measurement, PlaceFacts};

/// So many agents may die in one run; more than that is no accident.
const GREATEST_DEATHS: u32 = 3;

/// Work is done by an agent.
#[derive(Debug)]
pub struct RemoteExecutor<T> {
    transport: T,
    start: Request,
    clock: Option<ClockFacts>,
    workload: String,
    terms: PlaceTerms,
    keep_bytes: Option<u64>,
    made: Vec<InstanceOrder>,
    born: Instant,
    deaths: u32,
    /// How often the places were made.
    makings: u32,
}

impl<T: Transport> RemoteExecutor<T> {
    /// An executor for this plan; the agent is greeted when the clock is first asked for.
    pub fn new(transport: T, plan: &Plan) -> RemoteExecutor<T> {
        let directory = &plan.directory;
        RemoteExecutor::at(transport, &plan.workload, directory, &plan.protocol.cpus).for_plan(plan)
    }

    /// What else the agent must know of a plan: whether files are made in its directory, and
    /// whether they are kept.
    #[must_use]
    pub fn for_plan(mut self, plan: &Plan) -> RemoteExecutor<T> {
        self.keep_bytes = plan.protocol.keep_bytes;
        let makes = plan.copies || plan.instances.iter().any(|i| i.path.is_none());
        if let Request::Start { only_reads, .. } = &mut self.start {
            *only_reads = !plan.instances.is_empty() && !makes;
        }
        self
    }

    /// An executor for a workload under a directory, bound to these processors (none: not bound).
    pub fn at(transport: T, workload: &str, directory: &Path, cpus: &[u32]) -> RemoteExecutor<T> {
        RemoteExecutor {
            transport,
            start: Request::Start {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                directory: path_to_text(&absolute(directory)),
                only_reads: false,
                cpus: cpus.to_vec(),
            },
            clock: None,
            workload: workload.to_owned(),
            terms: PlaceTerms::default(),
            keep_bytes: None,
            made: Vec::new(),
            born: Instant::now(),
            deaths: 0,
            makings: 1,
        }
    }

    /// Under these terms places are made.
    #[must_use]
    pub fn with_places(self, terms: PlaceTerms) -> RemoteExecutor<T> {
        RemoteExecutor { terms, ..self }
    }

    /// What the places turned out to be; nothing where there are none, or the agent is gone.
    pub fn places(&mut self) -> Vec<PlaceFacts> {
        if !self.has_places() {
            return Vec::new();
        }
        match self.transport.ask(&Request::Describe) {
            Ok(Reply::Described(facts)) => {
                let makings = (self.makings > 1).then_some(self.makings);
                facts.into_iter().map(|facts| PlaceFacts { makings, ..facts }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The line to the agent, for what is asked beside the trials.
    pub fn agent(&mut self) -> &mut T {
        &mut self.transport
    }

    fn has_places(&self) -> bool {
        self.made.iter().any(has_place)
    }

    /// Looks once more at what commands were to read and to leave as it was.
    ///
    /// # Errors
    /// It is not as it was. A dead agent says nothing.
    pub fn left_as_it_was(&mut self) -> Result<(), Fault> {
        match self.transport.ask(&Request::LookBack) {
            Ok(Reply::Refused(fault)) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Removes what was made and ends the agent.
    ///
    /// # Errors
    /// Something could not be removed; the fault names it.
    pub fn end(mut self) -> Result<(), Fault> {
        match self.transport.ask(&Request::End) {
            Ok(Reply::Refused(fault) | Reply::Lost(fault)) => Err(fault),
            // A dead agent has cleaned up or will be cleaned up after: see `iolab clean`.
            _ => Ok(()),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, ExecutorError> {
        match self.transport.ask(request) {
            Ok(Reply::Refused(fault)) => Err(ExecutorError::Fatal(fault)),
            Ok(Reply::Lost(fault)) => Err(ExecutorError::Trial(fault)),
            Ok(reply) => Ok(reply),
            Err(error) => Err(self.revive(&error)),
        }
    }

    /// The agent is gone: starts another and brings it to where the old one was.
    fn revive(&mut self, error: &io::Error) -> ExecutorError {
        let cause = self.transport.ending().unwrap_or_else(|| error.to_string());
        let fault = Fault::new("ask the agent", format!("the agent ended: {cause}"))
            .errno(error.raw_os_error());
        self.deaths += 1;
        if self.deaths > GREATEST_DEATHS {
            return ExecutorError::Fatal(fault);
        }
        match self.greet_again() {
            Ok(()) => ExecutorError::Trial(fault),
            Err(worse) => ExecutorError::Fatal(worse),
        }
    }

    fn greet_again(&mut self) -> Result<(), Fault> {
        self.bring_up()?;
        match self.made.iter().any(|order| order.files.is_none()) {
            true => self.insist(&self.renewal()),
            false => Ok(()),
        }
    }

    /// A new agent, with everything that the old one had made.
    fn bring_up(&mut self) -> Result<(), Fault> {
        self.transport.restart().map_err(|error| Fault::of("start a new agent", &error))?;
        let requests: Vec<Request> = std::iter::once(self.start.clone())
            .chain(self.has_places().then(|| Request::Places(self.terms.clone())))
            .chain(self.made.iter().cloned().map(Request::Make))
            .collect();
        requests.iter().try_for_each(|request| self.insist(request))
    }

    fn insist(&mut self, request: &Request) -> Result<(), Fault> {
        match self.transport.ask(request) {
            Ok(Reply::Refused(fault) | Reply::Lost(fault)) => Err(fault),
            Ok(_) => Ok(()),
            Err(error) => Err(Fault::of("bring a new agent up", &error)),
        }
    }

    fn renewal(&self) -> Request {
        let files = self.made.iter().filter(|order| order.files.is_none());
        Request::Renew(files.map(|order| order.id).collect())
    }
}

fn content_of(instance: &Instance) -> Content {
    match instance.used {
        FileUse::Read if instance.sparse => Content::Islands,
        FileUse::Read => Content::Random,
        FileUse::Overwrite => Content::Overwritten,
        FileUse::Absent => Content::Sparse,
    }
}

fn has_place(order: &InstanceOrder) -> bool {
    order.place.is_some() || !order.targets.is_empty()
}

/// The agent's working directory may be another one.
fn absolute(path: &Path) -> std::path::PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn unexpected(request: &str, reply: &Reply) -> ExecutorError {
    ExecutorError::Fatal(unexpected_reply(request, reply))
}

impl<T: Transport> Executor for RemoteExecutor<T> {
    fn clock(&mut self) -> Result<ClockFacts, ExecutorError> {
        if let Some(known) = self.clock {
            return Ok(known);
        }
        match self.ask(&self.start.clone())? {
            Reply::Started { clock_resolution_ns, clock_cost_ns, .. } => {
                let facts =
                    ClockFacts { resolution_ns: clock_resolution_ns, pair_cost_ns: clock_cost_ns };
                self.clock = Some(facts);
                Ok(facts)
            }
            other => Err(unexpected("start the agent", &other)),
        }
    }

    fn elapsed_ns(&mut self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn make(&mut self, instance: &Instance) -> Result<(), ExecutorError> {
        self.clock()?;
        let order = InstanceOrder {
            id: instance.id,
            path: instance.path.as_deref().map(|path| path_to_text(&absolute(path))),
            host: instance.host.clone(),
            bytes: instance.bytes,
            seed: instance.seed,
            content: content_of(instance),
            place: instance.place.clone(),
            targets: instance.targets.clone(),
            files: instance.files,
            tree: instance.tree.clone(),
            attributes: instance.attributes,
            keep_bytes: self.keep_bytes,
            shared: instance.shared,
        };
        if has_place(&order) && !self.has_places() {
            self.ask(&Request::Places(self.terms.clone()))?;
        }
        match self.ask(&Request::Make(order.clone()))? {
            Reply::Done => {
                self.made.push(order);
                Ok(())
            }
            other => Err(unexpected("make a file", &other)),
        }
    }

    fn renew(&mut self, order: &[usize]) -> Result<(), ExecutorError> {
        match self.ask(&Request::Renew(order.to_vec()))? {
            Reply::Done => Ok(()),
            other => Err(unexpected("renew the files", &other)),
        }
    }

    fn remake(&mut self, order: &[usize]) -> Result<(), ExecutorError> {
        if !self.has_places() {
            return Ok(());
        }
        // An agent that died is replaced all the same.
        if let Ok(Reply::Refused(fault) | Reply::Lost(fault)) = self.transport.ask(&Request::End) {
            return Err(ExecutorError::Fatal(fault));
        }
        self.made.sort_by_key(|made| order.iter().position(|id| *id == made.id));
        self.bring_up().map_err(ExecutorError::Fatal)?;
        self.makings += 1;
        Ok(())
    }

    fn trial(&mut self, order: &TrialOrder<'_>) -> Result<Measurement, ExecutorError> {
        self.clock()?;
        let request = Request::Trial(Box::new(TrialRequest {
            workload: self.workload.clone(),
            levels: order.cell.levels.clone(),
            instance: order.cell.instance,
            extent: order.extent,
            limit_ns: order.limit_ns,
        }));
        match self.ask(&request)? {
            Reply::Measured(measurement) => Ok(*measurement),
            other => Err(unexpected("measure a trial", &other)),
        }
    }
}
