//! Trials on a file system that misbehaves: an agent at work there, and every workload by every method.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;

use iolab_agent::{
    Content, Extent, InstanceOrder, LocalChild, Reply, Request, Transport, TrialRequest,
};
use iolab_io::method::{self, METHODS, copy};
use iolab_io::sys::namespace::enter_private_mounts;
use iolab_io::workload::{files, meta};
use iolab_model::catalog::{Capability, Code, Factor, Level, Levels};
use iolab_model::result::{Fault, Measurement};
use iolab_model::tree::{Body, Shape, Tree, TreeOrder};
use iolab_test::fault_file_system::{Control, Counted, DataFault, Mounted};
use iolab_test::real_agent::started_agent;

use crate::cli_support::IOLAB;

pub const BYTES: u64 = 300_000;
/// Where an error or a wrong byte is: in the middle of a block in the middle of a file.
pub const AT: u64 = 100_001;
/// What a short read or write moves.
pub const SHORT: usize = 1000;
pub const FILES: u64 = 6;
pub const TREE_BYTES: u64 = 150_000;
pub const LONG_NS: u64 = 3_000_000_000;

pub const EIO: i32 = 5;
pub const ENOSPC: i32 = 28;
pub const ESTALE: i32 = 116;
pub const EDQUOT: i32 = 122;

/// The numbers of what trials work on.
const READ: usize = 0;
const ABSENT: usize = 1;
const OVERWRITTEN: usize = 2;
const TREE: usize = 3;
const OWN_TREE: usize = 4;
const CALLS: usize = 5;

/// An agent at work on a file system that does as it is told.
pub struct Bench {
    pub control: Control,
    pub agent: LocalChild,
    pub cached: bool,
    root: PathBuf,
}

/// One kind of trial.
#[derive(Clone)]
pub struct Row {
    pub workload: &'static str,
    pub levels: Levels,
    pub instance: usize,
    /// Bytes that it is to read and to write.
    pub reads: u64,
    pub writes: u64,
    /// Whether its bytes are looked at, so that wrong ones are seen.
    pub checked: bool,
}

impl Row {
    pub fn name(&self) -> String {
        format!("{} {:?}", self.workload, self.levels)
    }

    pub fn is(&self, method: &str) -> bool {
        self.levels.text(Factor::Method).is_some_and(|id| id.starts_with(method))
    }

    /// The kernel may wait for ever for a page that cannot be read (MAP_POPULATE).
    pub fn limit_ns(&self) -> u64 {
        if self.is("mmap") { LONG_NS / 3 } else { LONG_NS }
    }

    /// The kernel reads for it, and takes a short read for the end of the file, or has no page to give.
    pub fn reads_in_kernel(&self) -> bool {
        let methods = ["mmap", "splice", "sendfile", "copy_file_range"];
        methods.into_iter().any(|method| self.is(method))
    }

    pub fn bytes(&self) -> u64 {
        self.reads.max(self.writes)
    }
}

