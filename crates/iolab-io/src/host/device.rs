//! The block device below a directory.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::mount::{Mount, option_path};
use super::tree::{Facts, Tree, chosen};
use iolab_model::catalog::Fact;

/// Gathers `device.*`: absent where the file system has no block device that can be found.
pub fn gather(tree: &Tree, directory: &Path, facts: &mut Facts) {
    let Some(disk) = Disk::below(tree, directory) else { return };
    let queue = |name: &str| tree.text(format!("{}/queue/{name}", disk.at));
    let number = |name: &str| tree.number(format!("{}/queue/{name}", disk.at));
    facts.put(Fact::DeviceName, Some(disk.name.clone()));
    let model = tree
        .text(format!("{}/device/model", disk.at))
        .or_else(|| tree.link_name(format!("{}/device/driver", disk.at)));
    facts.put(Fact::DeviceModel, model);
    let sectors = tree.number(format!("{}/size", disk.at));
    facts.put(Fact::DeviceBytes, sectors.and_then(|sectors| sectors.checked_mul(512)));
    facts.put(Fact::DeviceScheduler, queue("scheduler").as_deref().and_then(chosen));
    facts.put(Fact::DeviceRotational, number("rotational").map(|on| on == 1));
    let ahead = number("read_ahead_kb").and_then(|kib| kib.checked_mul(1024));
    facts.put(Fact::DeviceReadAheadBytes, ahead);
    facts.put(Fact::DeviceWriteCache, queue("write_cache"));
    facts.put(Fact::DeviceNrRequests, number("nr_requests"));
    facts.put(Fact::DeviceLogicalBlockBytes, number("logical_block_size"));
    facts.put(Fact::DevicePhysicalBlockBytes, number("physical_block_size"));
    let largest = number("max_sectors_kb").and_then(|kib| kib.checked_mul(1024));
    facts.put(Fact::DeviceMaxRequestBytes, largest);
    facts.put(Fact::DeviceThrottleLatencyUs, number("wbt_lat_usec"));
    let direct = tree.number(format!("{}/loop/dio", disk.at)).map(|on| on == 1);
    facts.put(Fact::DeviceLoopDirect, direct);
    facts.put(Fact::DeviceLoopFile, tree.text(format!("{}/loop/backing_file", disk.at)));
    let below = tree.names(format!("{}/slaves", disk.at)).join(",");
    facts.put(Fact::DeviceBelow, Some(below).filter(|names| !names.is_empty()));
}

/// Files of sysfs, below that of a device, that tell one disk from another of its make.
const NAMES: [&str; 4] = ["wwid", "device/wwid", "serial", "device/serial"];

/// What tells a block device from every other that may get its name: worldwide name, serial number,
/// size; of a loop device the file below it. `None`: it is no block device.
pub fn device_identity(path: &Path, about: &Metadata) -> Option<String> {
    if !about.file_type().is_block_device() {
        return None;
    }
    let (major, minor) = (rustix::fs::major(about.rdev()), rustix::fs::minor(about.rdev()));
    let at = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
    // A partition has the names of its disk, and a place on it.
    let own = at.join("partition").exists();
    let disk = if own { at.join("..") } else { at.clone() };
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).ok()?.trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let named = |name: &&str| Some(format!("{name} {}", read(disk.join(name))?));
    let mut told: Vec<String> = NAMES.iter().filter_map(named).collect();
    if let Some(file) = read(disk.join("loop/backing_file")) {
        let inode = std::fs::metadata(&file).map(|about| format!(", inode {}", about.ino()));
        told.push(format!("file {file}{}", inode.unwrap_or_default()));
    }
    told.extend(own.then(|| read(at.join("start"))).flatten().map(|at| format!("from {at}")));
    if told.is_empty() {
        // Of a virtual disk without a name its path is all there is.
        told.push(format!("device {}", path.display()));
    }
    told.push(format!("{} sectors", read(at.join("size")).unwrap_or_default()));
    Some(told.join(", "))
}

/// A whole disk in sysfs.
#[derive(Debug, PartialEq, Eq)]
pub struct Disk {
    /// `sda`, `nvme0n1`, `loop0`, `zram0`, `dm-0`.
    pub name: String,
    /// Its directory in sysfs, relative to the tree.
    pub at: String,
}

impl Disk {
    /// The disk of a directory: by its device number, else by the mount's source (btrfs has
    /// anonymous numbers), else by the upper directory of an overlay.
    pub fn below(tree: &Tree, directory: &Path) -> Option<Disk> {
        let number = std::fs::metadata(directory).ok()?.dev();
        if let Some(disk) = Disk::numbered(tree, number) {
            return Some(disk);
        }
        let mount = Mount::of(tree, directory)?;
        let source = std::fs::metadata(&mount.source).ok().map(|about| about.rdev());
        if let Some(disk) = source.and_then(|number| Disk::numbered(tree, number)) {
            return Some(disk);
        }
        let upper = option_path(mount.super_option("upperdir")?);
        let above = std::fs::metadata(upper).ok()?.dev();
        Disk::numbered(tree, above)
    }

    fn numbered(tree: &Tree, device: u64) -> Option<Disk> {
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        if major == 0 {
            return None;
        }
        let link = format!("sys/dev/block/{major}:{minor}");
        // A partition is a directory within its disk's.
        let partition = tree.path(format!("{link}/partition")).exists();
        let target = std::fs::canonicalize(tree.path(&link)).ok()?;
        let disk = if partition { target.parent()? } else { &target };
        let name = disk.file_name()?.to_str()?.to_owned();
        Some(Disk { at: disk.to_str()?.to_owned(), name })
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::device_identity;
    use crate::sys::testing::{is_root, open_directory, skip};

    /// A loop device over a file, detached when dropped.
    struct Attached(PathBuf);

    impl Attached {
        fn new(file: &Path, at: Option<&Path>) -> Option<Attached> {
            let mut command = Command::new("losetup");
            match at {
                Some(device) => command.arg(device).arg(file),
                None => command.args(["--find", "--show"]).arg(file),
            };
            let output = command.output().ok().filter(|output| output.status.success())?;
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Some(Attached(at.map_or_else(|| said.into(), Path::to_owned)))
        }

        fn identity(&self) -> String {
            device_identity(&self.0, &std::fs::metadata(&self.0).unwrap()).unwrap()
        }
    }

    impl Drop for Attached {
        fn drop(&mut self) {
            let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
        }
    }

    /// A disk was known by its path alone: a run that was gone on with wrote to whatever had that path
    /// by then.
    #[test]
    fn another_disk_of_the_same_path_is_another_disk() {
        const TEST: &str = "another_disk_of_the_same_path_is_another_disk";
        if !is_root() {
            return skip(TEST, "needs root for loop devices");
        }
        let dir = open_directory();
        let files = ["a", "b"].map(|name| {
            let path = dir.path().join(name);
            std::fs::File::create(&path).unwrap().set_len(1 << 20).unwrap();
            path
        });
        // Who detaches a number may lose it to another test before the next file is there.
        let one_after_the_other = || {
            let first = Attached::new(&files[0], None)?;
            let (path, known) = (first.0.clone(), first.identity());
            assert_eq!(first.identity(), known, "the same each time");
            drop(first);
            Some((Attached::new(&files[1], Some(&path))?, known))
        };
        let Some((second, known)) = (0..50).find_map(|_| one_after_the_other()) else {
            return skip(TEST, "no loop device, or each was taken by something else at once");
        };
        assert_ne!(second.identity(), known);
        let about = std::fs::metadata(&files[0]).unwrap();
        assert_eq!(device_identity(&files[0], &about), None, "a file is no device");
    }
}
