//! What direct I/O asks of addresses, offsets and lengths.

use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Statx, StatxFlags, open, statx};

/// The multiples that direct I/O moves; 0 where the file system does not support it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of addresses in memory, in bytes.
    pub memory_bytes: u32,
    /// Of offsets and lengths in the file, in bytes.
    pub offset_bytes: u32,
}

impl Alignment {
    /// The multiple that a block must be of; nothing where there is no direct I/O.
    pub fn block_bytes(self) -> Option<u64> {
        (self.offset_bytes > 0).then_some(u64::from(self.offset_bytes))
    }
}

/// Of a file; nothing where the kernel does not tell (statx(2), STATX_DIOALIGN, Linux 6.1). Of a
/// directory it never does.
pub fn alignment(path: &Path) -> Option<Alignment> {
    told(&statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?)
}

/// Of files made in a directory, asked of one without a name.
pub fn alignment_in(directory: &Path) -> Option<Alignment> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = open(directory, flags, Mode::RUSR | Mode::WUSR).ok()?;
    told(&statx(&file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?)
}

fn told(about: &Statx) -> Option<Alignment> {
    let told = about.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    told.then_some(Alignment {
        memory_bytes: about.stx_dio_mem_align,
        offset_bytes: about.stx_dio_offset_align,
    })
}

#[cfg(test)]
mod tests {
    use super::{alignment, alignment_in};
    use crate::sys::testing::open_directory;

    #[test]
    fn a_file_and_its_directory_say_the_same() {
        let directory = open_directory();
        let file = directory.path().join("data");
        std::fs::write(&file, [0; 4096]).unwrap();
        if let (Some(one), Some(other)) = (alignment(&file), alignment_in(directory.path())) {
            assert_eq!(one, other);
            assert!(one.block_bytes().is_none_or(u64::is_power_of_two));
        }
        assert_eq!(alignment(directory.path()), None);
    }
}
