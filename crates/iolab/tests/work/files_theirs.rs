//! Trees of the person's: whatever lies in them, they are read and copied and stay as they were.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::cli_support::{Home, Said, left_in};
use iolab_io::method::NoWindow;
use iolab_io::workload::files::{Listing, scan};
use iolab_io::workload::{self, Extent, Subject, Trial};
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::Measurement;

/// Inode, size, times of the last change of content and of anything in nanoseconds, mode, content.
type About = (u64, u64, i128, i128, u32, Vec<u8>);

/// Everything about a tree that a careless program changes.
fn portrait(root: &Path) -> BTreeMap<PathBuf, About> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            let bytes = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
            let exact = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
            let changed = exact(about.ctime(), about.ctime_nsec());
            let times = (exact(about.mtime(), about.mtime_nsec()), changed);
            let one = (about.ino(), about.len(), times.0, times.1, about.mode(), bytes);
            all.insert(path.clone(), one);
            if about.is_dir() {
                open.push(path);
            }
        }
    }
    all
}

fn trial(root: &Path, listing: &Listing, operation: &str, before: impl FnOnce()) -> Measurement {
    let scratch = tempfile::tempdir_in(root.parent().unwrap()).unwrap();
    let levels = Levels::new()
        .with(Factor::Operation, Level::word(operation))
        .with(Factor::Threads, Level::Number(2));
    let bytes = listing.bytes();
    let subject = Some(Subject::tree(root, bytes, 1, listing));
    let (levels, extent, scratch) = (&levels, Extent::Passes(1), scratch.path());
    let trial = Trial { levels, extent, subject, scratch };
    let files = workload::find("files").unwrap();
    (files.around.prepare)(&trial).unwrap();
    before();
    let mut seen = (files.run)(&trial, &mut NoWindow).unwrap();
    (files.around.verify)(&trial, &mut seen).unwrap();
    (files.around.clear)(&trial).unwrap();
    assert_eq!(left_in(scratch), [""; 0]);
    seen
}

/// Links that leave, links that circle, a FIFO, a socket, two names of one file, odd names.
fn odd_tree(home: &Home) -> PathBuf {
    let root = home.path("odd");
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::create_dir(root.join("empty")).unwrap();
    std::fs::write(home.path("outside"), b"not theirs to give").unwrap();
    symlink(home.path("outside"), root.join("leads-out")).unwrap();
    symlink("..", root.join("a/up")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink(home.path(""), root.join("a/b/out")).unwrap();
    std::fs::write(root.join("one"), vec![1; 70_000]).unwrap();
    std::fs::hard_link(root.join("one"), root.join("a/two")).unwrap();
    std::fs::write(root.join(OsStr::from_bytes(b"\xff\xfe\n ")), b"bytes").unwrap();
    std::fs::write(root.join("a/b").join("n".repeat(255)), b"long").unwrap();
    std::fs::write(root.join("a/nothing"), b"").unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, root.join("fifo"), fifo, mode, 0).unwrap();
    drop(std::os::unix::net::UnixListener::bind(root.join("s")).unwrap());
    root
}

#[test]
fn odd_trees_are_read_and_copied_and_nothing_but_files_is() {
    let home = Home::new();
    let root = odd_tree(&home);
    let found = scan(&root).unwrap();
    let out = found.left_out;
    assert_eq!((out.links, out.fifos, out.sockets, out.hard_links), (4, 1, 1, 2), "{out:?}");
    assert!(out.words().unwrap().contains("4 symbolic links, 1 FIFOs, 1 sockets"));
    let listing = Listing::Found(found);
    assert_eq!((listing.files(), listing.bytes()), (5, 140_009));
    let before = portrait(&root);
    for operation in ["read", "copy", "stat"] {
        let seen = trial(&root, &listing, operation, || {});
        assert_eq!(seen.operations, 5);
        let proof = seen.proof.digest.clone().unwrap();
        assert_eq!(proof.matches, Some(true), "{operation}");
        assert!(seen.flags.is_empty());
    }
    assert_eq!(portrait(&root), before);
}

