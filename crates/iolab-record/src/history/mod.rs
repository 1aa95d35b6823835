//! The history on disk: one SQLite file, one transaction a run, and a spool for the run that is
//! being made. It knows documents and samples, nothing of plans or of how a run is driven.
//!
//! Invariants: the record never writes to a file system under test while a run is made; a trial
//! that ended is never lost to a signal; a file that is not understood is never changed.

mod error;
mod format;
mod keep;
mod list;
mod lost;
mod rows;
mod spool;
mod store;
mod writer;

pub use error::RecordError;
pub use format::VERSION;
pub use keep::{Imported, Retention};
pub use list::{Filter, RunStatus, RunSummary};
pub use lost::{Lost, sweep_lost};
pub use store::Store;
pub use writer::Writer;
