//! The unit of memory.

/// Size of a page, in bytes.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}
