//! The trees of the last trials, kept until nothing is made near them any more.
//!
//! Without a journal ext4 takes no inode that was freed in the last minutes, and looks at each of them
//! for every file it makes (`recently_deleted` in fs/ext4/ialloc.c): a trial beside what another had
//! removed took up to thirty times as long, and creating files in two equal directories spread by
//! 0.3–15. So the trees of many trials lie in a few block groups, none of them is removed while the next
//! ones are made there, and then other groups are taken. A trial draws its group: one that is slower
//! than another would else make a directory seem slower for as long as it is taken. On other file
//! systems a tree is removed with its trial.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::statvfs;

use crate::sys::clock::now_ns;
use crate::sys::remove::remove_tree;
use crate::workload::spread_directories::{make_apart, spread};
use iolab_model::catalog::mix;

/// So many trees share the block groups that are taken at a time, and are kept, at most.
const MOST_TREES: u64 = 64;
/// Block groups that are taken at a time.
const GROUPS: u64 = 8;
const NO_GROUP: &str = "no block group";
/// So many files are kept, at most: they are removed when all is over, in about half a second.
const MOST_FILES: u64 = 20_000;
/// What is kept takes no more than this share of what is free.
const SHARE: u64 = 20;
/// Files that are made to see whether a group holds inodes back, and groups that are tried.
const PROBES: usize = 4;
const TRIES: usize = 6;
/// A group whose files take so many times as long as those of the fastest one is passed over.
const SLOW: u64 = 3;

/// By the directory that trials are made in.
static HELD: Mutex<BTreeMap<PathBuf, Held>> = Mutex::new(BTreeMap::new());

/// What is kept in one directory.
#[derive(Debug, Default)]
struct Held {
    /// The directories whose block groups are taken now, and how many trees were made in them.
    groups: Vec<PathBuf>,
    made: u64,
    /// Trees that are kept, oldest first.
    trees: VecDeque<PathBuf>,
    /// Time that a file took in the fastest group.
    fastest_ns: Option<u64>,
}

/// How much of it may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Files of a trial.
    pub(super) files: u64,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Whether the trial itself removes them.
    pub(super) removes: bool,
}

/// Makes the directory of a trial's trees.
///
/// # Errors
/// It cannot be made.
pub(super) fn make(together: &Path, load: Load) -> io::Result<()> {
    let parent = together.parent().filter(|parent| spread(parent));
    let Some((parent, most)) = parent.and_then(|parent| Some((parent, room(parent, load)?))) else {
        return make_apart(together);
    };
    let mut all = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let held = all.entry(parent.to_owned()).or_default();
    if held.made >= most || !held.groups.iter().all(|group| group.is_dir()) {
        held.groups.clear();
    }
    if held.groups.is_empty() {
        held.made = 0;
        for _ in 0..most.min(GROUPS) {
            let group = held.next_group(parent)?;
            held.groups.push(group);
        }
    }
    let drawn = mix(now_ns(), held.made) % held.groups.len().max(1) as u64;
    let group = held.groups.get(drawn as usize).ok_or_else(|| io::Error::other(NO_GROUP))?;
    let fresh = group.join(format!("{:x}", now_ns()));
    fs::DirBuilder::new().mode(0o700).create(&fresh)?;
    // A new name moves nothing.
    fs::rename(&fresh, together)?;
    held.made += 1;
    Ok(())
}

