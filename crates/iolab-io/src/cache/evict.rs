//! Taking a file out of the page cache and bringing it in.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use rustix::fs::{Advice, OFlags, fadvise, fdatasync, syncfs};

use crate::sys::primer::read_through;
use iolab_model::result::Fault;

/// Asks the kernel to drop a file from the page cache: writes it back first, because
/// `POSIX_FADV_DONTNEED` drops clean pages only and reports success whatever happened
/// (posix_fadvise(2)). Says nothing of the outcome: probe for it.
pub fn evict(file: &File) -> Result<(), Fault> {
    write_back(file).map_err(|e| Fault::of("write a file back before evicting it", &e))?;
    evict_written(file)
}

/// The same of a file whose file system was just synced: of many files each would wait for a flush
/// of the device.
pub fn evict_written(file: &File) -> Result<(), Fault> {
    fadvise(file, 0, None, Advice::DontNeed)
        .map_err(|e| Fault::of("evict a file from the page cache", &e.into()))
}

/// Waits until a file's dirty pages are on the device. `fdatasync` works on descriptors opened
/// for reading; where a file system refuses it (`EROFS`, `EINVAL`), `syncfs` writes all back.
pub(super) fn write_back(file: &File) -> io::Result<()> {
    match fdatasync(file) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::IO | rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => {
            fdatasync(file).map_err(io::Error::from)
        }
        Err(_) => syncfs(file).or(Ok(())),
    }
}

/// Reads a file once from start to end in calls of 128 KiB through a descriptor of its own, so
/// that the read-ahead state of `file` stays fresh. Returns the bytes read.
pub fn prime(file: &File) -> Result<u64, Fault> {
    let own = reopen(file);
    read_through(own.as_ref().unwrap_or(file))
        .map_err(|e| Fault::of("read a file into the page cache", &e.into()))
}

/// The same file by a new open-file description: its own position, flags and read-ahead state.
/// Reading through it leaves the access time alone where that is permitted (O_NOATIME, open(2)).
pub(super) fn reopen(file: &File) -> Option<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let quietly = OFlags::NOATIME.bits() as i32;
    let quiet = OpenOptions::new().read(true).custom_flags(quietly).open(&path);
    quiet.or_else(|_| OpenOptions::new().read(true).open(&path)).ok()
}

/// Drops the whole machine's clean page cache; root only. `Ok(false)` where not permitted.
pub(super) fn drop_caches() -> io::Result<bool> {
    rustix::fs::sync();
    match OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches") {
        Ok(knob) => knob.write_at(b"1", 0).map(|_| true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        Err(error) if error.raw_os_error() == Some(libc_erofs()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// /proc/sys is mounted read-only in most containers.
fn libc_erofs() -> i32 {
    rustix::io::Errno::ROFS.raw_os_error()
}
