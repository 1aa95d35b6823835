//! Every metadata operation in the catalog, by being listed there: each call is made, each change
//! is seen by a check that does not trust the loop, and the tree is at rest again afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use iolab_io::method::NoWindow;
use iolab_io::workload::meta::{OPERATIONS, Tree, impossible};
use iolab_io::workload::{self, Extent, Subject, Trial};
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{Fault, Measurement};

/// On the disk, and in memory.
fn directories() -> Vec<tempfile::TempDir> {
    let make = |path: &str| {
        let made = tempfile::Builder::new().prefix("iolab-test-").tempdir_in(path);
        made.inspect_err(|error| eprintln!("SKIP {path}: {error}")).ok()
    };
    ["/var/tmp", "/dev/shm"].into_iter().filter_map(make).collect()
}

fn plant(directory: &Path, files: u64, bytes: u64) -> Tree {
    let tree =
        Tree { root: directory.join("tree"), files, bytes, seed: 9, attributes: true, among: None };
    tree.make(&|| true).unwrap();
    tree
}

fn levels(operation: &str, files: u64, repeats: u64, pass: &str) -> Levels {
    Levels::new()
        .with(Factor::Operation, Level::word(operation))
        .with(Factor::Files, Level::Number(files))
        .with(Factor::Repeats, Level::Number(repeats))
        .with(Factor::Pass, Level::word(pass))
}

/// A whole trial as the agent does it; `meddle` acts between the run and the check.
fn trial(
    tree: &Tree,
    levels: &Levels,
    extent: Extent,
    meddle: impl FnOnce(),
) -> Result<Measurement, Fault> {
    let meta = workload::find("meta").unwrap();
    let subject = Some(Subject::file(&tree.root, tree.bytes, tree.seed));
    let trial = Trial { levels, extent, subject, scratch: &tree.root };
    let ran = (meta.around.prepare)(&trial).and_then(|()| {
        let mut seen = (meta.run)(&trial, &mut NoWindow)?;
        meddle();
        (meta.around.verify)(&trial, &mut seen)?;
        Ok(seen)
    });
    (meta.around.clear)(&trial).unwrap();
    ran
}

/// Everything below a directory: size, mode, owner, modification time, content.
fn picture(root: &Path) -> BTreeMap<PathBuf, (u64, u32, u32, i64, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap().map(|entry| entry.unwrap()) {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            all.extend(picture(&path));
        } else {
            let content = fs::read(&path).unwrap();
            all.insert(path, (about.len(), about.mode(), about.uid(), about.mtime(), content));
        }
    }
    all
}

