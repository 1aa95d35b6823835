//! Reads that leave nothing in the page cache: `RWF_DONTCACHE` (Linux 6.14), which rustix does not
//! name.

use std::io::IoSliceMut;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// The flag (include/uapi/linux/fs.h); EOPNOTSUPP where the kernel or the file system lacks it.
pub const RWF_DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// Whether the flag is understood for a file.
pub fn try_dontcache(path: &Path) -> Result<(), Errno> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    preadv2(file.as_fd(), &mut [IoSliceMut::new(&mut [0])], 0, RWF_DONTCACHE).map(drop)
}
