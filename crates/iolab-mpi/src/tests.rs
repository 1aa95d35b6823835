//! Relays whose collectives are those of threads, and whose agents are scripts of the shell.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::wire::{self, Answer, Kind, Order, State};
use super::{AgentChild, Controller, Group, Lost, Relay};

/// What ranks put together, collective by collective.
#[derive(Default)]
struct Table {
    round: u64,
    laid: Vec<Option<Vec<u8>>>,
    taken: Vec<Vec<u8>>,
}

/// A rank that meets the others at a table in memory.
struct Threads {
    rank: u32,
    size: u32,
    table: Arc<(Mutex<Table>, Condvar)>,
}

impl Threads {
    fn meet(&self, own: &[u8], limit: Duration) -> Result<Vec<Vec<u8>>, Lost> {
        let (table, changed) = &*self.table;
        let mut table = table.lock().unwrap();
        let round = table.round;
        table.laid.resize(self.size as usize, None);
        table.laid[self.rank as usize] = Some(own.to_vec());
        if table.laid.iter().all(Option::is_some) {
            table.taken = std::mem::take(&mut table.laid).into_iter().flatten().collect();
            table.round += 1;
            changed.notify_all();
        }
        let since = Instant::now();
        while table.round == round {
            let Some(left) = limit.checked_sub(since.elapsed()) else {
                return Err(Lost { awaited: "the others", after: limit });
            };
            table = changed.wait_timeout(table, left).unwrap().0;
        }
        Ok(table.taken.clone())
    }
}

impl Group for Threads {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn barrier(&mut self, limit: Duration) -> Result<(), Lost> {
        self.meet(&[], limit).map(drop)
    }

    fn await_all(&mut self, limit: Duration) -> Result<(), Lost> {
        self.barrier(limit)
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>, limit: Duration) -> Result<(), Lost> {
        *bytes = self.meet(bytes, limit)?.swap_remove(0);
        Ok(())
    }

    fn gather(
        &mut self,
        own: &[u8],
        longest: usize,
        limit: Duration,
    ) -> Result<Vec<Vec<u8>>, Lost> {
        let all = self.meet(own, limit)?;
        assert_eq!(all.iter().map(Vec::len).max(), Some(longest));
        Ok(if self.rank == 0 { all } else { Vec::new() })
    }

    fn greatest(&mut self, own: [u32; 3], limit: Duration) -> Result<[u32; 3], Lost> {
        let own: Vec<u8> = own.iter().flat_map(|number| number.to_le_bytes()).collect();
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let all = self.meet(&own, limit)?;
        let most = |at: usize| all.iter().map(|one| number(&one[at..at + 4])).max().unwrap();
        Ok([0, 4, 8].map(most))
    }
}

/// A job of so many ranks: what the controller writes to and reads from.
struct Job {
    orders: File,
    answers: File,
    ranks: Vec<JoinHandle<Result<(), Lost>>>,
}

/// An agent in a language that everybody has: it answers with what it was asked and its rank. A trial
/// (`t…`) goes through the start line; rank 1 dies at `x…` and is too slow at `s…`.
const SCRIPT: &str = r#"
import os, struct, sys, time, socket
rank, line = int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
def say(kind): line.sendall(kind + struct.pack('<QQ', trial, 0))
def hear():
    got = b''
    while len(got) < 17: got += line.recv(17 - len(got))
    return got[:1]
trial = 0
while True:
    head = sys.stdin.buffer.read(4)
    if not head: break
    text = sys.stdin.buffer.read(struct.unpack('<I', head)[0])
    if text.startswith(b'x') and rank == 1: os.kill(os.getpid(), 9)
    if text.startswith(b's') and rank == 1: time.sleep(0.4)
    if text.startswith(b't') and not (text.startswith(b'tf') and rank == 1):
        trial += 1
        say(b'r')
        if hear() == b's':
            say(b't')
            text += hear()
            if text.startswith(b'ts') and rank == 1: time.sleep(0.2)
            done = time.monotonic_ns()
            say(b'd')
            text += hear()
            if text.startswith(b'ts'): text += b' %d %d ' % (done, time.monotonic_ns())
        else: text += b'a'
    text += b'%d' % rank
    sys.stdout.buffer.write(struct.pack('<I', len(text)) + text)
    sys.stdout.buffer.flush()
"#;

impl Job {
    fn start(size: u32) -> Job {
        let table = Arc::default();
        let (theirs, orders) = std::io::pipe().unwrap();
        let (answers, theirs_too) = std::io::pipe().unwrap();
        let file = |fd: OwnedFd| File::from(fd);
        let mut first =
            Some(Controller { orders: file(theirs.into()), answers: file(theirs_too.into()) });
        let rank = |rank: u32| {
            let mut group = Threads { rank, size, table: Arc::clone(&table) };
            let controller = first.take();
            std::thread::spawn(move || {
                let words = ["-c", SCRIPT, &rank.to_string()].map(Into::into);
                let agent = AgentChild::start(PathBuf::from("/usr/bin/python3"), words.to_vec());
                Relay::new(&mut group, agent.unwrap(), controller, &|| ()).serve("about")
            })
        };
        let ranks = (0..size).map(rank).collect();
        let mut job = Job { orders: file(orders.into()), answers: file(answers.into()), ranks };
        assert_eq!(job.heard().len(), size as usize);
        job
    }

