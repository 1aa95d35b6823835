//! Where a file's bytes are on the device: `FS_IOC_FIEMAP`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `FS_IOC_FIEMAP` (include/uapi/linux/fs.h): `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
const BATCH: usize = 128;

/// The location of the extent is not known yet (delayed allocation).
pub const EXTENT_UNKNOWN: u32 = 0x2;
/// The data is encoded: compressed or encrypted.
pub const EXTENT_ENCODED: u32 = 0x8;
/// The data lies among metadata.
pub const EXTENT_INLINE: u32 = 0x200;
/// Allocated but never written: reads as zeros without the device.
pub const EXTENT_UNWRITTEN: u32 = 0x800;
/// Shared with another file: a clone.
pub const EXTENT_SHARED: u32 = 0x2000;
const EXTENT_LAST: u32 = 0x1;

/// One extent (include/uapi/linux/fiemap.h, `struct fiemap_extent`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// First byte, in the file.
    pub logical: u64,
    /// First byte, on the device.
    pub physical: u64,
    /// Bytes, in the file.
    pub length: u64,
    reserved64: [u64; 2],
    /// `EXTENT_*`.
    pub flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// Every extent of a file, in order. `EOPNOTSUPP` where the file system does not tell.
pub fn extents(file: &File) -> io::Result<Vec<Extent>> {
    let mut all = Vec::new();
    let mut start = 0;
    loop {
        let batch = extents_from(file, start)?;
        let Some(last) = batch.last().copied() else { return Ok(all) };
        all.extend(batch);
        let end = last.logical.saturating_add(last.length);
        if last.flags & EXTENT_LAST != 0 || end <= start {
            return Ok(all);
        }
        start = end;
    }
}

fn extents_from(file: &File, start: u64) -> io::Result<Vec<Extent>> {
    let mut request = Box::new(Request {
        start,
        length: u64::MAX - start,
        flags: 0,
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    // SAFETY: the request is live and laid out as `struct fiemap` followed by `extent_count`
    // extents; the kernel writes no further than that.
    let rc = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut *request) };
    if rc != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(request.extents[..(request.mapped_extents as usize).min(BATCH)].to_vec())
}
