//! Calls on names that the kernel has in no form with a directory, as in `raw_call`: names are below the
//! working directory of the thread ([`super::path::enter`]).

use std::ffi::CStr;

use super::path;
use super::raw_call::came_back;

/// An attribute that nothing here ever has.
pub(super) const NO_ATTRIBUTE: &CStr = c"user.iolab-none";

/// truncate(2).
pub fn truncate(path: &CStr, bytes: u64) -> i64 {
    path::truncate(path, bytes).map_or_else(|error| -i64::from(error.raw_os_error()), |()| 0)
}

/// statfs(2).
pub fn file_system(path: &CStr) -> i64 {
    let mut about = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path ends in NUL and is only read; the kernel fills the struct, which is not read.
    came_back(unsafe { libc::statfs(path.as_ptr(), about.as_mut_ptr()) as isize })
}

/// getxattr(2) of an attribute that is not there.
pub fn attribute(path: &CStr) -> i64 {
    let (value, bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: both texts end in NUL and are only read; no value is asked for.
    not_there(unsafe { libc::getxattr(path.as_ptr(), NO_ATTRIBUTE.as_ptr(), value, bytes) })
}

/// A file system without attributes has not got this one either.
pub(super) fn not_there(result: isize) -> i64 {
    match came_back(result) {
        error if error == -i64::from(libc::EOPNOTSUPP) => -i64::from(libc::ENODATA),
        other => other,
    }
}