/// Keeps the directory of a trial's trees and removes the oldest ones, or leaves it to the caller to
/// remove it now: then false.
///
/// # Errors
/// One that cannot be removed.
pub(super) fn keep(together: &Path, load: Load) -> io::Result<bool> {
    let Some(parent) = together.parent() else { return Ok(false) };
    let mut all = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some((held, most)) = all.get_mut(parent).zip(room(parent, load)) else { return Ok(false) };
    let kept = parent.join(format!("kept-{:x}", now_ns()));
    match fs::rename(together, &kept) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other?,
    }
    held.trees.push_back(kept);
    // The oldest of more than these groups hold lies in one that is not taken any more.
    while held.trees.len() as u64 > most {
        if let Some(oldest) = held.trees.pop_front() {
            match remove_tree(&oldest) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(true)
}

impl Held {
    /// A directory in a block group that holds no inode back, as far as one can be found.
    fn next_group(&mut self, parent: &Path) -> io::Result<PathBuf> {
        let mut best: Option<(u64, PathBuf)> = None;
        for _ in 0..TRIES {
            let group = parent.join(format!("group-{:x}", now_ns()));
            make_apart(&group)?;
            let took_ns = probed_ns(&group)?;
            let known = self.fastest_ns.is_some();
            let fastest = self.fastest_ns.map_or(took_ns, |least| least.min(took_ns));
            self.fastest_ns = Some(fastest);
            if best.as_ref().is_none_or(|(least, _)| took_ns < *least) {
                best = Some((took_ns, group));
            }
            // The first one of a run has nothing to be held against.
            let fast = best.as_ref().is_some_and(|(least, _)| *least <= SLOW * fastest);
            if fast && known {
                break;
            }
        }
        best.map(|(_, group)| group).ok_or_else(|| io::Error::other(NO_GROUP))
    }
}

/// The time of the fastest of a few files made in `group`. They stay: removed, they would be held back
/// themselves.
fn probed_ns(group: &Path) -> io::Result<u64> {
    let mut fastest = u64::MAX;
    for probe in 0..PROBES {
        let path = group.join(format!("probe-{probe}"));
        let began = now_ns();
        drop(fs::File::create_new(path)?);
        fastest = fastest.min(now_ns().saturating_sub(began));
    }
    Ok(fastest)
}

/// Trees that may be kept: as many as leave nearly all that is free to others. `None` where the trial
/// leaves none, or too few can be: what is kept, and tried, takes inodes, and of few none is taken.
fn room(parent: &Path, load: Load) -> Option<u64> {
    let files = load.files.max(1);
    let about = statvfs(parent).ok().filter(|_| !load.removes)?;
    let free_bytes = about.f_bavail.saturating_mul(about.f_frsize);
    // A file takes a block at least.
    let bytes = load.bytes.max(files.saturating_mul(about.f_frsize)).max(1);
    let trees = [MOST_FILES / files, about.f_favail / SHARE / files, free_bytes / SHARE / bytes];
    trees.into_iter().min().filter(|most| *most >= 2).map(|most| most.min(MOST_TREES))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::{Load, MOST_FILES, keep, make};
    use crate::sys::testing::{among_mounts, skip};
    use crate::workload::spread_directories::spread;

    const LOAD: Load = Load { files: MOST_FILES / 20, bytes: 4096, removes: false };

    fn kept(parent: &Path) -> usize {
        let names = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("kept-")).count()
    }

    /// Makes and keeps the trees of so many trials; the block groups of their files.
    fn trials(parent: &Path, count: usize, load: Load) -> Vec<u64> {
        let together = parent.join("trees");
        let one = |_| {
            make(&together, load).unwrap();
            let file = together.join("f");
            fs::write(&file, b"x").unwrap();
            let group = (file.metadata().unwrap().ino() - 1) / 1024;
            if !keep(&together, load).unwrap() {
                fs::remove_dir_all(&together).unwrap();
            }
            assert!(!together.exists());
            group
        };
        (0..count).map(one).collect()
    }

    /// Beside what was just removed, files of the next trial took up to thirty times as long.
    #[test]
    fn no_tree_is_removed_where_the_next_ones_are_made() {
        let test = "workload::held_trees::tests::no_tree_is_removed_where_the_next_ones_are_made";
        let script = "truncate -s 512M i; mkdir m; \
            mkfs.ext4 -q -F -O ^has_journal,^flex_bg -g 1024 -b 4096 -N 131072 i || exit 77; \
            mount -o loop i m || exit 77; mkdir m/scratch";
        let Some(dir) = among_mounts(test, script) else { return };
        let parent = dir.join("m/scratch");
        // The space that may be taken allows a few trees of this size.
        let load = Load { files: 500, ..LOAD };
        let groups = trials(&parent, 30, load);
        let held = kept(&parent);
        assert!((2..=12).contains(&held), "{held} kept");
        // The trees that are made now lie elsewhere than what has been removed by now.
        let (removed, last) = groups.split_at(groups.len() - held);
        let recent: BTreeSet<u64> = last.iter().copied().collect();
        assert!(recent.len() > 1, "a trial draws its group: {groups:?}");
        assert!(!removed.is_empty());
        // A trial that removes its files itself leaves nothing to keep.
        let before = kept(&parent);
        trials(&parent, 2, Load { removes: true, ..load });
        assert_eq!(kept(&parent), before);
    }

    #[test]
    fn elsewhere_a_tree_is_removed_with_its_trial() {
        let dir = tempfile::tempdir_in("/dev/shm").unwrap();
        if spread(dir.path()) {
            let reason = "/dev/shm spreads directories";
            return skip("elsewhere_a_tree_is_removed_with_its_trial", reason);
        }
        trials(dir.path(), 3, LOAD);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
