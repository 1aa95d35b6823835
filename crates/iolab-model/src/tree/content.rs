//! What the files of a tree hold. Bytes are taken from one pool of seeded bytes, so that writing a
//! file costs no generation: each file begins elsewhere in the pool, and its first bytes say which
//! file it is, so that a swapped or torn file is seen without a list of what should be there.

use serde::{Deserialize, Serialize};

use super::mix;
use crate::catalog::Fill;

/// Bytes after which the content of a file repeats itself: far more than any file system
/// compresses at a time, little enough to stay in a processor's cache.
const POOL_BYTES: u64 = 256 << 10;

/// A file begins with its number, its size, the tree's seed, a checksum of these and a mark.
pub const HEADER_BYTES: usize = 32;

/// What files hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// Bytes that no file system can compress, after a header.
    #[default]
    Random,
    /// Zeros, without a header.
    Zero,
    /// Lines of words, without a header.
    Text,
}

impl Body {
    /// Files that look so; nothing where only a single file can.
    pub const fn of(fill: Fill) -> Option<Body> {
        match fill {
            Fill::Random => Some(Body::Random),
            Fill::Zero => Some(Body::Zero),
            Fill::Text => Some(Body::Text),
            Fill::Compressible(_) => None,
        }
    }
}

/// The contents of all files of one tree.
#[derive(Clone, Debug)]
pub struct Content {
    body: Body,
    seed: u64,
    /// The pool, and as much of its beginning again as one block has.
    pool: Vec<u8>,
}

impl Content {
    /// For blocks of at most `block` bytes: what [`Content::block`] hands out at a time.
    pub fn new(body: Body, seed: u64, block: u64) -> Content {
        let mut pool = vec![0; (POOL_BYTES + block) as usize];
        let (first, again) = pool.split_at_mut(POOL_BYTES as usize);
        match body {
            Body::Zero => {}
            Body::Random => random(seed, first),
            Body::Text => text(seed, first),
        }
        for piece in again.chunks_mut(POOL_BYTES as usize) {
            piece.copy_from_slice(&first[..piece.len()]);
        }
        Content { body, seed, pool }
    }

    /// Where a file begins in the pool.
    #[inline]
    fn start(&self, file: u64) -> u64 {
        mix(self.seed, file) % (POOL_BYTES / 64) * 64
    }

    /// At most a block of a file's bytes, from `at` on, lent to `take`. No byte is copied but for
    /// the header, which is put in and taken out again. Within the loop that asks for it: a return right
    /// after a call of the kernel is dear on some processors.
    #[inline(always)]
    pub fn block<T>(
        &mut self,
        file: u64,
        size: u64,
        at: u64,
        bytes: usize,
        take: impl FnOnce(&[u8]) -> T,
    ) -> T {
        let from = ((self.start(file) + at) % POOL_BYTES) as usize;
        if at >= HEADER_BYTES as u64 || self.body != Body::Random {
            return take(&self.pool[from..from + bytes]);
        }
        let header = self.header(file, size);
        let header = &header[at as usize..];
        let length = header.len().min(bytes);
        let mut kept = [0; HEADER_BYTES];
        kept[..length].copy_from_slice(&self.pool[from..from + length]);
        self.pool[from..from + length].copy_from_slice(&header[..length]);
        let taken = take(&self.pool[from..from + bytes]);
        self.pool[from..from + length].copy_from_slice(&kept[..length]);
        taken
    }

    /// Any bytes of a file, for who checks it.
    pub fn fill(&self, file: u64, size: u64, at: u64, buffer: &mut [u8]) {
        let mut from = self.start(file).wrapping_add(at) % POOL_BYTES;
        let mut filled = 0;
        while filled < buffer.len() {
            let count = (buffer.len() - filled).min((POOL_BYTES - from) as usize);
            let piece = &self.pool[from as usize..from as usize + count];
            buffer[filled..filled + count].copy_from_slice(piece);
            filled += count;
            from = 0;
        }
        if self.body == Body::Random && at < HEADER_BYTES as u64 {
            let rest = &self.header(file, size)[at as usize..];
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
        }
    }

