//! Directories swapped for links, and mounts laid over them, while scratch directories are made, used,
//! swept and cleaned: nothing outside is touched. 10 000 swaps each; ten times that with IOLAB_TRUST
//! (`make trust`).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::mount::{UnmountFlags, mount_bind, unmount};

use super::marker::{Marker, NAME};
use super::{Scratch, clean, sweep};
use crate::sys::remove::remove_tree;
use crate::sys::testing::{among_mounts, as_nobody, is_root};

/// Deeper than directories are held open on the way down.
const LEVELS: usize = 20;
const NAMES: [&str; 3] = ["a", "closed", "f"];

fn swaps_wanted() -> u64 {
    if std::env::var_os("IOLAB_TRUST").is_some() { 100_000 } else { 10_000 }
}

/// Directories, some of them closed, with the same names at every level.
fn plant(root: &Path, levels: usize) -> std::io::Result<()> {
    let mut at = root.to_owned();
    for _ in 0..levels {
        fs::create_dir_all(at.join("closed/f"))?;
        fs::write(at.join("closed/f/f"), "inner")?;
        fs::write(at.join("f"), "a file")?;
        fs::set_permissions(at.join("closed"), PermissionsExt::from_mode(0o500))?;
        at.push("a");
        fs::create_dir(&at)?;
    }
    Ok(())
}

/// Everything below a directory: mode, owner, inode, times and content.
fn picture(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(path) = left.pop() {
        let about = path.symlink_metadata().unwrap();
        if about.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let content = if about.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let told = (about.mode(), about.uid(), about.ino(), about.mtime(), about.mtime_nsec());
        all.insert(path, format!("{told:?} {content:?}"));
    }
    all
}

/// A directory as a killed run would leave it, made where nobody disturbs it.
fn leave(work: &Path, number: u64) -> std::io::Result<()> {
    let name = format!(".iolab-{number:016x}");
    let path = work.with_file_name(&name);
    fs::create_dir(&path)?;
    fs::set_permissions(&path, PermissionsExt::from_mode(0o700))?;
    let mut marker = Marker::of_this_process();
    marker.start_ticks -= 1;
    fs::write(path.join(NAME), serde_json::to_vec(&marker)?)?;
    plant(&path, LEVELS)?;
    fs::rename(path, work.join(name))
}

/// Swaps what it finds in `work` for a link to the victim and back; where `mounts` is given, lays the
/// victim over it for a moment.
struct Attack<'a> {
    work: &'a Path,
    victim: &'a Path,
    mounts: bool,
    /// Whether it reaches into scratch directories, as a process of the same user does.
    inside: bool,
    swaps: AtomicU64,
    over: AtomicBool,
}

impl Attack<'_> {
    fn targets(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(self.work).into_iter().flatten().flatten() {
            let mut at = entry.path();
            all.push(at.clone());
            for _ in 0..LEVELS * usize::from(self.inside) {
                all.extend(NAMES.map(|name| at.join(name)));
                at.push("a");
            }
        }
        all
    }

    /// A link beside it takes its name, and gives it back.
    fn swap(&self, target: &Path) {
        let link = target.with_file_name("link");
        let _ = symlink(self.victim, &link);
        let exchange = || renameat_with(CWD, target, CWD, &link, RenameFlags::EXCHANGE);
        if exchange().is_ok() {
            self.swaps.fetch_add(1, Ordering::Relaxed);
            std::thread::yield_now();
            let _ = exchange();
        }
        if link.is_symlink() {
            let _ = fs::remove_file(&link);
        }
    }

    fn run(&self) {
        while !self.over.load(Ordering::Relaxed) {
            for target in self.targets() {
                self.swap(&target);
                // A link in its place is not followed to be mounted over.
                let is_directory = target.symlink_metadata().is_ok_and(|about| about.is_dir());
                if self.mounts && is_directory && mount_bind(self.victim, &target).is_ok() {
                    std::thread::yield_now();
                    let _ = unmount(&target, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
                }
            }
        }
    }
}

/// Makes leftovers and takes them away, and works in scratch directories, until there were enough
/// swaps; what fails in it fails, but nothing happens to the victim.
fn defend(attack: &Attack<'_>, live: bool) -> u64 {
    let mut rounds = 0;
    let mut swept = 0;
    while attack.swaps.load(Ordering::Relaxed) < swaps_wanted() || rounds < 50 {
        rounds += 1;
        leave(attack.work, rounds).unwrap();
        let found = if rounds % 2 == 0 { sweep(attack.work) } else { clean(attack.work, false) };
        swept += found.into_iter().flatten().filter(|found| found.removed).count() as u64;
        if !live {
            continue;
        }
        let Ok(scratch) = Scratch::make(attack.work) else { continue };
        let _ = plant(scratch.path(), 2);
        for name in NAMES {
            let _ = fs::write(scratch.path().join(name).join("f"), "of a trial");
            let _ = remove_tree(&scratch.path().join(name));
        }
        let _ = scratch.remove();
    }
    swept
}

fn race(attack: &Attack<'_>, live: bool) {
    plant(attack.victim, 3).unwrap();
    let before = picture(attack.victim);
    let swept = std::thread::scope(|scope| {
        let thread = scope.spawn(|| attack.run());
        let swept = defend(attack, live);
        attack.over.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        swept
    });
    assert!(swept > 0, "not every removal is disturbed");
    assert_eq!(picture(attack.victim), before);
}

fn attack<'a>(work: &'a Path, victim: &'a Path) -> Attack<'a> {
    let (swaps, over) = (AtomicU64::new(0), AtomicBool::new(false));
    Attack { work, victim, mounts: false, inside: false, swaps, over }
}

/// Root's files and directories below a directory of another user, who swaps what is made there.
#[test]
fn links_of_the_owner_of_a_directory_lead_root_nowhere() {
    let test = "place::race_tests::links_of_the_owner_of_a_directory_lead_root_nowhere";
    let script = "mkdir -p theirs/work victim; chown 65534:65534 theirs theirs/work || exit 77";
    let Some(dir) = among_mounts(test, script) else { return };
    let (work, victim) = (dir.join("theirs/work"), dir.join("victim"));
    race(&attack(&work, &victim), true);
}

/// Even inside a scratch directory, where nobody else gets: the sweep follows nothing.
#[test]
fn sweep_and_clean_leave_the_directory_by_no_link_and_no_mount() {
    let test = "place::race_tests::sweep_and_clean_leave_the_directory_by_no_link_and_no_mount";
    let Some(dir) = among_mounts(test, "mkdir work victim") else { return };
    let (work, victim) = (dir.join("work"), dir.join("victim"));
    race(&Attack { mounts: true, inside: true, ..attack(&work, &victim) }, false);
}

/// A user's closed directories are opened to be removed: a link in place of one led the chmod away.
#[test]
fn a_users_sweep_changes_no_mode_by_a_link() {
    let test = "place::race_tests::a_users_sweep_changes_no_mode_by_a_link";
    let make = |dir: &Path| {
        let mut both = Command::new("install");
        both.args(["-d", "-o65534"]).arg(dir.join("work"));
        assert!(both.arg(dir.join("victim")).status().unwrap().success());
    };
    let Some(dir) = as_nobody(test, make) else { return };
    assert!(!is_root());
    let (work, victim) = (dir.join("work"), dir.join("victim"));
    race(&Attack { inside: true, ..attack(&work, &victim) }, false);
}
