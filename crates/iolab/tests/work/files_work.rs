//! Every operation of the workload `files` on real trees: that it does what it says, that a check
//! finds it when it does not, and that nothing is left.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::cli_support::left_in;
use iolab_io::method::NoWindow;
use iolab_io::workload::files::{Listing, MAKE_BLOCK, clear, make_directories, make_files, scan};
use iolab_io::workload::{self, Extent, Subject, Trial, Workload};
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{Fault, Measurement};
use iolab_model::tree::{Body, Shape, Tree};

/// A tree and a scratch directory beside it.
struct Case {
    dir: tempfile::TempDir,
    listing: Listing,
}

fn tree(files: u64, sizes: &str, shape: Shape) -> Tree {
    Tree {
        files,
        sizes: sizes.parse().unwrap(),
        shape,
        body: Body::Random,
        seed: 11,
        first: 0,
        rank: 0,
    }
}

fn workload() -> &'static Workload {
    workload::find("files").unwrap()
}

impl Case {
    fn empty(tree: Tree) -> Case {
        // On the disk: /tmp may be tmpfs.
        Case::under("/var/tmp", tree)
    }

    fn under(parent: &str, tree: Tree) -> Case {
        let dir = tempfile::Builder::new().prefix("iolab-test-").tempdir_in(parent).unwrap();
        std::fs::create_dir(dir.path().join("scratch")).unwrap();
        Case { dir, listing: Listing::Made(tree) }
    }

    /// In memory where that can be had: thousands of files are quick there.
    fn in_memory(tree: Tree) -> Case {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { "/dev/shm" } else { "/var/tmp" };
        Case::under(parent, tree).fill()
    }

    fn made(tree: Tree) -> Case {
        Case::empty(tree).fill()
    }