    #[inline]
    fn header(&self, file: u64, size: u64) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&file.to_le_bytes());
        header[8..16].copy_from_slice(&size.to_le_bytes());
        header[16..24].copy_from_slice(&self.seed.to_le_bytes());
        let sum = crc32c::crc32c(&header[..24]);
        header[24..28].copy_from_slice(&sum.to_le_bytes());
        header[28..].copy_from_slice(b"iolb");
        header
    }
}

fn random(seed: u64, pool: &mut [u8]) {
    for (word, number) in pool.as_chunks_mut::<8>().0.iter_mut().zip(0..) {
        *word = mix(seed ^ 0x7ee5, number).to_le_bytes();
    }
}

fn text(seed: u64, pool: &mut [u8]) {
    const WORDS: [&[u8]; 16] = [
        b"the", b"file", b"of", b"a", b"disk", b"block", b"and", b"reads", b"cache", b"page",
        b"to", b"written", b"in", b"order", b"slowly", b"again",
    ];
    let (mut at, mut number, mut column) = (0, 0, 0);
    while at < pool.len() {
        let word = WORDS[(mix(seed, number) % 16) as usize];
        number += 1;
        let count = word.len().min(pool.len() - at);
        pool[at..at + count].copy_from_slice(&word[..count]);
        at += count;
        column += count + 1;
        if let Some(gap) = pool.get_mut(at) {
            *gap = if column > 72 { b'\n' } else { b' ' };
            at += 1;
        }
        column = if column > 72 { 0 } else { column };
    }
}

#[cfg(test)]
mod tests {
    use super::{Body, Content, POOL_BYTES};
    use proptest::prelude::*;

    fn whole(content: &Content, file: u64, size: u64) -> Vec<u8> {
        let mut bytes = vec![0xee; size as usize];
        content.fill(file, size, 0, &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn what_is_written_in_blocks_is_what_is_checked(
            file: u64, size in 0_u64..500_000, block in 5_u64..300_000, pick in 0..3_usize,
        ) {
            let body = [Body::Random, Body::Zero, Body::Text][pick];
            let mut content = Content::new(body, 9, block);
            let mut written = Vec::new();
            while (written.len() as u64) < size {
                let at = written.len() as u64;
                let bytes = block.min(size - at) as usize;
                content.block(file, size, at, bytes, |piece| written.extend_from_slice(piece));
            }
            prop_assert_eq!(&written, &whole(&content, file, size));
        }
    }

    #[test]
    fn files_differ_and_a_part_is_a_part() {
        let content = Content::new(Body::Random, 3, 4096);
        let (a, b) = (whole(&content, 1, 100_000), whole(&content, 2, 100_000));
        let same = a.iter().zip(&b).filter(|(a, b)| a == b).count();
        assert!(same < 1000, "{same} of 100000 bytes agree; chance gives 390");
        let mut part = vec![0; 5000];
        content.fill(1, 100_000, 20, &mut part);
        assert_eq!(part, a[20..5020]);
        assert_ne!(whole(&content, 1, 64), whole(&Content::new(Body::Random, 4, 64), 1, 64));
        assert_ne!(whole(&content, 1, 64), whole(&content, 1, 65)[..64], "the size is in it");
    }

    #[test]
    fn text_is_text_and_the_pool_is_far_from_compressible() {
        let text = whole(&Content::new(Body::Text, 1, 1), 5, 10_000);
        assert!(text.iter().all(|b| b.is_ascii_lowercase() || b" \n".contains(b)));
        let random = whole(&Content::new(Body::Random, 1, 1), 5, POOL_BYTES);
        let mut counts = [0_u32; 256];
        random.iter().for_each(|b| counts[usize::from(*b)] += 1);
        assert!(counts.iter().all(|n| (800..1250).contains(n)), "{counts:?}");
    }
}
