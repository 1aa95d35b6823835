//! The workload `meta`: calls on names and attributes, file by file, with the first touch kept
//! apart from later ones.

mod call_schedule;
mod calls;
mod capability_probe;
#[cfg(test)]
mod kernel_lies;
mod operation;
mod prepared_targets;
mod setup_teardown;
mod tree;

pub use capability_probe::impossible;
pub use operation::OPERATIONS;
pub use tree::{Among, Tree};

use crate::method::{MeasuredWindow, Stop, Unwatched, Watch};
use crate::sys::clock::now_ns;
use crate::sys::usage::usage;
use iolab_model::catalog::{
    Capability, Factor, FactorUse, NamedCall, Part, Share, Switch, Touch, WorkloadId, WorkloadInfo,
    is_shared,
};
use iolab_model::result::{Fault, Measurement, Name};

use super::{Extent, SetupTeardown, Trial, Workload};
use call_schedule::CallSchedule;
use calls::Done;
use operation::{Before, Effect, Loop, Operation, find};
use prepared_targets::PreparedTargets;

/// The workload.
pub const WORKLOAD: Workload = Workload {
    info: INFO,
    run,
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: setup_teardown::prepare,
        verify: setup_teardown::verify,
        clear: setup_teardown::clear,
        lay: setup_teardown::lay,
        lift: setup_teardown::lift,
        ..SetupTeardown::NOTHING
    },
    impossible: |_| None,
};

/// Files in one tree, at most.
const MOST_FILES: u64 = 10_000_000;

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Meta.word(),
        "metadata calls: create, stat, chmod, rename, … on many files, first touch apart",
    ),
    factors: &[
        FactorUse::new(Factor::FileSize, "0"),
        FactorUse::new(Factor::Files, "1000"),
        FactorUse::new(Factor::Operation, ""),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::Ranks, ""),
        FactorUse::new(Factor::Share, "").among(Share::OF_TREE),
        FactorUse::new(Factor::Repeats, "1"),
        FactorUse::new(Factor::Pass, Touch::Steady.word()).among(Touch::WORDS),
        FactorUse::new(Factor::Latency, Switch::Off.word()).among(Switch::WORDS),
    ],
    capability: Capability::Metadata,
    sweep: true,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("meta", "what each metadata call costs here"),
    ("meta --operation create,stat,unlink --files 10000", "in a directory of 10 000 files"),
    (
        "meta --operation chmod --pass first,second,steady --place overlay,overlay+metacopy",
        "does metacopy make chmod cheaper, and when (as root)",
    ),
    (
        "meta --operation chmod,write-after-chmod,chmod-write --pass first --place overlay,overlay+metacopy",
        "what it saves now, what it costs later, and the sum",
    ),
    (
        "meta --operation chmod --pass first --file-size 100Ki,1Mi,10Mi --files 40 --place overlay",
        "cost against file size, with a fitted line",
    ),
    (
        "meta /scratch/me --operation create,stat,unlink --share own,one --mpi",
        "under mpirun: what one directory for all ranks costs",
    ),
];

/// What a trial asks for, checked.
pub(super) struct Job {
    pub(super) operation: &'static Operation,
    pub(super) tree: Tree,
    pub(super) span: CallSchedule,
}

impl Job {
    pub(super) fn of(trial: &Trial<'_>) -> Result<Job, Fault> {
        let refuse = |cause: String| Fault::new("prepare a metadata trial", cause);
        let id = trial.levels.text(Factor::Operation).unwrap_or(NamedCall::Stat.word());
        let operation = find(id)
            .ok_or_else(|| refuse(format!("no operation {id:?}; `iolab list operations`")))?;
        let subject = trial.subject.ok_or_else(|| refuse("it names no tree".into()))?;
        let files = trial.levels.number(Factor::Files).unwrap_or(1);
        if files == 0 || files > MOST_FILES {
            return Err(refuse(format!("{files} files; name 1 to {MOST_FILES}")));
        }
        let span = span(trial, operation, files).map_err(refuse)?;
        let (root, bytes, seed) = (subject.path.to_owned(), subject.bytes, subject.seed);
        let attributes = operation.part.can(Capability::Attributes);
        let together = Among { rank: subject.rank, ranks: subject.parts };
        let among = is_shared(trial.levels).then_some(together);
        Ok(Job { operation, tree: Tree { root, files, bytes, seed, attributes, among }, span })
    }
}

