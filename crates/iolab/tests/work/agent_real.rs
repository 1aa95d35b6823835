//! The real agent behind the executor: real files, real pages, real processes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use iolab_agent::{Extent, LocalChild};
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::plan::{Cell, Instance};
use iolab_run::{Executor, ExecutorError, RemoteExecutor, TrialOrder};
use iolab_test::files::made_file;

struct Room {
    dir: tempfile::TempDir,
}

impl Room {
    fn new() -> Room {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Room { dir: tempfile::tempdir_in(target).unwrap() }
    }

    fn executor(&self, workload: &str) -> RemoteExecutor<LocalChild> {
        let agent = LocalChild::start_program(PathBuf::from(env!("CARGO_BIN_EXE_iolab"))).unwrap();
        RemoteExecutor::at(agent, workload, self.dir.path(), &[])
    }

    fn left(&self) -> usize {
        std::fs::read_dir(self.dir.path()).unwrap().count()
    }
}

fn cell(levels: &[(Factor, Level)], instance: Option<usize>) -> Cell {
    let mut all = Levels::new();
    levels.iter().for_each(|(factor, level)| all.set(*factor, level.clone()));
    Cell { id: "cell".into(), levels: all, condition: 0, instance, skip: None }
}

fn reads(method: &str, cache: &str) -> Cell {
    let levels = [
        (Factor::Method, Level::word(method)),
        (Factor::Block, Level::Number(65536)),
        (Factor::Cache, Level::word(cache)),
        (Factor::Consume, Level::word("xor")),
    ];
    cell(&levels, Some(0))
}

fn order(cell: &Cell, extent: Extent) -> TrialOrder<'_> {
    TrialOrder { cell, extent, limit_ns: 20_000_000_000, round: None }
}

fn made(bytes: u64) -> Instance {
    made_file(0, bytes, 5)
}

#[test]
fn warm_and_cold_reads_are_measured_proven_and_checked() {
    let room = Room::new();
    let mut executor = room.executor("read");
    executor.make(&made((8 << 20) + 13)).unwrap();
    executor.renew(&[0]).unwrap();
    let mut digests = BTreeMap::new();
    for method in ["read", "pread", "mmap", "mmap-populate"] {
        for cache in ["warm", "cold"] {
            let cell = reads(method, cache);
            let measured = executor.trial(&order(&cell, Extent::Passes(1))).unwrap();
            let proof = measured.proof.cache.clone().unwrap();
            assert!(proof.proven, "{method} {cache}: {proof:?}");
            let digest = measured.proof.digest.clone().unwrap();
            assert_eq!(digest.matches, Some(true), "{method} {cache}");
            *digests.entry(digest.hex).or_insert(0) += 1;
            assert_eq!(measured.bytes, (8 << 20) + 13);
            assert!(measured.wall_ns > 0);
        }
    }
    assert_eq!(digests.len(), 1, "one XOR for every method: {digests:?}");
    executor.end().unwrap();
    assert_eq!(room.left(), 0);
}

#[test]
fn parts_are_checked_too() {
    let room = Room::new();
    let mut executor = room.executor("read");
    executor.make(&made(4 << 20)).unwrap();
    executor.renew(&[0]).unwrap();
    let cell = reads("pread", "warm");
    for first_operation in [0, 5, 60] {
        let part = Extent::Part { first_operation, operations: 9 };
        let measured = executor.trial(&order(&cell, part)).unwrap();
        assert_eq!(measured.operations, 9);
        assert_eq!(
            measured.proof.digest.as_ref().unwrap().matches,
            Some(true),
            "from {first_operation}"
        );
    }
    executor.end().unwrap();
}

#[test]
fn a_changed_file_is_noticed() {
    let room = Room::new();
    let path = room.dir.path().join("theirs");
    std::fs::write(&path, vec![1; 100_004]).unwrap();
    let mut executor = room.executor("read");
    let theirs = Instance { path: Some(path.clone()), ..made(100_004) };
    executor.make(&theirs).unwrap();
    executor.renew(&[0]).unwrap();
    let cell = reads("pread", "warm");
    let trial = |executor: &mut RemoteExecutor<LocalChild>| {
        executor.trial(&order(&cell, Extent::Passes(1))).unwrap().proof
    };
    assert!(trial(&mut executor).holds());
    std::fs::write(&path, vec![2; 100_004]).unwrap();
    match executor.trial(&order(&cell, Extent::Passes(1))) {
        Ok(measured) => assert!(!measured.proof.holds()),
        Err(error) => assert!(matches!(error, ExecutorError::Trial(_)), "{error}"),
    }
    std::fs::remove_file(&path).unwrap();
    let gone = executor.trial(&order(&cell, Extent::Passes(1)));
    assert!(matches!(gone, Err(ExecutorError::Trial(_))), "{gone:?}");
    executor.end().unwrap();
}

#[test]
fn what_is_no_regular_file_is_refused_and_nothing_hangs() {
    let room = Room::new();
    let fifo = room.dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (path, says) in [(fifo.as_path(), "FIFO"), (room.dir.path(), "directory")] {
        let mut executor = room.executor("read");
        let theirs = Instance { path: Some(path.to_owned()), ..made(0) };
        match executor.make(&theirs) {
            Err(ExecutorError::Fatal(fault)) => assert!(fault.cause.contains(says), "{fault}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_ladder_is_measured_alone_and_beside_an_idle_thread() {
    let room = Room::new();
    let mut executor = room.executor("syscall");
    for operation in iolab_io::workload::operations() {
        for idle in [0, 1] {
            let cell = cell(
                &[
                    (Factor::Operation, Level::word(operation.id)),
                    (Factor::Block, Level::Number(1)),
                    (Factor::IdleThreads, Level::Number(idle)),
                ],
                None,
            );
            let measured = executor.trial(&order(&cell, Extent::Passes(300))).unwrap();
            assert_eq!(measured.operations, 300, "{}", operation.id);
        }
    }
    executor.end().unwrap();
    assert_eq!(room.left(), 0);
}

#[test]
fn a_trial_past_its_limit_is_lost_alone() {
    let room = Room::new();
    let mut executor = room.executor("read");
    executor.make(&made(1 << 20)).unwrap();
    let cell = reads("pread", "any");
    let endless = TrialOrder { limit_ns: 300_000_000, ..order(&cell, Extent::Passes(1 << 40)) };
    match executor.trial(&endless) {
        Err(ExecutorError::Trial(fault)) => assert!(fault.cause.contains("limit"), "{fault}"),
        other => panic!("{other:?}"),
    }
    executor.trial(&order(&cell, Extent::Passes(1))).unwrap();
    executor.end().unwrap();
}

#[test]
fn a_mapped_file_that_shrinks_costs_one_trial_and_says_why() {
    let room = Room::new();
    let path = room.dir.path().join("shrinks");
    std::fs::write(&path, vec![1; 4 << 20]).unwrap();
    let mut executor = room.executor("read");
    executor.make(&Instance { path: Some(path.clone()), ..made(4 << 20) }).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
    let mapped = reads("mmap", "any");
    match executor.trial(&order(&mapped, Extent::Passes(1))) {
        Err(ExecutorError::Trial(fault)) => {
            assert!(fault.cause.contains("shorter"), "{fault}");
        }
        other => panic!("{other:?}"),
    }
    let read = reads("pread", "any");
    match executor.trial(&order(&read, Extent::Passes(1))) {
        Err(ExecutorError::Trial(fault)) => assert!(fault.cause.contains("shorter"), "{fault}"),
        other => panic!("{other:?}"),
    }
    executor.end().unwrap();
}
