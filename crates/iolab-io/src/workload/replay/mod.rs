//! The workload `replay`: what a recorded program did with files, done again without it on files of
//! our own, as recorded or in another way.
//!
//! A pass is the whole program. Each call is held against what was recorded, in the loop itself: one
//! comparison. What cannot be made again is left out before (`iolab_trace::replay`).

mod aside;
mod clones;
mod files;
mod originals;
mod os_flags;
mod play;
mod root;
mod run;
mod scene;
mod settings;
#[cfg(test)]
mod tests;
mod walk;

pub use files::{make, remove};
pub use originals::{Lacking, lacking};
pub use scene::Scene;

use iolab_model::catalog::{
    CacheState, Capability, Consume, Factor, FactorUse, Part, Pattern, RECORDED, ReplayMethod,
    ReplayReadahead, ReplaySync, ReplayThink, Switch, WorkloadId, WorkloadInfo,
};
use iolab_model::result::{Fault, Measurement};

use super::{SetupTeardown, Trial, Visit, Workload};
use crate::method::Layout;
use scene::State;

/// Tables of a file system that a trial which writes may bring in.
const TABLE_BYTES: u64 = 1 << 20;

/// The workload.
pub const WORKLOAD: Workload = Workload {
    info: INFO,
    run: run::run,
    visits: |trial| run::scene(trial).map(|(scene, _)| Some(visit(scene))),
    around: SetupTeardown { prepare, verify, clear, ..SetupTeardown::NOTHING },
    impossible: settings::impossible,
};

const REPLAYS: &[Capability] = &[Capability::Replay];

/// The ways to move bytes.
pub const METHODS: &[Part] = &[
    Part::method(ReplayMethod::Recorded.word(), "the recorded calls").with(REPLAYS),
    Part::method(ReplayMethod::Pread.word(), "pread and pwrite in place of lseek, read and write")
        .with(REPLAYS),
    Part::method(ReplayMethod::Mmap.word(), "mappings in place of reads of what is only read")
        .with(REPLAYS),
    Part::method(
        ReplayMethod::IoUring.word(),
        "as pread, each call a request in a ring, one at a time",
    )
    .with(REPLAYS)
    .needing("io_uring"),
    Part::method(
        ReplayMethod::Direct.word(),
        "as pread, past the page cache where offset and length are aligned, else through it",
    )
    .with(&[Capability::Replay, Capability::Direct])
    .ignoring(&[Factor::Cache, Factor::Readahead])
    .needing("a file system with O_DIRECT"),
];

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Replay.word(),
        "the file work of a recorded program, done again without it, as recorded or in another way",
    ),
    factors: &[
        FactorUse::new(Factor::Trace, ""),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::Method, RECORDED),
        FactorUse::new(Factor::Block, "recorded,4Ki,64Ki,1Mi").among(&[RECORDED]),
        FactorUse::new(Factor::Sync, RECORDED).among(ReplaySync::WORDS),
        // No levels where none are asked for: runs that were recorded before stay comparable.
        FactorUse::new(Factor::Threads, "").among(&[RECORDED]),
        FactorUse::new(Factor::Readahead, "").among(ReplayReadahead::WORDS),
        FactorUse::new(Factor::Think, "").among(ReplayThink::WORDS),
        FactorUse::new(Factor::WithData, "").among(Switch::WORDS),
        FactorUse::new(Factor::Cache, CacheState::Warm.word()).among(CacheState::WORDS),
        FactorUse::new(Factor::Memory, ""),
    ],
    capability: Capability::Replay,
    // What the program did is compared with, so that it is never left out.
    sweep: true,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("replay report.trace", "would larger buffers make this program faster"),
    ("replay report.trace --block 64Ki --cache cold", "the same, its files not in the cache"),
    (
        "replay copy.trace --threads 2,4 --block recorded",
        "would working on several files at a time help",
    ),
    (
        "replay report.trace --readahead sequential,random --cache cold --block recorded",
        "would telling the kernel how it reads help",
    ),
    ("replay sqlite.trace --sync recorded,close,end,none --block recorded", "what its fsyncs cost"),
    (
        "replay logs.trace --with-data --block recorded --place btrfs:compress=zstd,ext4",
        "what a file system that compresses makes of the files themselves (as root)",
    ),
    (
        "replay build.trace --block recorded --place ext4,xfs,tmpfs",
        "on which file system its file work is fastest (as root)",
    ),
];

/// What a device must deliver where nothing is cached: of the program's own files at least what it
/// reads and leaves as it is. Of what it writes to, tables of the file system may come beside it.
fn visit(scene: &Scene) -> Visit {
    let bytes = scene.replay.read_bytes;
    // A part of all of them, byte by byte.
    let all = scene.replay.file_bytes();
    let layout =
        Layout::new(all.max(1), 1, 1, Pattern::Sequential, scene.seed).part(0, bytes.min(all));
    let writes = scene.replay.written_bytes > 0 || !scene.replay.changes.is_empty();
    let aside_bytes = if writes { TABLE_BYTES } else { 0 };
    Visit { layout, consume: Consume::None, real: false, aside_bytes }
}

fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    let (scene, subject) = run::scene(trial)?;
    files::restore(scene, subject.path)?;
    scene.compile(run::way(trial, scene, subject)?);
    scene.set(State::Unknown);
    Ok(())
}

fn verify(trial: &Trial<'_>, _: &mut Measurement) -> Result<(), Fault> {
    let (scene, subject) = run::scene(trial)?;
    files::check(scene, subject.path)
}

/// At once, so that files that are renewed are those of the first state.
fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    let (scene, subject) = run::scene(trial)?;
    files::restore(scene, subject.path)
}
