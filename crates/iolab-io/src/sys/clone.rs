//! Sharing of extents between files: `FICLONERANGE`.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// `FICLONERANGE` (include/uapi/linux/fs.h): `_IOW(0x94, 13, struct file_clone_range)`.
const FICLONERANGE: libc::c_ulong = 0x4020_940D;

/// `struct file_clone_range` of the same header.
#[repr(C)]
struct FileCloneRange {
    source: i64,
    source_offset: u64,
    source_length: u64,
    target_offset: u64,
}

/// Makes this range of the target share the extents of the same range of the source. Both ends
/// must be on a block of the file system, or the end of the file.
pub fn clone_range(
    source: BorrowedFd<'_>,
    target: BorrowedFd<'_>,
    range: Range<u64>,
) -> Result<(), Errno> {
    let request = FileCloneRange {
        source: i64::from(source.as_raw_fd()),
        source_offset: range.start,
        source_length: range.end - range.start,
        target_offset: range.start,
    };
    // SAFETY: the request is live and laid out as the kernel's struct, which it only reads; both
    // descriptors are open.
    let rc = unsafe { libc::ioctl(target.as_raw_fd(), FICLONERANGE as _, &raw const request) };
    if rc != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok(())
}