#[test]
fn files_that_vanish_or_turn_into_something_else_are_counted_not_waited_for() {
    let home = Home::new();
    let root = home.path("moving");
    std::fs::create_dir_all(root.join("d")).unwrap();
    for name in ["a", "b", "d/c", "d/e", "f"] {
        std::fs::write(root.join(name), vec![7; 5000]).unwrap();
    }
    let listing = Listing::Found(scan(&root).unwrap());
    let spoil = || {
        std::fs::remove_file(root.join("a")).unwrap();
        std::fs::remove_file(root.join("b")).unwrap();
        symlink("f", root.join("b")).unwrap();
        std::fs::rename(root.join("d"), root.join("moved")).unwrap();
        symlink("moved", root.join("d")).unwrap();
    };
    let seen = trial(&root, &listing, "read", spoil);
    assert_eq!(seen.operations, 1, "links are not followed, not even to a directory");
    assert_eq!(seen.metrics["failed_operations"], 4.0);
    assert!(seen.flags.contains(&Code::TreeChanged), "{:?}", seen.flags);
    let grow = || {
        let file = std::fs::File::options().write(true).open(root.join("f")).unwrap();
        file.write_all_at(b"more", 5000).unwrap();
    };
    let listing = Listing::Found(scan(&root).unwrap());
    let seen = trial(&root, &listing, "copy", grow);
    assert!(
        seen.flags.contains(&Code::CheckFailed),
        "it is no longer what was looked at: {seen:?}"
    );
}

/// A run to its end, and its document.
fn measured(home: &Home, arguments: &[&str]) -> (Said, serde_json::Value) {
    let run = home.run(&[arguments, &["--format", "json"]].concat()).fine();
    let document = serde_json::from_str(&run.out).unwrap();
    (run, document)
}

#[test]
fn a_real_tree_is_measured_from_the_command_line_and_left_alone() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let home = Home::new();
    let before = portrait(&source);
    let path = source.to_str().unwrap();
    let (run, document) = measured(
        &home,
        &[
            "files",
            "read,copy,stat",
            path,
            "--threads",
            "2",
            "--method",
            "copy_file_range,read-write",
            "--rounds",
            "2",
        ],
    );
    assert!(run.err.contains("never writes to it"), "{}", run.err);
    let files = before.values().filter(|(.., bytes)| !bytes.is_empty()).count() as u64;
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4, "{document}");
    for cell in cells {
        assert_eq!(cell["status"], "measured", "{cell}");
        for sample in cell["samples"].as_array().unwrap() {
            assert_eq!(sample["proof"]["digest"]["matches"], true, "{sample}");
            let done = sample["operations"].as_u64().unwrap();
            assert!(done > 0 && (done.is_multiple_of(files) || done < files), "{done} of {files}");
        }
    }
    assert_eq!(portrait(&source), before);
    assert_eq!(home.names(), ["state"], "copies are made here and removed");
}

#[test]
fn what_would_write_to_a_tree_is_refused_or_works_beside_it() {
    let home = Home::new();
    let root = home.path("precious");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("only"), b"one").unwrap();
    let before = portrait(&root);
    let path = root.to_str().unwrap();
    // A directory named for what writes is one to work under.
    let (_, document) = measured(
        &home,
        &[
            "files",
            "write,remove",
            path,
            "--files",
            "20",
            "--file-size",
            "1Ki",
            "--threads",
            "1,3",
            "--rounds",
            "1",
        ],
    );
    for cell in document["cells"].as_array().unwrap() {
        assert_eq!(cell["status"], "measured", "{cell}");
    }
    assert_eq!(portrait(&root), before);
    let both = home.run(&["files", "read", path, "--sizes", "1Ki", "--file-size", "1Ki"]);
    both.refused(2, &["--sizes", "--file-size"]);
    let placed = home.run(&["files", "read", path, "--place", "tmpfs"]);
    placed.refused(2, &["a tree of yours is where it is", "--files"]);
    home.run(&["files", "fold"]).refused(2, &["read", "write", "copy", "create", "stat"]);
    home.run(&["files", "read", "--sizes", "many"]).refused(2, &["lognormal:64Ki:1.5"]);
    home.run(&["files", "read", "/dev/null"]).refused(2, &["/dev/null"]);
    std::fs::create_dir(home.path("bare")).unwrap();
    home.run(&["files", "read", "bare"]).refused(2, &["holds no file"]);
}

