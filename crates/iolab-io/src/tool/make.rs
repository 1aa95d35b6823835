//! A new file with seeded bytes, never over an existing one, and gone again where it could not be
//! finished.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use iolab_model::catalog::Fill;
use iolab_model::result::Fault;
use iolab_model::tree::{Body, Content};

use super::{fault, refusal};
use crate::method::fill;

/// Bytes of one write.
const BLOCK_BYTES: usize = 1 << 20;
/// The file repeats itself after so many bytes: far beyond what anything compresses at a time.
const POOL_BYTES: u64 = 32 << 20;

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct FileOrder {
    /// Size in bytes.
    pub bytes: u64,
    /// What it holds: of text there are lines of words.
    pub fill: Fill,
    /// Decides the bytes.
    pub seed: u64,
}

/// Why a file was not made.
#[derive(Debug)]
pub enum Interrupted {
    /// The person no longer wants it.
    Unwanted,
    /// Something was met.
    Fault(Fault),
}

/// Makes the file. `wanted` is asked between blocks, with the bytes that are written, whether to
/// go on.
///
/// # Errors
/// The file exists, cannot be written, or is not wanted any more; then there is none.
pub fn make_file(
    path: &Path,
    order: &FileOrder,
    wanted: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Interrupted> {
    let failed = |error: &io::Error| Interrupted::Fault(fault("make", path, error));
    let pool = pool(order);
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = created.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            let cause = "it exists already; name another file, or remove it yourself";
            Interrupted::Fault(refusal("make", path, cause))
        }
        _ => failed(&error),
    })?;
    let written = write(&mut file, &pool, order.bytes, wanted);
    if !matches!(written, Ok(true)) {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(path);
    }
    match written {
        Ok(true) => Ok(()),
        Ok(false) => Err(Interrupted::Unwanted),
        Err(error) => Err(failed(&error)),
    }
}

/// What the file repeats.
pub(super) fn pool(order: &FileOrder) -> Vec<u8> {
    let mut pool = vec![0; order.bytes.min(POOL_BYTES) as usize];
    match order.fill {
        Fill::Text => Content::new(Body::Text, order.seed, 0).fill(0, order.bytes, 0, &mut pool),
        other => fill(other, order.seed, &mut pool),
    }
    pool
}

fn write(
    file: &mut File,
    pool: &[u8],
    bytes: u64,
    wanted: &mut dyn FnMut(u64) -> bool,
) -> io::Result<bool> {
    let mut written = 0;
    while written < bytes {
        if !wanted(written) {
            return Ok(false);
        }
        let from = (written % pool.len() as u64) as usize;
        let length = BLOCK_BYTES.min(pool.len() - from).min((bytes - written) as usize);
        file.write_all(&pool[from..from + length])?;
        written += length as u64;
    }
    Ok(wanted(written))
}

#[cfg(test)]
mod tests {
    use super::{FileOrder, Interrupted, make_file};
    use iolab_model::catalog::Fill;

    fn made(bytes: u64, fill: Fill, seed: u64) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        make_file(&path, &FileOrder { bytes, fill, seed }, &mut |_| true).unwrap();
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn files_have_their_size_and_their_seeds_bytes() {
        for bytes in [0, 1, 4097, (33 << 20) + 5] {
            assert_eq!(made(bytes, Fill::Random, 1).len() as u64, bytes);
        }
        assert_eq!(made(5000, Fill::Random, 1), made(5000, Fill::Random, 1));
        assert_ne!(made(5000, Fill::Random, 1), made(5000, Fill::Random, 2));
        assert!(made(5000, Fill::Zero, 1).iter().all(|byte| *byte == 0));
        let text = String::from_utf8(made(5000, Fill::Text, 1)).unwrap();
        assert!(text.lines().count() > 10 && text.contains(' '), "{text}");
    }

    #[test]
    fn what_exists_stays_and_what_is_not_wanted_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let order = FileOrder { bytes: 8 << 20, fill: Fill::Random, seed: 1 };
        let stopped = make_file(&path, &order, &mut |written| written < 3 << 20);
        assert!(matches!(stopped, Err(Interrupted::Unwanted)));
        assert!(!path.exists());
        std::fs::write(&path, "mine").unwrap();
        let refused = make_file(&path, &order, &mut |_| true);
        let Err(Interrupted::Fault(fault)) = refused else { panic!("{refused:?}") };
        assert!(fault.to_string().contains("exists already"), "{fault}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }
}
