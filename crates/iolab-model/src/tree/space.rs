//! The space that many files take: whole blocks, an inode and a name each, and their directories. Of
//! small files that is many times their bytes.

use super::{Tree, TreeOrder};
use crate::catalog::Sizes;

/// What file systems of today give out at a time.
const BLOCK_BYTES: u64 = 4096;
/// An inode, where a file system makes it with the file (XFS, btrfs), and an entry of a directory.
const NAME_BYTES: u64 = 512 + 64;

/// Space of `files` files of `bytes` together, however these are spread, in so many directories.
fn at_most(files: u64, bytes: u64, directories: u64) -> u64 {
    let of_files = files.saturating_mul(BLOCK_BYTES - 1 + NAME_BYTES).saturating_add(bytes);
    of_files.saturating_add(directories.saturating_mul(BLOCK_BYTES + NAME_BYTES))
}

/// Space of `files` files of this size each, in so many directories.
pub fn space_of_files(files: u64, size: u64, directories: u64) -> u64 {
    let one = size.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES).saturating_add(NAME_BYTES);
    let of_files = files.saturating_mul(one);
    of_files.saturating_add(directories.saturating_mul(BLOCK_BYTES + NAME_BYTES))
}

impl Tree {
    /// Space that it takes on a disk.
    pub fn space_bytes(&self) -> u64 {
        let directories = self.directories().saturating_add(1);
        match &self.sizes {
            Sizes::Fixed(size) => space_of_files(self.files, *size, directories),
            _ => at_most(self.files, self.bytes(), directories),
        }
    }
}

impl TreeOrder {
    /// Space that it takes on a disk, or a copy of it; `bytes` are those of its files.
    pub fn space_bytes(&self, bytes: u64) -> u64 {
        match self {
            TreeOrder::Kept(tree) | TreeOrder::Each(tree) => tree.space_bytes(),
            // Its directories are not known here; most trees have fewer of them than files.
            TreeOrder::Recorded(recorded) => {
                at_most(recorded.files, recorded.space_bytes, recorded.files / 8 + 1)
            }
            TreeOrder::Found(files) => at_most(*files, bytes, *files / 8 + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Body, Shape, Tree, TreeOrder};

    fn space(files: u64, sizes: &str) -> u64 {
        let sizes = sizes.parse().unwrap();
        Tree { files, sizes, shape: Shape::Shared, body: Body::Random, seed: 1, first: 0, rank: 0 }
            .space_bytes()
    }

    /// A million files of one byte were planned with 1 MB, and took 4 GB of a disk that had 2.
    #[test]
    fn small_files_take_whole_blocks_and_an_inode_each() {
        let small = space(1_000_000, "1");
        assert!((4_096_000_000..5_000_000_000).contains(&small), "{small}");
        assert!(space(1_000_000, "empty") >= 500_000_000, "an inode and a name are not nothing");
        let drawn = space(1000, "uniform:1..4096");
        assert!((4_096_000..8_000_000).contains(&drawn), "{drawn}");
        let large = space(10, "104857600");
        assert!(
            (1_048_576_000..1_050_000_000).contains(&large),
            "{large}: a block is little of it"
        );
        assert!(TreeOrder::Found(1_000_000).space_bytes(1_000_000) > 4_000_000_000);
    }
}
