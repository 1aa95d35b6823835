//! What controller and agent say to each other: one request, one reply, each a frame of a 4-byte
//! little-endian length and JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::content::Content;
use super::place_needs;
use iolab_io::host::{Probe, Work};
use iolab_io::workload::Extent;
use iolab_model::catalog::{Factor, Level, Levels, path_to_text};
use iolab_model::plan::{Facts, Plan, SharedBy};
use iolab_model::result::{Environment, Fault, Measurement, PlaceFacts, Warning};
use iolab_model::spec::Experiment;
use iolab_model::tree::TreeOrder;

/// What the controller asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// At any time: what an experiment could have there. Nothing is left behind.
    Survey(Box<SurveyOrder>),
    /// At any time: the facts of the machine, and what of them can spoil or explain a result.
    Look(Box<LookOrder>),
    /// At any time: what can be had and proven there. What is tried is gone again.
    Inspect(Box<InspectOrder>),
    /// Before the first trial: measure the clock, test the probes, make the scratch directory.
    Start {
        /// Must be the agent's own.
        version: String,
        /// The directory to work under, as lossless text.
        directory: String,
        /// No file is made in it, so that another one will do where this one cannot be written to.
        #[serde(default)]
        only_reads: bool,
        /// Processors to bind to; empty: not bound.
        cpus: Vec<u32>,
    },
    /// Before the first file on a place: under which terms places are made.
    Places(PlaceTerms),
    /// What the places turned out to be.
    Describe,
    /// Make or open a file instance.
    Make(InstanceOrder),
    /// Of an instance that ranks share, at the first of them: begin it, so that each can `Make` its part.
    BeginShared(InstanceOrder),
    /// Open it, when all parts are made.
    OpenShared(InstanceOrder),
    /// Evict all instances, then prime them in this order.
    Renew(Vec<usize>),
    /// One trial.
    Trial(Box<TrialRequest>),
    /// Of a trial that ranks share, at the first of them: make what all will find.
    Lay(Box<TrialRequest>),
    /// Remove that, when all are done with it.
    Lift(Box<TrialRequest>),
    /// What tells the agent's scratch directory from any other.
    Beacon,
    /// Whether that of another agent is seen from here.
    Sees(Beacon),
    /// Let go of what is another rank's, which that one is about to remove.
    LetGo,
    /// Whether what commands were to read is as it was.
    LookBack,
    /// At any time: nothing. Whoever waits while others work has heard of the controller.
    StillHere,
    /// Remove the scratch directory and end.
    End,
}

/// An experiment, as far as what can be had depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurveyOrder {
    /// Must be the agent's own.
    pub version: String,
    /// `read`, `syscall`, …
    pub workload: String,
    /// The directory to work under, as lossless text.
    pub directory: String,
    /// The axes that were named: one entry a level.
    pub levels: Vec<Levels>,
    /// Processors that trials are to be bound to; empty: not bound.
    pub cpus: Vec<u32>,
}

impl SurveyOrder {
    /// What there is to be known for an experiment.
    pub fn of(experiment: &Experiment) -> SurveyOrder {
        let each = experiment.factors.iter().flat_map(|(factor, levels)| {
            levels.iter().map(|level| Levels::new().with(*factor, level.clone()))
        });
        SurveyOrder {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workload: experiment.workload.clone(),
            directory: path_to_text(&experiment.directory),
            levels: each.collect(),
            cpus: experiment.protocol.cpus.clone(),
        }
    }

    /// The axes that were named, each with its levels in the order written.
    pub fn factors(&self) -> BTreeMap<Factor, Vec<Level>> {
        let mut factors: BTreeMap<Factor, Vec<Level>> = BTreeMap::new();
        for (factor, level) in self.levels.iter().flat_map(Levels::iter) {
            factors.entry(factor).or_default().push(level.clone());
        }
        factors
    }
}

/// What to try, whatever is going to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InspectOrder {
    /// Must be the agent's own.
    pub version: String,
    /// The directory that will be measured, as lossless text; absent: only the places are tried.
    pub directory: Option<String>,
    /// Where the history is kept, as lossless text, where that is there too.
    #[serde(default)]
    pub state: Option<String>,
}

impl InspectOrder {
    /// The places alone.
    pub fn of_places() -> InspectOrder {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        InspectOrder { version, directory: None, state: None }
    }

    /// Everything, for this directory.
    pub fn of_directory(directory: &Path, state: Option<&Path>) -> InspectOrder {
        let directory = Some(path_to_text(directory));
        InspectOrder { directory, state: state.map(path_to_text), ..InspectOrder::of_places() }
    }
}

