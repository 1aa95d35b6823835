//! Which ways of moving bytes this machine refuses, found by trying them on a file.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::place::Scratch;
use crate::sys::direct::alignment;
use crate::sys::ring::{Ring, RingError};
use crate::sys::uncached::try_dontcache;

/// The key of cells past the page cache in [`unavailable_methods`].
const DIRECT: &str = "direct=on";
/// The key of replays past it.
const REPLAYED_DIRECT: &str = "method=direct";

/// Methods, and levels as `factor=level`, that cannot be had in this directory: id → reason and
/// remedy. With `on_files` a scratch file is made for a moment to try what depends on the file
/// system; where that cannot be done nothing is said of it.
pub fn unavailable_methods(directory: &Path, on_files: bool) -> BTreeMap<String, String> {
    let mut missing = BTreeMap::new();
    if let Some(reason) = no_ring() {
        missing.insert("io_uring".to_owned(), reason);
    }
    if !on_files {
        return missing;
    }
    let Ok(scratch) = Scratch::make(directory) else { return missing };
    let path = scratch.path().join("probe");
    if std::fs::write(&path, [0x5a; 4096]).is_err() {
        return missing;
    }
    if let Err(errno) = try_dontcache(&path) {
        let why = std::io::Error::from(errno);
        let reason = format!("{why}; it needs Linux 6.14 and a file system that knows it");
        missing.insert("preadv2-dontcache".to_owned(), reason);
    }
    if let Err(errno) = try_clone(&path) {
        let why = std::io::Error::from(errno);
        let reason = format!("{why}; btrfs and XFS can clone: --place btrfs,xfs");
        missing.insert("reflink".to_owned(), reason);
    }
    if let Err(errno) = try_direct(&path) {
        let why = std::io::Error::from(errno);
        for key in [DIRECT, REPLAYED_DIRECT] {
            missing.insert(key.to_owned(), format!("{why}; name a directory on a disk"));
        }
    }
    missing
}

/// Whether files can share extents here.
fn try_clone(path: &Path) -> Result<(), Errno> {
    let open = |path: &Path, flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::RUSR);
    let (source, target) = (open(path, OFlags::RDONLY)?, path.with_extension("clone"));
    let target = open(&target, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    rustix::fs::ioctl_ficlone(&target, &source)
}

/// Why there is no io_uring, tried with a registered buffer and file.
fn no_ring() -> Option<String> {
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let tried = null.map_err(RingError::Files).and_then(|file| Ring::new(1, 4096, &[file.as_fd()]));
    tried.err().map(|error| error.to_string())
}

fn try_direct(path: &Path) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(drop)
}

/// What this process may lock in memory; nothing where it is not limited: no limit is set, or
/// CAP_IPC_LOCK lifts it (io_uring_register(2)).
pub fn greatest_locked_bytes() -> Option<u64> {
    const CAP_IPC_LOCK: u64 = 14;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    (effective.unwrap_or(0) >> CAP_IPC_LOCK & 1 == 0).then_some(limit)
}

/// The multiple that offsets and lengths of direct I/O must be of, for a file that exists or for
/// one made in a directory; nothing where the kernel does not say (statx(2), Linux 6.1).
pub fn direct_alignment_bytes(path: &Path) -> Option<u64> {
    if !path.is_dir() {
        return alignment(path)?.block_bytes();
    }
    let scratch = Scratch::make(path).ok()?;
    let file = scratch.path().join("probe");
    std::fs::write(&file, [0x5a; 4096]).ok()?;
    alignment(&file)?.block_bytes()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{direct_alignment_bytes, unavailable_methods};
    use crate::sys::testing::{forbid, open_directory, skip};

    #[test]
    fn what_is_refused_says_why_and_nothing_is_left() {
        let dir = open_directory();
        for (id, reason) in unavailable_methods(dir.path(), true) {
            assert!(reason.contains("; ") && !reason.contains('\n'), "{id}: {reason}");
        }
        if let Some(unit) = direct_alignment_bytes(dir.path()) {
            assert!(unit.is_power_of_two() && unit <= 4096, "{unit}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_forbidden_ring_is_a_method_that_cannot_be_had() {
        let missing = std::thread::spawn(|| {
            let forbidden = forbid(425, rustix::io::Errno::PERM.raw_os_error());
            forbidden.then(|| unavailable_methods(Path::new("/no/such"), false))
        });
        match missing.join().unwrap() {
            Some(missing) => assert!(missing["io_uring"].contains("seccomp"), "{missing:?}"),
            None => skip("a_forbidden_ring_is_a_method_that_cannot_be_had", "no seccomp"),
        }
    }

    #[test]
    fn memory_has_no_uncached_read() {
        let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
            return skip("memory_has_no_uncached_read", "no /dev/shm");
        };
        let missing = unavailable_methods(memory.path(), true);
        assert!(missing["preadv2-dontcache"].contains("6.14"), "{missing:?}");
        let _ = unavailable_methods(Path::new("/no/such"), true);
    }
}
