//! Calls on descriptors by number that move nothing, as in `raw_call`: flags, locks, file systems.

use std::ffi::c_int;

use super::raw_call::came_back;
use super::raw_name::{NO_ATTRIBUTE, not_there};

/// fcntl(2), F_GETFL.
pub fn look(fd: i32) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::fcntl(fd, libc::F_GETFL) as isize })
}

/// fcntl(2), F_SETFL.
pub fn set_flags(fd: i32, flags: c_int) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) as isize })
}

/// fstatfs(2).
pub fn file_system(fd: i32) -> i64 {
    let mut about = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the kernel fills the struct, which is not read.
    came_back(unsafe { libc::fstatfs(fd, about.as_mut_ptr()) as isize })
}

/// fgetxattr(2) of an attribute that is not there.
pub fn attribute(fd: i32) -> i64 {
    let (value, bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the name ends in NUL and is only read; no value is asked for.
    not_there(unsafe { libc::fgetxattr(fd, NO_ATTRIBUTE.as_ptr(), value, bytes) })
}

/// How the kernel names a lock that others may share, one that is nobody else's, and none.
#[derive(Clone, Copy, Debug)]
pub struct LockNumbers {
    /// Shared.
    pub shared: c_int,
    /// Exclusive.
    pub exclusive: c_int,
    /// None.
    pub nothing: c_int,
}

/// Of [`lock_range`].
pub const OF_RANGES: LockNumbers =
    LockNumbers { shared: libc::F_RDLCK, exclusive: libc::F_WRLCK, nothing: libc::F_UNLCK };
/// Of [`lock_whole`].
pub const OF_WHOLE_FILES: LockNumbers =
    LockNumbers { shared: libc::LOCK_SH, exclusive: libc::LOCK_EX, nothing: libc::LOCK_UN };

/// fcntl(2), F_SETLK, with one of [`OF_RANGES`].
pub fn lock_range(fd: i32, lock: c_int, offset: u64, bytes: u64) -> i64 {
    about_lock(fd, libc::F_SETLK, lock, offset, bytes)
}

/// fcntl(2), F_OFD_SETLK, likewise: the lock is the open file's.
pub fn lock_open_file(fd: i32, lock: c_int, offset: u64, bytes: u64) -> i64 {
    about_lock(fd, libc::F_OFD_SETLK, lock, offset, bytes)
}

/// fcntl(2), F_GETLK: who is in the way of a lock that is nobody else's.
pub fn holder(fd: i32, offset: u64, bytes: u64) -> i64 {
    about_lock(fd, libc::F_GETLK, OF_RANGES.exclusive, offset, bytes)
}

fn about_lock(fd: i32, command: c_int, lock: c_int, offset: u64, bytes: u64) -> i64 {
    let mut range = libc::flock {
        l_type: lock as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset as i64,
        l_len: bytes as i64,
        l_pid: 0,
    };
    // SAFETY: the struct is live, and the kernel alone writes to it.
    came_back(unsafe { libc::fcntl(fd, command, &raw mut range) as isize })
}

/// flock(2), with one of [`OF_WHOLE_FILES`].
pub fn lock_whole(fd: i32, lock: c_int) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::flock(fd, lock) as isize })
}
