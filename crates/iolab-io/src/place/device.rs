//! A block device of the person's: only by name, only with consent, never one that is in use.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::file_system::{ALL_CAPABILITIES, FileSystem, facts_of};
use super::kind::{Consent, Kind, Missing, Place, PlaceOrder};
use super::mounts::{Mount, Source, may_mount_as_root, remove_mount_point};
use super::{fault, file_system_named, spot};
use crate::sys::loop_device::flush_buffers;
use iolab_model::catalog::Part;
use iolab_model::result::{Fault, PlaceFacts};

/// The kind.
#[derive(Debug)]
pub struct Device;

impl Device {
    /// How it describes itself.
    pub const fn part(&self) -> Part {
        Part::place(
            "device",
            "device:PATH,fs=ext4, a disk of yours; refused without --allow-device PATH",
        )
        .with(ALL_CAPABILITIES)
        .needing("root, and --allow-device")
    }
}

impl Kind for Device {
    fn part(&self) -> Part {
        Device::part(self)
    }

    fn available(&self) -> Result<(), Missing> {
        may_mount_as_root()
    }

    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
        let doing = || format!("use the place {}", order.level);
        let refuse = |missing: Missing| missing.fault(doing());
        self.available().map_err(refuse)?;
        let missing = || Missing::new("no path", "write device:PATH");
        let path = order.level.path.as_deref().ok_or_else(|| refuse(missing()))?;
        let name = order.level.file_system.as_deref().unwrap_or("ext4");
        let kind = file_system_named(name).ok_or_else(|| {
            refuse(Missing::new(format!("no file system {name}"), "fs= takes ext4, xfs, btrfs, …"))
        })?;
        kind.in_kernel().map_err(refuse)?;
        let path = path.canonicalize().map_err(|e| fault(doing(), &e, "name a block device"))?;
        let bytes = may_overwrite(&path, order.consent).map_err(refuse)?;
        let mkfs = kind.make_on(&path, bytes, order.level)?;
        DevicePlace::mount(order, &path, kind, mkfs).map(|place| Box::new(place) as Box<dyn Place>)
    }
}

/// Mounts what is on a disk already: the host of this guest has made it.
///
/// # Errors
/// The kernel refuses it.
pub fn on_disk(order: &PlaceOrder<'_>, path: &Path) -> Result<Box<dyn Place>, Fault> {
    let kind = file_system_named(&order.level.kind).ok_or_else(|| {
        Missing::new("no such file system", "`iolab list places`").fault("mount a disk")
    })?;
    let place = DevicePlace::mount(order, path, kind, Vec::new())?;
    Ok(Box::new(place))
}

/// Whether a device may be overwritten: it is one, is not in use, and holds nothing or its loss is
/// consented to by name. Returns its size.
///
/// # Errors
/// The first reason against it, and the flag or act that removes it.
pub fn may_overwrite(path: &Path, consent: &Consent) -> Result<u64, Missing> {
    let said = path.display();
    let about = std::fs::metadata(path)
        .map_err(|e| Missing::new(format!("{said}: {e}"), "name a block device"))?;
    if !about.file_type().is_block_device() {
        let remedy = "name a device such as /dev/sdb; for a directory use dir:PATH";
        return Err(Missing::new(format!("{said} is no block device"), remedy));
    }
    let listed =
        |paths: &[PathBuf]| paths.iter().any(|p| p.canonicalize().is_ok_and(|p| p == path));
    let destroy = listed(&consent.destroy);
    if !destroy && !listed(&consent.devices) {
        let remedy = format!("--allow-device {said} says that it may be written to");
        return Err(Missing::new(format!("{said} is a device of yours"), remedy));
    }
    let device = open_exclusively(path)?;
    if let Some(content) = content_of(path, &device, about.rdev()).filter(|_| !destroy) {
        let remedy = format!("--destroy {said} says that this may be lost");
        return Err(Missing::new(format!("{said} {content}"), remedy));
    }
    size_of(&device).map_err(|e| Missing::new(format!("{said} has no size ({e})"), "check it"))
}

