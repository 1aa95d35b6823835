//! The ranks of an MPI job as a place for agents: one at each, all asked the same, through the relay
//! of rank 0, which has started this process as its controller.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use iolab_io::sys::process::inherited;
use iolab_model::catalog::{Fact, Factor, count_text, is_shared};
use iolab_model::result::{Environment, Fault};
use iolab_mpi::wire::{self, Answer, Kind, Order, State};

use super::crew::Crew;
use super::location::{Location, devices_of};
use super::messages::{Beacon, InstanceOrder, Reply, Request, TrialRequest};
use super::ranks_merge::{Said, merge};
use super::ranks_proof::Sharing;
use super::transport::Transport;

/// Whether this process is the controller of an MPI job: a relay has started it.
pub fn is_controller() -> bool {
    std::env::var_os(wire::STREAMS).is_some()
}

/// The agents of all ranks.
#[derive(Clone, Debug)]
pub struct Ranks {
    relay: Arc<Mutex<Relay>>,
    crew: Arc<Crew>,
    library: String,
}

#[derive(Debug)]
struct Relay {
    orders: File,
    answers: File,
    /// The agents have begun something, or ended: another run takes fresh ones.
    used: bool,
}

impl Relay {
    fn exchange(&mut self, order: &Order) -> io::Result<Vec<Answer>> {
        wire::write_message(&mut self.orders, &order.to_bytes())?;
        wire::split(&wire::read_message(&mut self.answers)?)
    }
}

impl Ranks {
    /// The job that this process is the controller of; it meets the ranks once.
    ///
    /// # Errors
    /// It is none, or the ranks do not fit together.
    pub fn join() -> Result<Ranks, Fault> {
        static MET: OnceLock<Result<Ranks, Fault>> = OnceLock::new();
        MET.get_or_init(Ranks::meet).clone()
    }

    fn meet() -> Result<Ranks, Fault> {
        const DOING: &str = "meet the ranks";
        let failed = |error: io::Error| Fault::of(DOING, &error);
        let (answers, orders) = streams().map_err(failed)?;
        let mut relay = Relay { orders: orders.into(), answers: answers.into(), used: false };
        let greeting = wire::read_message(&mut relay.answers).and_then(|bytes| wire::split(&bytes));
        let greeting = greeting.map_err(failed)?;
        let about: Vec<String> =
            greeting.iter().map(|rank| String::from_utf8_lossy(&rank.text).into_owned()).collect();
        let line = |of: &str, at: usize| of.lines().nth(at).unwrap_or_default().to_owned();
        let first = about.first().cloned().unwrap_or_default();
        let other = (0..).zip(&about).find(|(_, rank)| line(rank, 2) != line(&first, 2));
        if let Some((number, rank)) = other {
            let cause = format!(
                "rank 0 on {} has iolab {}, rank {number} on {} has {}: start the same program on all",
                line(&first, 0),
                line(&first, 2),
                line(rank, 0),
                line(rank, 2)
            );
            return Err(Fault::new(DOING, cause));
        }
        let crew =
            Crew { hosts: about.iter().map(|rank| (line(rank, 0), line(rank, 1))).collect() };
        let library = line(&first, 3);
        Ok(Ranks { relay: Arc::new(Mutex::new(relay)), crew: Arc::new(crew), library })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.crew.hosts.len() as u64
    }

    fn nodes(&self) -> usize {
        self.crew.hosts.iter().collect::<BTreeSet<_>>().len()
    }

    fn relay(&self) -> MutexGuard<'_, Relay> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self) -> RanksLine {
        RanksLine { ranks: self.clone(), ending: None }
    }
}

/// The streams to the relay, and back: taken once.
fn streams() -> io::Result<(std::os::fd::OwnedFd, std::os::fd::OwnedFd)> {
    let told = std::env::var(wire::STREAMS).unwrap_or_default();
    let numbers: Vec<i32> = told.split(',').filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [answers, orders] => Ok((inherited(answers)?, inherited(orders)?)),
        _ => Err(io::Error::other(format!("{} is {told:?}", wire::STREAMS))),
    }
}

impl Location for Ranks {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        let mut line = self.line();
        if self.relay().used {
            line.restart().map_err(|error| Fault::of("start the agents of all ranks", &error))?;
        }
        Ok(Box::new(line))
    }

    fn about(&self) -> Environment {
        let mut environment = Environment::default();
        environment.put(Fact::RunRanks, self.count());
        environment.put(Fact::RunNodes, self.nodes());
        environment.put(Fact::RunMachines, self.crew.words());
        environment.put(Fact::RunMpi, self.library.clone());
        environment
    }

    fn note(&self) -> Option<String> {
        let many = |count: usize, what: &str| {
            format!("{} {what}{}", count_text(count as u64), if count == 1 { "" } else { "s" })
        };
        let (ranks, nodes) = (many(self.crew.hosts.len(), "rank"), many(self.nodes(), "machine"));
        Some(format!(
            "on {ranks} of {nodes}, by {}; --file-size is what each of them reads or writes",
            self.library
        ))
    }

    fn machines_of_ranks(&self) -> Vec<usize> {
        self.crew.machines()
    }

    fn devices_shared(&self, paths: &[PathBuf]) -> Vec<u64> {
        devices_of(paths.iter().map(PathBuf::as_path))
    }
}

/// The line to all agents.
#[derive(Debug)]
struct RanksLine {
    ranks: Ranks,
    ending: Option<String>,
}

