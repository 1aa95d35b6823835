//! A kernel that lies: calls return 0 and do nothing, as on a file system mounted to ignore what it
//! cannot keep (vfat with `quiet`, bindfs with `--chmod-ignore`). No loop can see that; the check
//! after it must, for every file.

use std::path::Path;

use super::{Tree, WORKLOAD, impossible};
use crate::method::NoWindow;
use crate::sys::testing::{forbid, open_directory, skip};
use crate::workload::{Extent, Subject, Trial};
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::result::{Fault, Measurement};

const FILES: u64 = 3;

/// A first touch whose calls of this number do nothing.
fn trial(tree: &Tree, operation: &str, call: libc::c_long) -> Option<Result<Measurement, Fault>> {
    let levels = Levels::new()
        .with(Factor::Operation, Level::word(operation))
        .with(Factor::Files, Level::Number(FILES))
        .with(Factor::Pass, Level::word("first"));
    let subject = Some(Subject::file(&tree.root, tree.bytes, 1));
    let (extent, scratch): (_, &Path) = (Extent::Passes(1), &tree.root);
    let trial = Trial { levels: &levels, extent, subject, scratch };
    (WORKLOAD.around.prepare)(&trial).unwrap();
    // The filter stays with the thread that set it.
    let ran = std::thread::scope(|scope| {
        let lied_to =
            scope.spawn(|| forbid(call, 0).then(|| (WORKLOAD.run)(&trial, &mut NoWindow)));
        lied_to.join().unwrap()
    });
    let seen = ran.map(|ran| {
        ran.and_then(|mut seen| {
            (WORKLOAD.around.verify)(&trial, &mut seen)?;
            Ok(seen)
        })
    });
    (WORKLOAD.around.clear)(&trial).unwrap();
    seen
}

#[test]
fn calls_that_do_nothing_and_say_that_they_did_are_found_out() {
    let dir = open_directory();
    let root = dir.path().join("tree");
    let tree = Tree { root, files: FILES, bytes: 10, seed: 9, attributes: true, among: None };
    tree.make(&|| true).unwrap();
    let missing = impossible(dir.path()).unwrap();
    for (operation, call) in [
        ("chmod", libc::SYS_fchmodat),
        ("chown", libc::SYS_fchownat),
        ("utimens", libc::SYS_utimensat),
        ("setxattr", libc::SYS_setxattr),
        ("rename", libc::SYS_renameat),
        ("rename-across", libc::SYS_renameat),
        ("link", libc::SYS_linkat),
        ("symlink", libc::SYS_symlinkat),
        ("truncate", libc::SYS_truncate),
        ("mkdir", libc::SYS_mkdirat),
        ("rmdir", libc::SYS_unlinkat),
        ("unlink", libc::SYS_unlinkat),
        ("chmod-write", libc::SYS_fchmodat),
    ] {
        if missing.contains_key(operation) {
            continue;
        }
        let Some(seen) = trial(&tree, operation, call) else {
            let test = "calls_that_do_nothing_and_say_that_they_did_are_found_out";
            return skip(test, "no filter of system calls can be set here");
        };
        let seen = seen.unwrap();
        let effects = seen.proof.effects.as_ref().unwrap();
        assert_eq!((effects.checked, effects.wrong), (FILES, FILES), "{operation}: {effects:?}");
        assert!(!seen.proof.holds(), "{operation}");
    }
    // What answers is seen in the loop: a write of no byte, attributes and lists of nothing.
    for (operation, call) in [
        ("first-write", libc::SYS_write),
        ("stat", libc::SYS_newfstatat),
        ("getxattr", libc::SYS_getxattr),
        ("readlink", libc::SYS_readlinkat),
        ("readdir", libc::SYS_getdents64),
    ] {
        let fault = trial(&tree, operation, call).unwrap().unwrap_err();
        assert_eq!(fault.errno, None, "{operation}: {fault}");
    }
}
