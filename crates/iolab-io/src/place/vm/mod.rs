//! A small virtual machine for file systems that this kernel lacks: a distribution's kernel, an
//! initramfs with the agent and a few modules, and a port to speak through. Needs no root.

mod cpio;
mod guest;
mod kernel;
mod modules;
mod program;
mod qemu;

use std::fs::File;
use std::path::{Path, PathBuf};

pub use guest::{Port, become_init, end};
pub use kernel::Kernel;
pub use qemu::{Accelerator, Machine, QEMU, available};

use super::image::Image;
use super::kind::Missing;
use super::{fault, file_system_named};
use iolab_model::catalog::PlaceLevel;
use iolab_model::result::Fault;

/// What to boot.
#[derive(Debug)]
pub struct Setup {
    /// With its modules.
    pub kernel: Kernel,
    /// The agent: this program, unless a test says otherwise.
    pub program: PathBuf,
    /// Words that the guest's first process is started with.
    pub arguments: Vec<String>,
    /// File systems that it must be able to mount.
    pub file_systems: Vec<String>,
    /// Its disks, in order: `vda`, `vdb`, …
    pub disks: Vec<Disk>,
    /// Memory of the guest.
    pub memory_bytes: u64,
    /// Processors of the guest.
    pub processors: u32,
    /// How the host caches the disks.
    pub cache: Cache,
}

/// How the host caches a disk of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Not at all; flushes reach the host's disk. What durability is measured with.
    None,
    /// In memory; flushes are dropped.
    Unsafe,
}

impl Cache {
    /// The word of qemu, also in results.
    pub const fn name(self) -> &'static str {
        match self {
            Cache::None => "none",
            Cache::Unsafe => "unsafe",
        }
    }
}

/// A disk of the guest: an unnamed image with a file system on it, made on the host.
#[derive(Debug)]
pub struct Disk {
    image: Image,
    /// What made it.
    pub mkfs: Vec<String>,
    level: PlaceLevel,
    ground: PathBuf,
    bytes: u64,
}

impl Disk {
    /// Makes an image in `ground` and the file system on it; nothing is mounted on this side.
    ///
    /// # Errors
    /// No such file system, its tool is missing or fails, no space.
    pub fn make(level: &PlaceLevel, ground: &Path, image_bytes: u64) -> Result<Disk, Fault> {
        let kind = file_system_named(&level.kind).ok_or_else(|| {
            let reason = format!("{} cannot be put on a disk of a VM", level.kind);
            Missing::new(reason, "file systems in images can: ext4, xfs, jfs, …")
                .fault(format!("make the place {level}"))
        })?;
        let bytes = level.size_bytes.unwrap_or(image_bytes);
        kind.fits(bytes)?;
        let image = Image::make(ground, bytes)?;
        let mkfs = kind.make_on(&image.path(), bytes, level)?;
        Ok(Disk { image, mkfs, level: level.clone(), ground: ground.to_owned(), bytes })
    }

    /// Takes another image with a file system that nothing was written to, in place of this one.
    ///
    /// # Errors
    /// As [`Disk::make`]; the disk is then as it was.
    pub fn make_anew(&mut self) -> Result<(), Fault> {
        *self = Disk::make(&self.level, &self.ground, self.bytes)?;
        Ok(())
    }

    fn path(&self) -> PathBuf {
        self.image.path()
    }
}

/// The name of the disk with this number in the guest.
pub fn disk_name(number: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(number).unwrap_or(25).min(25));
    format!("/dev/vd{letter}")
}

/// Writes the initramfs of a setup to a new file in memory.
///
/// # Errors
/// A module or a library is missing.
pub fn initramfs(setup: &Setup) -> Result<File, Fault> {
    let doing = "make the initramfs";
    let mut archive = cpio::Archive::new();
    program::put(&mut archive, &setup.program)?;
    let order = modules::put(&mut archive, &setup.kernel, &setup.file_systems)?;
    archive.file(modules::ORDER, 0o644, order.join("\n").as_bytes());
    let name = c"iolab-initramfs";
    let memory = rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|e| fault(doing, &e.into(), ""))?;
    let mut file = File::from(memory);
    std::io::Write::write_all(&mut file, &archive.end()).map_err(|e| fault(doing, &e, ""))?;
    Ok(file)
}