/// What can be had and proven.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// A line for each thing that was tried.
    pub probes: Vec<Probe>,
    /// Kinds of places that cannot be made there: why, and the remedy.
    pub missing_places: BTreeMap<String, String>,
}

/// Why an experiment cannot be done where the agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Objection {
    /// What it is about.
    pub subject: Subject,
    /// Whether it may not be done there, which no other words would change; else it was asked
    /// wrongly.
    pub refused: bool,
    /// In one line with the fix.
    pub text: String,
}

/// What an objection is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    /// The directory to work under.
    Directory,
    /// The processors to bind to.
    Processors,
}

impl Objection {
    /// Asked wrongly.
    pub fn wrong(subject: Subject, text: impl Into<String>) -> Objection {
        Objection { subject, refused: false, text: text.into() }
    }

    /// It may not be done there.
    pub fn refused(subject: Subject, text: impl Into<String>) -> Objection {
        Objection { subject, refused: true, text: text.into() }
    }
}

/// What to tell of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LookOrder {
    /// Directories under test as lossless text, the first one first.
    pub directories: Vec<String>,
    /// What is going to be measured.
    pub work: Work,
    /// Programs whose version is wanted, by name or path.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Files of the person's as lossless text: what tells each from another of its name is wanted.
    #[serde(default)]
    pub files: Vec<String>,
    /// Traces of the person's, likewise: what each is is wanted.
    #[serde(default)]
    pub traces: Vec<String>,
    /// Whether the contents of the files that they name are copied.
    #[serde(default)]
    pub with_data: bool,
    /// What was told at an earlier look: what has changed since is a hazard.
    #[serde(default)]
    pub before: Option<Environment>,
}

/// What was seen of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// Its facts.
    pub environment: Environment,
    /// What of them can spoil or explain a result; after an earlier look, what has changed since.
    pub hazards: Vec<Warning>,
    /// Versions of the programs that were asked for, where they tell one.
    #[serde(default)]
    pub versions: BTreeMap<String, String>,
}

/// A file instance to make or to open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InstanceOrder {
    /// Its number.
    pub id: usize,
    /// On which of several machines that are compared; the agent there needs not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
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
    /// The files of the tree carry an extended attribute.
    #[serde(default)]
    pub attributes: bool,
    /// What is made stays for later runs, as long as all that is kept takes at most so much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_bytes: Option<u64>,
    /// Where the ranks of a job make it together: how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedBy>,
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

impl PlaceTerms {
    /// The terms for a plan, with the devices that the person has consented to.
    pub fn of(plan: &Plan, devices: &[PathBuf], destroy: &[PathBuf]) -> PlaceTerms {
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| path_to_text(path)).collect();
        PlaceTerms {
            image_bytes: match plan.image_bytes {
                0 => place_needs::image_bytes(&place_needs::named(&plan.factors), 0),
                bytes => bytes,
            },
            devices: texts(devices),
            destroy: texts(destroy),
            disks: BTreeMap::new(),
        }
    }
}

/// What tells a scratch directory from any other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beacon {
    /// Where it is, as lossless text.
    pub path: String,
    /// What its marker says: who made it, and when.
    pub text: String,
    /// Those of all ranks, by rank, as lossless text.
    #[serde(default)]
    pub all: Vec<String>,
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

impl TrialRequest {
    /// The place of its file: the source of a copy may be in a place of its own, and a file of the
    /// person's is where it is.
    pub fn source_place(&self) -> Option<&str> {
        match self.levels.get(Factor::File) {
            Some(_) => None,
            None => self.levels.text(Factor::SourcePlace).or(self.levels.text(Factor::Place)),
        }
    }

    /// Whether it matters what was touched before: such a trial begins on a fresh upper layer.
    pub fn is_touch(&self) -> bool {
        self.levels.get(Factor::Pass).is_some()
    }
}

/// What the agent answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Not the answer yet, which takes long: the agent is at work.
    AtWork,
    /// To `Survey`.
    Surveyed(Box<Facts>),
    /// To `Survey` and `Inspect`: it cannot be done there.
    Objected(Objection),
    /// To `Inspect`.
    Inspected(Box<Inspection>),
    /// To `Look`.
    Seen(Box<Sight>),
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
    /// To `Beacon`.
    Lit(Beacon),
    /// To `Places`, `Make`, `Renew`, `Sees`, `LookBack`, `StillHere` and `End`, and to what is said of what
    /// ranks share.
    Done,
    /// To `Trial`.
    Measured(Box<Measurement>),
    /// To `Trial`: this trial alone is lost.
    Lost(Fault),
    /// To any: cannot go on.
    Refused(Fault),
}
