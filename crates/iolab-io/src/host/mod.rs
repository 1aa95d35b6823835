//! Facts of the machine, probes of what can be had, hazards in words.
//!
//! Everything is read through a `tree::Tree`, so that tests can show it another machine.

mod available;
mod cpu;
mod device;
mod environment;
mod files;
mod hazards;
mod kernel;
mod limits;
mod memory;
mod methods;
mod mount;
mod pressure;
mod probes;
mod program;
mod tree;

pub use crate::sys::page::page_bytes;
pub use available::{
    available_memory_bytes, last_level_cache_bytes, no_bypass, processors, unavailable,
};
pub use device::device_identity;
pub use environment::environment;
pub use files::file_facts;
pub use hazards::{Work, hazards, swapped};
pub use methods::{direct_alignment_bytes, greatest_locked_bytes, unavailable_methods};
pub use probes::{Probe, may_drop_caches, probes};
pub use program::{find_program, is_packaged, version_line};
