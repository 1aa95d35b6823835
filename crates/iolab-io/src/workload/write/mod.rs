//! The workload `write`: bytes of the program, brought to a file, and how long until they are
//! safe there.

mod check;
mod task;
#[cfg(test)]
mod tests;

use crate::method::{self, MeasuredWindow, WriteEntry, Written};
use iolab_model::catalog::{
    Capability, Factor, FactorUse, Fill, Levels, Part, Pattern, Share, Switch, Sync, Target, Until,
    WorkloadId, WorkloadInfo, is_shared,
};
use iolab_model::result::{Fault, Measurement, Metrics, Name};

use super::portion::no_turns;
use super::{Extent, SetupTeardown, Trial, Workload};
use task::Task;

/// The workload.
pub const WORKLOAD: Workload = Workload {
    info: INFO,
    run,
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: task::prepare,
        verify: check::verify,
        clear: task::clear,
        lay: task::lay,
        lift: task::lift,
        ..SetupTeardown::NOTHING
    },
    impossible,
};

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Write.word(),
        "write a file: method × block × sync × target, timed until it is durable",
    ),
    factors: &[
        FactorUse::new(Factor::FileSize, ""),
        FactorUse::new(Factor::Method, ""),
        FactorUse::new(Factor::Contender, ""),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::Block, "4Ki,16Ki,64Ki,256Ki,1Mi"),
        FactorUse::new(Factor::Threads, "1"),
        FactorUse::new(Factor::Ranks, ""),
        FactorUse::new(Factor::Share, "").among(Share::OF_FILE),
        FactorUse::new(Factor::Pattern, Pattern::USUAL).among(Pattern::WORDS),
        FactorUse::new(Factor::Sync, Sync::WORDS[0]).among(Sync::WORDS),
        FactorUse::new(Factor::Direct, Switch::Off.word()).among(Switch::WORDS),
        FactorUse::new(Factor::QueueDepth, "8"),
        FactorUse::new(Factor::Latency, Switch::Off.word()).among(Switch::WORDS),
        FactorUse::new(Factor::Fill, Fill::USUAL).among(Fill::WORDS),
        FactorUse::new(Factor::Target, Target::New.word()).among(Target::WORDS),
        FactorUse::new(Factor::Until, Until::Durable.word()).among(Until::WORDS),
        FactorUse::new(Factor::Memory, ""),
    ],
    capability: Capability::Write,
    sweep: false,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("write", "which method and block size, until the data are durable"),
    ("write /data --sync end,dsync,sync --block 4Ki,64Ki --method pwrite", "what safety costs"),
    (
        "write --target new,overwrite,preallocated,append --block 64Ki --method write",
        "does it pay to preallocate",
    ),
    ("write --until return --block 4Ki,64Ki", "how fast the page cache takes it"),
    ("write --file-size 1Gi --plan", "what it would cost and write; nothing is done"),
];

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    let task = Task::new(trial)?;
    let pool = task.pool()?;
    task.create()?;
    let written = (task.entry.run)(&task.job(&pool), window)?;
    let repetitions = match trial.extent {
        Extent::Passes(passes) => passes,
        Extent::Part { .. } => 1,
    };
    let mut measurement = Measurement {
        wall_ns: written.wall_ns,
        user_ns: written.user_ns,
        system_ns: written.system_ns,
        bytes: written.bytes,
        operations: written.operations,
        repetitions,
        metrics: metrics(&task, &written),
        ..Measurement::default()
    };
    if let Some(latencies) = &written.latencies {
        latencies.tell(Name::default(), &mut measurement);
    }
    Ok(measurement)
}

/// The times, and what a sync and a byte cost.
fn metrics(task: &Task, written: &Written) -> Metrics {
    let times = &written.times;
    let partitions = task.layout.partitions.len() as f64;
    let syncs = task.sync.count(written.operations);
    let sync_ns = match (task.sync, times.end_sync_ns, times.durable_ns) {
        (Sync::End, Some(end_ns), _) => Some(end_ns as f64),
        (Sync::None, _, Some(durable_ns)) => Some(durable_ns.saturating_sub(times.close_ns) as f64),
        (Sync::None | Sync::End, ..) => None,
        _ => Some(times.return_ns as f64 * partitions / syncs.max(1) as f64),
    };
    let per_byte = (written.bytes > 0).then(|| written.wall_ns as f64 / written.bytes as f64);
    let rows = [
        ("return_ns", Some(times.return_ns as f64)),
        ("close_ns", Some(times.close_ns as f64)),
        ("durable_ns", times.durable_ns.map(|ns| ns as f64)),
        ("namespace_ns", times.namespace_ns.map(|ns| ns as f64)),
        ("sync_ns", sync_ns),
        ("ns_per_byte", per_byte),
    ];
    rows.into_iter().filter_map(|(id, value)| Some((Name::from(id), value?))).collect()
}

const NO_BLOCK: &str = "it has no block of its own and would be synced once a MiB; take --sync end, \
                        or --pattern random, where it is a page";

/// Whether a method that has no block would sync after as many bytes as it likes: mmap came out eight
/// times as fast as writes of 4 KiB with an fsync each, for it made one for each MiB.
fn syncs_other_blocks(levels: &Levels, entry: &WriteEntry) -> bool {
    let counts = matches!(levels.word(), Some(Sync::Fsync | Sync::Fdatasync | Sync::Every(_)));
    let in_order = levels.word_or(Pattern::Sequential) == Ok(Pattern::Sequential);
    let own = (entry.step_bytes)(1, Pattern::Sequential) != 1;
    counts && in_order && own
}

/// Why these levels cannot be combined, and what to do instead.
pub fn impossible(levels: &Levels) -> Option<String> {
    let id = levels.text(Factor::Method)?;
    let entry = method::find(id)?.write.as_ref()?;
    if let Some((lack, why)) = entry.lacks.iter().find(|(lack, _)| lack.is_asked(levels)) {
        return Some(format!("{id} with {lack}: {why}"));
    }
    let own_step = (entry.step_bytes)(1, Pattern::Sequential) != 1;
    if let Some(why) = no_turns(levels, own_step) {
        return Some(why);
    }
    if let Err(why) = levels.word_or(Fill::Random) {
        return Some(why.to_string());
    }
    if syncs_other_blocks(levels, entry) {
        return Some(format!("{id} with a sync after each block: {NO_BLOCK}"));
    }
    if levels.word() != Some(Target::Append) {
        return None;
    }
    if is_shared(levels) {
        return Some(
            "append: a file that ranks share grows at one end; take another --target".into(),
        );
    }
    let in_order = levels.word_or(Pattern::Sequential) == Ok(Pattern::Sequential);
    let alone = levels.number(Factor::Threads).is_none_or(|threads| threads == 1);
    (!in_order || !alone).then(|| {
        "append: what is appended comes in the order of the calls; take --pattern sequential and \
         --threads 1"
            .to_owned()
    })
}
