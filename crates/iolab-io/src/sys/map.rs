//! A mapping that part of a file is read through.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

/// A private, read-only mapping. If the file becomes shorter, touching the lost part raises
/// SIGBUS: only a forked trial touches one.
#[derive(Debug)]
pub struct Mapping {
    start: *mut std::ffi::c_void,
    bytes: usize,
}

impl Mapping {
    /// Maps `bytes` from `offset` (a multiple of the page size) on; `populate` brings every page
    /// in before it returns (`MAP_POPULATE`). EINVAL for an empty range.
    pub fn new(
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        populate: bool,
    ) -> Result<Mapping, Errno> {
        let flags =
            if populate { MapFlags::PRIVATE | MapFlags::POPULATE } else { MapFlags::PRIVATE };
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
        let start =
            unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, flags, file, offset)? };
        Ok(Mapping { start, bytes })
    }

    /// What is mapped. The bytes are the file's: they are only folded, and a digest afterwards
    /// shows if someone changed them meanwhile.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is `bytes` long and lives as long as `self`; it is never written
        // through. Another process that writes to the file could change what is read; the folds
        // read each byte once and make no decision on it.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes) }
    }

    /// Tells the kernel how the mapping will be used (madvise(2)). Advice that drops or changes
    /// pages is refused with EINVAL.
    pub fn advise(&self, advice: Advice) -> Result<(), Errno> {
        let harmless = matches!(
            advice,
            Advice::Normal
                | Advice::Sequential
                | Advice::Random
                | Advice::WillNeed
                | Advice::LinuxPopulateRead
        );
        if !harmless {
            return Err(Errno::INVAL);
        }
        // SAFETY: the range is the one that `new` mapped; none of these changes what it shows.
        unsafe { madvise(self.start, self.bytes, advice) }
    }

    /// Unmaps, so that the cost lies where the caller wants it.
    pub fn unmap(self) -> Result<(), Errno> {
        let (start, bytes) = (self.start, self.bytes);
        std::mem::forget(self);
        // SAFETY: the range is the one that `new` mapped, and `self` is gone.
        unsafe { munmap(start, bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is the one that `new` mapped, and nothing borrows it any more.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::Mapping;

    #[test]
    fn a_mapping_shows_the_bytes_of_the_file() {
        let mut file = tempfile::tempfile().unwrap();
        let text: Vec<u8> = (0..10_000_u32).map(|i| i as u8).collect();
        file.write_all(&text).unwrap();
        for populate in [false, true] {
            let map = Mapping::new(file.as_fd(), 4096, 10_000 - 4096, populate).unwrap();
            assert_eq!(map.bytes(), &text[4096..]);
            map.unmap().unwrap();
            assert!(Mapping::new(file.as_fd(), 0, 0, populate).is_err());
        }
    }
}
