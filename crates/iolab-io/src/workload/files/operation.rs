//! What the workload `files` can do, and how a trial's levels become workers.

use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, syncfs};

use super::assign_files::{BlockRange, assign_files, passes};
use super::build::open_root;
use super::bytes::{ByBuffer, ByClone, ByRange, BySend, Copy, FileStat, Read, Remove, Way, Write};
use super::errors::fault;
use super::listing::Listing;
use super::step_timer::{NoTimer, StepTimer, StepTimes};
use super::task::{Task, TreeCursor};
use super::verify;
use super::worker_threads::{self, WorkerJob};
use crate::method::{Buffer, MeasuredWindow, Stop};
use crate::workload::{Extent, Trial};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};
use iolab_model::result::{Fault, Measurement};

/// The directory of a trial's own trees, below its scratch directory.
const TREES: &str = "trees";
/// Workers of one trial, at most.
const MOST_WORKERS: u64 = 4096;

const fn operation(
    id: &'static str,
    summary: &'static str,
    capabilities: &'static [Capability],
    ignores: &'static [Factor],
) -> Part {
    Part {
        id,
        kind: PartKind::Operation,
        summary,
        capabilities,
        ignores,
        needs: "",
        by_name_only: false,
    }
}

/// On a tree that is there; on one that each trial makes; on both.
const READS: &[Capability] = &[Capability::Files, Capability::Read];
const WRITES: &[Capability] = &[Capability::Files, Capability::Write];
const COPIES: &[Capability] = &[Capability::Files, Capability::Read, Capability::Write];

/// The operations.
pub const OPERATIONS: &[Part] = &[
    operation(
        "read",
        "of files: open, read to the end, close",
        READS,
        &[Factor::Method, Factor::Sync],
    ),
    operation(
        "write",
        "of files: create, write, close",
        WRITES,
        &[Factor::Method, Factor::Cache, Factor::Consume],
    ),
    operation(
        "copy",
        "of files: open, create, move the bytes, close both",
        COPIES,
        &[Factor::Consume],
    ),
    operation(
        "create",
        "of files: create without bytes, close",
        WRITES,
        &[
            Factor::Method,
            Factor::Cache,
            Factor::Consume,
            Factor::Block,
            Factor::FileSize,
            Factor::Sizes,
            Factor::Fill,
        ],
    ),
    operation(
        "stat",
        "of files: look at each (fstatat)",
        READS,
        &[Factor::Method, Factor::Consume, Factor::Block, Factor::Sync],
    ),
    operation(
        "remove",
        "of files: unlink each (unlinkat)",
        WRITES,
        &[Factor::Method, Factor::Cache, Factor::Consume, Factor::Block],
    ),
];

const fn way(id: &'static str, summary: &'static str, ignores: &'static [Factor]) -> Part {
    let capabilities = &[Capability::Files];
    let (kind, needs) = (PartKind::Method, "");
    Part { id, kind, summary, capabilities, ignores, needs, by_name_only: false }
}

/// How files are copied.
pub const METHODS: &[Part] = &[
    way("copy_file_range", "of files: one call a file, inside of the kernel", &[Factor::Block]),
    way("read-write", "of files: through a buffer of a block", &[]),
    way("sendfile", "of files: one call a file, inside of the kernel", &[Factor::Block]),
    Part {
        needs: "a file system that clones (btrfs, xfs, bcachefs)",
        by_name_only: true,
        ..way("reflink", "of files: share the blocks (FICLONE), no byte moves", &[Factor::Block])
    },
];

/// What is done.
#[derive(Clone, std::marker::Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Read,
    Write,
    Copy,
    Create,
    Stat,
    Remove,
}

/// When files are made durable.
#[derive(Clone, std::marker::Copy, Debug, PartialEq, Eq)]
pub(super) enum Durable {
    None,
    Each,
    End,
}

/// A trial's levels, checked.
pub(super) struct Settings<'a> {
    pub(super) operation: Operation,
    pub(super) listing: &'a Listing,
    /// The tree that is there.
    pub(super) root: &'a Path,
    /// Where each pass makes or finds its own tree: this name and the pass's number.
    pub(super) own: PathBuf,
    pub(super) extent: Extent,
    pub(super) workers: u64,
    pub(super) block: u64,
    pub(super) durable: Durable,
    touches: bool,
    latency: bool,
    method: String,
}

