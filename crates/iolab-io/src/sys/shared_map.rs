//! A shared mapping that a file is written through.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A shared, writable mapping. Where the file system cannot give a page that is touched first
/// (no space, the file became shorter), the kernel raises SIGBUS: only a forked trial writes.
#[derive(Debug)]
pub struct SharedMapping {
    start: *mut std::ffi::c_void,
    bytes: usize,
}

impl SharedMapping {
    /// Maps `bytes` from `offset` (a multiple of the page size) on; the file must be open for
    /// reading and writing. EINVAL for an empty range.
    pub fn new(file: BorrowedFd<'_>, offset: u64, bytes: usize) -> Result<SharedMapping, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
        let start = unsafe {
            mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, offset)?
        };
        Ok(SharedMapping { start, bytes })
    }

    /// Copies into the mapping from its byte `at` on. Panics where that is outside of it.
    #[inline(always)]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at.checked_add(bytes.len());
        assert!(end.is_some_and(|end| end <= self.bytes), "a write past the mapping");
        let start = self.start.cast::<u8>();
        // SAFETY: the range was just checked to lie within the mapping, which lives as long as
        // `self` and of which no reference was given out; `bytes` is memory of ours elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(at), bytes.len()) };
    }

    /// Unmaps, so that the cost lies where the caller wants it.
    pub fn unmap(self) -> Result<(), Errno> {
        let (start, bytes) = (self.start, self.bytes);
        std::mem::forget(self);
        // SAFETY: the range is the one that `new` mapped, and `self` is gone.
        unsafe { munmap(start, bytes) }
    }
}

impl Drop for SharedMapping {
    fn drop(&mut self) {
        // SAFETY: the range is the one that `new` mapped, and nothing borrows it any more.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use super::SharedMapping;

    #[test]
    fn what_is_written_is_in_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10_000).unwrap();
        let mut map = SharedMapping::new(file.as_fd(), 4096, 10_000 - 4096).unwrap();
        map.write(5, b"hello");
        map.write(10_000 - 4096, b"");
        map.unmap().unwrap();
        let mut bytes = [0; 7];
        file.read_exact_at(&mut bytes, 4096 + 4).unwrap();
        assert_eq!(&bytes, b"\0hello\0");
        assert!(SharedMapping::new(file.as_fd(), 0, 0).is_err());
    }

    #[test]
    #[should_panic(expected = "past the mapping")]
    fn a_write_past_the_end_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10).unwrap();
        SharedMapping::new(file.as_fd(), 0, 10).unwrap().write(6, b"hello");
    }
}
