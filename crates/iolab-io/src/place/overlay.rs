//! overlayfs: a lower layer that stays as it is, and an upper one that takes the changes.
//! `redirect_dir` is equal in all arms: metacopy needs it, and alone it changes costs.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::file_system::{ALL_CAPABILITIES, facts_of};
use super::fuse_overlay::{FUSE_OVERLAYFS, Server};
use super::kind::{Kind, Missing, Place, PlaceOrder};
use super::layers::Layers;
use super::mounts::{Mount, Mounts, Source, may_mount, may_mount_as_root, remove_mount_point};
use super::{fault, spot};
use crate::sys::mount::{Mounted, descriptor_path, has_file_system};
use iolab_model::catalog::{Part, PlaceLevel};
use iolab_model::result::{Fault, PlaceFacts};

/// An arm of the comparison.
#[derive(Debug)]
pub struct Overlay {
    id: &'static str,
    summary: &'static str,
    metacopy: bool,
    volatile: bool,
    fuse: bool,
}

/// Plain.
pub static OVERLAY: Overlay = Overlay {
    id: "overlay",
    summary: "overlayfs; the first change of a file copies all of it",
    metacopy: false,
    volatile: false,
    fuse: false,
};
/// With metacopy.
pub static METACOPY: Overlay = Overlay {
    id: "overlay+metacopy",
    summary: "overlayfs; a change of mode or owner copies no data",
    metacopy: true,
    ..OVERLAY_BASE
};
/// Without syncs.
pub static VOLATILE: Overlay = Overlay {
    id: "overlay+volatile",
    summary: "overlayfs without any sync: what the copy alone costs",
    volatile: true,
    ..OVERLAY_BASE
};
/// Both.
pub static METACOPY_VOLATILE: Overlay = Overlay {
    id: "overlay+metacopy+volatile",
    summary: "overlayfs, metacopy and no sync",
    metacopy: true,
    volatile: true,
    ..OVERLAY_BASE
};
/// In user space.
pub static FUSE: Overlay = Overlay {
    id: "fuse-overlayfs",
    summary: "an overlay served by a process through FUSE",
    fuse: true,
    ..OVERLAY_BASE
};

const OVERLAY_BASE: Overlay =
    Overlay { id: "", summary: "", metacopy: false, volatile: false, fuse: false };

impl Overlay {
    /// How it describes itself.
    pub const fn part(&self) -> Part {
        Part::place(self.id, self.summary)
            .with(ALL_CAPABILITIES)
            .needing("root or user namespaces; metacopy needs root")
    }

    /// Options of the mount beside its layers.
    fn options(&self, privileged: bool, level: &PlaceLevel) -> Vec<(String, Option<String>)> {
        let pair = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        let mut options = if privileged {
            let metacopy = if self.metacopy { "on" } else { "off" };
            vec![pair("redirect_dir", "on"), pair("metacopy", metacopy)]
        } else {
            vec![("userxattr".to_owned(), None)]
        };
        options.extend(self.volatile.then(|| ("volatile".to_owned(), None)));
        options.extend(level.options.iter().cloned());
        options
    }
}

impl Kind for Overlay {
    fn part(&self) -> Part {
        Overlay::part(self)
    }

    fn copies_up(&self) -> bool {
        !self.metacopy
    }

    fn available(&self) -> Result<(), Missing> {
        may_mount()?;
        if self.fuse {
            FUSE_OVERLAYFS.find()?;
            let fuse = std::fs::File::options().read(true).write(true).open("/dev/fuse");
            return fuse.map(|_| ()).map_err(|error| {
                Missing::new(format!("/dev/fuse cannot be opened ({error})"), "`modprobe fuse`")
            });
        }
        if self.metacopy && may_mount_as_root().is_err() {
            return Err(Missing::new(
                "the kernel refuses metacopy in a user namespace (EINVAL)",
                "run as root",
            ));
        }
        if may_mount_as_root().is_err() {
            return super::userns::overlay_works();
        }
        has_file_system("overlay")
            .map_err(|_| Missing::new("this kernel has no overlayfs", "`modprobe overlay`"))
    }

    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
        let doing = || format!("make the place {}", order.level);
        let refuse = |missing: Missing| missing.fault(doing());
        self.available().map_err(refuse)?;
        if !order.level.mkfs.is_empty() || order.level.size_bytes.is_some() {
            let remedy = "size= and mkfs= belong to its layers: on=[ext4:size=1Gi]";
            return Err(refuse(Missing::new("an overlay has no image of its own", remedy)));
        }
        let layers = Layers::make(order)?;
        let target = spot(order.ground, order.level)?;
        let facts = PlaceFacts { asked: order.level.to_string(), ..PlaceFacts::default() };
        Ok(Box::new(OverlayPlace {
            merged: None,
            server: None,
            metacopy: self.metacopy,
            volatile: self.volatile,
            fuse: self.fuse,
            options: self.options(order.mounts.privileged(), order.level),
            level: order.level.clone(),
            mounts: order.mounts,
            layers,
            target,
            facts,
        }))
    }
}

