//! Digests of a file, or of its first blocks: the XOR of its words and its CRC-32C.

use std::fs::File;
use std::path::Path;

use crate::method::consume::{CrcStream, Fold, Partial, Xor};
use crate::method::open_for_reading;
use iolab_model::result::Fault;

use super::sweep::{in_threads, partitions, read_block};
use super::{fault, refusal};

/// What a file holds, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digests {
    /// XOR of the little-endian 4-byte words, in hexadecimal.
    pub xor: String,
    /// CRC-32C (RFC 3720), in hexadecimal.
    pub crc32c: String,
    /// Bytes that were read.
    pub bytes: u64,
    /// Blocks that were read; the last may be shorter.
    pub blocks: u64,
}

/// Reads the first `count` blocks of a file, or all of it, in calls of `block` bytes (> 0).
///
/// # Errors
/// It is no regular file, cannot be read, or becomes shorter meanwhile.
pub fn checksum(path: &Path, block: u64, count: Option<u64>) -> Result<Digests, Fault> {
    let failed = |error: &std::io::Error| fault("read", path, error);
    let file = open(path)?;
    let all = file.metadata().map_err(|error| failed(&error))?.len();
    let bytes = count.map_or(all, |count| all.min(count.saturating_mul(block)));
    let sum = |partition: std::ops::Range<u64>| {
        let mut buffer = vec![0; block.min(partition.end - partition.start).max(1) as usize];
        let (mut xor, mut crc) = (Xor::default(), CrcStream::default());
        let mut at = partition.start;
        while at < partition.end {
            let length = (partition.end - at).min(buffer.len() as u64) as usize;
            let piece = &mut buffer[..length];
            read_block(&file, piece, at)?;
            xor.block(at, piece);
            crc.block(at, piece);
            at += length as u64;
        }
        xor.end_pass();
        crc.end_pass();
        Ok(xor.finish().zip(crc.finish()))
    };
    let parts = in_threads(partitions(bytes, block), sum).map_err(|error| failed(&error))?;
    let whole =
        parts.into_iter().flatten().reduce(|(a, b), (c, d)| (a.followed_by(c), b.followed_by(d)));
    let text = |partial: &Partial| partial.digest().map(|(_, hex)| hex);
    let texts = whole.and_then(|(xor, crc)| text(&xor).zip(text(&crc)));
    let (xor, crc32c) = texts.ok_or_else(|| refusal("digest", path, "it has no digest"))?;
    Ok(Digests { xor, crc32c, bytes, blocks: bytes.div_ceil(block) })
}

/// A regular file; nothing else is opened, for a FIFO would wait and a device may act.
pub(super) fn open(path: &Path) -> Result<File, Fault> {
    let about = std::fs::metadata(path).map_err(|error| fault("look at", path, &error))?;
    if about.is_dir() {
        return Err(refusal("read", path, "it is a directory; name a file"));
    }
    if !about.is_file() {
        return Err(refusal("read", path, "it is no regular file"));
    }
    let opened = open_for_reading(path);
    Ok(opened.map_err(|errno| fault("open", path, &errno.into()))?.into())
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn digests_are_those_of_the_bytes_at_any_block_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let bytes: Vec<u8> =
            (0..20_000_003_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        };
        let xor = |bytes: &[u8]| format!("{:08x}", bytes.chunks(4).map(word).fold(0, |a, b| a ^ b));
        let crc = |bytes: &[u8]| format!("{:08x}", crc32c::crc32c(bytes));
        for block in [4099, 64 << 10, 1 << 20, 1 << 30] {
            let got = checksum(&path, block, None).unwrap();
            assert_eq!((got.xor, got.crc32c), (xor(&bytes), crc(&bytes)), "{block}");
            assert_eq!((got.bytes, got.blocks), (20_000_003, 20_000_003_u64.div_ceil(block)));
        }
        let part = checksum(&path, 1000, Some(7)).unwrap();
        assert_eq!((part.crc32c, part.bytes, part.blocks), (crc(&bytes[..7000]), 7000, 7));
        std::fs::write(&path, b"").unwrap();
        let empty = checksum(&path, 4096, None).unwrap();
        assert_eq!((empty.xor.as_str(), empty.bytes, empty.blocks), ("00000000", 0, 0));
        assert!(checksum(dir.path(), 1, None).unwrap_err().to_string().contains("directory"));
        let gone = checksum(&dir.path().join("gone"), 1, None).unwrap_err();
        assert_eq!(gone.errno, Some(2));
    }
}
