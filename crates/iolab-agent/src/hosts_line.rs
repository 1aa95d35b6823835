//! The line to the agents of several machines that are compared. Trials go to the machine of their
//! cell; what is asked of all is put together. One line that breaks is no matter of the others.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::hosts_merge::{parts_of, together};
use super::messages::{InstanceOrder, Reply, Request};
use super::transport::Transport;
use iolab_model::catalog::{Factor, host_text};
use iolab_model::result::Fault;

/// An agent that waits while others work is told this often that somebody is there: one that hears
/// nothing for longer takes its network for cut. It is less than what ssh says by itself meanwhile.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The line to all machines.
#[derive(Debug)]
pub struct HostsLine<T> {
    all: Vec<One<T>>,
    /// On which machine each file instance is.
    instances: BTreeMap<usize, usize>,
    /// The machine whose line broke.
    broken: Option<usize>,
    /// The machine whose new agent is given what the old one had: the others have it.
    restoring: Option<usize>,
}

/// One machine.
#[derive(Debug)]
struct One<T> {
    name: String,
    line: T,
    heard: Instant,
    /// Whether a trial came to its end there.
    measured: bool,
    /// Why there is no line to it any more.
    lost: Option<String>,
}

impl<T: Transport + Send> HostsLine<T> {
    /// The lines to these machines.
    pub fn new(lines: Vec<(String, T)>) -> HostsLine<T> {
        let one =
            |(name, line)| One { name, line, heard: Instant::now(), measured: false, lost: None };
        let (broken, restoring) = (None, None);
        let all = lines.into_iter().map(one).collect();
        HostsLine { all, instances: BTreeMap::new(), broken, restoring }
    }

    fn at(&self, host: Option<&str>) -> io::Result<usize> {
        let at = self.all.iter().position(|one| Some(one.name.as_str()) == host);
        at.ok_or_else(|| io::Error::other(format!("there is no machine {host:?} in this run")))
    }

    /// Asks one, and lets those that wait know meanwhile that somebody is there.
    fn ask_one(&mut self, at: usize, request: &Request) -> io::Result<Reply> {
        let (before, rest) = self.all.split_at_mut(at);
        let Some((one, after)) = rest.split_first_mut() else {
            return Err(io::Error::other("there is no such machine"));
        };
        let waiting: Vec<&mut One<T>> = before.iter_mut().chain(after).collect();
        let reply = one.ask_beside(waiting, request);
        match reply {
            Ok(reply) => Ok(named(&one.name, reply)),
            Err(error) => {
                self.broken = Some(at);
                Err(error)
            }
        }
    }

    /// Asks all that there is a line to.
    fn ask_all(&mut self, request: &Request) -> io::Result<Reply> {
        if !matches!(request, Request::Start { .. } | Request::Places(_)) {
            self.restoring = None;
        }
        let names: Vec<String> = self.all.iter().map(|one| one.name.clone()).collect();
        let mut said = Vec::new();
        for (at, part) in parts_of(request, &names).iter().enumerate() {
            if self.is_there(at) {
                said.push((names[at].clone(), self.ask_one(at, part)?));
            }
        }
        // One that is lost is given nothing, and the others have it.
        Ok(if said.is_empty() { Reply::Done } else { together(request, said) })
    }

    /// Whether there is a line, and it is not another machine that is given what it had.
    fn is_there(&self, at: usize) -> bool {
        self.all[at].lost.is_none() && self.restoring.is_none_or(|restored| restored == at)
    }

    fn make(&mut self, order: &InstanceOrder, request: &Request) -> io::Result<Reply> {
        let at = self.at(order.host.as_deref())?;
        self.instances.insert(order.id, at);
        match self.is_there(at) {
            true => self.ask_one(at, request),
            false => Ok(Reply::Done),
        }
    }

    /// Each machine renews its own, in the order that was drawn.
    fn renew(&mut self, order: &[usize]) -> io::Result<Reply> {
        for at in 0..self.all.len() {
            let its = |id: &&usize| self.instances.get(id) == Some(&at);
            let ids: Vec<usize> = order.iter().filter(its).copied().collect();
            if self.is_there(at) && !ids.is_empty() {
                match self.ask_one(at, &Request::Renew(ids))? {
                    Reply::Done => {}
                    other => return Ok(other),
                }
            }
        }
        self.restoring = None;
        Ok(Reply::Done)
    }

