//! The machine: what is measured, how, where, and in which state of the cache.

#[macro_use]
mod each_of; //      one field of every item of a list

pub mod cache; //    reach a cache state and prove it
pub mod host; //     facts of the machine, probes, hazards
pub mod method; //   how it is done: one file each
pub mod metric; //   what is counted beside time: one row each
pub mod place; //    where the files are: made, read back, torn down
pub mod sys; //      system calls; the only room with unsafe code
pub mod tool; //     the small tools around a measurement: make, checksum, compare
pub mod workload; // what is done: one file each
