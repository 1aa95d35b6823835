//! Files and trees that a run keeps for the next (`--keep`): found again by what they hold, never by
//! their names.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::cli_support::Home;

const READ: [&str; 9] =
    ["read", "--file-size", "1Mi", "--method", "read", "--rounds", "3", "--budget", "5s"];
const FILES: [&str; 11] = [
    "files",
    "read",
    "--files",
    "40",
    "--file-size",
    "10Ki",
    "--rounds",
    "3",
    "--budget",
    "5s",
    "--keep",
];

fn read(home: &Home, keep: &str) {
    home.run(&READ.iter().copied().chain([keep]).collect::<Vec<_>>()).fine();
}

/// What is kept of a kind, `file` or `tree`.
fn kept(home: &Home, kind: &str) -> PathBuf {
    let all = fs::read_dir(home.path(".iolab-kept")).unwrap().map(|entry| entry.unwrap().path());
    let is_of = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(kind);
    let all: Vec<PathBuf> = all.filter(is_of).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().unwrap()
}

/// A run with another seed finds the file of the one before: the same inode.
#[test]
fn a_kept_file_is_found_again_and_clean_lists_and_removes_it() {
    let home = Home::new();
    read(&home, "--keep");
    let first = kept(&home, "file");
    let about = fs::metadata(&first).unwrap();
    assert_eq!(about.len(), 1 << 20);
    read(&home, "--keep=2Mi");
    let again = kept(&home, "file");
    assert_eq!((again.clone(), fs::metadata(&again).unwrap().ino()), (first, about.ino()));
    let listed = home.run(&["clean", "--dry-run"]).fine().out;
    assert!(listed.contains("file-") && listed.contains("would be removed"), "{listed}");
    assert!(again.exists());
    assert!(home.run(&["clean"]).fine().out.contains("removed"));
    assert!(!home.names().contains(&".iolab-kept".to_owned()), "{:?}", home.names());
    // What does not fit is not kept, and a run without the option keeps nothing.
    read(&home, "--keep=512Ki");
    home.run(&READ).fine();
    let there = home.path(".iolab-kept");
    assert!(!there.exists() || fs::read_dir(&there).unwrap().count() == 1, "the marker alone");
    for (wrong, hint) in [("--keep=0", "--keep=4Gi"), ("--keep=much", "much")] {
        home.run(&["read", wrong]).refused(2, &["--keep", hint]);
    }
}

/// Changes what is kept, and expects the next run to make it anew.
fn made_anew(what: &str, change: impl FnOnce(&Path, &Home)) {
    let home = Home::new();
    read(&home, "--keep");
    let path = kept(&home, "file");
    let whole = fs::read(&path).unwrap();
    change(&path, &home);
    read(&home, "--keep");
    is_ours_and_whole(&path, &whole, what);
}

/// A file of its own, of this user, that holds what it held.
fn is_ours_and_whole(path: &Path, whole: &[u8], what: &str) {
    let about = fs::symlink_metadata(path).unwrap();
    assert!(about.is_file() && about.nlink() == 1, "{what}");
    assert_eq!(about.uid(), rustix::process::geteuid().as_raw(), "{what}");
    assert!(fs::read(path).unwrap() == whole, "{what}");
}

#[test]
fn what_was_changed_is_made_anew_and_no_name_is_believed() {
    let write = |path: &Path, at: u64, bytes: &[u8]| {
        fs::File::options().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
    };
    let shorten = |path: &Path, bytes| {
        fs::File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
    };
    made_anew("a byte", |path, _| {
        let times = fs::metadata(path).unwrap().modified().unwrap();
        write(path, 777_777, b"x");
        let times = fs::FileTimes::new().set_modified(times);
        fs::File::options().write(true).open(path).unwrap().set_times(times).unwrap();
    });
    made_anew("truncated", |path, _| shorten(path, 1000));
    made_anew("longer", |path, _| shorten(path, 2 << 20));
    made_anew("a link", |path, home| {
        let elsewhere = home.path("elsewhere");
        fs::rename(path, &elsewhere).unwrap();
        symlink(&elsewhere, path).unwrap();
    });
    made_anew("a second name", |path, home| fs::hard_link(path, home.path("second")).unwrap());
    made_anew("a directory", |path, _| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
        fs::write(path.join("x"), b"x").unwrap();
    });
    if rustix::process::geteuid().is_root() {
        made_anew("another user's", |path, _| chown(path, Some(65_534), Some(65_534)).unwrap());
    }
}