/// The kernel refuses O_EXCL for what is mounted, swap, or part of an array or a volume.
fn open_exclusively(path: &Path) -> Result<File, Missing> {
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let opened = OpenOptions::new().read(true).write(true).custom_flags(exclusive).open(path);
    opened.map_err(|error| {
        let said = path.display();
        match error.kind() {
            io::ErrorKind::ResourceBusy => {
                let reason = format!("{said} is mounted or in use");
                Missing::new(reason, "unmount it; `lsblk` shows what uses it")
            }
            _ => Missing::new(format!("{said} cannot be opened ({error})"), "check it"),
        }
    })
}

/// What stands on the device, in words; nothing where both of its ends are zero. File systems and
/// partition tables mark the first MiB; arrays, ZFS and backup tables the last.
fn content_of(path: &Path, device: &File, number: u64) -> Option<String> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let entries = std::fs::read_dir(format!("/sys/dev/block/{major}:{minor}")).ok();
    let partitions = entries.into_iter().flatten().flatten();
    let count = partitions.filter(|entry| entry.path().join("partition").exists()).count();
    if count > 0 {
        return Some(format!("is partitioned ({count})"));
    }
    const END_BYTES: u64 = 1 << 20;
    let bytes = size_of(device).unwrap_or(0);
    let zero = |from: u64| {
        let mut buffer = vec![0_u8; END_BYTES.min(bytes) as usize];
        device.read_exact_at(&mut buffer, from).is_ok() && buffer.iter().all(|byte| *byte == 0)
    };
    if zero(0) && zero(bytes.saturating_sub(END_BYTES)) {
        return None;
    }
    let kind = std::process::Command::new("blkid")
        .args(["-p", "-o", "value", "-s", "TYPE", "-s", "PTTYPE"])
        .arg(path)
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().replace('\n', ", "));
    Some(match kind {
        Ok(kind) if !kind.is_empty() => format!("holds {kind}"),
        _ => "is not empty".to_owned(),
    })
}

fn size_of(mut device: &File) -> io::Result<u64> {
    io::Seek::seek(&mut device, io::SeekFrom::End(0))
}

#[derive(Debug)]
struct DevicePlace {
    mount: Mount,
    path: PathBuf,
    fs_type: &'static str,
    options: Vec<(String, Option<String>)>,
    target: PathBuf,
    facts: PlaceFacts,
}

impl DevicePlace {
    fn mount(
        order: &PlaceOrder<'_>,
        path: &Path,
        kind: &FileSystem,
        mkfs: Vec<String>,
    ) -> Result<DevicePlace, Fault> {
        let target = spot(order.ground, order.level)?;
        let options = order.level.options.clone();
        let source = Source { fs_type: kind.id, source: path.as_os_str(), options: &options };
        let mount = Mount::make(order.mounts, &target, &source)
            .inspect_err(|_| drop(remove_mount_point(&target)))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut facts = facts_of(&mount, order.level, &name);
        facts.mkfs = mkfs;
        Ok(DevicePlace { mount, path: path.to_owned(), fs_type: kind.id, options, target, facts })
    }
}

impl Place for DevicePlace {
    fn root(&self) -> &Path {
        self.mount.target()
    }

    fn facts(&self) -> &PlaceFacts {
        &self.facts
    }

    fn remount(&mut self) -> Result<(), Fault> {
        let path = &self.path;
        let source =
            Source { fs_type: self.fs_type, source: path.as_os_str(), options: &self.options };
        self.mount.again(&source, || {
            let doing = || format!("drop the cache of {}", path.display());
            let device = File::open(path).map_err(|e| fault(doing(), &e, ""))?;
            flush_buffers(&device).map_err(|e| fault(doing(), &e, ""))
        })
    }

    fn take_down(&mut self) -> Result<(), Fault> {
        self.mount.unmount()?;
        let doing = || format!("remove {}", self.target.display());
        remove_mount_point(&self.target).map_err(|e| fault(doing(), &e, ""))
    }
}

impl Drop for DevicePlace {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}
