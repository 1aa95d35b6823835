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

/// fcntl(2), F_SETLK: 0 shared, 1 exclusive, any other number none.
pub fn lock_range(fd: i32, lock: u32, offset: u64, bytes: u64) -> i64 {
    let kind = match lock {
        0 => libc::F_RDLCK,
        1 => libc::F_WRLCK,
        _ => libc::F_UNLCK,
    };
    let range = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset as i64,
        l_len: bytes as i64,
        l_pid: 0,
    };
    // SAFETY: the struct is live and only read.
    came_back(unsafe { libc::fcntl(fd, libc::F_SETLK, &raw const range) as isize })
}

/// flock(2), likewise.
pub fn lock_whole(fd: i32, lock: u32) -> i64 {
    let operation = match lock {
        0 => libc::LOCK_SH,
        1 => libc::LOCK_EX,
        _ => libc::LOCK_UN,
    };
    // SAFETY: no memory is passed.
    came_back(unsafe { libc::flock(fd, operation) as isize })
}