    fn fill(self) -> Case {
        let case = self;
        let Listing::Made(tree) = case.listing.clone() else { return case };
        make_directories(&case.listing, &case.root()).unwrap();
        let mut content = tree.content(MAKE_BLOCK);
        make_files(&case.listing, &case.root(), 0..tree.files, &mut content, &|| true).unwrap();
        case
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn scratch(&self) -> PathBuf {
        self.dir.path().join("scratch")
    }

    fn file(&self, number: u64) -> PathBuf {
        self.root().join(self.listing.path(number))
    }

    /// The whole trial; `between` happens after the work and before the check.
    fn trial(
        &self,
        levels: &Levels,
        extent: Extent,
        between: impl FnOnce(&Path),
    ) -> Result<Measurement, Fault> {
        let (root, scratch) = (self.root(), self.scratch());
        let bytes = self.listing.bytes();
        let subject = Subject::tree(&root, bytes, 1, &self.listing);
        let trial = Trial { levels, extent, subject: Some(subject), scratch: &scratch };
        let around = workload().around;
        let done = (around.prepare)(&trial).and_then(|()| {
            let mut measurement = (workload().run)(&trial, &mut NoWindow)?;
            between(&scratch.join("trees/of-pass-0"));
            (around.verify)(&trial, &mut measurement)?;
            Ok(measurement)
        });
        (around.clear)(&trial).unwrap();
        assert_eq!(left_in(&scratch), [""; 0], "{levels:?} left something");
        done
    }

    fn done(&self, levels: &Levels, extent: Extent) -> Measurement {
        self.trial(levels, extent, |_| {}).unwrap()
    }
}

fn levels(operation: &str, workers: u64) -> Levels {
    Levels::new()
        .with(Factor::Operation, Level::word(operation))
        .with(Factor::Threads, Level::Number(workers))
        .with(Factor::Block, Level::Number(4096))
}

fn proven(measurement: &Measurement) -> bool {
    measurement.proof.digest.as_ref().is_some_and(|digest| digest.matches == Some(true))
}

const OPERATIONS: [&str; 6] = ["read", "write", "copy", "create", "stat", "remove"];
const SHAPES: [Shape; 4] = [Shape::Private(3), Shape::Sharded, Shape::Shared, Shape::Nested];

#[test]
fn every_operation_does_its_work_on_every_layout() {
    for shape in SHAPES {
        for (sizes, bytes) in [("5000", 1_150_000), ("empty", 0), ("list:0+1+4096+10000", 810_000)]
        {
            let case = Case::in_memory(tree(230, sizes, shape));
            assert!(case.listing.bytes().abs_diff(bytes) < 10_000);
            for operation in OPERATIONS {
                for workers in [1, 3, 100] {
                    let seen = case.done(&levels(operation, workers), Extent::Passes(2));
                    let what = format!("{operation} {sizes} {shape} {workers}");
                    assert_eq!((seen.operations, seen.repetitions), (460, 2), "{what}");
                    let moves = matches!(operation, "read" | "write" | "copy");
                    let bytes = if moves { 2 * case.listing.bytes() } else { 0 };
                    assert_eq!(seen.bytes, bytes, "{what}");
                    assert!(proven(&seen) && seen.flags.is_empty(), "{what}: {seen:?}");
                    let rate = |id: &str| seen.metrics[id];
                    let (last, first, sum) =
                        (rate("rate_last"), rate("rate_first"), rate("rate_sum"));
                    // A worker's own time is never longer than that of all of them.
                    assert!(first > 0.0 && sum >= last * 0.999_999, "{what}: {seen:?}");
                    let alone = workers == 1;
                    assert!(!alone || (last == first && last == sum), "{what}: {seen:?}");
                }
            }
        }
    }
}

#[test]
fn every_way_of_copying_and_every_sync_gives_the_same_bytes() {
    let case = Case::made(tree(60, "uniform:0..300000", Shape::Nested));
    for method in ["copy_file_range", "read-write", "sendfile"] {
        for sync in ["none", "each", "end"] {
            let levels = levels("copy", 2)
                .with(Factor::Method, Level::word(method))
                .with(Factor::Sync, Level::word(sync));
            let seen = case.done(&levels, Extent::Passes(1));
            assert!(proven(&seen), "{method} {sync}: {seen:?}");
            assert_eq!(seen.metrics["checked_bytes"] as u64, case.listing.bytes());
            assert_eq!(seen.metrics.contains_key("sync_ns"), sync == "end");
        }
    }
}

#[test]
fn trials_that_follow_each_other_visit_the_whole_tree() {
    let case = Case::in_memory(tree(100, "list:100+7000", Shape::Sharded));
    for operation in ["read", "write", "copy", "remove"] {
        let (mut bytes, mut first_operation) = (0, 0);
        while first_operation < 100 {
            let operations = 30;
            let extent = Extent::Part { first_operation, operations };
            let seen = case.done(&levels(operation, 2), extent);
            assert_eq!((seen.operations, seen.repetitions), (30, 1));
            assert!(proven(&seen), "{operation}: {seen:?}");
            bytes += seen.bytes;
            first_operation += operations;
        }
        // Four times 30: the last one wraps and visits the first twenty again.
        let moves = operation != "remove";
        assert_eq!(bytes, if moves { case.listing.bytes() + 10 * 7100 } else { 0 });
    }
}

type Spoil = fn(&Path);

#[test]
fn a_file_that_is_not_as_it_should_be_is_found() {
    let case = Case::made(tree(50, "5000", Shape::Shared));
    let wrong: [(&str, Spoil); 4] = [
        ("a byte", |file| {
            let mut bytes = std::fs::read(file).unwrap();
            bytes[4999] ^= 1;
            std::fs::write(file, bytes).unwrap();
        }),
        ("its tail", |file| {
            std::fs::File::options().write(true).open(file).unwrap().set_len(4999).unwrap()
        }),
        ("its name", |file| std::fs::remove_file(file).unwrap()),
        ("another file", |file| {
            let other = std::fs::read(file.with_file_name("f0000000003")).unwrap();
            std::fs::write(file, other).unwrap();
        }),
    ];
    for operation in ["write", "copy"] {
        for (what, spoil) in wrong {
            let between = |root: &Path| spoil(&root.join("d0000000001/f0000000007"));
            match case.trial(&levels(operation, 2), Extent::Passes(1), between) {
                Ok(seen) => assert!(
                    !proven(&seen) && seen.flags.contains(&Code::CheckFailed),
                    "{operation} without {what}: {seen:?}"
                ),
                Err(fault) => assert_eq!((what, fault.errno), ("its name", Some(2))),
            }
        }
        let more = |root: &Path| std::fs::write(root.join("d0000000001/more"), b"x").unwrap();
        let scratch = case.scratch();
        let seen = case.trial(&levels(operation, 1), Extent::Passes(1), |root| {
            more(root);
            let there = case.trial_check(&levels(operation, 1));
            assert!(there.flags.contains(&Code::CheckFailed));
            std::fs::remove_file(root.join("d0000000001/more")).unwrap();
        });
        assert!(proven(&seen.unwrap()) && scratch.exists());
    }
    let spoiled = |root: &Path| std::fs::write(root.join("d0000000001/f0000000049"), b"x").unwrap();
    let seen = case.trial(&levels("remove", 2), Extent::Passes(1), spoiled).unwrap();
    assert!(seen.flags.contains(&Code::CheckFailed), "a file that is still there: {seen:?}");
}

impl Case {
    /// The check alone, of a pass that lies there.
    fn trial_check(&self, levels: &Levels) -> Measurement {
        let (root, scratch) = (self.root(), self.scratch());
        let subject = Subject::tree(&root, 0, 1, &self.listing);
        let (extent, subject) = (Extent::Passes(1), Some(subject));
        let trial = Trial { levels, extent, subject, scratch: &scratch };
        let operations = self.listing.files();
        let mut measurement = Measurement { operations, ..Measurement::default() };
        (workload().around.verify)(&trial, &mut measurement).unwrap();
        measurement
    }
}

#[test]
fn a_reader_of_wrong_bytes_is_told() {
    let case = Case::made(tree(50, "5000", Shape::Sharded));
    let honest = case.done(&levels("read", 2), Extent::Passes(1));
    assert!(proven(&honest));
    let mut bytes = std::fs::read(case.file(20)).unwrap();
    bytes[4000] ^= 4;
    std::fs::write(case.file(20), &bytes).unwrap();
    let seen = case.done(&levels("read", 2), Extent::Passes(1));
    assert!(seen.flags.contains(&Code::CheckFailed), "{seen:?}");
    // Two files that have changed places have the same XOR in sum, and are seen all the same.
    bytes[4000] ^= 4;
    std::fs::write(case.file(20), std::fs::read(case.file(21)).unwrap()).unwrap();
    std::fs::write(case.file(21), &bytes).unwrap();
    let seen = case.done(&levels("read", 1), Extent::Passes(1));
    assert_eq!(seen.proof.digest.as_ref().unwrap().hex, honest.proof.digest.as_ref().unwrap().hex);
    assert!(seen.flags.contains(&Code::CheckFailed), "{seen:?}");
}

#[test]
fn a_made_tree_lies_as_it_is_described_and_goes_without_a_trace() {
    let tree = tree(1234, "uniform:0..5000", Shape::Nested);
    let case = Case::made(tree.clone());
    let found = scan(&case.root()).unwrap();
    assert!(found.left_out.words().is_none());
    let found = Listing::Found(found);
    assert_eq!((found.files(), found.bytes()), (1234, tree.bytes()));
    assert_eq!(found.directories(), tree.directories());
    for file in [0, 99, 100, 999, 1000, 1100, 1233] {
        let path = case.file(file);
        assert_eq!(path.metadata().unwrap().len(), tree.size(file), "{}", path.display());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    }
    std::fs::write(case.root().join("theirs"), b"not ours").unwrap();
    let fault = clear(&case.listing, &case.root(), &case.listing.whole()).unwrap_err();
    assert_eq!(fault.errno, Some(39), "what iolab did not make stays: {fault}");
    std::fs::remove_file(case.root().join("theirs")).unwrap();
    clear(&case.listing, &case.root(), &case.listing.whole()).unwrap();
    assert!(!case.root().exists());
    clear(&case.listing, &case.root(), &case.listing.whole()).unwrap();
}

#[test]
fn impossible_trials_are_refused_in_words() {
    let case = Case::made(tree(5, "10", Shape::Shared));
    let refused = |levels: &Levels| case.trial(levels, Extent::Passes(1), |_| {}).unwrap_err();
    let zero = levels("read", 0);
    let dir = case.scratch();
    let run = |levels: &Levels, extent, subject| {
        let trial = Trial { levels, extent, subject, scratch: &dir };
        (workload().run)(&trial, &mut NoWindow).unwrap_err().cause
    };
    let root = case.root();
    let subject = Some(Subject::tree(&root, 0, 0, &case.listing));
    assert!(run(&zero, Extent::Passes(1), subject).contains("0 workers"));
    let said = run(&levels("fold", 1), Extent::Passes(1), subject);
    assert!(said.contains("fold") && said.contains("remove"), "{said}");
    assert!(run(&levels("read", 1), Extent::Passes(0), subject).contains("no pass"));
    assert!(run(&levels("read", 1), Extent::Passes(1), None).contains("no tree"));
    let teleport = levels("copy", 1).with(Factor::Method, Level::word("teleport"));
    assert!(refused(&teleport).cause.contains("sendfile"));
    let nothing = Case::empty(tree(5, "10", Shape::Shared));
    let gone = nothing.trial(&levels("read", 2), Extent::Passes(1), |_| {}).unwrap_err();
    assert_eq!(gone.errno, Some(2), "{gone}");
}

/// On ext4 without a journal each round of making files took ten times as long as the first: the
/// trees lay where those of the last round had lain. See crates/iolab-io/src/workload/apart.rs.
#[test]
fn trees_of_trials_are_asked_to_lie_apart() {
    use rustix::fs::{IFlags, Mode, OFlags, fstatfs, ioctl_getflags, open};
    const EXT4: i64 = 0xef53;
    let case = Case::made(tree(5, "10", Shape::Shared));
    let apart = || {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let scratch = open(case.scratch(), flags, Mode::empty()).unwrap();
        let known = fstatfs(&scratch).unwrap().f_type as i64 == EXT4;
        known.then(|| ioctl_getflags(&scratch).unwrap().contains(IFlags::TOPDIR))
    };
    if apart().is_none() {
        return eprintln!("SKIP trees_of_trials_are_asked_to_lie_apart: /var/tmp is no ext4");
    }
    for operation in ["write", "copy", "create", "remove"] {
        case.trial(&levels(operation, 1), Extent::Passes(2), |_| assert_eq!(apart(), Some(true)))
            .unwrap();
    }
}
