//! What the rungs work on: one small file of iolab's own, its descriptor and its path.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

use crate::method::Stop;

/// The file has at least this size, and at least [`BLOCKS`] blocks: how seldom the position must
/// be set back follows from it.
const LEAST_BYTES: u64 = 1 << 20;
const BLOCKS: u64 = 16;
const LARGEST_BLOCK_BYTES: u64 = 64 << 20;

/// Ready for any rung; nothing more is allocated.
#[derive(Debug)]
pub struct Bench {
    /// The scratch file, open for reading and writing.
    pub(super) file: OwnedFd,
    /// Its path.
    pub(super) path: CString,
    /// One block.
    pub(super) buffer: Vec<u8>,
    /// Blocks in the file.
    pub(super) blocks: u64,
}

impl Bench {
    /// Makes the file in `scratch`, or takes the one that an earlier trial has left there.
    pub fn prepare(scratch: &Path, block: u64) -> Result<Bench, Stop> {
        if block == 0 || block > LARGEST_BLOCK_BYTES {
            return Err(Stop::new(format!("a block of {block} bytes; use 1 byte to 64 MiB")));
        }
        let path = scratch.join("ladder");
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Stop::new("the scratch path holds a NUL byte"))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let file = rustix::fs::open(&*name, flags, Mode::RUSR | Mode::WUSR)?;
        let bytes = LEAST_BYTES.max(block * BLOCKS);
        fill(&file, bytes)?;
        let blocks = bytes / block;
        Ok(Bench { file, path: name, buffer: vec![0xa5; block as usize], blocks })
    }
}

/// Brings the file to `bytes` without holes, clean and cached.
fn fill(file: &OwnedFd, bytes: u64) -> Result<(), Stop> {
    let mut at = rustix::fs::fstat(file)?.st_size as u64;
    if at >= bytes {
        return Ok(());
    }
    let chunk = vec![0xa5; 64 << 10];
    while at < bytes {
        let want = chunk.len().min((bytes - at) as usize);
        match rustix::io::pwrite(file, &chunk[..want], at) {
            Ok(n) => at += n as u64,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(rustix::fs::fdatasync(file)?)
}
