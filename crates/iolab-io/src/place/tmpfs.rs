//! tmpfs: files that are nowhere but in the page cache.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::file_system::{ALL_CAPABILITIES, facts_of, refuse_layers};
use super::kind::{Kind, Missing, Place, PlaceOrder};
use super::mounts::{Mount, Source, may_mount, remove_mount_point};
use super::{fault, spot};
use iolab_model::catalog::Part;
use iolab_model::result::{Fault, PlaceFacts};

/// The kind.
#[derive(Debug)]
pub struct Tmpfs;

impl Tmpfs {
    /// How it describes itself.
    pub const fn part(&self) -> Part {
        Part::place(
            "tmpfs",
            "in memory only: the price of the calls without a disk; has no cold state",
        )
        .with(ALL_CAPABILITIES)
        .needing("root or user namespaces")
    }
}

impl Kind for Tmpfs {
    fn part(&self) -> Part {
        Tmpfs::part(self)
    }

    fn available(&self) -> Result<(), Missing> {
        may_mount()
    }

    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
        refuse_layers(order.level)?;
        if !order.level.mkfs.is_empty() {
            let missing = Missing::new("tmpfs is made by no tool", "leave mkfs= out");
            return Err(missing.fault(format!("make the place {}", order.level)));
        }
        let target = spot(order.ground, order.level)?;
        let bytes = order.level.size_bytes.unwrap_or(order.image_bytes);
        let mut options = vec![("size".to_owned(), Some(bytes.to_string()))];
        options.extend(order.level.options.iter().cloned());
        let source = Source { fs_type: "tmpfs", source: OsStr::new("iolab"), options: &options };
        let mount = Mount::make(order.mounts, &target, &source)
            .inspect_err(|_| drop(remove_mount_point(&target)))?;
        let mut facts = facts_of(&mount, order.level, "");
        facts.image_bytes = Some(bytes);
        facts.notes.push("tmpfs has no cold state: its files are nowhere but in memory".into());
        Ok(Box::new(TmpfsPlace { mount, target, facts }))
    }
}

#[derive(Debug)]
struct TmpfsPlace {
    mount: Mount,
    target: PathBuf,
    facts: PlaceFacts,
}

impl Place for TmpfsPlace {
    fn root(&self) -> &Path {
        self.mount.target()
    }

    fn facts(&self) -> &PlaceFacts {
        &self.facts
    }

    fn remount(&mut self) -> Result<(), Fault> {
        let missing = Missing::new(
            "unmounting tmpfs destroys its files",
            "tmpfs has no cold state: leave it out where --cache is cold or remount",
        );
        Err(missing.fault("empty the cache of tmpfs"))
    }

    fn take_down(&mut self) -> Result<(), Fault> {
        self.mount.unmount()?;
        let doing = || format!("remove {}", self.target.display());
        remove_mount_point(&self.target).map_err(|e| fault(doing(), &e, ""))
    }
}

impl Drop for TmpfsPlace {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}
