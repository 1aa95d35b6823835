//! How it is done: one file each.

mod mmap;
mod mmap_populate;
mod null;
mod pread;
mod read;

use crate::catalog::Part;

/// Every method.
pub const METHODS: &[Part] =
    &[read::PART, pread::PART, mmap::PART, mmap_populate::PART, null::PART];
