//! A rank: carries what the controller asks to the agent and the answers back, and starts the trials of
//! all ranks together. What it says to the other ranks it says in collectives, and each of them has a
//! limit; while a trial is timed it says nothing.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::agent::{AgentChild, Heard};
use super::group::{Group, Lost};
use super::line::Signal;
use super::wire::{Answer, Kind, Order, State, join, read_message, write_message};

/// Ranks that are alive come to a collective within milliseconds, on a machine that has too much to
/// do within seconds.
const LIMIT: Duration = Duration::from_secs(60);
/// So often whoever waits for the controller hears that it is still there.
const STILL_HERE: Duration = Duration::from_secs(5);
/// Beyond the limit of a trial: it ends itself, and its agent tells.
const ALLOWANCE: Duration = Duration::from_secs(60);
/// What is not timed may take so long at one rank: files of a terabyte are made, too.
const UNTIMED: Duration = Duration::from_secs(6 * 3600);
/// So long a rank listens to its agent before it says that it has nothing yet: the others wait for its
/// word, and see by it that it is alive.
const LOOK: Duration = Duration::from_millis(50);

/// Rank 0's ends of the streams to the controller.
#[derive(Debug)]
pub struct Controller {
    /// What it orders.
    pub orders: File,
    /// What it is answered.
    pub answers: File,
}

/// One rank.
pub struct Relay<'a> {
    group: &'a mut dyn Group,
    agent: AgentChild,
    controller: Option<Controller>,
    limit: Duration,
    /// Called many times a second while nothing is timed.
    between: &'a dyn Fn(),
}