/// Runs `act` with a file system in a mount namespace that goes with its thread.
pub fn with_faults(test: &str, cached: bool, act: impl FnOnce(&mut Bench) + Send) {
    let dir = tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap();
    let bench = || {
        if let Err(error) = enter_private_mounts() {
            return eprintln!("SKIP {test}: needs root to mount: {error}");
        }
        let mounted = match Mounted::new(dir.path(), cached) {
            Ok(mounted) => mounted,
            Err(error) => return eprintln!("SKIP {test}: no FUSE here: {error}"),
        };
        let control = mounted.control().clone();
        let agent = started_agent(IOLAB.into(), dir.path());
        let mut bench = Bench { control, agent, cached, root: dir.path().to_owned() };
        bench.make_all();
        act(&mut bench);
        bench.control.release();
        assert_eq!(bench.ask(&Request::End), Reply::Done);
        assert_eq!(bench.control.names(), [""; 0], "something was left");
    };
    std::thread::scope(|scope| {
        let done = std::thread::Builder::new().spawn_scoped(scope, bench).unwrap().join();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

impl Bench {
    pub fn ask(&mut self, request: &Request) -> Reply {
        self.agent.ask(request).unwrap()
    }

    fn make_all(&mut self) {
        let sizes = format!("{TREE_BYTES}").parse().unwrap();
        let tree = Tree {
            files: FILES,
            sizes,
            shape: Shape::Shared,
            body: Body::Random,
            seed: 3,
            first: 0,
            rank: 0,
        };
        let order = |id| InstanceOrder { id, bytes: BYTES, seed: 7, ..InstanceOrder::default() };
        let of_tree = |id, tree| InstanceOrder { tree: Some(tree), ..order(id) };
        for order in [
            order(READ),
            InstanceOrder { content: Content::Sparse, ..order(ABSENT) },
            InstanceOrder { content: Content::Overwritten, ..order(OVERWRITTEN) },
            of_tree(TREE, TreeOrder::Kept(tree.clone())),
            of_tree(OWN_TREE, TreeOrder::Each(tree)),
            InstanceOrder { files: Some(FILES), bytes: 5000, ..order(CALLS) },
        ] {
            assert_eq!(self.ask(&Request::Make(order)), Reply::Done);
        }
    }

    /// A trial while this goes wrong, what was counted, and what is there that was not before.
    pub fn trial(&mut self, row: &Row, fault: DataFault, limit_ns: u64) -> Seen {
        // What the kernel could not write back for the trial before, and told nobody, it tells whoever
        // syncs next: "another errno than 116: write back the file system" once came of that.
        let _ = rustix::fs::syncfs(File::open(&self.root).unwrap());
        let before: BTreeSet<String> = self.control.names().into_iter().collect();
        let request = TrialRequest {
            workload: row.workload.into(),
            levels: row.levels.clone(),
            instance: Some(row.instance),
            extent: Extent::Passes(1),
            limit_ns,
        };
        self.control.set(fault);
        let reply = self.ask(&Request::Trial(Box::new(request)));
        let counted = self.control.counted();
        self.control.set(DataFault::None);
        let ended = match reply {
            Reply::Measured(measurement) => Ok(*measurement),
            Reply::Lost(fault) => Err(fault),
            other => panic!("{}: {fault:?}: {other:?}", row.name()),
        };
        let left = self.control.names().into_iter().filter(|name| !before.contains(name));
        Seen { ended, counted, left: left.collect() }
    }
}

/// How a trial ended.
#[derive(Debug)]
pub struct Seen {
    pub ended: Result<Measurement, Fault>,
    pub counted: Counted,
    pub left: Vec<String>,
}

impl Seen {
    /// It did all that it was to do, and says nothing else.
    pub fn is_right(&self, row: &Row) -> bool {
        self.ended.as_ref().is_ok_and(|seen| {
            let digest = seen.proof.digest.as_ref().and_then(|digest| digest.matches);
            let copied = seen.proof.copy.as_ref().is_none_or(|copy| copy.matches);
            let effects = seen.proof.effects.as_ref().is_none_or(|effects| effects.hold());
            let bytes = seen.bytes == row.bytes() || row.workload == "meta";
            bytes && digest != Some(false) && copied && effects && !self.is_flagged()
        })
    }

    /// In a line.
    pub fn brief(&self) -> String {
        let ended = match &self.ended {
            Ok(seen) => format!("{} bytes, {:?}, {:?}", seen.bytes, seen.proof.digest, seen.flags),
            Err(fault) => format!("{fault} (errno {:?})", fault.errno),
        };
        format!("{ended}; {:?}; left {:?}", self.counted, self.left)
    }

    /// It enters no answer, or says that it did not do everything.
    pub fn is_flagged(&self) -> bool {
        let told = [Code::CheckFailed, Code::Truncated, Code::TreeChanged];
        self.ended.as_ref().is_ok_and(|seen| seen.flags.iter().any(|flag| told.contains(flag)))
    }
}

fn levels(words: &[(Factor, &str)]) -> Levels {
    let levels = Levels::new().with(Factor::Block, Level::Number(64 << 10));
    words.iter().fold(levels, |all, (factor, word)| all.with(*factor, Level::word(*word)))
}

pub fn of_one_file() -> Vec<Row> {
    let mut rows = Vec::new();
    for id in METHODS.iter().map(|part| part.id) {
        let entry = method::find(id).unwrap();
        if let Some(read) = &entry.read {
            let levels = levels(&[(Factor::Method, id), (Factor::Consume, "xor")]);
            let (reads, checked) = (BYTES, read.real);
            rows.push(Row { workload: "read", levels, instance: READ, reads, writes: 0, checked });
        }
        let Some(write) = &entry.write else { continue };
        // Where the bytes go is another matter than how; one way and the map stand for all.
        let everywhere = ["pwrite", "mmap"].contains(&id);
        let targets = [("new", ABSENT), ("preallocated", ABSENT), ("overwrite", OVERWRITTEN)];
        for (target, instance) in targets.into_iter().take(if everywhere { 3 } else { 1 }) {
            let levels = levels(&[(Factor::Method, id), (Factor::Target, target)]);
            let (reads, writes, checked) = (0, BYTES, write.real);
            rows.push(Row { workload: "write", levels, instance, reads, writes, checked });
        }
    }
    for id in copy::METHODS.iter().map(|part| part.id) {
        let levels = levels(&[(Factor::Method, id)]);
        let (reads, writes) = (BYTES, BYTES);
        let instance = READ;
        rows.push(Row { workload: "copy", levels, instance, reads, writes, checked: true });
    }
    rows
}

pub fn of_many_files() -> Vec<Row> {
    let all = FILES * TREE_BYTES;
    let tree = |words: &[(Factor, &str)]| levels(words).with(Factor::Threads, Level::Number(2));
    let row = |levels, instance, reads, writes| Row {
        workload: "files",
        levels,
        instance,
        reads,
        writes,
        checked: true,
    };
    let mut rows = Vec::new();
    for operation in files::OPERATIONS.iter().map(|part| part.id) {
        let (instance, reads, writes) = match operation {
            "read" => (TREE, all, 0),
            "write" => (OWN_TREE, 0, all),
            "create" | "remove" => (OWN_TREE, 0, 0),
            "stat" => (TREE, 0, 0),
            _ => continue,
        };
        let levels = tree(&[(Factor::Operation, operation), (Factor::Consume, "xor")]);
        rows.push(row(levels, instance, reads, writes));
    }
    for id in copy::files_methods().map(|part| part.id) {
        let levels = tree(&[(Factor::Operation, "copy"), (Factor::Method, id)]);
        rows.push(row(levels, TREE, all, all));
    }
    for part in meta::OPERATIONS.iter().filter(|part| !part.can(Capability::Attributes)) {
        let levels = Levels::new()
            .with(Factor::Operation, Level::word(part.id))
            .with(Factor::Files, Level::Number(FILES))
            .with(Factor::Repeats, Level::Number(1))
            .with(Factor::Pass, Level::word("first"));
        let (reads, writes, checked) = (0, 0, true);
        rows.push(Row { workload: "meta", levels, instance: CALLS, reads, writes, checked });
    }
    rows
}
