//! Calls by path that know no directory descriptor, and a working directory for them.

use std::ffi::CStr;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::thread::UnshareFlags;

/// truncate(2).
pub fn truncate(path: &CStr, bytes: u64) -> Result<(), Errno> {
    let length = libc::off_t::try_from(bytes).map_err(|_| Errno::FBIG)?;
    // SAFETY: the path is a live string that ends with a NUL; nothing is written to.
    match unsafe { libc::truncate(path.as_ptr(), length) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Makes `directory` the working directory of the calling thread, and of it alone.
pub fn enter(directory: impl AsFd) -> Result<(), Errno> {
    // SAFETY: CLONE_FS gives this thread its own copy of working directory and umask; memory and
    // descriptors are shared as before.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FS)? };
    rustix::process::fchdir(directory)
}

#[cfg(test)]
mod tests {
    use super::{enter, truncate};
    use crate::sys::testing::open_directory;

    #[test]
    fn a_file_is_cut_by_its_name_in_a_working_directory_of_ones_own() {
        let dir = open_directory();
        std::fs::write(dir.path().join("f"), b"seven..").unwrap();
        let before = std::env::current_dir().unwrap();
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                enter(std::fs::File::open(dir.path()).unwrap()).unwrap();
                truncate(c"f", 3).unwrap();
                truncate(c"f", u64::MAX).unwrap_err();
            });
            work.join().unwrap();
        });
        assert_eq!(std::fs::read(dir.path().join("f")).unwrap(), b"sev");
        assert_eq!(std::env::current_dir().unwrap(), before, "other threads stay where they are");
    }
}
