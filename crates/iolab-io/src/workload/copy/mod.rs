//! The workload `copy`: one file, to a new file beside it or in another place.

mod target;
mod verify;

pub(super) use verify::{hole_bytes, is_clone};

use crate::method::copy::{self, CopyEntry, CopyJob, Holes, Work};
use crate::method::{Layout, MeasuredWindow};
use iolab_model::catalog::{
    AxisWord, CacheState, Capability, Consume, Factor, FactorUse, Levels, Part, Pattern, Sparse,
    Sync, WorkloadId, WorkloadInfo,
};
use iolab_model::result::{CopyRoute, Fault, Measurement};

use super::{Extent, SetupTeardown, Subject, Trial, Visit, Workload};

/// The workload.
pub const WORKLOAD: Workload = Workload {
    info: INFO,
    run,
    visits,
    around: SetupTeardown {
        prepare: target::prepare,
        verify: verify::verify,
        clear: target::clear,
        ..SetupTeardown::NOTHING
    },
    impossible,
};

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Copy.word(),
        "copy a file: which way and buffer size, each copy verified and classified",
    ),
    factors: &[
        FactorUse::new(Factor::File, ""),
        FactorUse::new(Factor::FileSize, ""),
        FactorUse::new(Factor::Method, ""),
        FactorUse::new(Factor::Contender, ""),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::SourcePlace, ""),
        FactorUse::new(Factor::Block, "4Ki,16Ki,64Ki,256Ki,1Mi"),
        FactorUse::new(Factor::QueueDepth, "8"),
        FactorUse::new(Factor::Sync, Sync::WORDS[0]).among(Sync::WORDS),
        FactorUse::new(Factor::Sparse, "").among(Sparse::WORDS),
        FactorUse::new(Factor::Cache, CacheState::Warm.word()).among(CacheState::WORDS),
        FactorUse::new(Factor::Memory, ""),
    ],
    capability: Capability::Copy,
    sweep: false,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("copy big.iso", "which way and buffer size copies this file fastest here"),
    ("copy --file-size 64Mi --method read-write --block 1..64Ki:x2", "what a buffer is worth"),
    (
        "copy --file-size 64Mi --place ext4,xfs,btrfs,tmpfs",
        "on which file system, each in an image of its own",
    ),
    ("copy --file-size 64Mi --source-place ext4 --place xfs", "from one file system to another"),
    ("copy big.iso --place dir:/mnt/disk --sync end", "to another disk, durable"),
    ("copy --file-size 64Mi --sparse keep,fill --method read-write", "holes kept or filled"),
];

/// Why these levels cannot be had together.
pub(super) fn impossible(levels: &Levels) -> Option<String> {
    let entry = &copy::find(levels.text(Factor::Method)?)?.copy;
    let fills = levels.word() == Some(Sparse::Fill);
    (fills && entry.route == CopyRoute::Cloned)
        .then(|| "a clone keeps the holes of its source; --sparse keep, or another method".into())
}

const DOING: &str = "prepare a copy trial";

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    let (entry, holes, layout) = read_levels(trial)?;
    let subject = trial.subject.ok_or_else(no_file)?;
    let targets = target::paths(trial);
    let work = match trial.extent {
        Extent::Passes(_) => Work::Whole(targets),
        Extent::Part { .. } => {
            let target = targets.into_iter().next();
            let target = target.ok_or_else(|| Fault::new(DOING, "it names no target"))?;
            let mut ranges = Vec::new();
            layout.each_range(|range| ranges.push(range));
            Work::Part(target, ranges)
        }
    };
    let job = CopyJob {
        source: subject.path,
        bytes: subject.bytes,
        mode: target::mode_of(subject.path)?,
        work,
        block_bytes: block(trial),
        queue_depth: queue_depth(trial)?,
        holes,
        sync: trial.levels.word_or(Sync::None).map_err(refuse)?,
    };
    let copied = (entry.run)(&job, window)?;
    let outcome = copied.outcome;
    let repetitions = match trial.extent {
        Extent::Passes(passes) => passes,
        Extent::Part { .. } => 1,
    };
    let mut measurement = Measurement {
        wall_ns: outcome.wall_ns,
        user_ns: outcome.user_ns,
        system_ns: outcome.system_ns,
        bytes: outcome.bytes,
        operations: outcome.operations,
        repetitions,
        ..Measurement::default()
    };
    if let Some(bytes) = copied.pipe_bytes {
        measurement.metrics.insert("pipe_bytes".into(), bytes as f64);
    }
    Ok(measurement)
}

/// What of the source is copied, in order: its digest is that of the target.
fn visits(trial: &Trial<'_>) -> Result<Option<Visit>, Fault> {
    let (_, _, layout) = read_levels(trial)?;
    let aside_bytes = ASIDE_BYTES
        + layout.partitions.iter().map(|partition| partition.end_byte / 64).sum::<u64>();
    Ok(Some(Visit { layout, consume: Consume::Crc32c, real: true, aside_bytes }))
}

/// The device may deliver so much beside the source, and a 64th of the file: tables of what is
/// free where the target goes.
const ASIDE_BYTES: u64 = 256 << 10;

/// Levels to numbers. The plan has checked what people write; here nothing is taken on trust.
fn read_levels(trial: &Trial<'_>) -> Result<(&'static CopyEntry, Holes, Layout), Fault> {
    let levels = trial.levels;
    let id = levels.text(Factor::Method).unwrap_or("read-write");
    let entry = copy::find(id)
        .map(|method| &method.copy)
        .ok_or_else(|| refuse(format!("no method {id:?} can copy; `iolab list methods`")))?;
    let sparse: Option<Sparse> =
        levels.text(Sparse::FACTOR).map(str::parse).transpose().map_err(refuse)?;
    let holes = match sparse {
        None => Holes::AsItComes,
        Some(Sparse::Keep) => Holes::Keep,
        Some(Sparse::Fill) => Holes::Fill,
    };
    let subject = trial.subject.ok_or_else(no_file)?;
    let step = (entry.step_bytes)(block(trial));
    if step == 0 {
        return Err(refuse("blocks of 0 bytes"));
    }
    let Subject { bytes, seed, .. } = subject;
    let layout = Layout::new(bytes, step, 1, Pattern::Sequential, seed);
    let layout = match trial.extent {
        Extent::Passes(0) => return Err(refuse("it asks for no copy")),
        Extent::Passes(_) => layout.passes(1),
        Extent::Part { first_operation, operations } => layout.part(first_operation, operations),
    };
    Ok((entry, holes, layout))
}

fn block(trial: &Trial<'_>) -> u64 {
    trial.levels.number(Factor::Block).unwrap_or(64 << 10)
}

/// Requests in flight, at most.
const MOST_DEPTH: u64 = 4096;

fn queue_depth(trial: &Trial<'_>) -> Result<u32, Fault> {
    let depth = trial.levels.number(Factor::QueueDepth).unwrap_or(1);
    u32::try_from(depth)
        .ok()
        .filter(|depth| (1..=MOST_DEPTH as u32).contains(depth))
        .ok_or_else(|| Fault::new(DOING, format!("a queue depth of {depth}; 1 to {MOST_DEPTH}")))
}

fn no_file() -> Fault {
    Fault::new(DOING, "it names no file")
}

fn refuse(cause: impl ToString) -> Fault {
    Fault::new(DOING, cause.to_string())
}