    fn trial(&mut self, host: Option<&str>, request: &Request) -> io::Result<Reply> {
        self.restoring = None;
        let at = self.at(host)?;
        if let Some(why) = &self.all[at].lost {
            let doing = format!("reach {}", host_text(&self.all[at].name));
            return Ok(Reply::Lost(Fault::new(doing, why.clone())));
        }
        let reply = self.ask_one(at, request)?;
        self.all[at].measured |= matches!(reply, Reply::Measured(_));
        Ok(reply)
    }
}

impl<T: Transport + Send> One<T> {
    fn ask_beside(
        &mut self,
        mut waiting: Vec<&mut One<T>>,
        request: &Request,
    ) -> io::Result<Reply> {
        waiting.iter_mut().for_each(|other| other.greet());
        let (done, answer) = channel();
        let line = &mut self.line;
        let reply = std::thread::scope(|scope| {
            scope.spawn(move || done.send(line.ask(request)));
            loop {
                match answer.recv_timeout(HEARTBEAT) {
                    Ok(reply) => return reply,
                    Err(RecvTimeoutError::Timeout) => {
                        waiting.iter_mut().for_each(|other| other.greet());
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(io::Error::other("nobody waits for the answer"));
                    }
                }
            }
        });
        self.heard = Instant::now();
        reply
    }

    /// A line that breaks here is found broken when its machine is asked next.
    fn greet(&mut self) {
        if self.lost.is_none() && self.heard.elapsed() >= HEARTBEAT {
            let _ = self.line.ask(&Request::StillHere);
            self.heard = Instant::now();
        }
    }
}

/// A fault with the machine that met it.
fn named(host: &str, reply: Reply) -> Reply {
    let of =
        |fault: Fault| Fault { doing: format!("on {}: {}", host_text(host), fault.doing), ..fault };
    match reply {
        Reply::Lost(fault) => Reply::Lost(of(fault)),
        Reply::Refused(fault) => Reply::Refused(of(fault)),
        other => other,
    }
}