/// One call a file for the first and second touch, and for what uses up its file; all repeats on
/// each file, the first touch among them, for the whole; else as many calls as the extent says.
fn span(trial: &Trial<'_>, operation: &Operation, files: u64) -> Result<CallSchedule, String> {
    let touch = trial.levels.word_or(Touch::Steady).map_err(|word| word.to_string())?;
    let (before, whole) = (touch.before(), touch == Touch::Whole);
    let one_call = touch.is_one_call() || operation.effect.once();
    let repeats = match one_call {
        true => 1,
        false => trial.levels.number(Factor::Repeats).unwrap_or(1).max(1),
    };
    // A part of the whole is some of the files with all of their calls.
    let row = if whole { repeats } else { 1 };
    let (first, asked) = match trial.extent {
        Extent::Passes(passes) if before < 2 => (0, passes.min(1) * files * row),
        Extent::Passes(calls) => (0, calls),
        Extent::Part { first_operation, operations } => {
            (first_operation / row % files, operations.div_ceil(row) * row)
        }
    };
    if asked == 0 {
        return Err("it asks for no call".into());
    }
    let calls = match one_call || whole {
        true => asked.min(files * row),
        false => asked,
    };
    Ok(CallSchedule { files, first, calls, repeats, before })
}

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    let job = Job::of(trial)?;
    let doing = || {
        let (id, calls) = (job.operation.part.id, job.span.calls);
        format!("{id}, {calls} calls in {}", iolab_model::catalog::path_to_text(&job.tree.root))
    };
    let opened = PreparedTargets::open(&job.tree)
        .and_then(|stage| stage.named(&job.tree, job.operation.effect == Effect::Name))
        .map_err(|error| setup_teardown::fault(doing(), &error))?;
    warm(&job, &opened).map_err(|stop| setup_teardown::stopped(doing(), stop))?;
    let latency = trial.levels.is_on(Factor::Latency);
    let measured = match latency {
        false => timed(&job, &opened, job.operation.run, window),
        true => timed(&job, &opened, job.operation.watched, window),
    };
    measured.map_err(|stop| setup_teardown::stopped(doing(), stop))
}

/// The touches that come before the one that is measured, where the files are still there.
fn warm(job: &Job, stage: &PreparedTargets) -> Result<(), Stop> {
    if job.operation.before == Before::Chmod {
        calls::chmod(stage, &job.span.warming(0), &mut Unwatched)?;
    }
    if job.operation.effect.once() {
        return Ok(());
    }
    for at in 0..job.span.before {
        (job.operation.run)(stage, &job.span.warming(at), &mut Unwatched)?;
    }
    Ok(())
}

fn timed<W: Watch>(
    job: &Job,
    stage: &PreparedTargets,
    run: Loop<W>,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Stop> {
    let mut watch = W::default();
    window.open();
    let before = usage();
    let start_ns = now_ns();
    let result = run(stage, &job.span, &mut watch);
    let end_ns = now_ns();
    let after = usage();
    window.close();
    let Done { operations, .. } = result?;
    let mut measurement = Measurement {
        wall_ns: end_ns.saturating_sub(start_ns).max(1),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        operations,
        repetitions: if job.span.before < 2 { 1 } else { operations },
        ..Measurement::default()
    };
    if let Some(latencies) = watch.finish() {
        latencies.tell(Name::default(), &mut measurement);
    }
    Ok(measurement)
}
