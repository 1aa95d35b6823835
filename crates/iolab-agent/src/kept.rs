//! Files and trees that an earlier run has kept: found by the key of their content, and believed once
//! every byte has been looked at.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::content::Content;
use super::messages::InstanceOrder;
use iolab_io::place::Kept;
use iolab_io::sys::remove::remove_tree;
use iolab_io::tool::Intact;
use iolab_io::workload::files::{self, Listing};
use iolab_model::catalog::fnv1a;
use iolab_model::tree::TreeOrder;

/// What is kept beside the scratch directory that a path is in.
pub(super) fn of(path: &Path) -> Option<Kept> {
    Kept::open(path.parent()?.parent()?, false)
}

/// The key of a file that trials only read; nothing of what is not kept.
pub(super) fn key_of_file(order: &InstanceOrder) -> Option<String> {
    let reads = matches!(order.content, Content::Random | Content::Islands | Content::Zero);
    let plain = order.files.is_none() && order.tree.is_none() && order.path.is_none();
    let kept = order.keep_bytes.is_some() && order.place.is_none() && plain && reads;
    let words = format!("{:?} {} {}", order.content, order.bytes, order.seed);
    kept.then(|| format!("file-{:016x}", fnv1a(words.bytes())))
}

/// The key of a tree that trials only read.
fn key_of_tree(order: &InstanceOrder) -> Option<String> {
    let Some(TreeOrder::Kept(tree)) = &order.tree else { return None };
    let kept = order.keep_bytes.is_some() && order.place.is_none();
    kept.then(|| format!("tree-{:016x}", fnv1a(format!("{tree:?}").bytes())))
}

/// Whether a file is this user's own and holds what was ordered.
pub(super) fn is_intact(path: &Path, order: &InstanceOrder, wanted: &dyn Fn() -> bool) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
    let opened = fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    let fill = |at, piece: &mut [u8]| order.content.fill(order.seed, at, piece);
    opened.is_ok_and(|file| Intact::new(order.bytes).is(&file, order.bytes, fill, wanted))
}

/// Brings a tree that was kept to `path`, where it is still what it was.
pub(super) fn take_tree(
    order: &InstanceOrder,
    listing: &Listing,
    path: &Path,
    wanted: &dyn Fn() -> bool,
) -> bool {
    let taken = key_of_tree(order).zip(of(path)).is_some_and(|(key, kept)| kept.take(&key, path));
    if taken && files::is_intact(listing, path, wanted) {
        return true;
    }
    if taken {
        throw_away(path);
    }
    false
}

/// Removes what was kept and is not what it was: a file, a link or a directory.
pub(super) fn throw_away(path: &Path) {
    // What cannot be removed is in the way of what is made next, which says so.
    let _ = remove_tree(path);
}

/// Moves what a run has made to where the next one looks; what cannot be kept stays, and goes with the
/// scratch directory.
pub(super) fn put(order: &InstanceOrder, path: &Path) {
    let key = key_of_file(order).or_else(|| key_of_tree(order));
    let parent = path.parent().and_then(Path::parent);
    let kept = parent.and_then(|parent| Kept::open(parent, key.is_some()));
    if let (Some(key), Some(kept), Some(limit_bytes)) = (key, kept, order.keep_bytes) {
        let _ = kept.put(path, &key, limit_bytes);
    }
}
