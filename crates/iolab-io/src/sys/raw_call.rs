//! Calls on descriptors by number, as a replay makes them: what is open is known by the place where
//! its number is kept, and nothing is owned. Each comes back with what the kernel said: a count, or an
//! error's number below zero. A number that is not open is an error (EBADF) like any other.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

/// Buffers of one readv or writev, at most; what is beyond them is in the last one.
pub const MOST_PARTS: usize = 64;

const FICLONE: libc::c_ulong = 0x4004_9409;
/// The result of a call that was not made because its range is not within memory of ours.
const EFAULT: i64 = -(libc::EFAULT as i64);

#[inline(always)]
pub(super) fn came_back(result: isize) -> i64 {
    if result >= 0 {
        return result as i64;
    }
    // SAFETY: the address of this thread's errno is always valid.
    -i64::from(unsafe { *libc::__errno_location() })
}

/// openat(2).
#[inline(always)]
pub fn open(directory: i32, path: &CStr, flags: c_int, mode: u32) -> i64 {
    // SAFETY: the path ends in NUL and is only read.
    came_back(unsafe { libc::openat(directory, path.as_ptr(), flags, mode) as isize })
}

/// close(2).
#[inline(always)]
pub fn close(fd: i32) -> i64 {
    // SAFETY: the kernel checks the number; nothing in this process owns it.
    came_back(unsafe { libc::close(fd) as isize })
}

/// dup(2), and its close.
#[inline(always)]
pub fn duplicate(fd: i32) -> i64 {
    // SAFETY: as for `close`.
    match came_back(unsafe { libc::dup(fd) as isize }) {
        copy if copy >= 0 => close(copy as i32),
        error => error,
    }
}

/// read(2) of as many bytes.
#[inline(always)]
pub fn read(fd: i32, into: &mut [u8]) -> i64 {
    // SAFETY: the kernel writes within the slice.
    came_back(unsafe { libc::read(fd, into.as_mut_ptr().cast(), into.len()) })
}

/// pread(2).
#[inline(always)]
pub fn read_at(fd: i32, into: &mut [u8], offset: u64) -> i64 {
    // SAFETY: as for `read`.
    came_back(unsafe { libc::pread(fd, into.as_mut_ptr().cast(), into.len(), offset as i64) })
}

/// write(2).
#[inline(always)]
pub fn write(fd: i32, from: &[u8]) -> i64 {
    // SAFETY: the kernel reads within the slice.
    came_back(unsafe { libc::write(fd, from.as_ptr().cast(), from.len()) })
}

/// pwrite(2).
#[inline(always)]
pub fn write_at(fd: i32, from: &[u8], offset: u64) -> i64 {
    // SAFETY: as for `write`.
    came_back(unsafe { libc::pwrite(fd, from.as_ptr().cast(), from.len(), offset as i64) })
}

/// The parts of a range: equal ones, the last with what is left over.
#[inline(always)]
fn parts(start: *mut u8, bytes: usize, count: u16) -> ([libc::iovec; MOST_PARTS], c_int) {
    let count = usize::from(count).clamp(1, MOST_PARTS);
    let each = bytes / count;
    let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut all = [empty; MOST_PARTS];
    for (number, part) in all.iter_mut().take(count).enumerate() {
        let last = number + 1 == count;
        let length = if last { bytes - each * number } else { each };
        let base = start.wrapping_add(each * number);
        *part = libc::iovec { iov_base: base.cast(), iov_len: length };
    }
    (all, count as c_int)
}

/// readv(2), or preadv(2) at an offset, into so many buffers.
pub fn read_parts(fd: i32, into: &mut [u8], count: u16, offset: Option<u64>) -> i64 {
    let (all, count) = parts(into.as_mut_ptr(), into.len(), count);
    // SAFETY: the parts lie within the slice, side by side.
    came_back(unsafe {
        match offset {
            None => libc::readv(fd, all.as_ptr(), count),
            Some(at) => libc::preadv(fd, all.as_ptr(), count, at as i64),
        }
    })
}

