//! What one trial yields.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interned::Shared;
use super::metrics::Metrics;
use super::name::Name;
use super::reached::Reached;
use crate::catalog::{CacheState, Code};

/// Where in the run a trial stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Round 0: reported alone.
    First,
    /// Rounds 1 and 2: recorded, in no comparison.
    Warmup,
    /// Every later round: what comparisons are made of.
    Steady,
}

impl Phase {
    /// As results write it.
    pub const fn word(self) -> &'static str {
        match self {
            Phase::First => "first",
            Phase::Warmup => "warmup",
            Phase::Steady => "steady",
        }
    }
}

/// What the agent measured in one trial. Times, bytes and operations are totals of the trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Wall time of the timed window.
    pub wall_ns: u64,
    /// User time of the window, all threads. Split from system time by ticks on most kernels.
    pub user_ns: u64,
    /// System time of the window, all threads.
    pub system_ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Calls or loop steps made.
    pub operations: u64,
    /// Passes made within the window; 1 for a bounded trial.
    pub repetitions: u64,
    /// What was counted beside time, by metric id.
    #[serde(default)]
    pub metrics: Metrics,
    /// The evidence.
    pub proof: Shared<Proof>,
    /// What is remarkable about it.
    #[serde(default)]
    pub flags: Vec<Code>,
    /// By rank of an MPI job: from the barrier until it was done. None where there was no other.
    #[serde(default, skip_serializing_if = "<[u64]>::is_empty")]
    pub ranks_ns: Box<[u64]>,
    /// What the percentiles of its operations are made of, on the way from a rank to where those of all
    /// are put together: in no record.
    #[serde(default, skip_serializing_if = "<[Recorded]>::is_empty")]
    #[schemars(skip)]
    pub recorded: Box<[Recorded]>,
}

/// How long operations of one kind took, counted in buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The step of an operation; empty: the whole of it.
    pub step: Name,
    /// The number of a bucket and how many operations fell into it, where any did.
    pub counts: Box<[(u32, u64)]>,
    /// The longest.
    pub greatest_ns: u64,
}

/// Why a trial gave no measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{doing}: {cause}")]
pub struct Fault {
    /// What was being done: `read /data/a`.
    pub doing: String,
    /// Why it ended: the error's text, a signal's name, the limit that was passed.
    pub cause: String,
    /// The errno, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
    /// The signal, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl Fault {
    /// What was being done and why it is not done; no system call said so.
    pub fn new(doing: impl Into<String>, cause: impl Into<String>) -> Fault {
        Fault { doing: doing.into(), cause: cause.into(), errno: None, signal: None }
    }

    /// A system call failed: its text and its errno.
    pub fn of(doing: impl Into<String>, error: &io::Error) -> Fault {
        Fault::new(doing, error.to_string()).errno(error.raw_os_error())
    }

    /// The same, and what would help.
    #[must_use]
    pub fn remedy(mut self, remedy: &str) -> Fault {
        if !remedy.is_empty() {
            self.cause = format!("{}; {remedy}", self.cause);
        }
        self
    }

    /// The same, with an errno where there is one.
    #[must_use]
    pub fn errno(self, errno: Option<i32>) -> Fault {
        Fault { errno, ..self }
    }

    /// The same, with the signal that ended it where there is one.
    #[must_use]
    pub fn signal(self, signal: Option<i32>) -> Fault {
        Fault { signal, ..self }
    }
}

/// The evidence that a trial measured what it says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The cache state, for work on cached data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheProof>,
    /// The digest of what was consumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// How a copy came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyProof>,
    /// Whether calls that change something changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
}

/// Which way the bytes of a copy went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyRoute {
    /// Nowhere: the target shares the source's extents. No copy, and never ranked with copies.
    Cloned,
    /// From page to page within the kernel.
    InKernel,
    /// Through memory of the program.
    UserSpace,
}

impl CopyRoute {
    /// As results and reports write it.
    pub const fn text(self) -> &'static str {
        match self {
            CopyRoute::Cloned => "cloned",
            CopyRoute::InKernel => "in the kernel",
            CopyRoute::UserSpace => "through user space",
        }
    }
}

