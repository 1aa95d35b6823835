//! The workload `read`: bytes of one file, brought to the program and consumed.

use crate::method::{
    self, Access, Consume, Latencies, Layout, MeasuredWindow, Outcome, Pattern, ReadEntry, ReadJob,
    Readahead,
};
use iolab_model::catalog::{
    Capability, Code, Factor, FactorUse, Levels, Part, PartKind, WorkloadInfo,
};
use iolab_model::result::{Digest, Fault, Measurement, Proof};

use super::{Extent, SetupTeardown, Trial, Visit, Workload};

/// The workload.
pub const WORKLOAD: Workload = Workload { info: INFO, run, visits, around: SetupTeardown::NOTHING };

/// Threads of one trial, at most.
const MOST_THREADS: u64 = 4096;
/// Requests under way of one thread, at most.
const MOST_DEPTH: u32 = 4096;

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part {
        id: "read",
        kind: PartKind::Workload,
        summary: "read a file: method × block × pattern × threads, every byte consumed",
        capabilities: &[],
        ignores: &[],
        needs: "",
        by_name_only: false,
    },
    factors: &[
        FactorUse { factor: Factor::File, default: "", words: &[] },
        FactorUse { factor: Factor::FileSize, default: "", words: &[] },
        FactorUse { factor: Factor::Method, default: "", words: &[] },
        FactorUse { factor: Factor::Contender, default: "", words: &[] },
        FactorUse { factor: Factor::Place, default: "", words: &[] },
        FactorUse { factor: Factor::Block, default: "4Ki,16Ki,64Ki,256Ki,1Mi", words: &[] },
        FactorUse { factor: Factor::Threads, default: "1", words: &[] },
        FactorUse {
            factor: Factor::Pattern,
            default: "sequential",
            // `stride:N` stands for any whole number of blocks from 2 on.
            words: &["sequential", "random", "reverse", "stride:N"],
        },
        FactorUse {
            factor: Factor::Consume,
            default: "xor",
            words: &["none", "xor", "histogram", "crc32c"],
        },
        FactorUse {
            factor: Factor::Cache,
            default: "warm",
            words: &["cold", "warm", "any", "remount"],
        },
        FactorUse { factor: Factor::Memory, default: "", words: &[] },
        FactorUse { factor: Factor::Direct, default: "off", words: &["off", "on"] },
        FactorUse { factor: Factor::QueueDepth, default: "8", words: &[] },
        FactorUse { factor: Factor::Readahead, default: "normal", words: Readahead::WORDS },
        FactorUse { factor: Factor::Latency, default: "off", words: &["off", "on"] },
    ],
    capability: Capability::Read,
    sweep: false,
};

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    let (entry, visit) = prepare(trial)?;
    let path = trial.subject.ok_or_else(no_file)?.path;
    let access = access(trial.levels)?;
    let latency = trial.levels.text(Factor::Latency) == Some("on");
    let job = ReadJob { path, layout: visit.layout, consume: visit.consume, access, latency };
    let outcome = (entry.run)(&job, window)?;
    let unconsumed = !entry.real || job.consume == Consume::None;
    let repetitions = match trial.extent {
        Extent::Passes(passes) => passes,
        Extent::Part { .. } => 1,
    };
    Ok(Measurement {
        wall_ns: outcome.wall_ns,
        user_ns: outcome.user_ns,
        system_ns: outcome.system_ns,
        bytes: outcome.bytes,
        operations: outcome.operations,
        repetitions,
        proof: Proof { digest: digest(&outcome, entry.real), ..Proof::default() }.into(),
        flags: if unconsumed { vec![Code::Unconsumed] } else { Vec::new() },
        metrics: outcome.latencies.iter().flat_map(Latencies::metrics).collect(),
    })
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
    let refuse = |cause: String| Fault::new("prepare a read trial", cause);
    let depth = levels.number(Factor::QueueDepth).unwrap_or(1);
    let depth = u32::try_from(depth).ok().filter(|depth| (1..=MOST_DEPTH).contains(depth));
    Ok(Access {
        direct: levels.text(Factor::Direct) == Some("on"),
        readahead: levels
            .text(Factor::Readahead)
            .map_or(Ok(Readahead::Normal), str::parse)
            .map_err(refuse)?,
        depth: depth.ok_or_else(|| refuse(format!("a queue depth is 1 to {MOST_DEPTH}")))?,
    })
}

fn visits(trial: &Trial<'_>) -> Result<Option<Visit>, Fault> {
    prepare(trial).map(|(_, visit)| Some(visit))
}

/// Levels to numbers. The plan has checked what people write; here nothing is taken on trust.
fn prepare(trial: &Trial<'_>) -> Result<(&'static ReadEntry, Visit), Fault> {
    const DOING: &str = "prepare a read trial";
    let refuse = |cause: String| Fault::new(DOING, cause);
    let levels = trial.levels;
    let id = levels.text(Factor::Method).unwrap_or("read");
    let entry = method::find(id)
        .and_then(|method| method.read.as_ref())
        .ok_or_else(|| refuse(format!("no method {id:?} can read; `iolab list methods`")))?;
    let pattern: Pattern =
        levels.text(Factor::Pattern).unwrap_or("sequential").parse().map_err(refuse)?;
    let consume: Consume = levels.text(Factor::Consume).unwrap_or("xor").parse().map_err(refuse)?;
    let threads = levels.number(Factor::Threads).unwrap_or(1);
    let step = (entry.step_bytes)(levels.number(Factor::Block).unwrap_or(64 << 10), pattern);
    if threads == 0 || threads > MOST_THREADS || step == 0 {
        return Err(refuse(format!("{threads} threads with blocks of {step} bytes")));
    }
    let subject = trial.subject.ok_or_else(no_file)?;
    let layout = Layout::new(subject.bytes, step, threads, pattern, subject.seed);
    let layout = match trial.extent {
        Extent::Passes(0) => return Err(refuse("it asks for no pass".into())),
        Extent::Passes(passes) => layout.passes(passes),
        Extent::Part { first_operation, operations } => layout.part(first_operation, operations),
    };
    Ok((entry, Visit { layout, consume, real: entry.real, aside_bytes: 0 }))
}

fn no_file() -> Fault {
    Fault::new("prepare a read trial", "it names no file")
}