#[test]
fn every_operation_is_measured_from_the_command_line() {
    let home = Home::new();
    let (run, document) = measured(
        &home,
        &[
            "files",
            "read,write,copy,create,stat,remove",
            "--files",
            "30",
            "--sizes",
            "uniform:1..9000",
            "--layout",
            "private,tree",
            "--method",
            "sendfile",
            "--threads",
            "2",
            "--latency=on",
            "--rounds",
            "1",
        ],
    );
    crate::cli_support::known_metrics(&serde_json::from_value(document.clone()).unwrap());
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12, "{}", run.out);
    for cell in cells {
        let sample = cell["samples"].as_array().unwrap().last().unwrap();
        assert_eq!(sample["proof"]["digest"]["matches"], true, "{cell}");
        let metrics = &sample["metrics"];
        let rates = ["rate_last", "rate_first", "rate_sum", "processor_ns_per_file"];
        assert!(rates.iter().all(|id| metrics[id].as_f64().is_some()), "{sample}");
        let operation = cell["factors"]["operation"].as_str().unwrap();
        let step = match operation {
            "stat" | "remove" => "call_latency_p50_ns",
            _ => "open_latency_p50_ns",
        };
        assert!(metrics[step].as_f64().unwrap() > 0.0, "{operation}: {metrics}");
        let tail = step.replace("p50", "p99");
        let enough = sample["operations"].as_u64().unwrap() >= 100;
        assert_eq!(metrics[&tail].is_number(), enough, "of few there is no 99th: {metrics}");
    }
    assert_eq!(home.names(), ["state"]);
}

/// On a mount that cannot be written to everything but writing beside it works.
#[test]
fn a_tree_on_a_read_only_mount_is_read_and_copied_from() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP a_tree_on_a_read_only_mount: mounting needs root");
    }
    let home = Home::new();
    let script = "mkdir m && mount -t tmpfs none m && mkdir -p m/t/d && \
        for n in 1 2 3; do head -c 9000 /dev/urandom >m/t/d/$n; done && mount -o remount,ro m && \
        ! touch m/t/x 2>/dev/null && exec \"$IOLAB\" files read,copy,stat m/t --threads 2 \
        --method copy_file_range,read-write --rounds 1 --format json";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-ec", script]);
    command.current_dir(home.path(".")).env("XDG_STATE_HOME", home.path("state"));
    command.env("IOLAB", crate::cli_support::IOLAB);
    let said = Said::from(command.output().unwrap()).lacking("copy_file_range");
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        // The way inside of the kernel may not cross file systems.
        let crosses = cell["factors"]["method"] == "copy_file_range";
        assert!(crosses || cell["status"] == "measured", "{cell}");
        for sample in cell["samples"].as_array().unwrap() {
            assert!(crosses || sample["proof"]["digest"]["matches"] == true, "{sample}");
        }
    }
}

/// Probes and primers read, and the last access is the person's: who cleans up by it, or looks who has
/// read a file, must not meet iolab.
#[test]
fn a_run_leaves_the_last_access_of_files_alone() {
    use crate::cli_support::Home;
    use std::time::{Duration, SystemTime};
    let home = Home::new();
    std::fs::create_dir(home.path("tree")).unwrap();
    home.file("f", 1 << 20);
    home.file("tree/a", 5000);
    home.file("tree/b", 5000);
    // Older than the last change, which is when `relatime` moves it.
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let times = std::fs::FileTimes::new().set_accessed(old);
    let all = ["f", "tree/a", "tree/b"];
    let open = |name: &str| std::fs::File::open(home.path(name)).unwrap();
    all.iter().for_each(|name| open(name).set_times(times).unwrap());
    let few = ["--rounds", "3", "--cache", "cold,warm"];
    let read = ["read", "f", "--method", "read,mmap,sendfile", "--block", "64Ki"];
    home.run(&[&read[..], &few].concat()).done();
    home.run(&[&["files", "read", "tree"][..], &few].concat()).done();
    home.run(&[&["files", "copy", "tree"][..], &few].concat()).done();
    for name in all {
        assert_eq!(open(name).metadata().unwrap().accessed().unwrap(), old, "{name}");
    }
}
