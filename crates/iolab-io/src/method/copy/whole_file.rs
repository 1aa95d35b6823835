//! Copies of many small files: one after another, each as a whole.

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::method::partition::Stop;

/// How a method copies a file that is open at both ends, from its first byte to its last. It is made
/// once a worker; a file then costs one indirect call beside the four system calls that it needs.
pub trait WholeFile: Send {
    /// Moves all bytes; how many. `size` is what the file had when it was looked at: whoever has
    /// moved as many does not ask for the end once more.
    ///
    /// # Errors
    /// What the kernel refused.
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<u64, Errno>;
}

/// Makes the copier of one worker, given the block asked for.
pub type MakeWholeFile = fn(block: u64) -> Result<Box<dyn WholeFile>, Stop>;

/// Bytes asked for in one call that moves them inside of the kernel.
pub(super) const WHOLE_BYTES: usize = 1 << 30;

/// Calls until all has moved.
#[inline(always)]
pub(super) fn until_moved(
    size: u64,
    mut call: impl FnMut() -> Result<usize, Errno>,
) -> Result<u64, Errno> {
    let mut moved = 0;
    loop {
        match call() {
            Ok(0) => return Ok(moved),
            Ok(count) => moved += count as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        if moved >= size && size > 0 {
            return Ok(moved);
        }
    }
}
