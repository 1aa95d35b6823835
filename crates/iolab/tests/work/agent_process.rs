//! Real agents, real signals: what is lost when a trial, the agent or the controller dies.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iolab_agent::{
    Content, Extent, InstanceOrder, LocalChild, Reply, Request, Transport, TrialRequest,
    read_frame, write_frame,
};
use iolab_model::catalog::{Factor, Level, Levels, path_from_text, path_to_text};
use iolab_model::plan::{Cell, Condition, Cost, Plan};
use iolab_model::result::{Fault, Measurement};
use iolab_model::spec::Protocol;
use iolab_run::{Executor, ExecutorError, RemoteExecutor, TrialOrder};
use iolab_test::files::{directory, made_file};
use rustix::process::{Pid, Signal, kill_process};

const LONG: u64 = 60_000_000_000;
/// More calls than anyone waits for.
const ENDLESS: Extent = Extent::Passes(1 << 50);

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_iolab").into()
}

/// An agent that has been greeted.
struct Agent {
    child: LocalChild,
    dir: tempfile::TempDir,
    scratch: PathBuf,
}

impl Agent {
    fn start() -> Agent {
        let dir = directory();
        let mut child = LocalChild::start_program(program()).unwrap();
        let scratch = greet(&mut child, dir.path());
        Agent { child, dir, scratch }
    }

    fn ask(&mut self, request: Request) -> Reply {
        self.child.ask(&request).unwrap()
    }

    fn make(&mut self, id: usize, bytes: u64, content: Content) {
        let order = InstanceOrder { id, bytes, seed: 7, content, ..InstanceOrder::default() };
        assert_eq!(self.ask(Request::Make(order)), Reply::Done);
    }

    fn open(&mut self, path: &Path, bytes: u64) -> Reply {
        let path = Some(path_to_text(path));
        let order = InstanceOrder {
            id: 0,
            host: None,
            path,
            bytes,
            seed: 7,
            content: Content::Random,
            ..InstanceOrder::default()
        };
        self.ask(Request::Make(order))
    }

    fn trial(&mut self, request: TrialRequest) -> Reply {
        self.ask(Request::Trial(Box::new(request)))
    }

    fn measured(&mut self, request: TrialRequest) -> Measurement {
        match self.trial(request) {
            Reply::Measured(measurement) => *measurement,
            other => panic!("{other:?}"),
        }
    }

    fn lost(&mut self, request: TrialRequest) -> Fault {
        match self.trial(request) {
            Reply::Lost(fault) => fault,
            other => panic!("{other:?}"),
        }
    }

    fn pid(&self) -> u32 {
        self.child.pid().unwrap()
    }
}

fn greet(child: &mut LocalChild, directory: &Path) -> PathBuf {
    match child.ask(&start(directory)).unwrap() {
        Reply::Started { clock_resolution_ns, clock_cost_ns, scratch } => {
            assert!(clock_resolution_ns > 0.0 && clock_cost_ns > 0.0);
            path_from_text(&scratch)
        }
        other => panic!("{other:?}"),
    }
}

fn start(directory: &Path) -> Request {
    start_as(env!("CARGO_PKG_VERSION"), directory, Vec::new())
}

fn start_as(version: &str, directory: &Path, cpus: Vec<u32>) -> Request {
    let directory = path_to_text(directory);
    Request::Start { version: version.into(), directory, only_reads: false, cpus }
}

fn read_levels(method: &str, consume: &str, cache: &str) -> Levels {
    Levels::new()
        .with(Factor::Method, Level::word(method))
        .with(Factor::Block, Level::Number(64 << 10))
        .with(Factor::Consume, Level::word(consume))
        .with(Factor::Cache, Level::word(cache))
}

fn read(method: &str, extent: Extent) -> TrialRequest {
    let levels = read_levels(method, "xor", "warm");
    TrialRequest { workload: "read".into(), levels, instance: Some(0), extent, limit_ns: LONG }
}

fn calls(extent: Extent, limit_ns: u64) -> TrialRequest {
    let levels = Levels::new().with(Factor::Operation, Level::word("getppid"));
    TrialRequest { workload: "syscall".into(), levels, instance: None, extent, limit_ns }
}

