//! A run as data: the format `iolab.run/1`. Pure types shared by the rooms that make, keep and
//! show results, so that a sample has one shape from the agent to the report.
//! Integers are bytes and nanoseconds. Fields are only ever added, never renamed.

mod answer;
mod document;
mod environment;
mod exclusion;
mod interned;
mod json_numbers;
mod metrics;
mod name;
mod place;
mod reached;
mod sample;
mod topic;

pub use answer::{
    Answer, AnswerKind, CellStanding, Comparison, Finding, FindingKind, Grade, Interval, Pick,
    Regret, Summary, Twin, Verdict, Warning,
};
pub use document::{
    CellRecord, CellStatus, Document, Estimate, ExperimentRecord, ProtocolRecord, RunInfo, SCHEMA,
};
pub use environment::Environment;
pub use exclusion::{ExclusionReason, SCREENED};
pub use interned::Shared;
pub use metrics::Metrics;
pub use name::Name;
pub use place::PlaceFacts;
pub use reached::{Reached, Step};
pub use sample::{
    CacheProof, CopyProof, CopyRoute, Digest, Effects, Fault, Measurement, Phase, Proof, Residency,
    Sample,
};
pub use topic::Topic;