/// writev(2), or pwritev(2) at an offset, from so many buffers.
pub fn write_parts(fd: i32, from: &[u8], count: u16, offset: Option<u64>) -> i64 {
    let (all, count) = parts(from.as_ptr().cast_mut(), from.len(), count);
    // SAFETY: the parts lie within the slice and are only read.
    came_back(unsafe {
        match offset {
            None => libc::writev(fd, all.as_ptr(), count),
            Some(at) => libc::pwritev(fd, all.as_ptr(), count, at as i64),
        }
    })
}

/// lseek(2) to an offset.
#[inline(always)]
pub fn seek(fd: i32, offset: u64) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::lseek(fd, offset as i64, libc::SEEK_SET) as isize })
}

/// fstatat(2) of the name itself.
#[inline(always)]
pub fn stat(directory: i32, path: &CStr) -> i64 {
    let mut about = std::mem::MaybeUninit::<libc::stat>::uninit();
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: the kernel fills the struct, which is not read.
    came_back(unsafe {
        libc::fstatat(directory, path.as_ptr(), about.as_mut_ptr(), flags) as isize
    })
}

/// fstat(2).
#[inline(always)]
pub fn stat_handle(fd: i32) -> i64 {
    let mut about = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: as for `stat`.
    came_back(unsafe { libc::fstat(fd, about.as_mut_ptr()) as isize })
}

/// getdents64(2).
#[inline(always)]
pub fn list(fd: i32, into: &mut [u8]) -> i64 {
    // SAFETY: the kernel writes within the slice.
    came_back(unsafe {
        libc::syscall(libc::SYS_getdents64, fd, into.as_mut_ptr(), into.len()) as isize
    })
}

/// renameat(2).
pub fn rename(directory: i32, from: &CStr, to: &CStr) -> i64 {
    // SAFETY: both paths end in NUL and are only read.
    came_back(unsafe { libc::renameat(directory, from.as_ptr(), directory, to.as_ptr()) as isize })
}

/// linkat(2).
pub fn link(directory: i32, from: &CStr, to: &CStr) -> i64 {
    // SAFETY: as for `rename`.
    came_back(unsafe { libc::linkat(directory, from.as_ptr(), directory, to.as_ptr(), 0) as isize })
}

/// unlinkat(2) of a file, or of an empty directory.
pub fn unlink(directory: i32, path: &CStr, is_directory: bool) -> i64 {
    let flags = if is_directory { libc::AT_REMOVEDIR } else { 0 };
    // SAFETY: the path ends in NUL and is only read.
    came_back(unsafe { libc::unlinkat(directory, path.as_ptr(), flags) as isize })
}

/// mkdirat(2).
pub fn make_directory(directory: i32, path: &CStr) -> i64 {
    // SAFETY: as for `unlink`.
    came_back(unsafe { libc::mkdirat(directory, path.as_ptr(), 0o700) as isize })
}

/// symlinkat(2).
pub fn symlink(leads_to: &CStr, directory: i32, path: &CStr) -> i64 {
    // SAFETY: both texts end in NUL and are only read.
    came_back(unsafe { libc::symlinkat(leads_to.as_ptr(), directory, path.as_ptr()) as isize })
}

/// readlinkat(2).
pub fn read_link(directory: i32, path: &CStr, into: &mut [u8]) -> i64 {
    let (start, bytes) = (into.as_mut_ptr().cast(), into.len());
    // SAFETY: the kernel writes within the slice; the path is only read.
    came_back(unsafe { libc::readlinkat(directory, path.as_ptr(), start, bytes) })
}

/// fchmodat(2), or fchmod(2) without a path.
pub fn change_mode(at: i32, path: Option<&CStr>, mode: u32) -> i64 {
    // SAFETY: a path ends in NUL and is only read.
    came_back(unsafe {
        match path {
            Some(path) => libc::fchmodat(at, path.as_ptr(), mode, 0) as isize,
            None => libc::fchmod(at, mode) as isize,
        }
    })
}

