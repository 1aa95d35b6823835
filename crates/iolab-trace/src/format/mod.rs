//! The file of a trace: docs/trace-format.md. What is written grows with what cannot be foretold: an
//! offset where the last call ended, a count that was reached, a file that its handle names take no
//! byte.

mod expected;
mod reading;
mod varint;
mod writing;

pub use reading::read;
pub use writing::write;

/// The first bytes of a trace.
pub const MAGIC: &[u8; 8] = b"IOLABTRC";

/// The version that is written. A file of a later one is refused; earlier ones are read for ever.
pub const VERSION: u64 = 1;

/// Bits of the byte after a call's kind: what is not as expected and stands in the file.
mod present {
    pub(super) const THREAD: u8 = 1;
    pub(super) const HANDLE: u8 = 2;
    pub(super) const OFFSET: u8 = 4;
    pub(super) const ASKED: u8 = 8;
    pub(super) const RESULT: u8 = 16;
    pub(super) const DETAIL: u8 = 32;
    pub(super) const FILE: u8 = 64;
    pub(super) const OTHER: u8 = 128;
}

#[cfg(test)]
mod tests;
