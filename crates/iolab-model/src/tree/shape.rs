//! Which file lies in which directory.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::catalog::UnknownWord;

/// Files of a directory in [`Shape::Sharded`]: what directories of caches and mail stores hold.
const SHARD: u64 = 1000;
/// Files of a leaf, and directories of a directory, in [`Shape::Nested`].
const LEAF: u64 = 100;
const FANOUT: u64 = 10;

/// How files are spread over directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A directory for each of so many workers.
    Private(u64),
    /// A thousand files to a directory.
    Sharded,
    /// One directory for all.
    Shared,
    /// Directories in directories, ten to one, a hundred files in each.
    Nested,
}

/// The words for them.
pub const WORDS: [&str; 4] = ["private", "sharded", "shared", "tree"];

/// What they mean, in the same order.
pub const MEANINGS: [&str; 4] = [
    "a directory for each worker",
    "a thousand files to a directory",
    "one directory for all",
    "directories in directories, ten to one, a hundred files in each",
];

impl Shape {
    /// By its word; `workers` matters to the private ones alone.
    pub fn new(word: &str, workers: u64) -> Option<Shape> {
        Some(match word {
            "private" => Shape::Private(workers.max(1)),
            "sharded" => Shape::Sharded,
            "shared" => Shape::Shared,
            "tree" => Shape::Nested,
            _ => return None,
        })
    }

    /// Directories below the root.
    pub(super) fn directories(self, files: u64) -> u64 {
        match self {
            Shape::Private(workers) => workers,
            Shape::Sharded => files.div_ceil(SHARD),
            Shape::Shared => 1,
            Shape::Nested => files.div_ceil(LEAF),
        }
    }

    /// The directory of a file, from 1 on. In a nested tree every directory holds files, filled in
    /// the order of their numbers.
    pub(super) fn directory(self, file: u64, files: u64) -> u64 {
        match self {
            Shape::Private(workers) => {
                // The inverse of cutting `files` into `workers` parts at ⌊files · w / workers⌋.
                let whole = u128::from(file) * u128::from(workers) + u128::from(workers) - 1;
                (whole / u128::from(files.max(1))).min(u128::from(workers) - 1) as u64 + 1
            }
            Shape::Sharded => file / SHARD + 1,
            Shape::Shared => 1,
            Shape::Nested => file / LEAF + 1,
        }
    }

    /// The first file that is no longer in a directory.
    pub(super) fn end_of(self, directory: u64, files: u64) -> u64 {
        match self {
            Shape::Private(workers) => {
                let cut = u128::from(files) * u128::from(directory) / u128::from(workers);
                u64::try_from(cut).unwrap_or(files)
            }
            Shape::Sharded => directory.saturating_mul(SHARD),
            Shape::Shared => files,
            Shape::Nested => directory.saturating_mul(LEAF),
        }
    }

    /// The directory above: in a nested tree number d lies in ⌊(d − 1) / 10⌋, as in a heap.
    pub(super) fn parent(self, directory: u64) -> u64 {
        match self {
            Shape::Nested => (directory.max(1) - 1) / FANOUT,
            _ => 0,
        }
    }
}

impl FromStr for Shape {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Shape, UnknownWord> {
        Shape::new(text, 1)
            .ok_or_else(|| UnknownWord::new("layout", text, "private, sharded, shared or tree"))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Shape::Private(_) => "private",
            Shape::Sharded => "sharded",
            Shape::Shared => "shared",
            Shape::Nested => "tree",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, WORDS};
    use proptest::prelude::*;

    fn shapes() -> impl Strategy<Value = Shape> {
        prop_oneof![
            (1_u64..200).prop_map(Shape::Private),
            Just(Shape::Sharded),
            Just(Shape::Shared),
            Just(Shape::Nested),
        ]
    }

    proptest! {
        #[test]
        fn files_of_a_directory_follow_each_other(shape in shapes(), files in 1_u64..5000) {
            let mut last = 0;
            for file in 0..files {
                let directory = shape.directory(file, files);
                prop_assert!(directory >= last, "{directory} after {last}");
                prop_assert!(directory <= shape.directories(files));
                prop_assert!(shape.parent(directory) < directory);
                let end = shape.end_of(directory, files);
                let there = end < files && shape.directory(end, files) == directory;
                prop_assert!(end > file && !there, "{directory} ends at {end}");
                last = directory;
            }
        }

        #[test]
        fn a_private_directory_is_one_worker_s_part(workers in 1_u64..50, files in 0_u64..3000) {
            let shape = Shape::Private(workers);
            for worker in 0..workers {
                for file in files * worker / workers..files * (worker + 1) / workers {
                    prop_assert_eq!(shape.directory(file, files), worker + 1);
                }
            }
        }
    }

    #[test]
    fn words_read_back() {
        for word in WORDS {
            assert_eq!(word.parse::<Shape>().unwrap().to_string(), word);
        }
        assert!("flat".parse::<Shape>().unwrap_err().choices.contains("sharded"));
    }
}
