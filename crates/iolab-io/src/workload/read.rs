//! The workload `read`: bytes of one file, brought to the program and consumed.

use crate::method::{self, Access, Layout, MeasuredWindow, NoWindow, Outcome, ReadEntry, ReadJob};
use iolab_model::catalog::{
    Atime, CacheState, Capability, Code, Consume, Factor, FactorUse, Levels, Part, Pattern,
    Readahead, Share, Shift, Switch, WorkloadId, WorkloadInfo,
};
use iolab_model::result::{Digest, Fault, Measurement, Name, Proof};

use super::portion::{Portion, no_turns};
use super::{Extent, SetupTeardown, Trial, Visit, Workload};

/// The workload.
pub const WORKLOAD: Workload =
    Workload { info: INFO, run, visits, around: SetupTeardown::NOTHING, impossible };

/// Threads of one trial, at most.
const MOST_THREADS: u64 = 4096;
/// Requests under way of one thread, at most.
const MOST_DEPTH: u32 = 4096;

/// Bytes of the moment before the clock starts: with them one pass of a trial shows the differences
/// that many passes show.
const MOMENT_BYTES: u64 = 4 << 20;

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Read.word(),
        "read a file: method × block × pattern × threads, every byte consumed",
    ),
    factors: &[
        FactorUse::new(Factor::File, ""),
        FactorUse::new(Factor::FileSize, ""),
        FactorUse::new(Factor::Method, ""),
        FactorUse::new(Factor::Contender, ""),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::Block, "4Ki,16Ki,64Ki,256Ki,1Mi"),
        FactorUse::new(Factor::Threads, "1"),
        FactorUse::new(Factor::Ranks, ""),
        FactorUse::new(Factor::Share, "").among(Share::OF_FILE),
        FactorUse::new(Factor::Shift, "").among(Shift::WORDS),
        FactorUse::new(Factor::Pattern, Pattern::USUAL).among(Pattern::WORDS),
        FactorUse::new(Factor::Consume, Consume::Xor.word()).among(Consume::WORDS),
        FactorUse::new(Factor::Cache, CacheState::Warm.word()).among(CacheState::WORDS),
        FactorUse::new(Factor::Memory, ""),
        FactorUse::new(Factor::Direct, Switch::Off.word()).among(Switch::WORDS),
        FactorUse::new(Factor::QueueDepth, "8"),
        // No level where none is asked for, here and below: runs that were recorded before the axis
        // stay comparable.
        FactorUse::new(Factor::BufferOffset, ""),
        FactorUse::new(Factor::Readahead, Readahead::Normal.word()).among(Readahead::WORDS),
        FactorUse::new(Factor::Atime, "").among(Atime::WORDS),
        FactorUse::new(Factor::Latency, Switch::Off.word()).among(Switch::WORDS),
    ],
    capability: Capability::Read,
    sweep: false,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("read big.iso", "which method and block size for this file"),
    ("read big.iso --cache cold,warm --method pread --block 256Ki", "is it the cache?"),
    ("read --file-size 64Ki,16Mi --method read,mmap", "does mmap win, and from which size on"),
    ("read --threads 1..8:x2 --block 64Ki --method pread", "do more threads help"),
    (
        "read --file-size 256Mi --method pread --block 1Mi --place ext4,xfs,btrfs --cache remount",
        "which file system reads faster, each in an image of its own",
    ),
    (
        "read --method pread,io_uring --direct --queue-depth 1,32 --block 4Ki --pattern random",
        "does a deep queue help past the page cache",
    ),
    (
        "read --method pread --block 4Ki --cache cold --readahead normal,random --latency",
        "what read-ahead does to single reads",
    ),
    (
        "read --method read,mmap --block 4Ki --buffer-offset 0,16,32",
        "what it costs where malloc puts a buffer",
    ),
    ("read --file-size 1Gi --plan", "what it would cost; nothing is done"),
];

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    let (entry, job) = job(trial)?;
    if let Some(extent) = first_moment(trial, &job.layout) {
        let (_, moment) = self::job(&Trial { extent, ..*trial })?;
        (entry.run)(&moment, &mut NoWindow)?;
    }
    let outcome = (entry.run)(&job, window)?;
    let unconsumed = !entry.real || job.consume == Consume::None;
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
        proof: Proof { digest: digest(&outcome, entry.real), ..Proof::default() }.into(),
        flags: if unconsumed { vec![Code::Unconsumed] } else { Vec::new() },
        ..Measurement::default()
    };
    if let Some(latencies) = &outcome.latencies {
        latencies.tell(Name::default(), &mut measurement);
    }
    Ok(measurement)
}