/// The trial that an agent is at, once it has forked one.
fn trial_of(agent: u32) -> Pid {
    let path = format!("/proc/{agent}/task/{agent}/children");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        let children = std::fs::read_to_string(&path).unwrap_or_default();
        if let Some(pid) = children.split_whitespace().next() {
            // A moment more, so that it is in its work.
            std::thread::sleep(Duration::from_millis(50));
            return Pid::from_raw(pid.parse().unwrap()).unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("no trial is running");
}

fn gone_soon(path: &Path) -> bool {
    let start = Instant::now();
    while path.exists() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    !path.exists()
}

#[test]
fn trials_are_measured_checked_and_proven_and_nothing_is_left() {
    let mut agent = Agent::start();
    agent.make(0, 5_000_003, Content::Random);
    assert_eq!(agent.ask(Request::Renew(vec![0])), Reply::Done);
    for method in ["read", "pread", "mmap", "mmap-populate"] {
        for consume in ["xor", "histogram", "crc32c"] {
            let mut request = read(method, Extent::Passes(2));
            request.levels = read_levels(method, consume, "warm");
            let seen = agent.measured(request);
            assert_eq!(seen.bytes, 2 * 5_000_003);
            let proof = &seen.proof;
            assert_eq!(proof.digest.as_ref().unwrap().matches, Some(true), "{method} {consume}");
            let cache = proof.cache.as_ref().unwrap();
            assert!(cache.proven, "{cache:?}");
            assert!(seen.metrics.contains_key("minor_faults"), "{:?}", seen.metrics);
        }
    }
    let part = Extent::Part { first_operation: 70, operations: 20 };
    let seen = agent.measured(read("pread", part));
    assert_eq!(
        seen.proof.digest.as_ref().unwrap().matches,
        Some(true),
        "a part that wraps is checked too"
    );
    let scratch = agent.scratch.clone();
    assert!(scratch.starts_with(agent.dir.path()) && scratch.exists());
    assert_eq!(agent.ask(Request::End), Reply::Done);
    assert!(!scratch.exists());
    assert_eq!(std::fs::read_dir(agent.dir.path()).unwrap().count(), 0);
}

#[test]
fn random_orders_on_several_threads_are_checked() {
    let mut agent = Agent::start();
    agent.make(0, 3_000_001, Content::Random);
    for pattern in ["random", "reverse", "stride:7"] {
        for consume in ["xor", "histogram", "crc32c"] {
            for extent in [Extent::Passes(1), Extent::Part { first_operation: 5, operations: 17 }] {
                let mut request = read("pread", extent);
                request.levels = read_levels("pread", consume, "any")
                    .with(Factor::Pattern, Level::word(pattern))
                    .with(Factor::Threads, Level::Number(3));
                let proof = agent.measured(request).proof;
                let digest = proof.digest.as_ref().unwrap();
                assert_eq!(digest.matches, Some(true), "{pattern} {consume} {extent:?}");
            }
        }
    }
}

#[test]
fn a_cold_trial_reads_the_device() {
    let mut agent = Agent::start();
    agent.make(0, 4 << 20, Content::Random);
    let mut request = read("pread", Extent::Passes(1));
    request.levels = read_levels("pread", "xor", "cold");
    let seen = agent.measured(request);
    let cache = seen.proof.cache.clone().unwrap();
    if cache.expected_device_bytes.is_none() {
        eprintln!("SKIP a_cold_trial_reads_the_device: {:?}", cache.reason);
        return;
    }
    assert!(cache.proven, "{cache:?}");
    assert!(cache.device_bytes.unwrap() >= 4 << 20);
    assert!(seen.proof.holds());
}

#[test]
fn sparse_and_zero_files_have_their_digest() {
    let mut agent = Agent::start();
    for (id, content) in [(0, Content::Sparse), (1, Content::Zero)] {
        agent.make(id, 1_000_000, content);
        let mut request = read("mmap", Extent::Passes(1));
        request.instance = Some(id);
        request.levels = read_levels("mmap", "crc32c", "any");
        assert_eq!(agent.measured(request).proof.digest.as_ref().unwrap().matches, Some(true));
    }
}

#[test]
fn wrong_bytes_are_found() {
    let mut agent = Agent::start();
    agent.make(0, 100_000, Content::Random);
    // Behind the agent's back, with the same size and times.
    let file = agent.scratch.join("file-0");
    let times = std::fs::metadata(&file).unwrap().modified().unwrap();
    let mut content = std::fs::read(&file).unwrap();
    content[50_000] ^= 1;
    let open = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&open, &content, 0).unwrap();
    open.set_modified(times).unwrap();
    let seen = agent.measured(read("read", Extent::Passes(1)));
    assert_eq!(seen.proof.digest.as_ref().unwrap().matches, Some(false));
    assert!(!seen.proof.holds());
    assert!(seen.flags.contains(&iolab_model::catalog::Code::CheckFailed));
}

