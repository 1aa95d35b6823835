//! System calls that the standard library and rustix lack; the only room with unsafe code.
#![allow(unsafe_code)]

pub mod below;
pub mod call_ring;
pub mod child;
pub mod clock;
pub mod clone;
pub mod close;
pub mod command;
pub mod direct;
pub mod extents;
pub mod fold;
pub mod fork;
pub mod loop_device;
pub mod machine;
pub mod made_up;
pub mod map;
pub mod mount;
pub mod name;
pub mod namespace;
pub mod new_memory;
pub mod page;
pub mod path;
pub mod prefetch;
pub mod primer;
pub mod process;
pub mod raw_call;
pub mod raw_control;
pub mod raw_name;
pub mod remove;
pub mod resident;
pub mod ring;
pub mod shared_map;
#[cfg(test)]
pub mod testing;
pub mod uncached;
pub mod usage;
