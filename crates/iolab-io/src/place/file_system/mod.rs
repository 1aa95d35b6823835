//! A file system in a loop image, made by the distribution's own tool. One file each beside this
//! one describes a file system; this one does the work.

pub mod bfs;
pub mod btrfs;
pub mod ext2;
pub mod ext3;
pub mod ext4;
pub mod f2fs;
pub mod jfs;
pub mod nilfs2;
pub mod xfs;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::image::{Image, LoopDevice, loop_available};
use super::kind::{Kind, LEAST_IMAGE_BYTES, Missing, Place, PlaceOrder};
use super::mounts::{Mount, Mounts, Source, may_mount_as_root, remove_mount_point, shown};
use super::tool::Tool;
use super::{fault, spot};
use crate::sys::mount::has_file_system;
use iolab_model::catalog::{Capability, Part, PlaceLevel, bytes_text, list_text};
use iolab_model::result::{Fault, PlaceFacts};

/// A file system that can be written to, in an image.
#[derive(Debug)]
pub struct FileSystem {
    /// Its name: for us, for the kernel and in results.
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What makes it.
    pub mkfs: Tool,
    /// Words for it; the device follows.
    pub arguments: &'static [&'static str],
    /// Below this many bytes its tool refuses.
    pub least_bytes: u64,
    /// Above this many it cannot be made.
    pub most_bytes: u64,
    /// Largest logical block of the device that it works on.
    pub block_bytes: u32,
    /// The module that has it, where its name is another one.
    pub module: &'static str,
    /// What a reader of the result should know; empty where nothing.
    pub note: &'static str,
}

/// What every place that can be written to can do.
pub const ALL_CAPABILITIES: &[Capability] = &[
    Capability::Read,
    Capability::Write,
    Capability::Copy,
    Capability::Call,
    Capability::Metadata,
    Capability::Files,
    Capability::Replay,
];

impl FileSystem {
    /// How it describes itself.
    pub const fn part(&self) -> Part {
        Part::place(self.id, self.summary)
            .with(ALL_CAPABILITIES)
            .needing("root, a loop device and its mkfs, or --vm")
    }

    /// Makes the file system on a device or an image.
    ///
    /// # Errors
    /// The image is too small for it (with the least size), or the tool is missing or fails.
    pub fn make_on(
        &self,
        device: &Path,
        bytes: u64,
        level: &PlaceLevel,
    ) -> Result<Vec<String>, Fault> {
        self.fits(bytes)?;
        let mut words: Vec<&OsStr> = self.arguments.iter().map(OsStr::new).collect();
        words.extend(level.mkfs.iter().map(OsStr::new));
        words.push(device.as_os_str());
        self.mkfs.run(&words)
    }

    /// Whether a device of this size can hold it.
    ///
    /// # Errors
    /// The least or the greatest size, named.
    pub fn fits(&self, bytes: u64) -> Result<(), Fault> {
        let doing = || format!("make {} in an image of {}", self.id, bytes_text(bytes));
        if bytes < self.least_bytes.max(1) {
            let least = bytes_text(self.least_bytes);
            let remedy = format!("{} needs {least} at least; give size=1Gi", self.id);
            return Err(Missing::new("the image is too small", remedy).fault(doing()));
        }
        if bytes > self.most_bytes {
            let most = bytes_text(self.most_bytes);
            let remedy = format!("{} holds {most} at most; give size={most}", self.id);
            return Err(Missing::new("the image is too large", remedy).fault(doing()));
        }
        Ok(())
    }

    /// Whether this kernel has it.
    ///
    /// # Errors
    /// It has not, with the ways out.
    pub fn in_kernel(&self) -> Result<(), Missing> {
        has_file_system(self.id).map_err(|_| {
            let reason = format!("this kernel has no {}", self.id);
            let remedy = format!(
                "`modprobe {}` where the kernel's package has it, or --vm with a kernel from \
                 scripts/fetch-kernel.sh",
                self.module
            );
            Missing::new(reason, remedy)
        })
    }
}

impl FileSystem {
    /// The way out of a kernel without it is a guest, which is taken by itself: where something lacks
    /// for that, no `modprobe` helps.
    fn with_a_guest(&self, missing: Missing) -> Missing {
        let lacks = [self.mkfs, super::vm::QEMU].into_iter().filter(|tool| tool.find().is_err());
        let packages: Vec<&str> = lacks.map(|tool| tool.package).collect();
        if packages.is_empty() {
            return missing;
        }
        let remedy = format!(
            "install {} (iolab doctor --install), and a guest that has it is taken by itself; or \
             `modprobe {}` where the kernel's package has it",
            list_text(&packages),
            self.module
        );
        Missing { remedy, ..missing }
    }
}

impl Kind for FileSystem {
    fn part(&self) -> Part {
        FileSystem::part(self)
    }

    fn available(&self) -> Result<(), Missing> {
        may_mount_as_root()?;
        self.in_kernel().map_err(|missing| self.with_a_guest(missing))?;
        self.mkfs.find()?;
        loop_available()
    }

    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
        ImagePlace::make(self, order).map(|place| Box::new(place) as Box<dyn Place>)
    }
}

/// A mounted image. Field order is the order of taking down: the mount before its device.
#[derive(Debug)]
pub struct ImagePlace {
    mount: Mount,
    device: LoopDevice,
    image: Image,
    fs_type: String,
    options: Vec<(String, Option<String>)>,
    spot: PathBuf,
    facts: PlaceFacts,
    /// Taken down already.
    down: bool,
}

