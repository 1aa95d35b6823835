//! A trial on many files as it is asked for: its levels, checked.

use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::assign_files::passes;
use super::listing::Listing;
use super::task::TreeCursor;
use crate::method::open_flags;
use crate::workload::{Extent, Trial};
use iolab_model::catalog::{
    Atime, Consume, Descriptors, Factor, FileOperation, Sync, is_shared, list_text,
};
use iolab_model::result::Fault;

/// The directory of a trial's own trees, below its scratch directory.
const TREES: &str = "trees";
/// Workers of one trial, at most.
const MOST_WORKERS: u64 = 4096;

/// A trial's levels, checked.
pub(super) struct Settings<'a> {
    pub(super) operation: FileOperation,
    pub(super) listing: &'a Listing,
    /// The tree that is there.
    pub(super) root: &'a Path,
    /// Where each pass makes or finds its own tree: this name and the pass's number.
    pub(super) own: PathBuf,
    pub(super) extent: Extent,
    pub(super) workers: u64,
    pub(super) block: u64,
    pub(super) sync: Sync,
    pub(super) touches: bool,
    pub(super) latency: bool,
    /// What a file is opened with beside the rest: `O_NOATIME`, or nothing.
    pub(super) quiet: OFlags,
    /// Other ranks have their files in the same directories.
    pub(super) shared: bool,
    /// Each worker has a table of open files of its own.
    pub(super) own_descriptors: bool,
    pub(super) method: String,
}

impl<'a> Settings<'a> {
    /// Nothing is taken on trust, though the plan has checked what people write.
    pub(super) fn of(trial: &Trial<'a>) -> Result<Settings<'a>, Fault> {
        let levels = trial.levels;
        let operation = levels.word_or(FileOperation::Read).map_err(refuse)?;
        let no_tree = || refuse("it names no tree");
        let subject = trial.subject.ok_or_else(no_tree)?;
        let listing = subject.tree.ok_or_else(no_tree)?;
        let theirs = matches!(listing, Listing::Found(_));
        if theirs && operation.has_own() && operation != FileOperation::Copy {
            let cause = format!("a tree of yours is never written to; {operation} takes --files");
            return Err(refuse(cause));
        }
        let workers = levels.number(Factor::Threads).unwrap_or(1);
        if workers == 0 || workers > MOST_WORKERS {
            return Err(refuse(format!("{workers} workers; take 1 to {MOST_WORKERS}")));
        }
        if passes(trial.extent) == 0 {
            return Err(refuse("it asks for no pass"));
        }
        let sync = levels.word_or(Sync::None).map_err(refuse)?;
        if !matches!(sync, Sync::None | Sync::Each | Sync::End) {
            return Err(refuse(format!("no sync {sync}; take {}", list_text(Sync::OF_FILES))));
        }
        Ok(Settings {
            operation,
            listing,
            root: subject.path,
            own: trial.scratch.join(TREES).join("of-pass"),
            extent: trial.extent,
            workers,
            block: levels.number(Factor::Block).unwrap_or(128 << 10).max(1),
            sync,
            touches: levels.word() != Some(Consume::None),
            latency: levels.is_on(Factor::Latency),
            quiet: open_flags(levels.word_or(Atime::Left).map_err(refuse)?),
            shared: is_shared(levels),
            own_descriptors: levels.word() == Some(Descriptors::Own),
            method: levels.text(Factor::Method).unwrap_or("copy_file_range").to_owned(),
        })
    }

    /// The directory that the trial's own trees lie in.
    pub(super) fn together(&self) -> &Path {
        self.own.parent().unwrap_or(self.root)
    }

    pub(super) fn standing(&self) -> TreeCursor<'_> {
        TreeCursor::standing(self.listing, self.root)
    }

    pub(super) fn own(&self) -> TreeCursor<'_> {
        TreeCursor::for_each_pass(self.listing, &self.own)
    }

    /// Bytes that a worker handles at a time; no more than its files have.
    pub(super) fn piece(&self) -> u64 {
        match self.listing {
            Listing::Made(tree) => match tree.sizes {
                iolab_model::catalog::Sizes::Fixed(bytes) => self.block.min(bytes.max(1)),
                _ => self.block,
            },
            Listing::Found(_) => self.block,
        }
    }
}

const DOING: &str = "prepare a trial on many files";

fn refuse(cause: impl ToString) -> Fault {
    Fault::new(DOING, cause.to_string())
}