#[test]
fn a_killed_trial_costs_that_trial_alone() {
    let mut agent = Agent::start();
    let pid = agent.pid();
    let killer = std::thread::spawn(move || kill_process(trial_of(pid), Signal::KILL).unwrap());
    let fault = agent.lost(calls(ENDLESS, LONG));
    killer.join().unwrap();
    assert_eq!(fault.signal, Some(9));
    assert!(fault.cause.contains("SIGKILL"), "{fault}");
    assert_eq!(agent.measured(calls(Extent::Passes(100), LONG)).operations, 100);
}

#[test]
fn a_trial_past_its_limit_is_ended() {
    let mut agent = Agent::start();
    let fault = agent.lost(calls(ENDLESS, 30_000_000));
    assert!(fault.cause.contains("limit"), "{fault}");
    assert_eq!(agent.measured(calls(Extent::Passes(100), LONG)).operations, 100);
}

#[test]
fn a_file_cut_while_it_is_mapped_is_a_fault_that_says_so() {
    let mut agent = Agent::start();
    agent.make(0, 8 << 20, Content::Random);
    let (pid, file) = (agent.pid(), agent.scratch.join("file-0"));
    let cutter = std::thread::spawn(move || {
        trial_of(pid);
        std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(4096).unwrap();
    });
    let fault = agent.lost(read("mmap", Extent::Passes(1 << 40)));
    cutter.join().unwrap();
    assert_eq!(fault.signal, Some(7), "{fault}");
    assert!(fault.cause.contains("shorter"), "{fault}");
    // From now on it is seen before the trial starts.
    assert!(agent.lost(read("mmap", Extent::Passes(1))).cause.contains("shorter"));
}

#[test]
fn a_file_that_changes_under_the_run_is_noticed() {
    let mut agent = Agent::start();
    let path = agent.dir.path().join("mine");
    let content = vec![3; 100_000];
    std::fs::write(&path, &content).unwrap();
    assert_eq!(agent.open(&path, 100_000), Reply::Done);
    assert!(agent.measured(read("pread", Extent::Passes(1))).proof.holds());
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(&path, &content).unwrap();
    assert!(agent.lost(read("pread", Extent::Passes(1))).cause.contains("written to"));
    std::fs::write(agent.dir.path().join("other"), &content).unwrap();
    std::fs::rename(agent.dir.path().join("other"), &path).unwrap();
    assert!(agent.lost(read("pread", Extent::Passes(1))).cause.contains("taken its name"));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(agent.lost(read("pread", Extent::Passes(1))).errno, Some(2));
}

#[test]
fn a_persons_file_is_left_as_it_is_whatever_its_name() {
    let mut agent = Agent::start();
    let name = std::ffi::OsStr::from_bytes(b"line\nbreak \xff\\x41");
    let path = agent.dir.path().join(name);
    std::fs::write(&path, b"some words of mine").unwrap();
    let before = std::fs::metadata(&path).unwrap();
    assert_eq!(agent.open(&path, 18), Reply::Done);
    let seen = agent.measured(read("read", Extent::Passes(3)));
    assert_eq!(seen.proof.digest.as_ref().unwrap().matches, Some(true));
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(before.accessed().unwrap(), after.accessed().unwrap());
    assert_eq!(agent.ask(Request::End), Reply::Done);
    assert_eq!(std::fs::read(&path).unwrap(), b"some words of mine");
}

