//! What the rungs work on: one small file of iolab's own, its descriptor and its path.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

use super::Rung;
use crate::method::Stop;
use crate::sys::primer::read_through;

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
    /// Makes the file in `scratch`, or takes the one that an earlier trial of a rung like this one has
    /// left there. A rung that changes a file has one of its own: after a change of its times a read
    /// takes the path on which the access time is renewed (relatime), and `pread` beside `chmod` was
    /// a sixth slower than alone.
    pub fn prepare(scratch: &Path, block: u64, rung: &Rung) -> Result<Bench, Stop> {
        if block == 0 || block > LARGEST_BLOCK_BYTES {
            return Err(Stop::new(format!("a block of {block} bytes; use 1 byte to 64 MiB")));
        }
        let path = match rung.changes {
            true => scratch.join(format!("ladder-{}", rung.part.id)),
            false => scratch.join("ladder"),
        };
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

/// Brings the file to `bytes` without holes, clean and cached as every file is: evicted and read
/// again. A write into pages as they were first written tells how they were written: 225 to 899 ns
/// for a byte, by the size of the pieces.
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
    rustix::fs::fdatasync(file)?;
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?;
    read_through(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Bench;
    use crate::workload::ladder::find;

    /// `chmod` and `pwrite` once changed the times of the file that `pread` read: 175 ns a call and
    /// not 150.
    #[test]
    fn a_call_that_changes_its_file_has_one_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let bench = |id: &str| Bench::prepare(directory.path(), 1, find(id).unwrap()).unwrap();
        let read = bench("pread").path;
        assert_eq!(bench("lseek").path, read);
        let own: Vec<_> = ["write", "pwrite", "fchmod", "chmod"].map(|id| bench(id).path).into();
        assert!(!own.contains(&read));
        assert!(own.iter().all(|path| own.iter().filter(|other| *other == path).count() == 1));
        let before = std::fs::metadata(read.to_str().unwrap()).unwrap();
        for id in ["pwrite", "chmod"] {
            (find(id).unwrap().run)(&mut bench(id), 8).unwrap();
        }
        let after = std::fs::metadata(read.to_str().unwrap()).unwrap();
        let times = |about: &std::fs::Metadata| (about.modified().unwrap(), about.len());
        assert_eq!(times(&before), times(&after));
    }
}
