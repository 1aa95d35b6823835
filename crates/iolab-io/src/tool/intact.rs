//! Whether a file that was made and kept is still the one that was made.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

/// Compared at a time.
const PIECE_BYTES: u64 = 1 << 20;

/// Compares files with what they should hold, one after the other.
pub struct Intact {
    should: Vec<u8>,
    there: Vec<u8>,
}

impl Intact {
    /// For files of at most so many bytes.
    pub fn new(greatest_bytes: u64) -> Intact {
        let piece = vec![0; PIECE_BYTES.min(greatest_bytes) as usize];
        Intact { should: piece.clone(), there: piece }
    }

    /// Whether a file is this user's own, under no other name, and holds these bytes: `fill` is given
    /// an offset and says what should be there. Whatever cannot be looked at is not it; `wanted` says
    /// whether to go on.
    pub fn is(
        &mut self,
        file: &File,
        bytes: u64,
        mut fill: impl FnMut(u64, &mut [u8]),
        wanted: &dyn Fn() -> bool,
    ) -> bool {
        let us = rustix::process::geteuid().as_raw();
        let is_own = file.metadata().is_ok_and(|about| {
            about.is_file() && about.uid() == us && about.nlink() == 1 && about.len() == bytes
        });
        let mut at = 0;
        while is_own && at < bytes {
            let count = (bytes - at).min(self.there.len() as u64) as usize;
            let (should, there) = (&mut self.should[..count], &mut self.there[..count]);
            fill(at, should);
            if file.read_exact_at(there, at).is_err() || should != there || !wanted() {
                return false;
            }
            at += count as u64;
        }
        is_own
    }
}
