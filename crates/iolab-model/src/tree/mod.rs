//! A tree of files as a description: which files there are, how large, and what they hold. All of
//! it is computed from a seed and a file's number, never stored, so that a million files take no
//! memory. Pure: nothing here touches a machine.

mod content;
mod draw;
mod name;
mod shape;
mod space;

pub use content::{Body, Content, HEADER_BYTES};
pub use name::Name;
pub use shape::{MEANINGS as SHAPE_MEANINGS, Shape, WORDS as SHAPES};
pub use space::space_of_files;

use serde::{Deserialize, Serialize};

use crate::catalog::{Factor, Fill, Levels, NoSizes, Sizes, UnknownWord, list_text, mix};

/// Files of one tree, at most: names have ten digits, and a plan must add up drawn sizes.
const MOST_FILES: u64 = 100_000_000;

/// A tree of `files` files, numbered from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// How many.
    pub files: u64,
    /// How large.
    pub sizes: Sizes,
    /// In which directories.
    pub shape: Shape,
    /// What they hold.
    pub body: Body,
    /// Decides sizes and contents.
    pub seed: u64,
    /// The number in the name of its first file: of several trees in the same directories each has names
    /// of its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first: u64,
    /// The rank of a job that makes it. Ranks do not have the same bytes: what one reads of another's is
    /// seen to be that one's, and no file system has it already.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rank: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref)] // Serde hands over a reference.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A tree as an instance that trials work on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeOrder {
    /// Made once; trials only read it.
    Kept(Tree),
    /// Only described: each trial makes its own.
    Each(Tree),
    /// The person's, with so many files when it was looked at; never written to.
    Found(u64),
    /// The files that a recorded program works on: made from its trace, brought back after each trial.
    Recorded(RecordedFiles),
}

/// What is made for a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFiles {
    /// The file of the trace, as lossless text.
    pub trace: String,
    /// A digest of it: another trace of this name is refused.
    pub digest: String,
    /// Files, directories and links.
    pub files: u64,
    /// Space of all of them at most, those that the program makes among them.
    pub space_bytes: u64,
    /// Bytes that a trial writes.
    pub written_bytes: u64,
    /// Whether they hold what the recorded ones do, as far as that is there.
    #[serde(default)]
    pub with_data: bool,
}

impl TreeOrder {
    /// The same, of this rank of a job.
    #[must_use]
    pub fn of_rank(mut self, number: u64) -> TreeOrder {
        if let TreeOrder::Kept(tree) | TreeOrder::Each(tree) = &mut self {
            tree.rank = number;
        }
        self
    }

    /// Files in it.
    pub fn files(&self) -> u64 {
        match self {
            TreeOrder::Kept(tree) | TreeOrder::Each(tree) => tree.files,
            TreeOrder::Found(files) => *files,
            TreeOrder::Recorded(recorded) => recorded.files,
        }
    }

    /// Files and directories that iolab makes for it.
    pub fn inodes(&self) -> u64 {
        match self {
            TreeOrder::Kept(tree) | TreeOrder::Each(tree) => {
                tree.files.saturating_add(tree.directories()).saturating_add(1)
            }
            // Of a copy of it: how many directories it has is not known here.
            TreeOrder::Found(files) => files.saturating_add(1),
            // Those that a trial makes are not more than what it begins with and its own names.
            TreeOrder::Recorded(recorded) => recorded.files.saturating_mul(2).saturating_add(1),
        }
    }
}

/// Why levels describe no tree, with the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTree {
    /// A word that is not known.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// Sizes that are none.
    #[error(transparent)]
    Sizes(#[from] NoSizes),
    /// Contents that many files cannot have.
    #[error("many files are filled with {}", list_text(Fill::OF_FILES))]
    Fill,
    /// More files than iolab makes.
    #[error("{0} files are more than {MOST_FILES}; take fewer")]
    TooMany(u64),
}

impl Tree {
    /// The tree that levels describe: `files`, `file-size` or `sizes`, `layout` (by `threads`,
    /// where it is private), `fill`. Nothing where they name no files or no layout.
    ///
    /// # Errors
    /// The level that is none, with the fix.
    pub fn of(levels: &Levels, seed: u64) -> Result<Option<Tree>, NoTree> {
        // Other workloads count files too; a tree has a layout.
        let files = levels.number(Factor::Files).zip(levels.text(Factor::Layout));
        let Some((files, layout)) = files else { return Ok(None) };
        let sizes = match levels.text(Factor::Sizes) {
            Some(text) => text.parse()?,
            None => Sizes::Fixed(levels.number(Factor::FileSize).unwrap_or(0)),
        };
        let workers = levels.number(Factor::Threads).unwrap_or(1);
        let shape = Shape::new(layout, workers)
            .ok_or_else(|| UnknownWord::new("layout", layout, SHAPES.join(", ")))?;
        let body = Body::of(levels.word_or(Fill::Random)?).ok_or(NoTree::Fill)?;
        if files > MOST_FILES {
            return Err(NoTree::TooMany(files));
        }
        Ok(Some(Tree { files, sizes, shape, body, seed, first: 0, rank: 0 }))
    }

    /// Bytes of one file.
    #[inline]
    pub fn size(&self, file: u64) -> u64 {
        match &self.sizes {
            Sizes::Fixed(bytes) => *bytes,
            other => draw::size(other, self.files, self.seed, file),
        }
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        match &self.sizes {
            Sizes::Fixed(bytes) => bytes.saturating_mul(self.files),
            Sizes::Total(bytes) => *bytes,
            _ => (0..self.files).fold(0_u64, |sum, file| sum.saturating_add(self.size(file))),
        }
    }

    /// Directories below the root; number 0 is the root itself and not among them.
    pub fn directories(&self) -> u64 {
        self.shape.directories(self.files)
    }

    /// The directory of a file: 0 is the root.
    pub fn directory(&self, file: u64) -> u64 {
        self.shape.directory(file, self.files)
    }

    /// The first file that is no longer in a directory; [`Tree::files`] or more for the last.
    pub fn end_of(&self, directory: u64) -> u64 {
        self.shape.end_of(directory, self.files)
    }

    /// The directory that a directory (not the root) lies in, always of a smaller number.
    pub fn parent(&self, directory: u64) -> u64 {
        self.shape.parent(directory)
    }

    /// What the files hold.
    pub fn content(&self, block: u64) -> Content {
        let seed = if self.rank == 0 { self.seed } else { mix(self.seed, self.rank) };
        Content::new(self.body, seed, block)
    }
}