    fn heard(&mut self) -> Vec<Answer> {
        wire::split(&wire::read_message(&mut self.answers).unwrap()).unwrap()
    }

    fn ordered(&mut self, kind: Kind, ranks: u32, request: &str) -> Vec<Answer> {
        let limit_ns = 20_000_000_000;
        let order = Order { kind, ranks, limit_ns, request: request.into() };
        wire::write_message(&mut self.orders, &order.to_bytes()).unwrap();
        self.heard()
    }

    fn end(self) {
        drop((self.orders, self.answers));
        for rank in self.ranks {
            rank.join().unwrap().unwrap();
        }
    }
}

fn texts(answers: &[Answer]) -> Vec<String> {
    answers.iter().map(|answer| String::from_utf8_lossy(&answer.text).into_owned()).collect()
}

fn has_python() -> bool {
    let there = PathBuf::from("/usr/bin/python3").exists();
    if !there {
        eprintln!("SKIP iolab-mpi: no python3 for the agents of the tests");
    }
    there
}

/// Everybody is asked the same; those who are not to work wait, and are not asked at all.
#[test]
fn what_is_asked_goes_to_the_first_ranks_and_the_answers_come_back_in_order() {
    if !has_python() {
        return;
    }
    let mut job = Job::start(4);
    assert_eq!(
        texts(&job.ordered(Kind::Ask, 4, "hello")),
        ["hello0", "hello1", "hello2", "hello3"]
    );
    let two = job.ordered(Kind::Ask, 2, "slow");
    assert_eq!(texts(&two), ["slow0", "slow1", "", ""]);
    assert_eq!(two[3].state, State::Waited);
    job.end();
}

/// No trial begins before every one is prepared and past the barrier, and no rank clears up while
/// another still measures; one that cannot start is agreed on, and the next trial is as any.
#[test]
fn trials_start_together_or_not_at_all() {
    if !has_python() {
        return;
    }
    let mut job = Job::start(3);
    for _ in 0..2 {
        let all = job.ordered(Kind::Trial, 3, "t");
        assert_eq!(texts(&all), ["tgp0", "tgp1", "tgp2"]);
        let last_in = all.iter().map(|answer| answer.entered_ns).max().unwrap();
        let first_out = all.iter().map(|answer| answer.left_ns).min().unwrap();
        assert!(last_in <= first_out, "somebody left before all had come: {all:?}");
        // Rank 1 has failed while it prepared.
        assert_eq!(texts(&job.ordered(Kind::Trial, 3, "tf")), ["tfa0", "tf1", "tfa2"]);
    }
    // Those who wait hear nothing of it, at once or later.
    assert_eq!(texts(&job.ordered(Kind::Trial, 1, "t")), ["tgp0", "", ""]);
    // Rank 1 takes longer: the others go on when it is done.
    let slow = texts(&job.ordered(Kind::Trial, 3, "ts"));
    let time = |text: &String, at: usize| -> u64 {
        text.split(' ').nth(at).and_then(|word| word.parse().ok()).unwrap()
    };
    let last_done = slow.iter().map(|text| time(text, 1)).max().unwrap();
    assert!(slow.iter().all(|text| time(text, 2) >= last_done), "{slow:?}");
    job.end();
}

/// An agent that dies is told with how it ended, the others are not kept waiting, and all begin anew.
#[test]
fn an_agent_that_dies_is_told_and_replaced() {
    if !has_python() {
        return;
    }
    let mut job = Job::start(3);
    let all = job.ordered(Kind::Ask, 3, "x");
    assert_eq!((all[0].state, all[1].state), (State::Answered, State::Gone));
    assert_eq!(texts(&all)[1], "ended by signal 9");
    let again = job.ordered(Kind::Ask, 3, "again");
    assert_eq!(again[1].state, State::Gone);
    assert!(job.ordered(Kind::Restart, 3, "").iter().all(|a| a.state == State::Answered));
    assert_eq!(texts(&job.ordered(Kind::Ask, 3, "again")), ["again0", "again1", "again2"]);
    job.end();
}

/// One rank stands still, be it that its machine is gone: the others do not wait for ever, and their
/// agents end.
#[test]
fn a_rank_that_never_comes_is_not_waited_for_for_ever() {
    if !has_python() {
        return;
    }
    let mut group = Threads { rank: 1, size: 2, table: Arc::default() };
    let words = ["-c", SCRIPT, "1"].map(Into::into);
    let agent = AgentChild::start(PathBuf::from("/usr/bin/python3"), words.to_vec()).unwrap();
    let limit = Duration::from_millis(50);
    let mut relay = Relay::new(&mut group, agent, None, &|| ()).waiting(limit);
    let lost = relay.serve("about").unwrap_err();
    assert_eq!(lost, Lost { awaited: "the others", after: limit });
}

/// What a stream of something else says is an error, and no panic.
#[test]
fn nonsense_is_refused() {
    assert!(Order::from_bytes(&[]).is_err() && Order::from_bytes(&[9; 13]).is_err());
    assert!(Answer::from_bytes(&[1; 16]).is_err() && wire::split(&[1, 2, 3]).is_err());
    assert!(wire::split(&[200, 0, 0, 0, 1]).is_err());
    let (mut read, mut write) = std::io::pipe().unwrap();
    write.write_all(&[255; 8]).unwrap();
    drop(write);
    assert!(wire::read_message(&mut read).is_err());
    assert_eq!(read.read(&mut [0; 1]).unwrap_or(9), 1, "only the length was taken");
}
