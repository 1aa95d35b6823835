//! Making a tree, and taking it away by the names that it was made with.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::errors::{errno_of, fault};
use super::listing::{Listing, Opener};
use crate::workload::spread_directories::make_apart;
use iolab_model::catalog::path_to_text;
use iolab_model::result::Fault;
use iolab_model::tree::Content;

/// Files between two questions whether anyone still wants the tree.
const PIECE: u64 = 256;
/// Bytes of one write when a tree is made.
pub const MAKE_BLOCK: u64 = 1 << 20;

const MAKE_DIRECTORIES: &str = "make the directories of a tree";

/// The root of a tree, open. No link at its end is followed.
pub(super) fn open_root(root: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, root, flags, Mode::empty())
}

/// Makes the root, which must not be there, and every directory below it.
///
/// # Errors
/// What could not be made.
pub fn make_directories(listing: &Listing, root: &Path) -> Result<(), Fault> {
    let failed = |errno| fault(MAKE_DIRECTORIES, errno, &path_to_text(root));
    mkdirat(CWD, root, Mode::RWXU).map_err(failed)?;
    make_below(listing, root)
}

/// The same in a directory that iolab made, away from what earlier trials have removed.
///
/// # Errors
/// What could not be made.
pub fn make_directories_apart(listing: &Listing, root: &Path) -> Result<(), Fault> {
    make_apart(root)
        .map_err(|error| fault(MAKE_DIRECTORIES, errno_of(&error), &path_to_text(root)))?;
    make_below(listing, root)
}

fn make_below(listing: &Listing, root: &Path) -> Result<(), Fault> {
    let failed = |errno| fault(MAKE_DIRECTORIES, errno, &path_to_text(root));
    let top = open_root(root).map_err(failed)?;
    let mut opener = Opener::default();
    let mut parent = (0, opener.open(listing, top.as_fd(), 0).map_err(failed)?);
    for directory in 1..=listing.directories() {
        let above = listing.parent(directory);
        if parent.0 != above {
            parent = (above, opener.open(listing, top.as_fd(), above).map_err(failed)?);
        }
        listing
            .with_directory_name(directory, |name| mkdirat(&parent.1, name, Mode::RWXU))
            .map_err(failed)?;
    }
    Ok(())
}

/// Makes the files of a range, each new. `wanted` says whether to go on; `content` must be able to
/// give [`MAKE_BLOCK`] bytes at a time.
///
/// # Errors
/// The file that could not be made, and why.
pub fn make_files(
    listing: &Listing,
    root: &Path,
    range: Range<u64>,
    content: &mut Content,
    wanted: &dyn Fn() -> bool,
) -> Result<(), Fault> {
    let doing = "make the files of a tree";
    let mut at = range.start;
    let mut make = || {
        let top = open_root(root)?;
        let mut opener = Opener::default();
        let mut directory: Option<(u64, OwnedFd)> = None;
        let mut cursor = listing.cursor(range.clone());
        while let Some(file) = cursor.advance::<true>() {
            at = file.number;
            if at.is_multiple_of(PIECE) && !wanted() {
                return Err(Errno::CANCELED);
            }
            if directory.as_ref().is_none_or(|(number, _)| *number != file.directory) {
                let opened = opener.open(listing, top.as_fd(), file.directory)?;
                directory = Some((file.directory, opened));
            }
            let Some((_, parent)) = &directory else { continue };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let made = openat(parent, file.name, flags, Mode::RUSR | Mode::WUSR)?;
            write_all(&made, file.number, file.size, content, MAKE_BLOCK)?;
        }
        Ok(())
    };
    let made = make();
    made.map_err(|errno| fault(doing, errno, &path_to_text(&root.join(listing.path(at)))))
}

/// Writes all of a file's content in blocks.
#[inline(always)]
pub(super) fn write_all(
    file: &OwnedFd,
    number: u64,
    size: u64,
    content: &mut Content,
    block: u64,
) -> Result<(), Errno> {
    let mut at = 0;
    while at < size {
        let count = block.min(size - at) as usize;
        let written =
            content.block(number, size, at, count, |bytes| rustix::io::write(file, bytes));
        match written {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => at += n as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Removes what [`make_directories`] and the files of a range left, by their names; what is gone
/// already is no error. Anything else that lies there is left alone, and said.
///
/// # Errors
/// The first thing that could not be removed.
pub fn clear(listing: &Listing, root: &Path, ranges: &[Range<u64>]) -> Result<(), Fault> {
    let doing = || format!("remove the tree {}", path_to_text(root));
    let top = match open_root(root) {
        Err(Errno::NOENT) => return Ok(()),
        other => other.map_err(|errno| fault(doing(), errno, ""))?,
    };
    let failed = |errno| fault(doing(), errno, "");
    let mut opener = Opener::default();
    for range in ranges {
        clear_files(listing, &top, range.clone(), &mut opener).map_err(failed)?;
    }
    let mut parent: Option<(u64, OwnedFd)> = None;
    for directory in (1..=listing.directories()).rev() {
        let above = listing.parent(directory);
        if parent.as_ref().is_none_or(|(number, _)| *number != above) {
            parent = opener.open(listing, top.as_fd(), above).ok().map(|opened| (above, opened));
        }
        let Some((_, parent)) = &parent else { continue };
        let removed = listing
            .with_directory_name(directory, |name| unlinkat(parent, name, AtFlags::REMOVEDIR));
        absent_is_fine(removed).map_err(failed)?;
    }
    absent_is_fine(unlinkat(CWD, root, AtFlags::REMOVEDIR)).map_err(failed)
}

fn clear_files(
    listing: &Listing,
    top: &OwnedFd,
    range: Range<u64>,
    opener: &mut Opener,
) -> Result<(), Errno> {
    let mut directory: Option<(u64, Option<OwnedFd>)> = None;
    let mut cursor = listing.cursor(range);
    while let Some(file) = cursor.advance::<false>() {
        if directory.as_ref().is_none_or(|(number, _)| *number != file.directory) {
            let opened = opener.open(listing, top.as_fd(), file.directory);
            directory = Some((file.directory, opened.ok()));
        }
        if let Some((_, Some(parent))) = &directory {
            absent_is_fine(unlinkat(parent, file.name, AtFlags::empty()))?;
        }
    }
    Ok(())
}

fn absent_is_fine(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}
