//! What one worker does with one file, and the loop over its files.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::io::Errno;

use super::assign_files::BlockRange;
use super::build::open_root;
use super::errors::{is_fatal, is_full};
use super::listing::{File, Listing, Opener};
use super::step_timer::StepTimer;
use crate::sys::close;

/// Whether a worker got to where it wanted.
pub(super) type Gone = Result<(), Errno>;

/// What is done with each file. Everything in it is timed.
pub(super) trait Task: Send {
    /// Whether it must know sizes.
    const SIZES: bool;
    /// The trees that it goes through, in step.
    fn each_site(&mut self, act: impl Fn(&mut TreeCursor<'_>) -> Gone) -> Gone;
    /// Before the first file of a pass.
    fn pass(&mut self, pass: u64) -> Gone {
        self.each_site(|site| site.pass(pass))
    }
    /// Before the first file of a directory.
    fn enter(&mut self, directory: u64) -> Gone {
        self.each_site(|site| site.enter(directory))
    }
    /// After the last file. Descriptors are a worker's own: they must be closed in its thread.
    fn leave(&mut self) {
        // Closing cannot fail here.
        let _ = self.each_site(|site| {
            site.leave();
            Ok(())
        });
    }
    /// One file; the bytes moved.
    fn file<L: StepTimer>(&mut self, file: &File<'_>, laps: &mut L) -> Result<u64, Errno>;
}

/// One tree as a worker goes through it: the directory that it is in stays open.
#[derive(Debug)]
pub(super) struct TreeCursor<'a> {
    listing: &'a Listing,
    base: &'a Path,
    /// Each pass has a root of its own beside the others.
    numbered: bool,
    root: Option<OwnedFd>,
    directory: Option<OwnedFd>,
    opener: Opener,
}

impl<'a> TreeCursor<'a> {
    /// A tree that is there.
    pub(super) fn standing(listing: &'a Listing, base: &'a Path) -> TreeCursor<'a> {
        let (root, directory, opener) = (None, None, Opener::default());
        TreeCursor { listing, base, numbered: false, root, directory, opener }
    }

    /// A tree for each pass.
    pub(super) fn for_each_pass(listing: &'a Listing, base: &'a Path) -> TreeCursor<'a> {
        TreeCursor { numbered: true, ..TreeCursor::standing(listing, base) }
    }

    fn pass(&mut self, pass: u64) -> Gone {
        if self.numbered {
            self.root = Some(open_root(&numbered(self.base, pass))?);
        } else if self.root.is_none() {
            self.root = Some(open_root(self.base)?);
        }
        Ok(())
    }

    fn enter(&mut self, directory: u64) -> Gone {
        // The old one is closed first: a worker holds as few descriptors as it can.
        if let Some(directory) = self.directory.take() {
            close::in_place(directory);
        }
        let root = self.root.as_ref().ok_or(Errno::BADF)?;
        self.directory = Some(self.opener.open(self.listing, root.as_fd(), directory)?);
        Ok(())
    }

    fn leave(&mut self) {
        self.directory = None;
        self.root = None;
    }

    #[inline(always)]
    pub(super) fn directory(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.directory.as_ref().map(AsFd::as_fd).ok_or(Errno::BADF)
    }
}

/// The root of one pass.
pub(super) fn numbered(base: &Path, pass: u64) -> std::path::PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(format!("-{pass}"));
    name.into()
}

/// What workers share: no one waits for anyone in it.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Someone cannot go on, so nobody does.
    pub(super) stop: AtomicBool,
    /// The first worker has ended.
    ended: AtomicBool,
    /// Files done, by worker. Each writes its own cache line and nobody reads before the first has
    /// ended: a plain store, no locked instruction.
    pub(super) done: Vec<Counter>,
}

impl Shared {
    pub(super) fn new(done: Vec<Counter>) -> Shared {
        Shared { done, ..Shared::default() }
    }
}

/// A counter in a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Counter(AtomicU64);

/// What a worker did.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Files done.
    pub(super) files: u64,
    /// Bytes moved.
    pub(super) bytes: u64,
    /// How often each errno was met.
    pub(super) failures: Vec<(Errno, u64)>,
    /// The first file that failed, and why.
    pub(super) first_failure: Option<(u64, Errno)>,
    /// The file system became full.
    pub(super) full: bool,
    /// It could not go on.
    pub(super) fatal: bool,
    /// Files that all workers had done when this one ended first.
    pub(super) at_first_end: Option<u64>,
}

impl Tally {
    #[cold]
    #[inline(never)]
    fn failed(&mut self, file: u64, errno: Errno, lasting: bool) -> bool {
        self.full |= is_full(errno);
        self.fatal |= !is_full(errno) && (lasting || is_fatal(errno));
        self.first_failure.get_or_insert((file, errno));
        match self.failures.iter_mut().find(|(known, _)| *known == errno) {
            Some((_, count)) => *count += 1,
            None => self.failures.push((errno, 1)),
        }
        self.full || self.fatal
    }
}

/// How a worker goes about it.
pub(super) struct Round<'a> {
    pub(super) listing: &'a Listing,
    pub(super) block_ranges: &'a [BlockRange],
    /// In a tree that iolab made nothing may fail.
    pub(super) lasting: bool,
    pub(super) shared: &'a Shared,
    pub(super) worker: usize,
}

impl Round<'_> {
    /// Does all files of the block_ranges. A file that fails is counted and passed over; where the disk is
    /// full or nothing can be done any more, everyone stops.
    #[inline(never)]
    pub(super) fn work<T: Task, L: StepTimer>(&self, task: &mut T, laps: &mut L) -> Tally {
        let mut tally = Tally::default();
        let own = &self.shared.done[self.worker].0;
        'block_ranges: for block_range in self.block_ranges {
            let mut entered = None;
            if let Err(errno) = task.pass(block_range.pass) {
                tally.failed(block_range.files.start, errno, true);
                break;
            }
            let mut cursor = self.listing.cursor(block_range.files.clone());
            loop {
                let file =
                    if T::SIZES { cursor.advance::<true>() } else { cursor.advance::<false>() };
                let Some(file) = file else { break };
                let there = match entered == Some(file.directory) {
                    true => Ok(()),
                    false => task.enter(file.directory),
                };
                entered = Some(file.directory);
                match there.and_then(|()| task.file(&file, laps)) {
                    Ok(bytes) => {
                        tally.files += 1;
                        tally.bytes += bytes;
                    }
                    Err(errno) => {
                        if tally.failed(file.number, errno, self.lasting) {
                            break 'block_ranges;
                        }
                    }
                }
                own.store(tally.files, Ordering::Relaxed);
                if self.shared.stop.load(Ordering::Relaxed) {
                    break 'block_ranges;
                }
            }
        }
        self.end(&mut tally);
        tally
    }

    fn end(&self, tally: &mut Tally) {
        if tally.full || tally.fatal {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        if !self.shared.ended.swap(true, Ordering::Relaxed) {
            let done = self.shared.done.iter().map(|counter| counter.0.load(Ordering::Relaxed));
            tally.at_first_end = Some(done.sum());
        }
    }
}