impl<'a> Relay<'a> {
    /// A rank with its agent; rank 0 has the controller.
    pub fn new(
        group: &'a mut dyn Group,
        agent: AgentChild,
        controller: Option<Controller>,
        between: &'a dyn Fn(),
    ) -> Relay<'a> {
        Relay { group, agent, controller, limit: LIMIT, between }
    }

    /// The same, where the others are waited for no longer than this.
    #[must_use]
    pub fn waiting(self, limit: Duration) -> Relay<'a> {
        Relay { limit, ..self }
    }

    /// Says who is here (`about` is what is to be known of this rank), then carries until the
    /// controller says so or has gone. The agents have cleaned up when it returns.
    ///
    /// # Errors
    /// The others were waited for in vain.
    pub fn serve(&mut self, about: &str) -> Result<(), Lost> {
        self.report(&Answer { text: about.as_bytes().to_vec(), ..Answer::waited() })?;
        loop {
            let order = self.next_order()?;
            match order.kind {
                Kind::Idle => {}
                Kind::Ask => self.ask(&order)?,
                Kind::Trial => self.trial(&order)?,
                Kind::Restart => {
                    let answer = self.restart();
                    self.report(&answer)?;
                }
                Kind::End => break,
            }
        }
        self.agent.end();
        self.group.barrier(self.limit)
    }

    /// What the controller orders, at all ranks.
    fn next_order(&mut self) -> Result<Order, Lost> {
        let mut bytes = match self.controller.is_some() {
            true => self.wait_for_order().unwrap_or_else(|_| order_of(Kind::End)),
            false => Vec::new(),
        };
        self.group.broadcast(&mut bytes, self.limit)?;
        let strange = |_| Lost { awaited: "an order that can be read", after: Duration::ZERO };
        Order::from_bytes(&bytes).map_err(strange)
    }

    fn wait_for_order(&mut self) -> io::Result<Vec<u8>> {
        let Some(controller) = &mut self.controller else { return Ok(order_of(Kind::End)) };
        let since = Instant::now();
        let often = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        while since.elapsed() < STILL_HERE {
            (self.between)();
            let mut asked = [PollFd::new(&controller.orders, PollFlags::IN)];
            if matches!(poll(&mut asked, Some(&often)), Ok(1..)) {
                return read_message(&mut controller.orders);
            }
        }
        Ok(order_of(Kind::Idle))
    }

    /// The answers of all ranks go to the controller.
    fn report(&mut self, answer: &Answer) -> Result<(), Lost> {
        let [.., longest] = self.group.greatest([0, 0, answer.length()], self.limit)?;
        self.hand_on(answer, longest)
    }

    /// The same, where the length of the longest is agreed on. One that has gone says so itself.
    fn hand_on(&mut self, answer: &Answer, longest: u32) -> Result<(), Lost> {
        let all = self.group.gather(&answer.to_bytes(), longest as usize, self.limit)?;
        if let Some(controller) = &mut self.controller {
            let _ = write_message(&mut controller.answers, &join(&all));
        }
        Ok(())
    }

    fn is_asked(&self, order: &Order) -> bool {
        self.group.rank() < order.ranks
    }

    fn ask(&mut self, order: &Order) -> Result<(), Lost> {
        let asked = self.is_asked(order);
        if asked {
            self.agent.ask(&order.request);
        }
        self.answered(asked, (0, 0))
    }

    /// Waits for the answers of all.
    fn answered(&mut self, asked: bool, times: (u64, u64)) -> Result<(), Lost> {
        let agreed = self.until_all(Heard::is_over, asked)?;
        let answer = self.answer(asked, times);
        self.hand_on(&answer, agreed.longest)
    }

    fn restart(&mut self) -> Answer {
        match self.agent.restart() {
            Ok(()) => Answer { state: State::Answered, ..Answer::waited() },
            Err(error) => gone(&format!("no agent can be started: {error}")),
        }
    }

    /// On your marks, set, go: prepared, counters read, and a barrier between that and the first call.
    fn trial(&mut self, order: &Order) -> Result<(), Lost> {
        let asked = self.is_asked(order);
        if asked {
            self.agent.ask(&order.request);
        }
        let limit = Duration::from_nanos(order.limit_ns).saturating_add(ALLOWANCE);
        let stands = |wanted: Signal| {
            move |heard: &Heard| {
                heard.is_over() || heard.signal.is_some_and(|(signal, _)| signal == wanted)
            }
        };
        let mut times = (0, 0);
        let mut failed = self.until_all(stands(Signal::Ready), asked)?.failed;
        if !failed {
            self.tell(asked, Signal::Set, 0);
            failed = self.until_all(stands(Signal::Steady), asked)?.failed;
        }
        if failed {
            self.tell(asked, Signal::Abandon, 0);
        } else {
            let entered_ns = now_ns();
            self.group.barrier(self.limit)?;
            times = (entered_ns, now_ns());
            self.tell(asked, Signal::Go, times.1);
            self.listen_for(&stands(Signal::Done), asked, limit);
            self.group.await_all(limit + self.limit)?;
            self.tell(asked, Signal::Proceed, 0);
        }
        self.answered(asked, times)
    }

    /// What is said to trials is not for an agent whose last trial is over.
    fn tell(&self, asked: bool, signal: Signal, time_ns: u64) {
        if asked {
            self.agent.tell(signal, time_ns);
        }
    }

    /// Listens to the own agent until it stands there, and says nothing to anybody.
    fn listen_for(&mut self, stands: &dyn Fn(&Heard) -> bool, asked: bool, limit: Duration) {
        let since = Instant::now();
        while asked && !stands(self.agent.heard()) {
            match limit.checked_sub(since.elapsed()) {
                Some(left) => self.agent.listen(left),
                None => self.too_long(limit),
            }
        }
    }

    /// Until it is so at all ranks. Ranks whose agents work for long see of each other that they are alive.
    fn until_all(&mut self, stands: impl Fn(&Heard) -> bool, asked: bool) -> Result<Agreed, Lost> {
        let since = Instant::now();
        loop {
            let looked = Instant::now();
            while asked && !stands(self.agent.heard()) {
                let Some(left) = LOOK.checked_sub(looked.elapsed()) else { break };
                self.agent.listen(left);
            }
            if asked && !stands(self.agent.heard()) && since.elapsed() > UNTIMED {
                self.too_long(UNTIMED);
            }
            (self.between)();
            let pending = asked && !stands(self.agent.heard());
            let failed = asked && self.agent.heard().is_over();
            let length = if pending { 0 } else { self.answer(asked, (0, 0)).length() };
            let own = [u32::from(pending), u32::from(failed), length];
            let [pending, failed, longest] = self.group.greatest(own, self.limit)?;
            if pending == 0 {
                return Ok(Agreed { failed: failed > 0, longest });
            }
        }
    }

    fn too_long(&mut self, limit: Duration) {
        self.agent.give_up(&format!("it did not answer within {} s", limit.as_secs()));
    }

    fn answer(&self, asked: bool, (entered_ns, left_ns): (u64, u64)) -> Answer {
        let heard = self.agent.heard();
        let answer = match (asked, &heard.answer, &heard.ended) {
            (false, ..) => Answer::waited(),
            (true, Some(text), _) => {
                Answer { state: State::Answered, text: text.clone(), ..Answer::waited() }
            }
            (true, None, ended) => gone(ended.as_deref().unwrap_or("it does not answer")),
        };
        Answer { entered_ns, left_ns, ..answer }
    }
}

/// What all ranks know once all have come to a point.
struct Agreed {
    /// Somewhere there was an answer instead, and no trial stands at the start line.
    failed: bool,
    /// The bytes of the longest answer.
    longest: u32,
}

fn gone(how: &str) -> Answer {
    Answer { state: State::Gone, text: how.as_bytes().to_vec(), ..Answer::waited() }
}

fn order_of(kind: Kind) -> Vec<u8> {
    Order { kind, ranks: 0, limit_ns: 0, request: Vec::new() }.to_bytes()
}

/// The clock that trials are timed with.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