/// Field order is the order of taking down: the overlay before what it lies on.
#[derive(Debug)]
struct OverlayPlace {
    merged: Option<Mount>,
    server: Option<Server>,
    metacopy: bool,
    volatile: bool,
    fuse: bool,
    options: Vec<(String, Option<String>)>,
    level: PlaceLevel,
    mounts: Mounts,
    layers: Layers,
    target: PathBuf,
    facts: PlaceFacts,
}

impl OverlayPlace {
    fn mount(&mut self) -> Result<(), Fault> {
        let layers = [self.layers.lower(), self.layers.upper(), self.layers.work()];
        let mount = if self.fuse {
            let (server, mount) = Server::start(layers, &self.target)?;
            self.server = Some(server);
            mount
        } else {
            let [lower, upper, work] = [open(layers[0])?, open(layers[1])?, open(layers[2])?];
            // Descriptors instead of paths: a comma or colon in a path would mean something.
            let layer = |key: &str, fd: &OwnedFd| (key.to_owned(), Some(descriptor_path(fd)));
            let mut options =
                vec![layer("lowerdir", &lower), layer("upperdir", &upper), layer("workdir", &work)];
            options.extend(self.options.iter().cloned());
            let source =
                Source { fs_type: "overlay", source: OsStr::new("iolab"), options: &options };
            let mount = Mount::make(self.mounts, &self.target, &source)?;
            self.check(mount.mounted())?;
            mount
        };
        self.facts = facts_of(&mount, &self.level, "");
        self.facts.layers = self.layers.facts();
        self.facts.notes.extend(self.layers.note());
        if !self.mounts.privileged() && !self.fuse {
            let note = "without root redirect_dir and metacopy are off (userxattr)";
            self.facts.notes.push(note.to_owned());
        }
        self.merged = Some(mount);
        Ok(())
    }

    /// An option that the kernel dropped without a word would compare two equal arms.
    fn check(&self, mounted: &Mounted) -> Result<(), Fault> {
        if !self.mounts.privileged() {
            return Ok(());
        }
        let on_off = |on: bool| if on { "on" } else { "off" };
        let wanted = [("metacopy", on_off(self.metacopy)), ("redirect_dir", "on")];
        for (option, wanted) in wanted {
            let is = effective(mounted, option);
            if is != wanted {
                let reason = format!("the mount lost {option}={wanted}: it is {is}");
                return Err(lost(reason, &self.level));
            }
        }
        // On newer kernels the option is one value of `fsync=`, and shown as that.
        let volatile = mounted
            .fs_options
            .split(',')
            .any(|option| option == "volatile" || option == "fsync=volatile");
        if self.volatile && !volatile {
            return Err(lost("the mount lost the option volatile".into(), &self.level));
        }
        Ok(())
    }

    fn unmount(&mut self) -> Result<(), Fault> {
        let unmounted = self.merged.take().map_or(Ok(()), |mut mount| mount.unmount());
        unmounted.and(self.server.take().map_or(Ok(()), Server::end))
    }
}

fn lost(reason: String, level: &PlaceLevel) -> Fault {
    Missing::new(reason, "see the kernel log (`dmesg`)")
        .fault(format!("read back the options of {level}"))
}

/// mountinfo shows an option only where it differs from the module's default.
fn effective(mounted: &Mounted, option: &str) -> String {
    let shown = mounted
        .fs_options
        .split(',')
        .find_map(|shown| shown.split_once('=').filter(|(key, _)| *key == option));
    if let Some((_, value)) = shown {
        return value.to_owned();
    }
    let parameter = format!("/sys/module/overlay/parameters/{option}");
    match std::fs::read_to_string(parameter).unwrap_or_default().trim() {
        "Y" => "on".into(),
        "N" => "off".into(),
        _ => "unknown".into(),
    }
}

fn open(path: &Path) -> Result<OwnedFd, Fault> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
        .map_err(|e| fault(format!("open the layer {}", path.display()), &e.into(), ""))
}

impl Place for OverlayPlace {
    fn root(&self) -> &Path {
        self.merged.as_ref().map_or(self.layers.lower(), Mount::target)
    }

    fn facts(&self) -> &PlaceFacts {
        &self.facts
    }

    fn upper(&self) -> Option<&Path> {
        Some(self.layers.upper())
    }

    fn lower(&self) -> Option<&Path> {
        Some(self.layers.lower())
    }

    fn seal(&mut self) -> Result<(), Fault> {
        if self.merged.is_some() { Ok(()) } else { self.mount() }
    }

    fn evict_below(&mut self) -> Result<(), Fault> {
        self.layers.evict_below()
    }

    fn remount(&mut self) -> Result<(), Fault> {
        self.unmount()?;
        self.layers.remount()?;
        self.layers.forget_volatile()?;
        self.mount()
    }

    fn renew(&mut self) -> Result<(), Fault> {
        self.unmount()?;
        self.layers.renew()?;
        self.mount()
    }

    fn take_down(&mut self) -> Result<(), Fault> {
        let overlay = self.unmount();
        let layers = self.layers.take_down();
        let doing = || format!("remove {}", self.target.display());
        let removed = remove_mount_point(&self.target).map_err(|e| fault(doing(), &e, ""));
        overlay.and(layers).and(removed)
    }
}

impl Drop for OverlayPlace {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}
