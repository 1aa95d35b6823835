//! How much may be written to a file system.

use std::path::Path;

use rustix::fs::{StatVfs, statvfs};

use super::fault;
use iolab_model::result::Fault;

/// Most that is left free for others.
const RESERVE_BYTES: u64 = 1 << 30;

/// Room on the file system of a directory, for this user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes free to this user, the reserve not taken off.
    pub free_bytes: u64,
    /// Files that can still be made; `u64::MAX` where the file system has no such limit.
    pub free_inodes: u64,
    /// Bytes that iolab leaves free: 5 % of the file system, at most 1 GiB.
    pub reserve_bytes: u64,
}

impl Space {
    /// Bytes that may be written.
    pub fn usable_bytes(&self) -> u64 {
        self.free_bytes.saturating_sub(self.reserve_bytes)
    }
}

/// Asks the file system of `directory`. Quotas are not in it.
pub fn space(directory: &Path) -> Result<Space, Fault> {
    let doing = || format!("look for free space in {}", directory.display());
    let stat = statvfs(directory).map_err(|e| {
        fault(doing(), &e.into(), "name a directory that exists and that you may enter")
    })?;
    Ok(Space::from(&stat))
}

impl From<&StatVfs> for Space {
    fn from(stat: &StatVfs) -> Space {
        Space {
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            free_inodes: if stat.f_files == 0 { u64::MAX } else { stat.f_favail },
            reserve_bytes: (stat.f_blocks.saturating_mul(stat.f_frsize) / 20).min(RESERVE_BYTES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::space;

    #[test]
    fn this_disk_has_space_and_a_missing_one_says_so() {
        let here = space(std::path::Path::new(".")).unwrap();
        assert!(here.free_bytes > 0 && here.usable_bytes() <= here.free_bytes);
        let missing = space(std::path::Path::new("/no/such")).unwrap_err();
        assert_eq!(missing.errno, Some(2));
    }
}
