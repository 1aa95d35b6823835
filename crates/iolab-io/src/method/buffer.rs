//! The buffer that bytes are read into: page-aligned, and touched before the clock starts.

use std::cell::RefCell;

use super::partition::Stop;

thread_local! {
    /// The memory of this thread's last buffer, whose pages are there: the trial proper takes over
    /// what the moment before the clock starts has had.
    static LEFT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Larger blocks are refused: a read(2) moves at most 2 GiB − 4 KiB in one call.
const LIMIT_BYTES: u64 = 1 << 30;

/// Aligned to 4 KiB, or so many bytes beyond.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Buffer {
    /// All bytes are written once, so that no page fault of the buffer's own is timed.
    pub fn new(bytes: u64) -> Result<Buffer, Stop> {
        Buffer::into_page(bytes, 0)
    }

    /// The same, and it begins so many bytes into a page.
    pub fn into_page(bytes: u64, into_page_bytes: usize) -> Result<Buffer, Stop> {
        if bytes > LIMIT_BYTES {
            return Err(Stop::new("a block over 1 GiB is not read in one call; use a smaller one"));
        }
        let bytes = bytes as usize;
        let left = LEFT.take();
        let all = bytes + into_page_bytes + 4095;
        let memory = match left.len() == all {
            true => left,
            false => vec![0xa5; all],
        };
        let start = memory.as_ptr().align_offset(4096).min(4095) + into_page_bytes;
        Ok(Buffer { memory, start, bytes })
    }

    /// Its part from there on.
    #[allow(clippy::should_implement_trait)]
    pub fn as_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.bytes]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        // Where the thread is ending nobody takes it over.
        let _ = LEFT.try_with(|left| left.replace(memory));
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    /// The moment before the clock starts and the trial proper each touched a new buffer: of 1 MiB,
    /// 0.6 ms beside a pass of 4 ms.
    #[test]
    fn the_next_buffer_of_a_thread_has_the_pages_of_the_last() {
        let mut first = Buffer::new(1 << 20).unwrap();
        let at = first.as_mut().as_ptr();
        assert_eq!(at.align_offset(4096), 0);
        // Two at the same time are two.
        let mut beside = Buffer::new(1 << 20).unwrap();
        assert_ne!(beside.as_mut().as_ptr(), at);
        drop(beside);
        drop(first);
        assert_eq!(Buffer::new(1 << 20).unwrap().as_mut().as_ptr(), at);
        // One of another size is new, and whole.
        let mut other = Buffer::new(4096).unwrap();
        assert!(other.as_mut().iter().all(|byte| *byte == 0xa5));
    }
}