impl<T: Transport + Send> Transport for HostsLine<T> {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        match request {
            Request::Make(order) => self.make(order, request),
            Request::Renew(order) => self.renew(order),
            Request::Trial(trial) => self.trial(trial.levels.text(Factor::Host), request),
            _ => self.ask_all(request),
        }
    }

    /// Of the one whose line broke. Where there is none to be had the others go on: its trials fail.
    fn restart(&mut self) -> io::Result<()> {
        let Some(at) = self.broken.take() else {
            return self.all.iter_mut().try_for_each(|one| one.line.restart());
        };
        let one = &mut self.all[at];
        // A machine that starts an agent and loses the line at once is lost, too.
        let greeted = one.line.restart().and_then(|()| one.line.ask(&Request::StillHere));
        one.heard = Instant::now();
        self.restoring = Some(at);
        let Err(error) = greeted else { return Ok(()) };
        let how = one.line.ending().unwrap_or_else(|| error.to_string());
        if !one.measured {
            return Err(io::Error::other(format!("{}: {how}", host_text(&one.name))));
        }
        one.lost = Some(format!("the line broke, and there is no other: {how}"));
        match self.all.iter().all(|one| one.lost.is_some()) {
            true => Err(io::Error::other("the lines to all machines broke")),
            false => Ok(()),
        }
    }

    fn ending(&mut self) -> Option<String> {
        let one = &mut self.all[self.broken?];
        let how = one.line.ending().unwrap_or_else(|| "the line broke".to_owned());
        Some(format!("{}: {how}", host_text(&one.name)))
    }

    fn lost(&self) -> Option<Fault> {
        let one = self.all.iter().find(|one| one.lost.is_some())?;
        let doing = format!("measure on {}", host_text(&one.name));
        Some(Fault::new(doing, one.lost.clone().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::HostsLine;
    use crate::{InstanceOrder, Reply, Request, Transport, TrialRequest};
    use iolab_io::workload::Extent;
    use iolab_model::catalog::{Factor, Level, Levels};

    /// What was asked of a machine, and whether its line is broken, once or for good.
    #[derive(Clone, Default)]
    struct Fake(Arc<Mutex<(Vec<String>, bool, bool)>>);

    impl Fake {
        fn asked(&self) -> Vec<String> {
            std::mem::take(&mut self.0.lock().unwrap().0)
        }

        fn cut(&self, for_good: bool) {
            let mut state = self.0.lock().unwrap();
            (state.1, state.2) = (true, for_good);
        }
    }

    impl Transport for Fake {
        fn ask(&mut self, request: &Request) -> io::Result<Reply> {
            let mut state = self.0.lock().unwrap();
            if state.1 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let word = format!("{request:?}");
            let end = word.find(|c: char| !c.is_alphanumeric()).unwrap_or(word.len());
            state.0.push(match request {
                Request::Renew(ids) => format!("Renew {ids:?}"),
                _ => word[..end].to_owned(),
            });
            Ok(match request {
                Request::Trial(_) => Reply::Measured(Box::default()),
                Request::Start { .. } => Reply::Started {
                    clock_resolution_ns: 1.0,
                    clock_cost_ns: 20.0,
                    scratch: String::new(),
                },
                _ => Reply::Done,
            })
        }

        fn restart(&mut self) -> io::Result<()> {
            let mut state = self.0.lock().unwrap();
            state.1 = state.2;
            Ok(())
        }

        fn ending(&mut self) -> Option<String> {
            Some("cut".to_owned())
        }
    }

    fn two() -> (HostsLine<Fake>, Fake, Fake) {
        let (a, b) = (Fake::default(), Fake::default());
        let lines = vec![("a".to_owned(), a.clone()), ("b".to_owned(), b.clone())];
        (HostsLine::new(lines), a, b)
    }

    fn make(id: usize, host: &str) -> Request {
        Request::Make(InstanceOrder { id, host: Some(host.into()), ..InstanceOrder::default() })
    }

    fn trial(host: &str) -> Request {
        let levels = Levels::new().with(Factor::Host, Level::word(host));
        let (workload, extent) = ("read".to_owned(), Extent::Passes(1));
        let (instance, limit_ns) = (None, 0);
        Request::Trial(TrialRequest { workload, levels, instance, extent, limit_ns }.into())
    }

    fn start() -> Request {
        let (version, directory) = (String::new(), String::new());
        Request::Start { version, directory, only_reads: false, cpus: vec![] }
    }

    #[test]
    fn each_machine_is_asked_for_its_own() {
        let (mut line, a, b) = two();
        for request in [make(0, "a"), make(1, "b"), make(2, "a"), Request::Renew(vec![2, 1, 0])] {
            assert_eq!(line.ask(&request).unwrap(), Reply::Done);
        }
        line.ask(&trial("b")).unwrap();
        assert_eq!(a.asked(), ["Make", "Make", "Renew [2, 0]"]);
        assert_eq!(b.asked(), ["Make", "Renew [1]", "Trial"]);
        assert!(line.ask(&trial("c")).is_err() && line.lost().is_none());
    }

    /// A new agent on one machine had the files of all made anew.
    #[test]
    fn a_new_agent_is_given_what_the_old_one_had_and_the_others_keep_theirs() {
        let (mut line, a, b) = two();
        line.ask(&trial("b")).unwrap();
        b.cut(false);
        assert!(line.ask(&trial("b")).is_err());
        assert_eq!(line.ending().as_deref(), Some("b: cut"));
        drop((a.asked(), b.asked()));
        line.restart().unwrap();
        for request in [start(), make(0, "a"), make(1, "b"), Request::Renew(vec![0, 1])] {
            assert!(line.ask(&request).is_ok());
        }
        assert_eq!(b.asked(), ["StillHere", "Start", "Make", "Renew [1]"]);
        assert_eq!(a.asked(), [""; 0]);
        line.ask(&Request::LookBack).unwrap();
        assert_eq!((a.asked(), b.asked()), (vec!["LookBack".into()], vec!["LookBack".into()]));
    }

    #[test]
    fn a_machine_that_is_lost_fails_its_trials_and_nobody_elses() {
        let (mut line, a, b) = two();
        line.ask(&trial("b")).unwrap();
        b.cut(true);
        assert!(line.ask(&trial("b")).is_err());
        line.restart().unwrap();
        for request in [start(), make(1, "b"), Request::Renew(vec![1])] {
            assert_eq!(line.ask(&request).unwrap(), Reply::Done);
        }
        assert!(matches!(line.ask(&trial("b")).unwrap(), Reply::Lost(_)));
        assert!(matches!(line.ask(&trial("a")).unwrap(), Reply::Measured(_)));
        assert_eq!(line.lost().unwrap().doing, "measure on b");
        // The last one ends the run.
        a.cut(true);
        assert!(line.ask(&trial("a")).is_err() && line.restart().is_err());
    }

    /// A machine that never measured anything is no loss of a run, but a slip at its start.
    #[test]
    fn a_machine_that_breaks_before_its_first_trial_ends_the_run() {
        let (mut line, _, b) = two();
        b.cut(true);
        assert!(line.ask(&make(1, "b")).is_err());
        assert_eq!(line.restart().unwrap_err().to_string(), "b: cut");
    }
}
