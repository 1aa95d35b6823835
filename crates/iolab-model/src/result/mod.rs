//! A run as data: the format `iolab.run/1`. Pure types shared by the rooms that make, keep and
//! show results, so that a sample has one shape from the agent to the report.
//! Integers are bytes and nanoseconds. Fields are only ever added, never renamed.

mod along;
mod answer;
mod apart;
mod document;
mod environment;
mod exclusion;
mod finding;
mod interned;
mod json_numbers;
mod metrics;
mod more_time;
mod name;
mod place;
mod reached;
mod sample;
mod topic;

pub use along::{LevelsOf, crossings, within};
pub use answer::{
    Answer, AnswerKind, BY_MORE, CellStanding, Comparison, Grade, Pick, Regret, Summary, Twin,
    Verdict, Warning,
};
pub use apart::{Apart, Bounds};
pub use document::{
    CellRecord, Document, Estimate, ExperimentRecord, ProtocolRecord, RunInfo, SCHEMA,
};
pub use environment::Environment;
pub use exclusion::{CellStatus, ExclusionReason, SCREENED};
pub use finding::{Finding, FindingKind, Interval};
pub use interned::Shared;
pub use metrics::Metrics;
pub use more_time::MoreTime;
pub use name::Name;
pub use place::PlaceFacts;
pub use reached::{Reached, Step};
pub use sample::{
    CacheProof, CopyProof, CopyRoute, Digest, Effects, Fault, Measurement, Phase, Proof, Recorded,
    Residency, Sample,
};
pub use topic::Topic;
