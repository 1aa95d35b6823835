//! Reach a cache state and prove it: residency before the window, device bytes after it.

mod direct;
mod drain;
mod evict;
mod prepare;
mod prober;
mod residency;
mod stored;
mod survey;

pub use direct::{before_direct, conclude_direct};
pub use drain::{Drained, drain};
pub use evict::{evict, evict_written, prime, prime_end};
pub use prepare::{
    conclude, flag, flag_of_effort, just_mounted, looked_at, prepare, prepare_shared,
    prepare_written,
};
pub use prober::{Prober, Rejected};
pub use residency::{Probe, device_read_bytes};
pub use stored::stored_bytes;
pub use survey::{CacheChange, CachedFile, Unseen, survey};

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