/// What a copy turned out to be, seen on the target after the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyProof {
    /// Which way the bytes went, by their traces: shared extents are a clone, whatever was called.
    pub route: CopyRoute,
    /// Bytes of the target in extents that are shared with another file (FIEMAP); absent where
    /// the file system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u64>,
    /// Bytes that the target takes (`st_blocks`).
    pub stored_bytes: u64,
    /// Bytes of the target that are holes.
    #[serde(default)]
    pub hole_bytes: u64,
    /// Size and mode are those of the source (of a bounded trial: as far as it came).
    pub matches: bool,
    /// What differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Proof {
    /// Whether the trial may enter a comparison.
    pub fn holds(&self) -> bool {
        self.cache.as_ref().is_none_or(|c| c.proven)
            && self.digest.as_ref().is_none_or(|d| d.matches != Some(false))
            && self.copy.as_ref().is_none_or(|c| c.matches)
            && self.effects.as_ref().is_none_or(Effects::hold)
    }
}

/// Two independent proofs of a cache state: residency before, device bytes after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheProof {
    /// The state asked for: `cold`, `warm`, `any`, or `direct`.
    pub wanted: Name,
    /// How it was reached: `evict`, `evict+prime`, `drop_caches`.
    pub how: Reached,
    /// Residency just before the timed window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Residency>,
    /// Bytes that the device delivered during the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// Bytes that the device had to deliver for the state to be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_device_bytes: Option<u64>,
    /// Both proofs hold.
    pub proven: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Two proofs contradict each other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disagree: bool,
}

impl CacheProof {
    /// Of work past the page cache, in [`CacheProof::wanted`].
    pub const DIRECT: &str = "direct";

    /// The state that was asked for; nothing where none was.
    pub fn state(&self) -> Option<CacheState> {
        self.wanted.parse().ok()
    }

    /// Whether it is about work past the page cache.
    pub fn is_direct(&self) -> bool {
        self.wanted.as_str() == CacheProof::DIRECT
    }
}

/// How much of a file is in the page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// The probe that saw it: `cachestat`, `mincore`, `rwf_nowait`.
    pub probe: Name,
    /// Bytes of the file, rounded up to pages.
    pub total_bytes: u64,
    /// Bytes that are resident.
    pub resident_bytes: u64,
    /// Bytes that are dirty or under writeback, where the probe can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
}

/// The digest of consumed bytes and whether it is the file's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Digest {
    /// `xor`, `histogram`, `crc32c`.
    pub kind: Name,
    /// Lower-case hexadecimal.
    pub hex: String,
    /// Whether it is the expected one; absent where it was not checked in this trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<bool>,
}

/// What was found of the effects of a trial's calls, looked at outside of the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Effects {
    /// Files that were looked at.
    pub checked: u64,
    /// Those that were not as the calls should have left them.
    pub wrong: u64,
    /// The first of them, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

impl Effects {
    /// Counts one that is wrong.
    pub fn miss(&mut self, what: String) {
        self.wrong += 1;
        self.example.get_or_insert(what);
    }

    /// Whether all are right.
    pub fn hold(&self) -> bool {
        self.wrong == 0
    }
}

/// One trial of one cell in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Round, from 0.
    pub round: u32,
    /// Place in the order of that round, from 0.
    pub position: u32,
    /// First, warm-up or steady.
    pub phase: Phase,
    /// Which renewal of the file instances it used, from 0.
    #[serde(default)]
    pub epoch: u32,
    /// The measurement (flattened), all zero where the trial failed.
    #[serde(flatten)]
    pub measurement: Measurement,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

impl Sample {
    /// Whether the sample may enter a comparison: it succeeded and its proof holds.
    pub fn counts(&self) -> bool {
        self.fault.is_none() && self.measurement.proof.holds() && self.measurement.wall_ns > 0
    }

    /// Whether it is one of those that answers rest on: it counts, and is no warm-up and no screening.
    pub fn is_steady(&self) -> bool {
        self.phase == Phase::Steady && self.counts()
    }

    /// Wall nanoseconds per unit of work: per byte where the trial moved bytes, else per operation.
    pub fn unit_ns(&self) -> Option<f64> {
        let work = match self.measurement.bytes {
            0 => self.measurement.operations,
            bytes => bytes,
        };
        (self.counts() && work > 0).then(|| self.measurement.wall_ns as f64 / work as f64)
    }
}
