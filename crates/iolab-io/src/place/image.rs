//! An image file without a name and the loop device over it: both are gone when nobody holds them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Advice, CWD, FallocateFlags, Mode, OFlags, fadvise, fallocate, openat, unlinkat};
use rustix::io::Errno;

use super::kind::IMAGE_BYTES;
use super::marker::Marker;
use super::missing::Missing;
use super::{fault, space};
use crate::sys::loop_device::{self, Attach};
use iolab_model::catalog::bytes_text;
use iolab_model::result::Fault;

/// How a loop device of ours is called: process and start time follow.
pub const NAME_PREFIX: &str = "iolab ";
const DETACH_WAIT: Duration = Duration::from_secs(2);

/// An unnamed file: no other process can find it, and a kill leaves nothing of it.
#[derive(Debug)]
pub struct Image {
    file: File,
    bytes: u64,
    /// False where the file system could not reserve its blocks.
    pub reserved: bool,
}

impl Image {
    /// Makes one in `ground`. Its blocks are reserved, so that it cannot run out of space later; of one
    /// that is larger than it must be they are not: it is that large for the shape of what lies in it.
    ///
    /// # Errors
    /// Not enough space (with `ENOSPC`), or the file system refuses.
    pub fn make(ground: &Path, bytes: u64) -> Result<Image, Fault> {
        let doing = || format!("make an image of {} in {}", bytes_text(bytes), ground.display());
        let usable = space(ground)?.usable_bytes();
        if usable < bytes {
            let error = io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
            let remedy = format!(
                "{} may be used: free some, name another directory, or size={}",
                bytes_text(usable),
                "512Mi"
            );
            return Err(fault(doing(), &error, &remedy));
        }
        let file = unnamed_file(ground).map_err(|e| fault(doing(), &e, ""))?;
        let reserve = || fallocate(&file, FallocateFlags::empty(), 0, bytes);
        let reserved = match if bytes > IMAGE_BYTES { Err(Errno::OPNOTSUPP) } else { reserve() } {
            Ok(()) => true,
            Err(Errno::OPNOTSUPP) => false,
            Err(error) => return Err(fault(doing(), &error.into(), "free some space")),
        };
        file.set_len(bytes).map_err(|e| fault(doing(), &e, ""))?;
        Ok(Image { file, bytes, reserved })
    }

    /// Takes over a file that a tool has filled, and whose name is gone or will be.
    ///
    /// # Errors
    /// Its size cannot be read.
    pub fn of(file: File) -> io::Result<Image> {
        let bytes = file.metadata()?.len();
        Ok(Image { file, bytes, reserved: true })
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The path under which a tool of this process may open it.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()))
    }

    /// Drops it from the page cache: without direct I/O the loop device caches in it a second time.
    ///
    /// # Errors
    /// It could not be written back.
    pub fn evict(&self) -> Result<(), Fault> {
        let doing = "evict the image from the page cache";
        self.file.sync_data().map_err(|e| fault(doing, &e, ""))?;
        fadvise(&self.file, 0, None, Advice::DontNeed).map_err(|e| fault(doing, &e.into(), ""))
    }
}

fn unnamed_file(ground: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    match openat(CWD, ground, flags | OFlags::TMPFILE, mode) {
        Ok(file) => Ok(File::from(file)),
        // Overlay and network file systems may lack O_TMPFILE: a name for a moment.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
            let name = ground.join(format!("image-{}", std::process::id()));
            let file = openat(CWD, &name, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
            unlinkat(CWD, &name, rustix::fs::AtFlags::empty())?;
            Ok(File::from(file))
        }
        Err(error) => Err(error.into()),
    }
}

/// A loop device over an image. Dropped, it detaches; killed, it does so by itself.
#[derive(Debug)]
pub struct LoopDevice {
    number: u32,
    /// Read-only: since Linux 6.8 a kernel may refuse to mount a device that is open for writing.
    held: Option<OwnedFd>,
    /// Whether the page cache of the image is bypassed, read back.
    pub direct_io: bool,
}