/// Every file of a tree: its inode, its bytes, and when they were written last.
fn files_below(tree: &Path) -> BTreeMap<PathBuf, (u64, u64, i64, i64)> {
    let mut below = vec![tree.to_owned()];
    let mut files = BTreeMap::new();
    while let Some(path) = below.pop() {
        let about = fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            below.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let written = (about.mtime(), about.mtime_nsec());
            files.insert(path, (about.ino(), about.len(), written.0, written.1));
        }
    }
    files
}

/// 10 000 files of 500 kB were made once more by every run: here 2000 of 5 kB.
#[test]
fn of_a_large_kept_tree_no_file_is_written_again() {
    let home = Home::new();
    let read = || {
        let tree = ["files", "read", "--files", "2000", "--file-size", "5000", "--keep"];
        home.run(&[&tree[..], &["--rounds", "3", "--budget", "60s"]].concat()).fine();
        files_below(&kept(&home, "tree"))
    };
    let made = read();
    let sizes = made.values().map(|about| about.1);
    assert!((made.len(), sizes.sum::<u64>()) >= (2000, 2000 * 5000), "{}", made.len());
    assert!(read() == made, "the second run has other inodes, sizes or times");
    let listed = home.run(&["clean", "--dry-run"]).fine().out;
    assert!(listed.contains("tree-"), "{listed}");
    home.run(&["clean"]).fine();
    assert!(!home.path(".iolab-kept").exists());
    // The test can see it: made anew, no file is the one that was there.
    let anew = read();
    assert!(anew.len() == made.len() && anew.iter().all(|(path, about)| made[path] != *about));
}

/// Does something to one file of a kept tree, and expects the next run to have it as it was.
fn made_anew_in_a_tree(what: &str, change: impl FnOnce(&Path, &Home)) {
    let home = Home::new();
    home.run(&FILES).fine();
    let file = files_below(&kept(&home, "tree")).into_keys().nth(7).unwrap();
    let whole = fs::read(&file).unwrap();
    change(&file, &home);
    home.run(&FILES).fine();
    is_ours_and_whole(&file, &whole, what);
}

#[test]
fn a_file_of_a_kept_tree_is_believed_by_nothing_but_what_it_holds() {
    let open = |path: &Path| fs::File::options().write(true).open(path).unwrap();
    made_anew_in_a_tree("truncated", |path, _| open(path).set_len(100).unwrap());
    made_anew_in_a_tree("a byte, at the old time", |path, _| {
        let times = fs::metadata(path).unwrap().modified().unwrap();
        open(path).write_all_at(b"x", 5000).unwrap();
        open(path).set_times(fs::FileTimes::new().set_modified(times)).unwrap();
    });
    made_anew_in_a_tree("a link", |path, home| {
        let elsewhere = home.path("elsewhere");
        fs::rename(path, &elsewhere).unwrap();
        symlink(&elsewhere, path).unwrap();
    });
    made_anew_in_a_tree("a second name", |path, home| {
        fs::hard_link(path, home.path("second")).unwrap();
    });
    if rustix::process::geteuid().is_root() {
        made_anew_in_a_tree("another user's", |path, _| {
            chown(path, Some(65_534), Some(65_534)).unwrap();
        });
    }
}

#[test]
fn a_kept_tree_is_found_again_only_as_it_was() {
    let home = Home::new();
    home.run(&FILES).fine();
    let tree = kept(&home, "tree");
    let made = fs::metadata(&tree).unwrap().ino();
    home.run(&FILES).fine();
    assert_eq!(fs::metadata(&tree).unwrap().ino(), made, "the same one");
    let first = |path: &Path| {
        let mut below = vec![path.to_owned()];
        while let Some(path) = below.pop() {
            match path.is_dir() {
                true => below.extend(fs::read_dir(path).unwrap().map(|e| e.unwrap().path())),
                false => return path,
            }
        }
        panic!("no file")
    };
    let file = first(&tree);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, vec![0; whole.len()]).unwrap();
    home.run(&FILES).fine();
    assert!(fs::read(&file).unwrap() == whole, "a changed file is made anew");
    fs::write(tree.join("one-more"), b"x").unwrap();
    home.run(&FILES).fine();
    assert!(!tree.join("one-more").exists(), "a file too many");
    fs::remove_file(&file).unwrap();
    home.run(&FILES).fine();
    assert!(fs::read(&file).unwrap() == whole, "a file too few");
    assert!(home.run(&["clean"]).fine().out.contains("tree-"));
}
