//! Where the files are: made, read back, torn down.

pub mod clean;
mod cleanup_watchdog;
pub mod device;
pub mod directory;
pub mod file_system;
mod fuse_overlay;
mod image;
pub mod kept;
mod kind;
mod layers;
mod marker;
pub mod memory;
mod missing;
mod mounts;
pub mod overlay;
mod packages;
#[cfg(test)]
mod race_tests;
pub mod read_only;
pub mod scratch;
mod space;
pub mod tmpfs;
mod tool;
mod userns;
pub mod vm;

use std::path::{Path, PathBuf};

pub use clean::{Found, Owner, clean, sweep};
pub use cleanup_watchdog::CleanupWatchdog;
pub use image::sweep_loops;
pub use kept::{Kept, clean_kept};
pub use kind::{Consent, IMAGE_BYTES, Kind, LEAST_IMAGE_BYTES, Missing, Place, PlaceOrder};
pub use marker::text as marker_text;
pub use mounts::Mounts;
pub use packages::install_commands;
pub use scratch::Scratch;
pub use space::{Space, space};

use iolab_model::catalog::{Part, PlaceLevel};
use iolab_model::result::Fault;

macro_rules! places {
    ($($kind:expr,)*) => {
        /// Every kind of place.
        pub static KINDS: &[&dyn Kind] = &[$(&$kind,)*];
        /// How they describe themselves, in the same order.
        pub static PLACES: &[Part] = &[$($kind.part(),)*];
    };
}

macro_rules! file_systems {
    ($($name:ident)*) => {
        /// The file systems that can be made in an image or on a device.
        pub static FILE_SYSTEMS: &[&file_system::FileSystem] = &[$(&file_system::$name::KIND,)*];
        places! {
            directory::Directory,
            $(file_system::$name::KIND,)*
            tmpfs::Tmpfs,
            read_only::SQUASHFS,
            read_only::EROFS,
            overlay::OVERLAY,
            overlay::METACOPY,
            overlay::VOLATILE,
            overlay::METACOPY_VOLATILE,
            overlay::FUSE,
            device::Device,
        }
    };
}

file_systems! { ext2 ext3 ext4 xfs btrfs f2fs jfs nilfs2 bfs }

/// The kind of this name.
pub fn kind_named(id: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.part().id == id)
}

/// The file system of this name.
pub fn file_system_named(id: &str) -> Option<&'static file_system::FileSystem> {
    FILE_SYSTEMS.iter().copied().find(|kind| kind.id == id)
}

/// What a place lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// An image of a size that is known before.
    Image,
    /// An image as large as its files.
    Files,
    /// Memory.
    Memory,
    /// A directory as it is.
    Directory,
    /// A device of the person's.
    Device,
    /// Other places, or two directories.
    Layers,
}

/// What a place of this kind lies on.
pub fn ground_of(level: &PlaceLevel) -> Ground {
    match level.kind.as_str() {
        "dir" => Ground::Directory,
        "device" => Ground::Device,
        "tmpfs" => Ground::Memory,
        kind if file_system_named(kind).is_some() => Ground::Image,
        kind if kind.contains("overlay") => Ground::Layers,
        _ => Ground::Files,
    }
}

/// Whether a place can be made here, with the places that it lies on.
///
/// # Errors
/// What is missing, and what would help.
pub fn available(level: &PlaceLevel) -> Result<(), Missing> {
    let kind = kind_named(&level.kind)
        .ok_or_else(|| Missing::new("no such place", "`iolab list places` names them"))?;
    kind.available()?;
    kind.has(level)?;
    level.layers.iter().try_for_each(|(_, layer)| available(layer))
}

/// Makes a place.
///
/// # Errors
/// There is no such kind, or it cannot be made here; nothing is left of it.
pub fn make(order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
    let kind = kind_named(&order.level.kind).ok_or_else(|| {
        let missing = Missing::new("no such place", "`iolab list places` names them");
        missing.fault(format!("make the place {}", order.level))
    })?;
    kind.make(order)
}

/// A new directory below the ground: a mount point, or a place for layers.
fn spot(ground: &Path, level: &PlaceLevel) -> Result<PathBuf, Fault> {
    for number in 0_u32.. {
        let path = ground.join(format!("{}-{number}", level.kind));
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fault(format!("make {}", path.display()), &error, "")),
            Ok(()) => return Ok(path),
        }
    }
    Err(Missing::new("too many places", "take some down").fault("make a mount point"))
}

/// A fault with the errno of an I/O error and a remedy in words.
fn fault(doing: impl Into<String>, error: &std::io::Error, remedy: &str) -> Fault {
    Fault::of(doing, error).remedy(remedy)
}
