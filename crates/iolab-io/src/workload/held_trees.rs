//! The trees of the last trials, kept until nothing is made near them any more.
//!
//! Without a journal ext4 takes no inode that was freed in the last minutes, and looks at each of them
//! for every file it makes (`recently_deleted` in fs/ext4/ialloc.c): a trial beside what another had
//! removed took up to thirty times as long, and creating files in two equal directories spread by
//! 0.3–15. So the trees of many trials lie in a few block groups, none of them is removed while the next
//! ones are made there, and then other groups are taken. A trial draws its group, whichever directory it
//! is made in: one that is slower than another would else make a directory seem slower for as long as it
//! is taken. On other file systems a tree is removed with its trial.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::statvfs;

use crate::sys::clock::now_ns;
use crate::sys::remove::remove_tree;
use crate::workload::held_inodes::passed_over;
use crate::workload::spread_directories::{make_apart, spread};
use iolab_model::catalog::mix;

/// So many trees share the block groups that are taken at a time, and are kept, at most.
const MOST_TREES: u64 = 64;
/// Block groups that are taken at a time: as few as have room, for what is removed of them in the end
/// keeps the next runs from them for a minute, and in each some more are tried.
const FEWEST_GROUPS: u64 = 2;
const FILES_IN_GROUP: u64 = 4096;
const NO_GROUP: &str = "no block group";
/// So many files are kept, at most: they are removed when all is over, in about half a second.
const MOST_FILES: u64 = 20_000;
/// What is kept takes no more than this share of what is free.
const SHARE: u64 = 20;
/// Files that are made to see whether a group holds inodes back: before it is taken, and before each
/// trial in it.
const FIRST_PROBES: usize = 4;
const PROBES: usize = 2;
/// So many probes are remembered: where both groups hold inodes back, neither seems slow beside the other.
const RECENT: usize = 16;
/// Groups that are tried for one that is taken.
const TRIES: usize = 6;

/// So few inodes that are passed over make no difference.
const FEW: u64 = 16;
/// Of so many trials one is done again at most, and these besides: where live files lie among the inodes
/// that are free, all of them would be.
const ONE_IN: u64 = 3;
const BESIDES: u64 = 4;

/// By the file system that trials are made on: two directories of one file system differ by nothing, so
/// their trees lie in the same groups. While each had its own, one of eight that held inodes back made
/// one of two equal directories seem slower, by 20 times in each fourth trial.
static HELD: Mutex<BTreeMap<u64, Held>> = Mutex::new(BTreeMap::new());

/// What is kept on one file system.
#[derive(Debug, Default)]
struct Held {
    /// The directories whose block groups are taken now.
    groups: Vec<PathBuf>,
    /// Trees that were made in these, and groups that were left for another.
    made: u64,
    /// How long the last probes took.
    recent_ns: VecDeque<u64>,
    /// The group of the last trial.
    drawn: usize,
    /// Trials that were looked at, and those of them that are done again.
    looked: u64,
    again: u64,
    /// What is kept, oldest first: trees, and the directories of groups that are taken no more.
    trees: VecDeque<PathBuf>,
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
    let held = all.entry(file_system(parent)?).or_default();
    if held.made >= most || !held.groups.iter().all(|group| group.is_dir()) {
        held.trees.extend(held.groups.drain(..));
    }
    if held.groups.is_empty() {
        held.made = 0;
        let groups = (most * load.files).div_ceil(FILES_IN_GROUP).max(FEWEST_GROUPS);
        held.groups =
            (0..groups.min(most)).map(|_| held.next_group(parent)).collect::<io::Result<_>>()?;
    }
    let fresh = held.draw(parent, now_ns())?.join(format!("{:x}", now_ns()));
    fs::DirBuilder::new().mode(0o700).create(&fresh)?;
    held.made += 1;
    // A new name moves nothing.
    match fs::rename(&fresh, together) {
        // The groups were made through another mount of the file system.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::remove_dir(&fresh)?;
            make_apart(together)
        }
        other => other,
    }
}

