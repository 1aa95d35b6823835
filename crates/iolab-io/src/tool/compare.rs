//! Two files byte for byte, and what they take on disk.

use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use iolab_model::result::Fault;

use super::checksum::open;
use super::fault;
use super::sweep::{in_threads, partitions, read_block};

/// Bytes of a call: both buffers stay in the processor's cache.
const BLOCK_BYTES: u64 = 128 << 10;

/// How two files differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Sizes in bytes.
    pub sizes: (u64, u64),
    /// The first byte that differs, within the shorter of both; absent: only the sizes do.
    pub first_byte: Option<u64>,
    /// Bytes that differ within the shorter of both.
    pub bytes: u64,
}

/// What a file is and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its size in bytes, as programs see it.
    pub apparent_bytes: u64,
    /// Bytes that it takes on disk.
    pub allocated_bytes: u64,
}

/// What a file takes.
pub fn allocation(about: &Metadata) -> Allocation {
    Allocation { apparent_bytes: about.len(), allocated_bytes: about.blocks() * 512 }
}

/// Compares two regular files; `None`: they hold the same.
///
/// # Errors
/// One is no regular file, cannot be read, or becomes shorter meanwhile.
pub fn compare_files(a: &Path, b: &Path) -> Result<Option<Difference>, Fault> {
    let (file, other) = (open(a)?, open(b)?);
    let about = file.metadata().map_err(|error| fault("look at", a, &error))?;
    let about_other = other.metadata().map_err(|error| fault("look at", b, &error))?;
    if (about.dev(), about.ino()) == (about_other.dev(), about_other.ino()) {
        return Ok(None);
    }
    let sizes = (about.len(), about_other.len());
    let read = |which: &Path, file, buffer: &mut [u8], at| {
        read_block(file, buffer, at)
            .map_err(|error| io::Error::new(error.kind(), fault("read", which, &error)))
    };
    let work = |partition: Range<u64>| {
        let mut buffers = (vec![0; BLOCK_BYTES as usize], vec![0; BLOCK_BYTES as usize]);
        let mut found = Found::default();
        let mut at = partition.start;
        while at < partition.end {
            let length = (partition.end - at).min(BLOCK_BYTES) as usize;
            let pair = (&mut buffers.0[..length], &mut buffers.1[..length]);
            read(a, &file, pair.0, at)?;
            read(b, &other, pair.1, at)?;
            if pair.0 != pair.1 {
                found.count(pair.0, pair.1, at);
            }
            at += length as u64;
        }
        Ok(found)
    };
    let common = sizes.0.min(sizes.1);
    let parts = in_threads(partitions(common, BLOCK_BYTES), work).map_err(|error| {
        let own = error.get_ref().and_then(|inner| inner.downcast_ref::<Fault>());
        own.cloned().unwrap_or_else(|| fault("compare", a, &error))
    })?;
    let first_byte = parts.iter().find_map(|found| found.first);
    let bytes = parts.iter().map(|found| found.bytes).sum();
    let same = sizes.0 == sizes.1 && first_byte.is_none();
    Ok((!same).then_some(Difference { sizes, first_byte, bytes }))
}

#[derive(Default)]
struct Found {
    first: Option<u64>,
    bytes: u64,
}

impl Found {
    #[cold]
    fn count(&mut self, a: &[u8], b: &[u8], at: u64) {
        let differ = |(index, (x, y)): (usize, (&u8, &u8))| (x != y).then_some(index as u64);
        let mut all = a.iter().zip(b).enumerate().filter_map(differ);
        if let Some(index) = all.next() {
            self.first = self.first.or(Some(at + index));
            self.bytes += 1 + all.count() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, compare_files};

    #[test]
    fn the_first_byte_and_the_count_are_right_wherever_they_lie() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let bytes = vec![7_u8; 12 << 20];
        std::fs::write(&a, &bytes).unwrap();
        for places in [&[0][..], &[131_071, 131_072], &[(6 << 20) - 1, 6 << 20, (12 << 20) - 1]] {
            let mut other = bytes.clone();
            places.iter().for_each(|at| other[*at] = 8);
            std::fs::write(&b, &other).unwrap();
            let found = compare_files(&a, &b).unwrap().unwrap();
            assert_eq!(found.first_byte, Some(places[0] as u64));
            assert_eq!(found.bytes, places.len() as u64);
        }
        std::fs::write(&b, &bytes).unwrap();
        assert_eq!(compare_files(&a, &b).unwrap(), None);
        assert_eq!(compare_files(&a, &a).unwrap(), None);
        std::fs::write(&b, &bytes[..100]).unwrap();
        let sizes = (12 << 20, 100);
        let wanted = Difference { sizes, first_byte: None, bytes: 0 };
        assert_eq!(compare_files(&a, &b).unwrap(), Some(wanted));
    }
}