#[test]
fn what_is_no_file_is_refused_in_words() {
    let mut agent = Agent::start();
    let fifo = agent.dir.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let directory = agent.dir.path().to_owned();
    let cases: [(&Path, &str); 6] = [
        (&fifo, "FIFO"),
        (&directory, "directory"),
        (Path::new("/dev/null"), "device"),
        (Path::new("/proc/version"), "procfs"),
        (Path::new("/nonexistent"), "No such file"),
        (&program(), "something writes to it"),
    ];
    for (path, why) in cases {
        match agent.open(path, 3) {
            Reply::Refused(fault) => {
                assert!(fault.cause.contains(why), "{fault}");
                assert!(!fault.to_string().contains('\n'), "{fault}");
            }
            other => panic!("{path:?}: {other:?}"),
        }
    }
}

#[test]
fn a_terminal_cannot_end_an_agent() {
    let mut agent = Agent::start();
    let pid = Pid::from_raw(agent.pid() as i32).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        kill_process(pid, signal).unwrap();
    }
    let group = rustix::process::getpgid(Some(pid)).unwrap();
    assert_ne!(group, rustix::process::getpgrp());
    assert_eq!(agent.measured(calls(Extent::Passes(10), LONG)).operations, 10);
}

/// An agent by hand, for what a transport would not do.
fn by_hand(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn say(agent: &mut Child, request: &Request) {
    write_frame(agent.stdin.as_mut().unwrap(), request).unwrap();
}

fn hear(agent: &mut Child) -> Reply {
    read_frame(agent.stdout.as_mut().unwrap()).unwrap().unwrap()
}

fn scratch_of(reply: &Reply) -> PathBuf {
    match reply {
        Reply::Started { scratch, .. } => path_from_text(scratch),
        other => panic!("{other:?}"),
    }
}

/// A killed controller closes its ends of the pipes, whatever it was at.
#[test]
fn an_agent_without_a_controller_ends_its_trial_and_cleans_up() {
    let dir = directory();
    for in_trial in [false, true] {
        let mut agent = by_hand(Command::new(program()).arg("agent"));
        say(&mut agent, &start(dir.path()));
        let scratch = scratch_of(&hear(&mut agent));
        assert!(scratch.exists());
        let trial = in_trial.then(|| {
            say(&mut agent, &Request::Trial(Box::new(calls(ENDLESS, LONG))));
            trial_of(agent.id())
        });
        drop((agent.stdin.take(), agent.stdout.take()));
        assert!(gone_soon(&scratch), "in a trial: {in_trial}");
        assert!(agent.wait().unwrap().success());
        if let Some(trial) = trial {
            assert!(gone_soon(Path::new(&format!("/proc/{}", trial.as_raw_pid()))));
        }
    }
}

#[test]
fn a_limit_on_file_size_is_a_refusal_and_leaves_nothing() {
    let dir = directory();
    let mut shell = Command::new("sh");
    let line = "ulimit -f 2000; exec \"$0\" agent";
    let mut agent = by_hand(shell.args(["-c", line]).arg(program()).process_group(0));
    say(&mut agent, &start(dir.path()));
    let reply = hear(&mut agent);
    let scratch = scratch_of(&reply);
    let order = |bytes| InstanceOrder {
        id: 0,
        bytes,
        seed: 1,
        content: Content::Random,
        ..InstanceOrder::default()
    };
    say(&mut agent, &Request::Make(order(8 << 20)));
    match hear(&mut agent) {
        Reply::Refused(fault) => assert_eq!(fault.errno, Some(27), "{fault}"),
        other => panic!("{other:?}"),
    }
    assert!(!scratch.join("file-0").exists(), "its space is given back");
    say(&mut agent, &Request::Make(order(50_000)));
    assert_eq!(hear(&mut agent), Reply::Done);
    drop(agent.stdin.take());
    assert!(gone_soon(&scratch));
    agent.wait().unwrap();
}

#[test]
fn strangers_and_other_versions_are_refused() {
    let dir = directory();
    let mut agent = by_hand(Command::new(program()).arg("agent"));
    say(&mut agent, &Request::Renew(Vec::new()));
    assert!(matches!(hear(&mut agent), Reply::Refused(_)));
    say(&mut agent, &start_as("0.0.0", dir.path(), Vec::new()));
    assert!(matches!(hear(&mut agent), Reply::Refused(fault) if fault.cause.contains("0.0.0")));
    say(&mut agent, &start(Path::new("/nonexistent")));
    assert!(matches!(hear(&mut agent), Reply::Refused(fault) if fault.errno == Some(2)));
    io::Write::write_all(agent.stdin.as_mut().unwrap(), b"\x05\0\0\0{\"no}").unwrap();
    assert_eq!(agent.wait().unwrap().code(), Some(1));
}

#[test]
fn trials_run_on_the_processors_asked_for() {
    let dir = directory();
    let mut child = LocalChild::start_program(program()).unwrap();
    let on = |cpus| start_as(env!("CARGO_PKG_VERSION"), dir.path(), cpus);
    for none in [1023, 70_000] {
        assert!(matches!(child.ask(&on(vec![none])).unwrap(), Reply::Refused(_)));
    }
    let first = std::fs::read_to_string("/proc/self/status").unwrap();
    let first = allowed(&first).split([',', '-']).next().unwrap().parse().unwrap();
    assert!(matches!(child.ask(&on(vec![first])).unwrap(), Reply::Started { .. }));
    let pid = child.pid().unwrap();
    let looker = std::thread::spawn(move || {
        std::fs::read_to_string(format!("/proc/{}/status", trial_of(pid).as_raw_pid())).unwrap()
    });
    let endless = Request::Trial(Box::new(calls(ENDLESS, 300_000_000)));
    assert!(matches!(child.ask(&endless).unwrap(), Reply::Lost(_)));
    assert_eq!(allowed(&looker.join().unwrap()), first.to_string());
}

fn allowed(status: &str) -> &str {
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim()
}

/// A plan of one cell, enough for the executor.
fn plan(dir: &Path) -> Plan {
    let levels = read_levels("pread", "xor", "warm");
    let condition = Condition { levels: Levels::new(), cells: vec![0], own_instances: false };
    Plan {
        title: "a test".into(),
        workload: "read".into(),
        directory: dir.to_owned(),
        factors: BTreeMap::new(),
        ask: Vec::new(),
        protocol: Protocol::new(1),
        eliminate: false,
        cells: vec![Cell {
            id: "pread".into(),
            levels,
            condition: 0,
            instance: Some(0),
            skip: None,
        }],
        conditions: vec![condition],
        instances: vec![made_file(0, 1 << 20, 5)],
        baseline: Some(0),
        cost: Cost::default(),
        changed: Vec::new(),
        notes: Vec::new(),
        copies: false,
        page_bytes: 4096,
        image_bytes: 0,
    }
}

#[test]
fn a_killed_agent_costs_one_trial_and_is_replaced() {
    let dir = directory();
    let plan = plan(dir.path());
    let mut transport = LocalChild::start_program(program()).unwrap();
    let first = greet(&mut transport, dir.path());
    let pid = transport.pid().unwrap();
    let mut executor = RemoteExecutor::new(transport, &plan);
    executor.clock().unwrap();
    executor.make(&plan.instances[0]).unwrap();
    let order = |extent| TrialOrder { cell: &plan.cells[0], extent, limit_ns: LONG, round: None };
    assert!(executor.trial(&order(Extent::Passes(1))).unwrap().proof.holds());
    let killer = std::thread::spawn(move || {
        trial_of(pid);
        kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
    });
    match executor.trial(&order(ENDLESS)) {
        Err(ExecutorError::Trial(fault)) => assert!(fault.cause.contains("SIGKILL"), "{fault}"),
        other => panic!("{other:?}"),
    }
    killer.join().unwrap();
    let again = executor.trial(&order(Extent::Passes(1))).unwrap();
    assert!(again.proof.holds() && again.bytes == 1 << 20);
    executor.end().unwrap();
    assert!(gone_soon(&first), "what the killed agent left is swept up");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
