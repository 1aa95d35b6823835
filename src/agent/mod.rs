//! The other process: the same binary, single-threaded, that does the I/O and nothing else.

mod protocol;

pub use protocol::{InstanceOrder, Reply, Request, TrialRequest};

pub use crate::workload::Extent;