fn job<'a>(trial: &Trial<'a>) -> Result<(&'static ReadEntry, ReadJob<'a>), Fault> {
    let (entry, Visit { layout, consume, .. }) = prepare(trial)?;
    let path = trial.subject.ok_or_else(no_file)?.path;
    let access = access(trial.levels)?;
    let latency = trial.levels.is_on(Factor::Latency);
    Ok((entry, ReadJob { path, layout, consume, access, latency }))
}

/// What is read before the clock starts, where the state allows it: a child that was just forked has
/// its first faults then and not in its figure. Every cell of an answer reads the same bytes, and no
/// more than a trial does.
fn first_moment(trial: &Trial<'_>, layout: &Layout) -> Option<Extent> {
    let levels = trial.levels;
    let lasts = levels.word() == Some(CacheState::Warm) && !levels.is_on(Factor::Direct);
    let most = (MOMENT_BYTES / layout.partitions.first()?.step_bytes.max(1)).max(1);
    let all: u64 = layout.partitions.iter().map(|partition| partition.count).sum();
    let (first_operation, operations) = match trial.extent {
        Extent::Passes(_) => (0, all),
        Extent::Part { first_operation, operations } => (first_operation, operations),
    };
    let operations = operations.min(most);
    (lasts && operations > 0).then_some(Extent::Part { first_operation, operations })
}

/// The digest as the trial saw it; whether it is right is for others to say, but that it changed
/// from pass to pass is seen here.
fn digest(outcome: &Outcome, real: bool) -> Option<Digest> {
    if !real {
        return None;
    }
    let Some(partial) = &outcome.partial else {
        let (kind, hex) = ("changed between passes".into(), String::new());
        return Some(Digest { kind, hex, matches: Some(false) });
    };
    let (kind, hex) = partial.digest()?;
    Some(Digest { kind: kind.into(), hex, matches: None })
}

/// How the file is opened and how many requests are under way.
fn access(levels: &Levels) -> Result<Access, Fault> {
    let depth = levels.number(Factor::QueueDepth).unwrap_or(1);
    let depth = u32::try_from(depth).ok().filter(|depth| (1..=MOST_DEPTH).contains(depth));
    Ok(Access {
        direct: levels.is_on(Factor::Direct),
        readahead: levels.word_or(Readahead::Normal).map_err(refuse)?,
        atime: levels.word_or(Atime::Left).map_err(refuse)?,
        buffer_offset: levels.number(Factor::BufferOffset).unwrap_or(0) as usize,
        depth: depth.ok_or_else(|| refuse(format!("a queue depth is 1 to {MOST_DEPTH}")))?,
    })
}

fn visits(trial: &Trial<'_>) -> Result<Option<Visit>, Fault> {
    prepare(trial).map(|(_, visit)| Some(visit))
}

