//! Whether a tree that was kept is still the one that was made: every name, size and byte.

use std::fs::File as Handle;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;

use super::build::open_root;
use super::listing::{Listing, Opener};
use crate::tool::Intact;
use iolab_model::tree::Tree;

/// Whether `root` holds this tree and nothing else, all of it this user's own. Whatever cannot be
/// looked at is not it; `wanted` says whether to go on.
pub fn is_intact(listing: &Listing, root: &Path, wanted: &dyn Fn() -> bool) -> bool {
    let Listing::Made(tree) = listing else { return false };
    let same =
        || Ok::<bool, Errno>(has_no_more(listing, root)? && has_all(listing, tree, root, wanted)?);
    same().unwrap_or(false)
}

/// As many names as there should be: with all of those there, none is too many.
fn has_no_more(listing: &Listing, root: &Path) -> Result<bool, Errno> {
    let top = open_root(root)?;
    let mut opener = Opener::default();
    let mut entries = 0;
    for directory in 0..=listing.directories() {
        let opened = opener.open(listing, top.as_fd(), directory)?;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            entries += u64::from(![&b"."[..], b".."].contains(&entry.file_name().to_bytes()));
        }
    }
    Ok(entries == listing.files() + listing.directories())
}

fn has_all(
    listing: &Listing,
    tree: &Tree,
    root: &Path,
    wanted: &dyn Fn() -> bool,
) -> Result<bool, Errno> {
    let (top, mut opener) = (open_root(root)?, Opener::default());
    let content = tree.content(0);
    let mut intact = Intact::new(u64::MAX);
    let mut directory: Option<(u64, OwnedFd)> = None;
    for range in listing.whole() {
        let mut cursor = listing.cursor(range);
        while let Some(file) = cursor.advance::<true>() {
            if directory.as_ref().is_none_or(|(number, _)| *number != file.directory) {
                let opened = opener.open(listing, top.as_fd(), file.directory)?;
                directory = Some((file.directory, opened));
            }
            let Some((_, parent)) = &directory else { return Ok(false) };
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let handle = Handle::from(openat(parent, file.name, flags, Mode::empty())?);
            let fill = |at, piece: &mut [u8]| content.fill(file.number, file.size, at, piece);
            if !wanted() || !intact.is(&handle, file.size, fill, wanted) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