/// fchownat(2) of the name itself, or fchown(2): to the owner that it has.
pub fn change_owner(at: i32, path: Option<&CStr>, owner: (u32, u32)) -> i64 {
    let flags = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: as for `change_mode`.
    came_back(unsafe {
        match path {
            Some(path) => libc::fchownat(at, path.as_ptr(), owner.0, owner.1, flags) as isize,
            None => libc::fchown(at, owner.0, owner.1) as isize,
        }
    })
}

/// utimensat(2) of the name itself, or futimens(3): to now.
pub fn change_times(at: i32, path: Option<&CStr>) -> i64 {
    let (now, flags) = (std::ptr::null(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: as for `change_mode`; without times the kernel takes its own.
    came_back(unsafe {
        match path {
            Some(path) => libc::utimensat(at, path.as_ptr(), now, flags) as isize,
            None => libc::futimens(at, now) as isize,
        }
    })
}

/// ftruncate(2).
pub fn truncate(fd: i32, bytes: u64) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::ftruncate(fd, bytes as i64) as isize })
}

/// fallocate(2).
pub fn allocate(fd: i32, keeps_size: bool, offset: u64, bytes: u64) -> i64 {
    let mode = if keeps_size { libc::FALLOC_FL_KEEP_SIZE } else { 0 };
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::fallocate(fd, mode, offset as i64, bytes as i64) as isize })
}

/// fsync(2), or fdatasync(2).
#[inline(always)]
pub fn sync(fd: i32, data_alone: bool) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe {
        match data_alone {
            true => libc::fdatasync(fd) as isize,
            false => libc::fsync(fd) as isize,
        }
    })
}

/// syncfs(2).
pub fn sync_all(fd: i32) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::syncfs(fd) as isize })
}

/// posix_fadvise(2); its error is what it gives back.
pub fn advise(fd: i32, offset: u64, bytes: u64, advice: u32) -> i64 {
    // SAFETY: no memory is passed.
    -i64::from(unsafe { libc::posix_fadvise(fd, offset as i64, bytes as i64, advice as c_int) })
}

/// copy_file_range(2) at the offsets of both.
pub fn copy_range(from: i32, to: i32, bytes: u64) -> i64 {
    let nowhere = std::ptr::null_mut();
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::copy_file_range(from, nowhere, to, nowhere, bytes as usize, 0) })
}

/// sendfile(2) at the offsets of both.
pub fn send_file(from: i32, to: i32, bytes: u64) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::sendfile(to, from, std::ptr::null_mut(), bytes as usize) })
}

/// FICLONE.
pub fn clone_file(from: i32, to: i32) -> i64 {
    // SAFETY: the request takes a number and no memory.
    came_back(unsafe { libc::ioctl(to, FICLONE as _, from) as isize })
}

/// A mapping by its address, to be taken away by [`unmap`]: 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawMapping {
    /// Where it begins.
    pub address: usize,
    /// Its length.
    pub bytes: usize,
}

/// How a file is mapped.
#[derive(Clone, Copy, Debug)]
pub struct MapOrder {
    /// From which byte on.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// It can be written to.
    pub writable: bool,
    /// What is written reaches the file.
    pub shared: bool,
    /// All pages are brought in at once.
    pub populated: bool,
}

/// mmap(2). Below zero where it failed.
pub fn map(fd: i32, order: &MapOrder) -> Result<RawMapping, i64> {
    let write = if order.writable { libc::PROT_WRITE } else { 0 };
    let shared = if order.shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    let populate = if order.populated { libc::MAP_POPULATE } else { 0 };
    let bytes = order.bytes as usize;
    // SAFETY: the kernel chooses the address, so no memory in use is replaced.
    let start = unsafe {
        let (protection, flags) = (libc::PROT_READ | write, shared | populate);
        libc::mmap(std::ptr::null_mut(), bytes, protection, flags, fd, order.offset as i64)
    };
    match start {
        libc::MAP_FAILED => Err(came_back(-1)),
        start => Ok(RawMapping { address: start as usize, bytes }),
    }
}

/// Reads one byte of each page of a mapping, and writes it back where that is asked for.
pub fn touch(mapping: RawMapping, page_bytes: usize, writes: bool) {
    for at in (0..mapping.bytes).step_by(page_bytes.max(1)) {
        let byte = (mapping.address + at) as *mut u8;
        // SAFETY: the byte lies within a mapping that `map` made and that nothing has taken away; a
        // file that became shorter ends this process, which is a forked trial.
        unsafe {
            let value = byte.read_volatile();
            if writes {
                byte.write_volatile(value);
            }
        }
    }
}

