//! Reach a cache state and prove it: residency before the window, device bytes after it.

mod direct;
mod drain;
mod evict;
mod prepare;
mod prober;
mod residency;
mod stored;

pub use direct::{before_direct, conclude_direct};
pub use drain::{Drained, drain};
pub use evict::{evict, evict_written, prime};
pub use prepare::{conclude, flag, just_mounted, looked_at, prepare, prepare_written};
pub use prober::{Prober, Rejected};
pub use residency::{Probe, device_read_bytes};
pub use stored::stored_bytes;

/// A fault with the errno of an I/O error.
fn fault(doing: impl Into<String>, error: &std::io::Error) -> iolab_model::result::Fault {
    iolab_model::result::Fault {
        doing: doing.into(),
        cause: error.to_string(),
        errno: error.raw_os_error(),
        signal: None,
    }
}

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
