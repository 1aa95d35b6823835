//! Which pages of a file are in the page cache: `cachestat(2)`, `mincore(2)`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// What `cachestat(2)` counts, in pages (include/uapi/linux/mman.h, `struct cachestat`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStat {
    /// Pages in the cache.
    pub cached_pages: u64,
    /// Of these, dirty ones.
    pub dirty_pages: u64,
    /// Of these, being written back.
    pub writeback_pages: u64,
    /// Pages once in the cache and evicted since.
    pub evicted_pages: u64,
    /// Of these, evicted so lately that their return would show memory pressure.
    pub recently_evicted_pages: u64,
}

/// Number of the call; one for all architectures but two (the libc crate lacks it on x86-64).
const SYS_CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct CacheStatRange {
    offset: u64,
    length: u64,
}

/// `cachestat(2)` over a whole file (Linux 6.5). Fails with `ENOSYS` on older kernels and with
/// `EPERM` where the caller neither owns the file nor may write to it.
pub fn cachestat(file: &File) -> io::Result<CacheStat> {
    let mut stat = CacheStat::default();
    // Length 0 means up to the end of the file.
    let mut range = CacheStatRange { offset: 0, length: 0 };
    // SAFETY: both structures are live and laid out as the kernel's (repr(C), five and two u64);
    // the kernel reads the range and writes the statistics only.
    let rc = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw mut range, &raw mut stat, 0_u32)
    };
    if rc == 0 { Ok(stat) } else { Err(io::Error::last_os_error()) }
}

/// Resident pages among the first `bytes` bytes of a file, by `mincore(2)` on a mapping that no
/// page is touched of. Without permission to write to the file and without owning it, the kernel
/// calls every page resident (Linux 5.2, CVE-2019-5489): ask [`may_mincore`] first.
pub fn mincore_pages(file: &File, bytes: u64) -> io::Result<u64> {
    /// One window: the vector stays small whatever the size of the file.
    const WINDOW_BYTES: u64 = 1 << 30;
    let page_bytes = crate::sys::page::page_bytes();
    let mut vector = Vec::new();
    let mut resident = 0;
    for offset in (0..bytes).step_by(WINDOW_BYTES as usize) {
        let length = (bytes - offset).min(WINDOW_BYTES);
        vector.clear();
        vector.resize(length.div_ceil(page_bytes) as usize, 0_u8);
        mincore_window(file, offset, length as usize, &mut vector)?;
        resident += vector.iter().filter(|page| **page & 1 == 1).count() as u64;
    }
    Ok(resident)
}

fn mincore_window(file: &File, offset: u64, length: usize, pages: &mut [u8]) -> io::Result<()> {
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    let (at, protection) = (std::ptr::null_mut(), ProtFlags::READ);
    // SAFETY: a new shared mapping at an address of the kernel's choice; no memory of ours moves,
    // and it is never read or written, so a file that shrinks cannot raise SIGBUS.
    let map = unsafe { mmap(at, length, protection, MapFlags::SHARED, file.as_fd(), offset)? };
    // SAFETY: `map` is a live mapping of `length` bytes and `pages` has one byte a page of it.
    let rc = unsafe { libc::mincore(map, length, pages.as_mut_ptr()) };
    let failed = io::Error::last_os_error();
    // SAFETY: unmaps exactly what was mapped above; nothing refers to it any more.
    unsafe { munmap(map, length)? };
    if rc == 0 { Ok(()) } else { Err(failed) }
}

/// Whether `mincore` tells this process the truth about a file: it owns the file or may write to
/// it (mm/mincore.c, `can_do_mincore`).
pub fn may_mincore(file: &File) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat, fstat};
    let (uid, owner) = (rustix::process::geteuid(), fstat(file).map(|s| s.st_uid));
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    owner.is_ok_and(|owner| owner == uid.as_raw())
        || accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}