#[test]
fn every_operation_does_what_it_says_and_leaves_nothing() {
    for directory in directories() {
        let missing = impossible(directory.path()).unwrap();
        for (files, bytes) in [(7, 0), (5, 1), (3, 5000)] {
            let tree = plant(directory.path(), files, bytes);
            let before = picture(&tree.root);
            assert_eq!(before.len() as u64, files);
            for part in OPERATIONS {
                if let Some(why) = missing.get(part.id) {
                    eprintln!("SKIP {} in {}: {why}", part.id, directory.path().display());
                    continue;
                }
                for pass in ["first", "second", "steady", "whole"] {
                    for (repeats, extent) in [
                        (1, Extent::Passes(1)),
                        (1, Extent::Passes(23)),
                        (3, Extent::Passes(32)),
                        (1, Extent::Part { first_operation: 2, operations: 2 }),
                        (1, Extent::Part { first_operation: files + 2, operations: files }),
                    ] {
                        let levels = levels(part.id, files, repeats, pass);
                        let seen = trial(&tree, &levels, extent, || {}).unwrap();
                        let what = format!("{levels:?} {extent:?}");
                        let effects = seen.proof.effects.as_ref().unwrap();
                        assert!(effects.hold(), "{what}: {effects:?}");
                        assert!(seen.flags.is_empty() && seen.wall_ns > 0, "{what}");
                        if part.id.starts_with("readdir") {
                            assert!(seen.operations.is_multiple_of(files), "{what}");
                        } else if pass == "whole" {
                            let once = ["create", "link", "symlink", "mkdir", "rmdir", "unlink"]
                                .contains(&part.id);
                            assert!(once || seen.operations.is_multiple_of(repeats), "{what}");
                        } else if pass != "steady" && extent == Extent::Passes(1) {
                            assert_eq!(seen.operations, files, "one call a file: {what}");
                        }
                    }
                }
                assert!(picture(&tree.root) == before, "{} left something", part.id);
            }
            tree.remove().unwrap();
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

/// What each operation changes, undone behind its back: the check must see it.
#[test]
fn a_call_that_had_no_effect_is_seen() {
    let directory = directories().remove(0);
    let tree = plant(directory.path(), 3, 10);
    let missing = impossible(directory.path()).unwrap();
    let (files, work, other) =
        (tree.root.join("files"), tree.root.join("work"), tree.root.join("other"));
    let one = |directory: &Path| directory.join("f0000001");
    let undo: &[(&str, &dyn Fn())] = &[
        ("create", &|| fs::remove_file(one(&work)).unwrap()),
        ("chmod", &|| set_mode(&one(&files), 0o600)),
        ("chmod-write", &|| set_mode(&one(&files), 0o600)),
        ("chown", &|| std::os::unix::fs::chown(one(&files), Some(0), None).unwrap()),
        ("utimens", &|| set_time(&one(&files), 1_000_000_000)),
        ("setxattr", &|| set_attribute(&one(&files), b"at rest")),
        ("rename", &|| fs::rename(files.join("g0000001"), one(&files)).unwrap()),
        ("rename-across", &|| fs::rename(one(&other), one(&files)).unwrap()),
        ("link", &|| {
            fs::remove_file(one(&work)).unwrap();
            fs::write(one(&work), b"a copy").unwrap();
        }),
        ("symlink", &|| fs::remove_file(one(&work)).unwrap()),
        ("truncate", &|| set_length(&one(&files), 10)),
        ("mkdir", &|| fs::remove_dir(one(&work)).unwrap()),
        ("rmdir", &|| fs::create_dir(one(&work)).unwrap()),
        ("unlink", &|| fs::write(one(&files), b"back").unwrap()),
        ("first-write", &|| fs::write(one(&files), b"Z").unwrap()),
        ("write-after-chmod", &|| fs::write(one(&files), b"Z").unwrap()),
    ];
    let silent =
        ["open-close", "stat", "access", "getxattr", "readlink", "readdir", "readdir-stat"];
    for part in OPERATIONS.iter().filter(|part| !silent.contains(&part.id)) {
        let (_, undo) = undo.iter().find(|(id, _)| *id == part.id).expect(part.id);
        if missing.contains_key(part.id) {
            continue;
        }
        let levels = levels(part.id, 3, 1, "first");
        let seen = trial(&tree, &levels, Extent::Passes(1), undo).unwrap();
        let effects = seen.proof.effects.as_ref().unwrap();
        assert_eq!((effects.checked, effects.wrong), (3, 1), "{}: {effects:?}", part.id);
        assert!(effects.example.as_ref().unwrap().contains("file 1"), "{effects:?}");
        assert!(!seen.proof.holds() && seen.flags == [Code::CheckFailed], "{}", part.id);
    }
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn set_time(path: &Path, seconds: u64) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn set_attribute(path: &Path, value: &[u8]) {
    rustix::fs::setxattr(path, "user.iolab", value, rustix::fs::XattrFlags::empty()).unwrap();
}

fn set_length(path: &Path, bytes: u64) {
    fs::File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn impossible_levels_are_refused_in_words() {
    let directory = directories().remove(0);
    let tree = plant(directory.path(), 2, 0);
    let refused = |operation: &str, files: u64, pass: &str, extent: Extent| {
        let meta = workload::find("meta").unwrap();
        let levels = levels(operation, files, 1, pass);
        let subject = Some(Subject::file(&tree.root, 0, 0));
        let trial = Trial { levels: &levels, extent, subject, scratch: &tree.root };
        (meta.run)(&trial, &mut NoWindow).unwrap_err().cause
    };
    let once = Extent::Passes(1);
    assert!(refused("teleport", 2, "first", once).contains("teleport"));
    assert!(refused("stat", 0, "first", once).contains("0 files"));
    assert!(refused("stat", u64::MAX, "first", once).contains("10000000"));
    let said = refused("stat", 2, "last", once);
    assert!(
        ["first", "second", "steady", "whole"].iter().all(|word| said.contains(word)),
        "{said}"
    );
    assert!(refused("stat", 2, "steady", Extent::Passes(0)).contains("no call"));
    assert!(refused("stat", 2, "steady", once).contains("No such file"), "nothing was prepared");
}