impl RanksLine {
    /// Asks the first so many and puts together what they answer.
    fn ask_first(&mut self, count: u64, request: &Request) -> io::Result<Reply> {
        let all = self.ask_each(count, request)?;
        Ok(merge(&self.ranks.crew, all, Sharing::of(request)))
    }

    /// Asks the first so many.
    fn ask_each(&mut self, count: u64, request: &Request) -> io::Result<Vec<Said>> {
        let (kind, limit_ns) = match request {
            Request::Trial(trial) => (Kind::Trial, trial.limit_ns),
            _ => (Kind::Ask, 0),
        };
        let ranks = u32::try_from(count).unwrap_or(u32::MAX);
        let order = Order { kind, ranks, limit_ns, request: serde_json::to_vec(request)? };
        let answers = self.ranks.relay().exchange(&order)?;
        let mut all = Vec::with_capacity(answers.len());
        for (number, answer) in answers.into_iter().enumerate() {
            match answer.state {
                State::Waited => {}
                State::Gone => {
                    let how = String::from_utf8_lossy(&answer.text).into_owned();
                    self.ending = Some(format!("{}: {how}", self.ranks.crew.name(number)));
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                State::Answered => {
                    let reply = serde_json::from_slice(&answer.text)?;
                    let (entered_ns, left_ns) = (answer.entered_ns, answer.left_ns);
                    all.push(Said { number, reply, entered_ns, left_ns });
                }
            }
        }
        Ok(all)
    }

    /// A directory that is another one elsewhere would be measured as if all shared it.
    fn check_target(&mut self) -> io::Result<Reply> {
        let each = self.ask_each(self.ranks.count(), &Request::Beacon)?;
        let lit = |said: &Said| match &said.reply {
            Reply::Lit(beacon) => Some(beacon.clone()),
            _ => None,
        };
        let beacons: Option<Vec<Beacon>> = each.iter().map(lit).collect();
        let all = beacons.iter().flatten().map(|beacon| beacon.path.clone()).collect();
        match beacons.and_then(|beacons| beacons.into_iter().next()) {
            Some(first) => {
                self.ask_first(self.ranks.count(), &Request::Sees(Beacon { all, ..first }))
            }
            None => Ok(merge(&self.ranks.crew, each, Sharing::None)),
        }
    }

    /// One after the other, until one is not as it should be.
    fn ask_in_turn(&mut self, requests: &[(u64, Request)]) -> io::Result<Reply> {
        let mut last = Reply::Done;
        for (count, request) in requests {
            last = self.ask_first(*count, request)?;
            if last != Reply::Done {
                break;
            }
        }
        Ok(last)
    }

    /// A file or tree that all make: begun by the first rank, made by each, then opened.
    fn make_shared(&mut self, order: &InstanceOrder) -> io::Result<Reply> {
        let (all, order) = (self.ranks.count(), || order.clone());
        self.ask_in_turn(&[
            (1, Request::BeginShared(order())),
            (all, Request::Make(order())),
            (all, Request::OpenShared(order())),
        ])
    }

    /// A trial of what all share: what they find is made by the first rank, and removed by it when all
    /// have looked at what they left.
    fn shared_trial(&mut self, count: u64, trial: &TrialRequest) -> io::Result<Reply> {
        let request = || Box::new(trial.clone());
        let laid = self.ask_first(1, &Request::Lay(request()))?;
        let measured = match laid {
            Reply::Done => self.ask_first(count, &Request::Trial(request()))?,
            Reply::Refused(fault) => Reply::Lost(fault),
            other => other,
        };
        match self.ask_first(1, &Request::Lift(request()))? {
            Reply::Refused(fault) if matches!(measured, Reply::Measured(_)) => {
                Ok(Reply::Lost(fault))
            }
            _ => Ok(measured),
        }
    }
}

impl Transport for RanksLine {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        self.ending = None;
        if matches!(request, Request::Start { .. } | Request::End) {
            self.ranks.relay().used = true;
        }
        let all = self.ranks.count();
        let count = match request {
            Request::Trial(trial) => trial.levels.number(Factor::Ranks).unwrap_or(all),
            _ => all,
        };
        let reply = match request {
            Request::Make(order) if order.shared.is_some() => self.make_shared(order)?,
            Request::Trial(trial) if is_shared(&trial.levels) => self.shared_trial(count, trial)?,
            Request::End => self.ask_in_turn(&[(all, Request::LetGo), (all, Request::End)])?,
            _ => self.ask_first(count, request)?,
        };
        match (request, reply) {
            (Request::Start { .. }, started @ Reply::Started { .. }) => {
                Ok(match self.check_target()? {
                    Reply::Done => started,
                    other => other,
                })
            }
            (_, reply) => Ok(reply),
        }
    }

    fn restart(&mut self) -> io::Result<()> {
        let all = u32::try_from(self.ranks.count()).unwrap_or(u32::MAX);
        let order = Order { kind: Kind::Restart, ranks: all, limit_ns: 0, request: Vec::new() };
        let mut relay = self.ranks.relay();
        let answers = relay.exchange(&order)?;
        let gone = answers.iter().position(|answer| answer.state == State::Gone);
        if let Some(number) = gone {
            let how = String::from_utf8_lossy(&answers[number].text);
            return Err(io::Error::other(format!("{}: {how}", self.ranks.crew.name(number))));
        }
        relay.used = false;
        Ok(())
    }

    fn ending(&mut self) -> Option<String> {
        self.ending.take()
    }
}
