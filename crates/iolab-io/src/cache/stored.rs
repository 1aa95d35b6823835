//! How many of a file's bytes the device must deliver: holes and unwritten extents read as zeros,
//! compressed extents and data among metadata store less than their length.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{FsWord, SeekFrom, fstatfs, seek};

use super::evict::reopen;
use crate::sys::extents::{EXTENT_ENCODED, EXTENT_INLINE, EXTENT_UNWRITTEN, Extent, extents};

/// btrfs compresses 128 KiB to one block of 4 KiB at best.
const BEST_COMPRESSION: u64 = 32;
/// Read-only compressed file systems, whose files tell nothing of what they store
/// (include/uapi/linux/magic.h): squashfs, EROFS, cramfs, ISO 9660 (zisofs).
const COMPRESSED: [FsWord; 4] = [0x7371_7368, 0xE0F5_E1E2, 0x28cd_3d45, 0x9660];

/// A lower bound of the bytes that the device delivers when all of a cold file is read. Exact for
/// plain files; written back first, so that no extent is still without a place.
pub fn stored_bytes(file: &File) -> std::io::Result<u64> {
    let about = file.metadata()?;
    let bytes = about.len();
    if fstatfs(file).is_ok_and(|fs| COMPRESSED.contains(&fs.f_type)) {
        // Blocks of zeros are not stored at all; of the rest only that there is some is known.
        return Ok(bytes.min(about.blocks()).min(1));
    }
    let held = match extents(file) {
        Ok(list) => list.iter().map(|extent| held_bytes(extent, bytes)).sum(),
        Err(_) => data_bytes(file, bytes).unwrap_or(bytes).min(about.blocks() * 512),
    };
    Ok(u64::min(held, bytes))
}

/// The part of an extent that must come from the device.
fn held_bytes(extent: &Extent, file_bytes: u64) -> u64 {
    let end = extent.logical.saturating_add(extent.length).min(file_bytes);
    let bytes = end.saturating_sub(extent.logical);
    match extent.flags {
        flags if flags & (EXTENT_UNWRITTEN | EXTENT_INLINE) != 0 => 0,
        flags if flags & EXTENT_ENCODED != 0 => bytes / BEST_COMPRESSION,
        _ => bytes,
    }
}

/// Bytes outside holes, by SEEK_DATA and SEEK_HOLE on a descriptor whose position is our own.
fn data_bytes(file: &File, bytes: u64) -> Option<u64> {
    let own = reopen(file)?;
    let (mut at, mut data) = (0, 0);
    while at < bytes {
        match seek(own.as_fd(), SeekFrom::Data(at)) {
            Ok(start) => {
                at = seek(own.as_fd(), SeekFrom::Hole(start)).ok()?.min(bytes);
                data += at.saturating_sub(start);
            }
            Err(rustix::io::Errno::NXIO) => break,
            Err(_) => return None,
        }
    }
    Some(data)
}
