//! What a plan must know of the machine.

use std::collections::BTreeMap;
use std::path::Path;

use super::cpu;
use super::memory::Groups;
use super::mount::Mount;
use super::tree::{Tree, field_kib};
use crate::cache::Prober;
use crate::place::Scratch;
use iolab_model::catalog::CacheState;

/// Memory that can be used without swapping, the limit of the control group included.
pub fn available_memory_bytes() -> u64 {
    let tree = Tree::machine();
    let info = tree.text("proc/meminfo").unwrap_or_default();
    let machine = field_kib(&info, "MemAvailable").or_else(|| field_kib(&info, "MemTotal"));
    let limit = Groups::of(&tree).memory_limit_bytes(&tree);
    machine.unwrap_or(u64::MAX).min(limit.unwrap_or(u64::MAX))
}

/// The last-level cache of one processor; 0 where the machine does not tell.
pub fn last_level_cache_bytes() -> u64 {
    cpu::last_level_cache_bytes(&Tree::machine()).unwrap_or(0)
}

/// Processors that this process may use: by affinity, and by the control group's share of time
/// (rounded up).
pub fn processors() -> u32 {
    let tree = Tree::machine();
    let share = Groups::of(&tree).cpu_limit(&tree).map_or(u64::MAX, |share| share.ceil() as u64);
    u32::try_from(cpu::allowed().min(share).max(1)).unwrap_or(u32::MAX)
}

/// Parts that cannot be had in this directory: id → reason and remedy. Makes a scratch directory
/// for a moment, to test the page-cache probes; where that fails only the file system is asked.
pub fn unavailable(directory: &Path) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    if let Some(reason) = no_cold(directory) {
        parts.insert(CacheState::Cold.word().into(), reason);
    }
    parts
}

/// Why nothing goes past the page cache in this directory, and what to do.
pub fn no_bypass(directory: &Path) -> Option<String> {
    let fs = Mount::of(&Tree::machine(), directory)?.fs_type;
    in_memory_only(&fs).then(|| {
        format!(
            "{fs} keeps files in memory only, and there is nothing to bypass: name a directory on \
             a disk, or take --direct=off"
        )
    })
}

fn in_memory_only(fs: &str) -> bool {
    fs == "tmpfs" || fs == "ramfs"
}

/// Why a cold state cannot be had and proven in this directory.
fn no_cold(directory: &Path) -> Option<String> {
    let mount = Mount::of(&Tree::machine(), directory);
    let fs = mount.map_or_else(|| "this file system".into(), |mount| mount.fs_type);
    if in_memory_only(&fs) {
        return Some(format!("{fs} keeps files in memory only: name a directory on a disk"));
    }
    let scratch = Scratch::make(directory).ok()?;
    let prober = Prober::start(scratch.path()).ok()?;
    if prober.accepted().is_empty() {
        let why: Vec<_> =
            prober.rejected().iter().map(|r| format!("{} {}", r.probe.name(), r.reason)).collect();
        let why = why.join("; ");
        return Some(format!("no probe sees the page cache of {fs} here ({why}): use --cache any"));
    }
    (!prober.evicts).then(|| {
        format!(
            "{fs} delivered an evicted file without the device being read: name a directory on a \
             local disk, or use --cache any"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{available_memory_bytes, last_level_cache_bytes, processors, unavailable};
    use crate::sys::testing::{open_directory, skip};

    #[test]
    fn this_machine_has_memory_and_processors() {
        assert!(available_memory_bytes() > 1 << 20);
        assert!(processors() >= 1);
        let _ = last_level_cache_bytes();
    }

    #[test]
    fn cold_is_missing_on_tmpfs_and_there_on_a_disk() {
        let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
            return skip("cold_is_missing_on_tmpfs_and_there_on_a_disk", "no /dev/shm");
        };
        let reason = &unavailable(memory.path())["cold"];
        assert!(reason.contains("tmpfs") && reason.contains("name a directory"), "{reason}");
        let disk = open_directory();
        let missing = unavailable(disk.path());
        assert!(missing.is_empty() || missing.contains_key("cold"));
        assert_eq!(std::fs::read_dir(disk.path()).unwrap().count(), 0);
        assert!(unavailable(Path::new("/no/such")).is_empty());
    }
}