/// Keeps the directory of a trial's trees and removes the oldest ones, or leaves it to the caller to
/// remove it now: then false.
///
/// # Errors
/// One that cannot be removed.
pub(super) fn keep(together: &Path, load: Load) -> io::Result<bool> {
    let Some(parent) = together.parent() else { return Ok(false) };
    let mut all = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Where it is gone already there is nothing to keep.
    let held = file_system(parent).ok().and_then(|number| all.get_mut(&number));
    let Some((held, most)) = held.zip(room(parent, load)) else { return Ok(false) };
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

/// Whether the files of a trial that was made among these trees took longer for inodes that are held back,
/// which is no one's to answer for: it is to be done again. Its group is left for another.
///
/// # Errors
/// Its trees cannot be looked at.
pub(super) fn is_spoilt(together: &Path, load: Load) -> io::Result<bool> {
    let Some(parent) = together.parent() else { return Ok(false) };
    let mut all = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let held = file_system(parent).ok().and_then(|number| all.get_mut(&number));
    let Some((held, _)) = held.zip(room(parent, load)) else { return Ok(false) };
    held.looked += 1;
    if passed_over(together)? <= FEW || held.again > held.looked / ONE_IN + BESIDES {
        return Ok(false);
    }
    held.again += 1;
    if held.drawn < held.groups.len() {
        held.leave(held.drawn, parent)?;
    }
    Ok(true)
}

impl Held {
    /// Takes another group in the place of one.
    fn leave(&mut self, number: usize, parent: &Path) -> io::Result<()> {
        let next = self.next_group(parent)?;
        self.trees.push_back(std::mem::replace(&mut self.groups[number], next));
        self.made += 1;
        Ok(())
    }

    /// One of the groups by chance, or another in its place where it holds inodes back by now.
    fn draw(&mut self, parent: &Path, random: u64) -> io::Result<&Path> {
        let count = self.groups.len().max(1);
        self.drawn = (mix(random, self.made) % count as u64) as usize;
        // The one beside it too: of what both take some is how busy the machine is.
        for number in [self.drawn + 1, self.drawn] {
            let group =
                self.groups.get(number % count).ok_or_else(|| io::Error::other(NO_GROUP))?;
            let probe = Probe::of(group, PROBES)?;
            self.remember(probe);
            if number == self.drawn && self.is_slow(probe) {
                self.leave(number, parent)?;
            }
        }
        Ok(&self.groups[self.drawn])
    }

    fn remember(&mut self, probe: Probe) {
        self.recent_ns.push_back(probe.took_ns);
        if self.recent_ns.len() > RECENT {
            self.recent_ns.pop_front();
        }
    }

    /// Whether files take twice as long as in the best group of late.
    fn is_slow(&self, probe: Probe) -> bool {
        self.recent_ns.iter().min().is_some_and(|fast_ns| probe.took_ns > fast_ns.saturating_mul(2))
    }

    /// A directory in a block group that holds no inode back, as far as one can be found.
    fn next_group(&mut self, parent: &Path) -> io::Result<PathBuf> {
        let mut best: Option<(Probe, PathBuf)> = None;
        for _ in 0..TRIES {
            let group = parent.join(format!("group-{:x}", now_ns()));
            make_apart(&group)?;
            let probe = Probe::of(&group, FIRST_PROBES)?;
            self.remember(probe);
            let left = match &best {
                Some((least, _)) if !probe.is_better(least) => Some(group),
                _ => best.replace((probe, group)).map(|(_, group)| group),
            };
            if let Some(left) = left {
                remove_tree(&left)?;
            }
            if probe.in_a_row && !self.is_slow(probe) {
                break;
            }
        }
        best.map(|(_, group)| group).ok_or_else(|| io::Error::other(NO_GROUP))
    }
}

fn file_system(directory: &Path) -> io::Result<u64> {
    Ok(fs::metadata(directory)?.dev())
}

/// What files that were made in a group say of it. They stay: removed, they would be held back
/// themselves.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Of the fastest.
    took_ns: u64,
    /// Whether their inodes follow one another. Where some are held back between others, it comes to
    /// thousands of them after the few that were free.
    in_a_row: bool,
}

impl Probe {
    fn of(group: &Path, count: usize) -> io::Result<Probe> {
        let mut all = Probe { took_ns: u64::MAX, in_a_row: true };
        let mut last = fs::metadata(group)?.ino();
        for _ in 0..count {
            let path = group.join(format!("probe-{:x}", now_ns()));
            let began = now_ns();
            let file = fs::File::create_new(path)?;
            all.took_ns = all.took_ns.min(now_ns().saturating_sub(began));
            let inode = file.metadata()?.ino();
            all.in_a_row &= inode == last + 1;
            last = inode;
        }
        Ok(all)
    }

    fn is_better(self, other: &Probe) -> bool {
        (!self.in_a_row, self.took_ns) < (!other.in_a_row, other.took_ns)
    }
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

    use super::{Held, Load, MOST_FILES, keep, make};
    use crate::sys::testing::{among_block_groups, skip};
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
        let Some(dir) = among_block_groups(test, 512, "m/scratch") else { return };
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

    /// Each directory had block groups of its own for dozens of trials, and one of them that held inodes
    /// back made one of two equal directories seem slower: told apart in 4 of 20 runs.
    #[test]
    fn two_directories_of_one_file_system_take_the_same_groups() {
        let test =
            "workload::held_trees::tests::two_directories_of_one_file_system_take_the_same_groups";
        let Some(dir) = among_block_groups(test, 512, "m/one m/two") else { return };
        let load = Load { files: 500, ..LOAD };
        let [one, two] = ["m/one", "m/two"].map(|name| dir.join(name));
        let mut groups = [BTreeSet::new(), BTreeSet::new()];
        for _ in 0..8 {
            groups[0].extend(trials(&one, 1, load));
            groups[1].extend(trials(&two, 1, load));
        }
        assert!(groups[0].intersection(&groups[1]).next().is_some(), "{groups:?}");
        // Each has what it made itself, and one of them the groups.
        assert!(kept(&one) > 0 && kept(&two) > 0);
    }

    /// Files beside 800 that were just removed took ten times as long.
    #[test]
    fn a_group_that_holds_inodes_back_is_left() {
        let test = "workload::held_trees::tests::a_group_that_holds_inodes_back_is_left";
        let Some(dir) = among_block_groups(test, 512, "m/scratch") else { return };
        let parent = dir.join("m/scratch");
        assert!(spread(&parent));
        let mut held = Held::default();
        held.groups = (0..2).map(|_| held.next_group(&parent).unwrap()).collect();
        let (slow, fast) = (held.groups[0].clone(), held.groups[1].clone());
        let files: Vec<_> = (0..800).map(|number| slow.join(number.to_string())).collect();
        files.iter().for_each(|file| fs::write(file, b"").unwrap());
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
        // What was removed in this second is taken again at once.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        let draw = |held: &mut Held, random| held.draw(&parent, random).unwrap().to_owned();
        let drawn: Vec<_> = (0..20).map(|random| draw(&mut held, random)).collect();
        assert!(!drawn.contains(&slow) && drawn.contains(&fast), "{slow:?} {drawn:?}");
        assert_eq!(held.trees, [slow]);
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
