//! Calls on descriptors by number that move nothing, as in `raw_call`: flags, locks, file systems.

use std::ffi::c_int;

use super::raw_call::came_back;

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
    let range = libc::flock {
        l_type: lock as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset as i64,
        l_len: bytes as i64,
        l_pid: 0,
    };
    // SAFETY: the struct is live and only read.
    came_back(unsafe { libc::fcntl(fd, libc::F_SETLK, &raw const range) as isize })
}

/// flock(2), with one of [`OF_WHOLE_FILES`].
pub fn lock_whole(fd: i32, lock: c_int) -> i64 {
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::flock(fd, lock) as isize })
}