impl ImagePlace {
    /// Makes the image, the file system and the mount.
    ///
    /// # Errors
    /// What failed; nothing is left of it.
    pub fn make(kind: &FileSystem, order: &PlaceOrder<'_>) -> Result<ImagePlace, Fault> {
        kind.available().map_err(|missing| missing.fault(format!("make a place {}", kind.id)))?;
        refuse_layers(order.level)?;
        let bytes = order.level.size_bytes.unwrap_or(order.image_bytes);
        kind.fits(bytes)?;
        if bytes < LEAST_IMAGE_BYTES {
            let reason = "under 512 MiB some file systems become another kind of themselves";
            let missing = Missing::new(reason, "give size=512Mi or more");
            return Err(missing.fault(format!("make an image of {}", bytes_text(bytes))));
        }
        let image = Image::make(order.ground, bytes)?;
        let device = LoopDevice::attach(&image, false, kind.block_bytes)?;
        let mkfs = kind.make_on(&device.path(), bytes, order.level)?;
        let how = (order.ground, order.level, order.mounts);
        let mut place = ImagePlace::mount(how, image, device, kind.id)?;
        place.facts.mkfs = mkfs;
        place.facts.notes.extend((!kind.note.is_empty()).then(|| kind.note.to_owned()));
        Ok(place)
    }

    /// Mounts what is on an attached image.
    ///
    /// # Errors
    /// The kernel refuses it, or an option of it.
    pub fn mount(
        (ground, level, mounts): (&Path, &PlaceLevel, Mounts),
        image: Image,
        device: LoopDevice,
        fs_type: &str,
    ) -> Result<ImagePlace, Fault> {
        let spot = spot(ground, level)?;
        let path = device.path();
        let options = level.options.clone();
        let source = Source { fs_type, source: path.as_os_str(), options: &options };
        let mount =
            Mount::make(mounts, &spot, &source).inspect_err(|_| drop(remove_mount_point(&spot)))?;
        let mut facts = facts_of(&mount, level, &device.name());
        facts.image_bytes = Some(image.bytes());
        facts.loop_direct_io = Some(device.direct_io);
        if !device.direct_io {
            let note = "the loop device has no direct I/O here: its image is cached a second time";
            facts.notes.push(note.into());
        }
        if !image.reserved {
            facts.notes.push("the image is sparse: the disk below may run full".into());
        }
        let fs_type = fs_type.to_owned();
        Ok(ImagePlace { mount, device, image, fs_type, options, spot, facts, down: false })
    }

    /// Its facts, to be added to.
    pub fn facts_mut(&mut self) -> &mut PlaceFacts {
        &mut self.facts
    }
}

impl Place for ImagePlace {
    fn root(&self) -> &Path {
        self.mount.target()
    }

    fn facts(&self) -> &PlaceFacts {
        &self.facts
    }

    fn remount(&mut self) -> Result<(), Fault> {
        let path = self.device.path();
        let source =
            Source { fs_type: &self.fs_type, source: path.as_os_str(), options: &self.options };
        let (device, image) = (&self.device, &self.image);
        self.mount.again(&source, || {
            device.evict()?;
            if device.direct_io { Ok(()) } else { image.evict() }
        })
    }

    fn evict_below(&mut self) -> Result<(), Fault> {
        if self.device.direct_io { Ok(()) } else { self.image.evict() }
    }

    fn take_down(&mut self) -> Result<(), Fault> {
        if self.down {
            return Ok(());
        }
        self.down = true;
        self.mount.unmount()?;
        self.device.detach()?;
        let doing = || format!("remove {}", self.spot.display());
        remove_mount_point(&self.spot).map_err(|e| fault(doing(), &e, ""))
    }
}

impl Drop for ImagePlace {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}

/// What mountinfo and sysfs say of a mount.
pub fn facts_of(mount: &Mount, level: &PlaceLevel, device: &str) -> PlaceFacts {
    let mounted = mount.mounted();
    // A file system that ext4's driver serves has a directory there, whatever its name; one without
    // a device has none.
    let by_ext4 = !device.is_empty() && Path::new("/sys/fs/ext4").join(device).exists();
    let driver = if by_ext4 { "ext4".to_owned() } else { mounted.fs_type.clone() };
    let mut facts = PlaceFacts {
        asked: level.to_string(),
        file_system: mounted.fs_type.clone(),
        mount_options: mounted.options.clone(),
        file_system_options: mounted.fs_options.clone(),
        ..PlaceFacts::default()
    };
    if driver != facts.file_system {
        facts.notes.push(format!("{} runs on the driver of {driver} here", facts.file_system));
    }
    facts.driver = driver;
    for (key, value) in &level.options {
        if key != "defaults" && !shown(mounted, key, value.as_deref()) {
            let option = value.as_ref().map_or(key.clone(), |value| format!("{key}={value}"));
            facts.notes.push(format!("the kernel took the option {option} and does not show it"));
        }
    }
    facts
}

/// Layers are for overlays.
pub fn refuse_layers(level: &PlaceLevel) -> Result<(), Fault> {
    let wrong = level.layers.first().map(|(role, _)| role.as_str());
    match wrong.or(level.file_system.as_deref().map(|_| "fs")) {
        None => Ok(()),
        Some(option) => {
            let missing = Missing::new(
                format!("{} has no option {option}=", level.kind),
                "on=, lower= and upper= are for overlays, fs= is for device:PATH",
            );
            Err(missing.fault(format!("make the place {level}")))
        }
    }
}
