//! The buffer that bytes are read into: page-aligned, and touched before the clock starts.

use super::partition::Stop;

/// Larger blocks are refused: a read(2) moves at most 2 GiB − 4 KiB in one call.
const LIMIT_BYTES: u64 = 1 << 30;

/// Aligned to 4 KiB.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Buffer {
    /// All bytes are written once, so that no page fault of the buffer's own is timed.
    pub fn new(bytes: u64) -> Result<Buffer, Stop> {
        if bytes > LIMIT_BYTES {
            return Err(Stop::new("a block over 1 GiB is not read in one call; use a smaller one"));
        }
        let bytes = bytes as usize;
        let memory = vec![0xa5; bytes + 4095];
        let start = memory.as_ptr().align_offset(4096).min(4095);
        Ok(Buffer { memory, start, bytes })
    }

    /// The aligned part.
    #[allow(clippy::should_implement_trait)]
    pub fn as_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.bytes]
    }
}
