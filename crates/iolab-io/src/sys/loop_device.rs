//! Loop devices: `LOOP_CONFIGURE` (Linux 5.8) and what belongs to it (include/uapi/linux/loop.h).

use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;

const LOOP_CLR_FD: libc::c_ulong = 0x4C01;
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;
const LOOP_CONFIGURE: libc::c_ulong = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::c_ulong = 0x4C82;

const LO_FLAGS_READ_ONLY: u32 = 1;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;
const NAME_BYTES: usize = 64;

#[repr(C)]
#[derive(Clone, Copy)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; NAME_BYTES],
    crypt_name: [u8; NAME_BYTES],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

#[repr(C)]
struct Config {
    fd: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

const _: () = assert!(size_of::<Info>() == 232 && size_of::<Config>() == 304);

const NO_INFO: Info = Info {
    device: 0,
    inode: 0,
    rdevice: 0,
    offset: 0,
    size_limit: 0,
    number: 0,
    encrypt_type: 0,
    encrypt_key_size: 0,
    flags: 0,
    file_name: [0; NAME_BYTES],
    crypt_name: [0; NAME_BYTES],
    encrypt_key: [0; 32],
    init: [0; 2],
};

/// How to attach a file.
#[derive(Clone, Copy, Debug)]
pub struct Attach<'a> {
    /// What the device is remembered by, at most 63 bytes: [`name_of`] gives it back.
    pub name: &'a str,
    /// Logical block size in bytes; 0 lets the kernel choose.
    pub block_bytes: u32,
    /// Bypass the page cache of the backing file, where the kernel can: read it back.
    pub direct_io: bool,
    /// Refuse writes.
    pub read_only: bool,
}

/// Attaches `backing` to a free loop device that detaches itself when its last user is gone.
/// Returns its number and the device, open for reading and writing unless `read_only`.
/// Fails with `ENOENT`/`EACCES` where there is no loop control, `EBUSY` when the search for a free
/// device was lost sixteen times over to others.
pub fn attach(backing: &File, how: &Attach<'_>) -> io::Result<(u32, File)> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
    let mut config = Config {
        fd: backing.as_raw_fd() as u32,
        block_size: how.block_bytes,
        info: NO_INFO,
        reserved: [0; 8],
    };
    config.info.flags = LO_FLAGS_AUTOCLEAR
        | if how.direct_io { LO_FLAGS_DIRECT_IO } else { 0 }
        | if how.read_only { LO_FLAGS_READ_ONLY } else { 0 };
    let name = how.name.as_bytes();
    let length = name.len().min(NAME_BYTES - 1);
    config.info.file_name[..length].copy_from_slice(&name[..length]);
    for _ in 0..16 {
        // SAFETY: takes no argument and returns a number.
        let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        let device = OpenOptions::new()
            .read(true)
            .write(!how.read_only)
            .open(format!("/dev/loop{number}"))?;
        // SAFETY: `config` is live and laid out as `struct loop_config`; it is only read.
        let rc = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, &raw const config) };
        if rc == 0 {
            return Ok((number as u32, device));
        }
        let error = io::Error::last_os_error();
        // Another process was given the same number and was faster.
        if error.raw_os_error() != Some(libc::EBUSY) {
            return Err(error);
        }
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Detaches; a device that is still in use detaches when it no longer is.
pub fn detach(device: &File) -> io::Result<()> {
    // SAFETY: takes no argument.
    let rc = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD as _, 0) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The name given to [`attach`], or that of the backing file; `ENXIO` where nothing is attached.
pub fn name_of(device: &File) -> io::Result<String> {
    let mut info = NO_INFO;
    // SAFETY: `info` is live and laid out as `struct loop_info64`; the kernel fills it.
    let rc = unsafe { libc::ioctl(device.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    let name = CStr::from_bytes_until_nul(&info.file_name).unwrap_or(c"");
    Ok(name.to_string_lossy().into_owned())
}

/// A loop device that nothing is attached to; another process may take it at any moment.
pub fn find_free() -> io::Result<u32> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
    // SAFETY: takes no argument and returns a number.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    File::open(format!("/dev/loop{number}"))?;
    Ok(number as u32)
}

/// `BLKFLSBUF`: writes back and drops the cached blocks of a device (include/uapi/linux/fs.h).
pub fn flush_buffers(device: &impl AsRawFd) -> io::Result<()> {
    const BLKFLSBUF: libc::c_ulong = 0x1261;
    // SAFETY: takes no argument.
    let rc = unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF as _, 0) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
