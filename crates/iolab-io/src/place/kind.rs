//! What every kind of place offers, and what is known of one that was made.

use std::path::{Path, PathBuf};

pub use super::missing::Missing;
use super::mounts::Mounts;
use iolab_model::catalog::{Part, PlaceLevel};
use iolab_model::result::{Fault, PlaceFacts};

/// Size of an image where none is named.
pub const IMAGE_BYTES: u64 = 1 << 30;
/// Smallest image: below it some file systems turn into another kind of themselves.
pub const LEAST_IMAGE_BYTES: u64 = 512 << 20;

/// Which devices may be overwritten: nothing unless said.
#[derive(Clone, Debug, Default)]
pub struct Consent {
    /// Devices that a file system may be made on, where they hold nothing.
    pub devices: Vec<PathBuf>,
    /// Devices whose content may be destroyed.
    pub destroy: Vec<PathBuf>,
}

/// What to make, and on what ground.
#[derive(Clone, Copy, Debug)]
pub struct PlaceOrder<'a> {
    /// As the person wrote it.
    pub level: &'a PlaceLevel,
    /// A directory that iolab owns: images, mount points and layers are made below it.
    pub ground: &'a Path,
    /// Size of each image, one for all places of a comparison.
    pub image_bytes: u64,
    /// Which devices of the person's may be overwritten.
    pub consent: &'a Consent,
    /// The private mounts of this process.
    pub mounts: Mounts,
}

/// A kind of place. One file each; [`super::KINDS`] lists them.
pub trait Kind: Sync {
    /// How it describes itself.
    fn part(&self) -> Part;

    /// Whether it can be had here: tried, not guessed.
    ///
    /// # Errors
    /// What is missing, and what would help.
    fn available(&self) -> Result<(), Missing>;

    /// Whether the first change of a file's attributes copies its data.
    fn copies_up(&self) -> bool {
        false
    }

    /// Whether this one of it can be had: a directory may be gone.
    ///
    /// # Errors
    /// What is missing, and what would help.
    fn has(&self, _level: &PlaceLevel) -> Result<(), Missing> {
        Ok(())
    }

    /// Makes one.
    ///
    /// # Errors
    /// What was being done and why it failed; whatever was made until then is taken down.
    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault>;
}

/// A place that exists. Dropped, it is taken down, unheard.
pub trait Place: std::fmt::Debug {
    /// The directory that files go to. For a read-only place it changes with [`Place::seal`].
    fn root(&self) -> &Path;

    /// What it turned out to be.
    fn facts(&self) -> &PlaceFacts;

    /// Ends the filling of a read-only place: what is in [`Place::root`] becomes its content.
    /// Nothing elsewhere.
    ///
    /// # Errors
    /// The tool that builds it, or the mount, failed.
    fn seal(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Empties its caches by unmounting and mounting again; no file in it may be open.
    ///
    /// # Errors
    /// It is in use, or cannot be mounted again, or has no mount of its own.
    fn remount(&mut self) -> Result<(), Fault>;

    /// Drops what is cached below the place: of an image whose loop device has no direct I/O.
    ///
    /// # Errors
    /// It could not be written back.
    fn evict_below(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// A fresh upper layer over the same lower one; places without layers refuse.
    ///
    /// # Errors
    /// It is in use, or has no layers.
    fn renew(&mut self) -> Result<(), Fault> {
        Err(Missing::new("this place has no layers", "renew an overlay").fault("renew the place"))
    }

    /// The directory that changes to files of the lower layer are copied up to.
    fn upper(&self) -> Option<&Path> {
        None
    }

    /// The lower layer, to be filled before [`Place::seal`] and left alone after it.
    fn lower(&self) -> Option<&Path> {
        None
    }

    /// Unmounts, detaches and removes all of it. A second call does nothing.
    ///
    /// # Errors
    /// What is left, and what ends it.
    fn take_down(&mut self) -> Result<(), Fault>;
}