impl LoopDevice {
    /// Attaches, with direct I/O where the kernel can. `block_bytes` is the greatest logical
    /// block that the file system bears: where the disk below has larger sectors, direct I/O needs
    /// a block as large.
    ///
    /// # Errors
    /// No loop device, or none free.
    pub fn attach(image: &Image, read_only: bool, block_bytes: u32) -> Result<LoopDevice, Fault> {
        let mut device = LoopDevice::attach_with(image, read_only, 0)?;
        if !device.direct_io && block_bytes >= 4096 {
            device.detach()?;
            device = LoopDevice::attach_with(image, read_only, 4096)?;
        }
        Ok(device)
    }

    fn attach_with(image: &Image, read_only: bool, block: u32) -> Result<LoopDevice, Fault> {
        let doing = "attach a loop device";
        let name = name_of_this_process();
        let how = Attach { name: &name, block_bytes: block, direct_io: true, read_only };
        let (number, device) =
            loop_device::attach(&image.file, &how).map_err(|e| fault(doing, &e, REMEDY))?;
        let held = OpenOptions::new()
            .read(true)
            .open(device_path(number))
            .map_err(|e| fault(doing, &e, REMEDY))?;
        drop(device);
        let dio = read_attribute(number, "dio").as_deref() == Some("1");
        Ok(LoopDevice { number, held: Some(held.into()), direct_io: dio })
    }

    /// `/dev/loopN`.
    pub fn path(&self) -> PathBuf {
        device_path(self.number)
    }

    /// `loopN`.
    pub fn name(&self) -> String {
        format!("loop{}", self.number)
    }

    /// Drops what the kernel has cached of the device itself: ext2's metadata lives there.
    ///
    /// # Errors
    /// The device refuses.
    pub fn evict(&self) -> Result<(), Fault> {
        let Some(held) = &self.held else { return Ok(()) };
        loop_device::flush_buffers(held)
            .map_err(|e| fault(format!("drop the cache of {}", self.path().display()), &e, ""))
    }

    /// Detaches and waits until the kernel has. A second call does nothing.
    ///
    /// # Errors
    /// Something holds the device; it detaches with its last user.
    pub fn detach(&mut self) -> Result<(), Fault> {
        let Some(held) = self.held.take() else { return Ok(()) };
        drop(held);
        let start = Instant::now();
        while self.is_ours() {
            if start.elapsed() > DETACH_WAIT {
                return Err(Missing::new("something holds it open", "`iolab clean` detaches it")
                    .fault(format!("detach {}", self.path().display())));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Between our detaching and this look another process may have taken the device.
    fn is_ours(&self) -> bool {
        let device = OpenOptions::new().read(true).open(self.path());
        device.and_then(|d| loop_device::name_of(&d)).is_ok_and(|n| n == name_of_this_process())
            && read_attribute(self.number, "backing_file").is_some()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.held = None;
    }
}

const REMEDY: &str = "loop devices need root and /dev/loop-control (`modprobe loop`; in a \
    container --device /dev/loop-control and the loop devices)";

fn device_path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{number}"))
}

fn read_attribute(number: u32, name: &str) -> Option<String> {
    let path = format!("/sys/block/loop{number}/loop/{name}");
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn name_of_this_process() -> String {
    let marker = Marker::of_this_process();
    format!("{NAME_PREFIX}{} {}", marker.pid, marker.start_ticks)
}

/// Whether a loop device can be had, without attaching anything.
///
/// # Errors
/// There is no loop control, or it may not be used.
pub fn loop_available() -> Result<(), Missing> {
    loop_device::find_free()
        .map(|_| ())
        .map_err(|error| Missing::new(format!("no loop device ({error})"), REMEDY))
}

/// Detaches loop devices that a killed iolab has left (something else held them at the time).
/// Returns their paths.
pub fn sweep_loops() -> Vec<PathBuf> {
    let Ok(blocks) = std::fs::read_dir("/sys/block") else { return Vec::new() };
    let numbers = blocks
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("loop")?.parse::<u32>().ok());
    numbers
        .filter(|number| abandoned(*number).is_some_and(|d| loop_device::detach(&d).is_ok()))
        .map(device_path)
        .collect()
}

fn abandoned(number: u32) -> Option<File> {
    read_attribute(number, "backing_file")?;
    let device = OpenOptions::new().read(true).open(device_path(number)).ok()?;
    let name = loop_device::name_of(&device).ok()?;
    let (pid, start) = name.strip_prefix(NAME_PREFIX)?.split_once(' ')?;
    let alive = super::marker::start_ticks(pid) == Some(start.parse().ok()?);
    (!alive).then_some(device)
}