impl Operation {
    fn new(word: &str) -> Option<Operation> {
        Some(match word {
            "read" => Operation::Read,
            "write" => Operation::Write,
            "copy" => Operation::Copy,
            "create" => Operation::Create,
            "stat" => Operation::Stat,
            "remove" => Operation::Remove,
            _ => return None,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Copy => "copy",
            Operation::Create => "create",
            Operation::Stat => "stat",
            Operation::Remove => "remove",
        }
    }

    /// Whether each pass has a tree of its own, made before it and removed after.
    pub(super) fn has_own(self) -> bool {
        !matches!(self, Operation::Read | Operation::Stat)
    }
}

impl<'a> Settings<'a> {
    /// Nothing is taken on trust, though the plan has checked what people write.
    pub(super) fn of(trial: &Trial<'a>) -> Result<Settings<'a>, Fault> {
        const DOING: &str = "prepare a trial on many files";
        let refuse = |cause: String| Fault::new(DOING, cause);
        let levels = trial.levels;
        let word = levels.text(Factor::Operation).unwrap_or("read");
        let operation = Operation::new(word).ok_or_else(|| {
            refuse(format!("no operation {word:?}; take read, write, copy, create, stat, remove"))
        })?;
        let no_tree = || refuse("it names no tree".into());
        let subject = trial.subject.ok_or_else(no_tree)?;
        let listing = subject.tree.ok_or_else(no_tree)?;
        let theirs = matches!(listing, Listing::Found(_));
        if theirs && operation.has_own() && operation != Operation::Copy {
            let cause = format!("a tree of yours is never written to; {word} takes --files");
            return Err(refuse(cause));
        }
        let workers = levels.number(Factor::Threads).unwrap_or(1);
        if workers == 0 || workers > MOST_WORKERS {
            return Err(refuse(format!("{workers} workers; take 1 to {MOST_WORKERS}")));
        }
        if passes(trial.extent) == 0 {
            return Err(refuse("it asks for no pass".into()));
        }
        let durable = match levels.text(Factor::Sync).unwrap_or("none") {
            "none" => Durable::None,
            "each" => Durable::Each,
            "end" => Durable::End,
            other => return Err(refuse(format!("no sync {other:?}; take none, each or end"))),
        };
        Ok(Settings {
            operation,
            listing,
            root: subject.path,
            own: trial.scratch.join(TREES).join("of-pass"),
            extent: trial.extent,
            workers,
            block: levels.number(Factor::Block).unwrap_or(128 << 10).max(1),
            durable,
            touches: levels.text(Factor::Consume).unwrap_or("xor") != "none",
            latency: levels.text(Factor::Latency) == Some("on"),
            method: levels.text(Factor::Method).unwrap_or("copy_file_range").to_owned(),
        })
    }

    /// The directory that the trial's own trees lie in.
    pub(super) fn together(&self) -> &Path {
        self.own.parent().unwrap_or(self.root)
    }

    fn standing(&self) -> TreeCursor<'_> {
        TreeCursor::standing(self.listing, self.root)
    }

    fn own(&self) -> TreeCursor<'_> {
        TreeCursor::for_each_pass(self.listing, &self.own)
    }

    /// Bytes that a worker handles at a time; no more than its files have.
    fn piece(&self) -> u64 {
        match self.listing {
            Listing::Made(tree) => match tree.sizes {
                iolab_model::catalog::Sizes::Fixed(bytes) => self.block.min(bytes.max(1)),
                _ => self.block,
            },
            Listing::Found(_) => self.block,
        }
    }
}

/// Runs the trial.
pub(super) fn run(
    settings: &Settings<'_>,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    crate::sys::process::raise_descriptor_limit();
    let block_ranges = assign_files(settings.listing, settings.extent, settings.workers);
    let mut measurement = match settings.operation {
        Operation::Read => read(settings, &block_ranges, window)?,
        Operation::Stat => stat(settings, &block_ranges, window)?,
        Operation::Copy => copy(settings, &block_ranges, window)?,
        Operation::Write | Operation::Create => write(settings, &block_ranges, window)?,
        Operation::Remove => {
            workers(settings, &block_ranges, |_| Ok(Remove { site: settings.own() }), window)?.0
        }
    };
    measurement.repetitions = passes(settings.extent);
    Ok(measurement)
}

