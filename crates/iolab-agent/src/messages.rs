//! What controller and agent say to each other: one request, one reply, each a frame of a 4-byte
//! little-endian length and JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::content::Content;
use iolab_io::workload::Extent;
use iolab_model::catalog::Levels;
use iolab_model::result::{Fault, Measurement, PlaceFacts};
use iolab_model::tree::TreeOrder;

/// What the controller asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// First: measure the clock, test the probes, make the scratch directory.
    Start {
        /// Must be the agent's own.
        version: String,
        /// The directory to work under, as lossless text.
        directory: String,
        /// Processors to bind to; empty: not bound.
        cpus: Vec<u32>,
    },
    /// Before the first file on a place: under which terms places are made.
    Places(PlaceTerms),
    /// What the places turned out to be.
    Describe,
    /// Make or open a file instance.
    Make(InstanceOrder),
    /// Evict all instances, then prime them in this order.
    Renew(Vec<usize>),
    /// One trial.
    Trial(Box<TrialRequest>),
    /// Remove the scratch directory and end.
    End,
}

/// A file instance to make or to open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceOrder {
    /// Its number.
    pub id: usize,
    /// The person's file as lossless text; absent: make one.
    pub path: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// Seed of the content, and of the random order of trials on it.
    pub seed: u64,
    /// What a made file holds.
    #[serde(default)]
    pub content: Content,
    /// The place that it is made on, as written; absent: the directory under test.
    #[serde(default)]
    pub place: Option<String>,
    /// Places that copies of it go to, to be made ready too.
    #[serde(default)]
    pub targets: Vec<String>,
    /// So many files of this size in a directory instead of the one.
    #[serde(default)]
    pub files: Option<u64>,
    /// Where it is a tree of files: which.
    #[serde(default)]
    pub tree: Option<TreeOrder>,
}

/// How places are made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaceTerms {
    /// Size of every image.
    pub image_bytes: u64,
    /// Devices that may be written to, as lossless text.
    #[serde(default)]
    pub devices: Vec<String>,
    /// Devices whose content may be lost.
    #[serde(default)]
    pub destroy: Vec<String>,
    /// Places that lie on a disk with their file system already on it, by their text: in a guest.
    #[serde(default)]
    pub disks: BTreeMap<String, String>,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRequest {
    /// `read`, `syscall`, …
    pub workload: String,
    /// The cell's levels.
    pub levels: Levels,
    /// Which file instance, where the cell needs one.
    pub instance: Option<usize>,
    /// How much.
    pub extent: Extent,
    /// The trial is killed after this long.
    pub limit_ns: u64,
}

/// What the agent answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// To `Start`.
    Started {
        /// Smallest step of the clock.
        clock_resolution_ns: f64,
        /// Cost of an empty pair of reads.
        clock_cost_ns: f64,
        /// The scratch directory, as lossless text.
        scratch: String,
    },
    /// To `Describe`.
    Described(Vec<PlaceFacts>),
    /// To `Places`, `Make`, `Renew` and `End`.
    Done,
    /// To `Trial`.
    Measured(Box<Measurement>),
    /// To `Trial`: this trial alone is lost.
    Lost(Fault),
    /// To any: cannot go on.
    Refused(Fault),
}