/// Copies out of a mapping; EFAULT where the range is not within it.
#[inline(always)]
pub fn read_mapped(mapping: RawMapping, offset: u64, into: &mut [u8]) -> i64 {
    let fits = usize::try_from(offset).ok().and_then(|at| at.checked_add(into.len()));
    if mapping.address == 0 || fits.is_none_or(|end| end > mapping.bytes) {
        return EFAULT;
    }
    let from = (mapping.address + offset as usize) as *const u8;
    // SAFETY: the range was just checked to lie within the mapping, and `into` is memory of ours
    // elsewhere.
    unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
    // The copy is made although nobody looks at it.
    std::hint::black_box(into.as_ptr());
    into.len() as i64
}

/// munmap(2).
pub fn unmap(mapping: RawMapping) -> i64 {
    // SAFETY: the range is one that `map` made; whoever calls forgets it.
    came_back(unsafe { libc::munmap(mapping.address as *mut c_void, mapping.bytes) as isize })
}

/// An event that has come stays.
const COME: u32 = 1;
/// Somebody sleeps until it comes.
const AWAITED: u32 = 2;
/// Looks at an event before a thread sleeps: about as long as falling asleep takes.
const LOOKS: u32 = 200;

/// Tells that an event has come.
#[inline(always)]
pub fn signal(event: &AtomicU32) {
    if event.swap(COME, Ordering::AcqRel) == AWAITED {
        let all = i32::MAX;
        // SAFETY: the address is that of a live word.
        unsafe { libc::syscall(libc::SYS_futex, event.as_ptr(), libc::FUTEX_WAKE, all) };
    }
}

/// Waits for an event.
#[inline(always)]
pub fn wait(event: &AtomicU32) {
    for _ in 0..LOOKS {
        if event.load(Ordering::Acquire) == COME {
            return;
        }
        std::hint::spin_loop();
    }
    while event.load(Ordering::Acquire) != COME {
        let sleeps = event.compare_exchange(0, AWAITED, Ordering::AcqRel, Ordering::Acquire);
        if sleeps == Err(COME) {
            return;
        }
        let forever = std::ptr::null::<libc::timespec>();
        // SAFETY: the address is that of a live word; the kernel only reads it.
        unsafe {
            libc::syscall(libc::SYS_futex, event.as_ptr(), libc::FUTEX_WAIT, AWAITED, forever)
        };
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::AtomicU32;

    use super::{
        MapOrder, map, read_at, read_mapped, read_parts, signal, unmap, wait, write_parts,
    };

    #[test]
    fn what_goes_in_by_parts_comes_out_whole_and_mapped() {
        let file = tempfile::tempfile().unwrap();
        let fd = file.as_raw_fd();
        let bytes: Vec<u8> = (0..1000).map(|at| at as u8).collect();
        assert_eq!(write_parts(fd, &bytes, 7, Some(5)), 1000);
        let mut back = vec![0; 1000];
        assert_eq!(read_parts(fd, &mut back, 500, Some(5)), 1000);
        assert_eq!(back, bytes);
        let order =
            MapOrder { offset: 0, bytes: 1005, writable: false, shared: true, populated: false };
        let mapping = map(fd, &order).unwrap();
        back.fill(0);
        assert_eq!(read_mapped(mapping, 5, &mut back), 1000);
        assert_eq!(back, bytes);
        assert_eq!(read_mapped(mapping, 6, &mut back), -i64::from(libc::EFAULT));
        assert_eq!(unmap(mapping), 0);
        assert_eq!(read_at(-1, &mut back, 0), -i64::from(libc::EBADF));
    }

    #[test]
    fn an_event_is_heard_before_and_after_it_comes() {
        let event = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| wait(&event))).collect();
            signal(&event);
            waiting.into_iter().for_each(|thread| thread.join().unwrap());
        });
        wait(&event);
    }
}