type Worked<T> = Result<(Measurement, Vec<T>), Fault>;

fn workers<T: Task>(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    make: impl Fn(usize) -> Result<T, Stop> + Sync,
    window: &mut dyn MeasuredWindow,
) -> Worked<T> {
    match settings.latency {
        true => watched::<T, StepTimes>(settings, block_ranges, make, window),
        false => watched::<T, NoTimer>(settings, block_ranges, make, window),
    }
}

fn watched<T: Task, L: StepTimer>(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    make: impl Fn(usize) -> Result<T, Stop> + Sync,
    window: &mut dyn MeasuredWindow,
) -> Worked<T> {
    let all_durable = || {
        let failed = |errno| fault("make the files durable", errno, "");
        let root = open_root(settings.together()).map_err(failed)?;
        syncfs(root).map_err(failed)
    };
    let finish: Option<&dyn Fn() -> Result<(), Fault>> = match settings.durable {
        Durable::End if settings.operation.has_own() => Some(&all_durable),
        _ => None,
    };
    let (operation, listing) = (settings.operation.name(), settings.listing);
    let order = WorkerJob { operation, listing, block_ranges, finish };
    let (mut measurement, done) = worker_threads::run::<T, L>(&order, make, window)?;
    let (mut times, mut tasks) = (StepTimes::default(), Vec::with_capacity(done.len()));
    for one in done {
        one.laps.add_to(&mut times);
        tasks.push(one.task);
    }
    times.tell(&mut measurement.metrics);
    Ok((measurement, tasks))
}

fn read(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let files = |worker: usize| {
        let first = |block_range: &&BlockRange| block_range.pass == 0;
        let block_ranges = block_ranges[worker].iter().filter(first);
        block_ranges.map(|block_range| block_range.files.end - block_range.files.start).sum()
    };
    let make = |worker: usize| {
        let buffer = Buffer::new(settings.block)?;
        Ok(Read::new(settings.standing(), buffer, settings.touches, files(worker)))
    };
    let (mut measurement, readers) = workers(settings, block_ranges, make, window)?;
    let seen: Vec<(u64, u32)> = readers.into_iter().flat_map(|reader| reader.seen).collect();
    verify::read(settings, &seen, settings.touches, &mut measurement)?;
    Ok(measurement)
}

fn stat(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let make = |_| Ok(FileStat { site: settings.standing(), bytes: 0 });
    let (mut measurement, looked) = workers(settings, block_ranges, make, window)?;
    let bytes = looked.iter().fold(0_u64, |sum, look| sum.wrapping_add(look.bytes));
    verify::sizes(settings, "sizes", bytes, &mut measurement);
    Ok(measurement)
}

fn write(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let Listing::Made(tree) = settings.listing else {
        return Err(Fault::new("write files", "only a tree that iolab describes is written"));
    };
    let each = settings.durable == Durable::Each;
    let empty = settings.operation == Operation::Create;
    let block = if empty { 1 } else { settings.piece() };
    let make = |_| {
        let (site, content) = (settings.own(), tree.content(block));
        Ok(Write { site, content, block, each, empty })
    };
    Ok(workers(settings, block_ranges, make, window)?.0)
}

fn copy(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    match settings.method.as_str() {
        "copy_file_range" => copy_by(settings, block_ranges, || Ok(ByRange), window),
        "sendfile" => copy_by(settings, block_ranges, || Ok(BySend), window),
        "reflink" => copy_by(settings, block_ranges, || Ok(ByClone), window),
        "read-write" => {
            copy_by(settings, block_ranges, || Ok(ByBuffer(Buffer::new(settings.block)?)), window)
        }
        other => Err(Fault::new(
            "copy files",
            format!("no way {other:?}; take copy_file_range, read-write, sendfile or reflink"),
        )),
    }
}

fn copy_by<W: Way>(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    way: impl Fn() -> Result<W, Stop> + Sync,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let each = settings.durable == Durable::Each;
    let make = |_| {
        let (from, to, way) = (settings.standing(), settings.own(), way()?);
        Ok(Copy { from, to, way, each, quiet: OFlags::NOATIME })
    };
    Ok(workers(settings, block_ranges, make, window)?.0)
}
