//! System calls that the standard library and rustix lack; the only room with unsafe code.
#![allow(unsafe_code)]

pub mod clock;
pub mod extents;
pub mod machine;
pub mod resident;
#[cfg(test)]
pub mod testing;
pub mod usage;
