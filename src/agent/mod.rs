//! The other process: the same binary, single-threaded, that does the I/O and nothing else.

mod frame;
mod protocol;
mod transport;

pub use frame::{read_frame, write_frame};
pub use protocol::{InstanceOrder, Reply, Request, TrialRequest};

pub use crate::workload::Extent;
pub use transport::{LocalChild, Transport};