/// Levels to numbers. The plan has checked what people write; here nothing is taken on trust.
fn prepare(trial: &Trial<'_>) -> Result<(&'static ReadEntry, Visit), Fault> {
    let levels = trial.levels;
    let id = levels.text(Factor::Method).unwrap_or("read");
    let entry = method::find(id)
        .and_then(|method| method.read.as_ref())
        .ok_or_else(|| refuse(format!("no method {id:?} can read; `iolab list methods`")))?;
    let pattern = levels.word_or(Pattern::Sequential).map_err(refuse)?;
    let consume = levels.word_or(Consume::Xor).map_err(refuse)?;
    let threads = levels.number(Factor::Threads).unwrap_or(1);
    let step = (entry.step_bytes)(levels.number(Factor::Block).unwrap_or(64 << 10), pattern);
    if threads == 0 || threads > MOST_THREADS || step == 0 {
        return Err(refuse(format!("{threads} threads with blocks of {step} bytes")));
    }
    let subject = trial.subject.ok_or_else(no_file)?;
    let portion = Portion::of(levels, &subject);
    let layout = Portion::layout_of(portion, &subject, (step, threads), pattern);
    let layout = match trial.extent {
        Extent::Passes(0) => return Err(refuse("it asks for no pass")),
        Extent::Passes(passes) => layout.passes(passes),
        Extent::Part { first_operation, operations } => layout.part(first_operation, operations),
    };
    Ok((entry, Visit { layout, consume, real: entry.real, aside_bytes: 0 }))
}

/// Why these levels cannot be combined, and what to do instead.
fn impossible(levels: &Levels) -> Option<String> {
    let offset = levels.number(Factor::BufferOffset).unwrap_or(0);
    if levels.is_on(Factor::Direct) && offset > 0 {
        return Some(format!(
            "past the page cache the device writes to whole units of memory; leave out \
             --buffer-offset {offset}"
        ));
    }
    let entry = method::find(levels.text(Factor::Method)?)?.read.as_ref()?;
    no_turns(levels, (entry.step_bytes)(1, Pattern::Sequential) != 1)
}

fn no_file() -> Fault {
    Fault::new("prepare a read trial", "it names no file")
}

const DOING: &str = "prepare a read trial";

fn refuse(cause: impl ToString) -> Fault {
    Fault::new(DOING, cause.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{first_moment, job};
    use crate::workload::{Extent, Subject, Trial};
    use iolab_model::catalog::{AxisWord, CacheState, Factor, Level, Levels, Switch};

    fn moment(levels: &Levels, bytes: u64, extent: Extent) -> Option<Extent> {
        let path = Path::new("/none");
        let subject = Some(Subject::file(path, bytes, 1));
        let trial = Trial { levels, extent, subject, scratch: path };
        first_moment(&trial, &job(&trial).unwrap().1.layout)
    }

    /// Without it one pass showed no difference between blocks of 64 and 256 KiB, where many passes
    /// showed 2 to 3 %.
    #[test]
    fn a_warm_trial_reads_a_moment_before_the_clock_starts() {
        let warm = Levels::new()
            .with(Factor::Cache, CacheState::Warm.level())
            .with(Factor::Block, Level::Number(64 << 10));
        let part = |first_operation, operations| Extent::Part { first_operation, operations };
        assert_eq!(moment(&warm, 64 << 20, Extent::Passes(3)), Some(part(0, 64)));
        // No more than a trial does, and where it does it.
        assert_eq!(moment(&warm, 100_000, Extent::Passes(3)), Some(part(0, 2)));
        assert_eq!(moment(&warm, 64 << 20, part(500, 9)), Some(part(500, 9)));
        let large = warm.clone().with(Factor::Block, Level::Number(16 << 20));
        assert_eq!(moment(&large, 64 << 20, Extent::Passes(1)), Some(part(0, 1)));
        // It would end the state, or is a matter of the device.
        let cold = warm.clone().with(Factor::Cache, CacheState::Cold.level());
        assert_eq!(moment(&cold, 64 << 20, Extent::Passes(1)), None);
        let direct = warm.with(Factor::Direct, Level::word(Switch::On.word()));
        assert_eq!(moment(&direct, 64 << 20, Extent::Passes(1)), None);
    }
}
