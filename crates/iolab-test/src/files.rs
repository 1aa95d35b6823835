//! Files of tests: where they lie, what is in them, and how a plan names one.

use iolab_model::plan::{FileUse, Instance};

/// On the disk: /tmp may be tmpfs.
pub fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap()
}

/// Bytes that no pattern of blocks repeats in, the same in each test.
pub fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut content = vec![0; bytes.next_multiple_of(8)];
    content.as_chunks_mut().0.iter_mut().for_each(|word| *word = next());
    content.truncate(bytes);
    content
}

/// A file that iolab makes in the plain directory, and trials read.
pub fn made_file(id: usize, bytes: u64, seed: u64) -> Instance {
    Instance {
        id,
        path: None,
        bytes,
        files: None,
        host: None,
        place: None,
        seed,
        used: FileUse::Read,
        targets: Vec::new(),
        sparse: false,
        tree: None,
        attributes: false,
        shared: None,
    }
}
