//! The tools around a measurement: make, checksum, diff, fit.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};

use crate::cli_support::{Home, Said};

#[test]
fn a_made_file_has_its_size_and_the_digest_of_its_seed() {
    let home = Home::new();
    let said = home.run(&["make", "file", "3MB", "a", "--seed", "7"]).fine();
    assert!(said.out.starts_with("a  ") && said.out.contains("seed 7"), "{said:?}");
    assert_eq!(fs::metadata(home.path("a")).unwrap().len(), 3_000_000);
    home.run(&["make", "file", "3MB", "b", "--seed", "7"]).fine();
    home.run(&["make", "file", "3MB", "c", "--seed", "8"]).fine();
    let sums = home.run(&["checksum", "a", "b", "c"]).fine();
    let sums: Vec<&str> = sums.out.lines().map(|line| line.split("  ").nth(1).unwrap()).collect();
    assert_eq!(sums[0], sums[1]);
    assert_ne!(sums[0], sums[2]);
    home.run(&["diff", "a", "b"]).fine();
    home.run(&["make", "file", "5000", "words", "--fill", "text"]).fine();
    assert!(fs::read_to_string(home.path("words")).unwrap().lines().count() > 10);
    home.run(&["make", "file", "0", "empty"]).fine();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff\n");
    let arguments = ["make".as_ref(), "file".as_ref(), "1".as_ref(), odd];
    assert!(home.run(&arguments).fine().out.starts_with("odd\\xff\\x0a  "));
}

#[test]
fn a_made_tree_has_its_files_and_sizes_and_is_the_same_again() {
    let home = Home::new();
    let more = ["--files", "50", "--sizes", "uniform:1kB..9kB", "--seed", "3", "--layout", "tree"];
    for root in ["one", "two"] {
        let said = home.run(&[&["make", "tree", root][..], &more].concat()).fine();
        assert!(said.out.starts_with(&format!("{root}  50 files in")), "{said:?}");
    }
    let said = home.run(&["diff", "one", "two"]).fine();
    assert!(said.err.contains("50 files compared, no difference"), "{said:?}");
    let mut sizes = Vec::new();
    let mut open = vec![home.path("one")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
            match entry.file_type().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => sizes.push(entry.metadata().unwrap().len()),
            }
        }
    }
    assert_eq!(sizes.len(), 50);
    assert!(sizes.iter().all(|bytes| (1000..=9000).contains(bytes)), "{sizes:?}");
    home.run(&["make", "tree", "one"]).refused(20, &["one exists already"]);
    assert_eq!(fs::read_dir(home.path("one")).unwrap().count(), 1, "and was left alone");
    let total = home.run(&["make", "tree", "all", "--files", "100", "--sizes", "total:1MB"]).fine();
    assert!(total.out.contains("976 KiB") || total.out.contains("977 KiB"), "{total:?}");
    home.run(&["make", "tree", "x", "--sizes", "64KB"]).refused(2, &["--sizes", "64Ki"]);
    let said = home.run(&["make", "tree", "x", "--sizes", "uniform:1kB..3.5MB"]);
    assert_eq!(said.err.matches("lognormal").count(), 1, "the rules are told once: {said:?}");
    said.refused(2, &["--sizes 'uniform:1kB..3.5MB'", "whole number"]);
    home.run(&["make", "tree", "x", "--layout", "treee"]).refused(2, &["did you mean tree"]);
    home.run(&["make", "tree", "x", "--files", "0"]).refused(2, &["1 or more"]);
    home.run(&["make", "tree", "x", "--sizes", "900Ti"]).refused(20, &["no space"]);
    let limited = format!("ulimit -f 1; exec {} make tree x --files 5", crate::cli_support::IOLAB);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limited]).current_dir(home.path("."));
    Said::from(shell.output().unwrap()).refused(20, &["ulimit -f"]);
    assert_eq!(home.names(), ["all", "one", "two"], "what could not be finished is gone");
}

#[test]
fn nothing_is_ever_made_over_something() {
    let home = Home::new();
    home.file("mine", 10);
    symlink("elsewhere", home.path("link")).unwrap();
    for name in ["mine", "link", "."] {
        home.run(&["make", "file", "5", name]).refused(20, &["make", name]);
    }
    assert_eq!(fs::read(home.path("mine")).unwrap(), [0x5a; 10]);
    assert_eq!(home.names(), ["link", "mine"], "nothing was made through the link");
    home.run(&["make", "file", "4096Ti", "big"]).refused(20, &["no space", "4 PiB", "free"]);
    home.run(&["make", "file", "5", "gone/x"]).refused(2, &["gone"]);
    home.run(&["make", "file", "64KB", "x"]).refused(2, &["SIZE '64KB'", "64Ki"]);
    home.run(&["make", "file", "5", "x", "--fill", "noise"]).refused(2, &["random, text"]);
    let limited = format!("ulimit -f 1; exec {} make file 10Mi x", crate::cli_support::IOLAB);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limited]).current_dir(home.path("."));
    Said::from(shell.output().unwrap()).refused(20, &["ulimit -f"]);
    assert_eq!(home.names(), ["link", "mine"], "what could not be finished is gone");
}

#[test]
fn ctrl_c_takes_the_partial_file_away() {
    let home = Home::new();
    let mut command = home.command();
    let mut child = command.args(["make", "file", "8Gi", "big"]).spawn().unwrap();
    let big = home.path("big");
    while !big.exists() {
        if let Some(status) = child.try_wait().unwrap() {
            eprintln!("SKIP ctrl_c_takes_the_partial_file_away: no room for it ({status})");
            return;
        }
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(home.names(), [""; 0]);
}

#[test]
fn digests_are_those_that_a_read_has() {
    let home = Home::new();
    home.run(&["make", "file", "300000", "f", "--seed", "1"]).fine();
    let said = home.run(&["checksum", "f", "--block", "4Ki"]).fine();
    let hex = |at: usize| said.out.split_whitespace().nth(at).unwrap().to_owned();
    for (consume, wanted) in [("xor", hex(1)), ("crc32c", hex(3))] {
        let arguments = ["read", "f", "--method", "read", "--block", "64Ki", "--rounds", "10"];
        let more = ["--consume", consume, "--format", "json"];
        let run = home.run(&[&arguments[..], &more].concat()).fine();
        let run: iolab_model::result::Document = serde_json::from_str(&run.out).unwrap();
        let digest = run.cells[0].samples[0].measurement.proof.digest.clone().unwrap();
        assert_eq!(digest.hex, wanted, "{consume}");
    }
    let part = home.run(&["checksum", "f", "--block", "1000", "--count", "3"]).fine();
    assert!(part.out.contains("3000 bytes in 3 blocks of 1000 B"), "{part:?}");
    let said = home.run(&["checksum", "gone", "f", "."]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert_eq!(said.out.lines().count(), 1, "the others are digested");
    assert!(said.err.contains("gone") && said.err.contains("directory"), "{said:?}");
    home.run(&["checksum", "f", "--block", "0"]).refused(2, &["zero"]);
}

#[test]
fn files_that_differ_are_told_apart() {
    let home = Home::new();
    home.file("a", 200_000);
    home.file("b", 200_000);
    assert!(home.run(&["diff", "a", "b"]).fine().out.is_empty());
    let b = fs::OpenOptions::new().write(true).open(home.path("b")).unwrap();
    b.write_all_at(b"x", 150_000).unwrap();
    let said = home.run(&["diff", "a", "b"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(said.out, "differs from byte 150000 on, in 1 of 200000\n");
    b.set_len(199_999).unwrap();
    let said = home.run(&["diff", "a", "b"]);
    assert!(said.out.contains("200000 bytes") && said.out.contains("from byte 150000"), "{said:?}");
    // The same bytes in less space.
    let sparse = fs::File::create(home.path("sparse")).unwrap();
    sparse.set_len(4 << 20).unwrap();
    fs::write(home.path("full"), vec![0; 4 << 20]).unwrap();
    fs::File::open(home.path("full")).unwrap().sync_all().unwrap();
    let said = home.run(&["diff", "sparse", "full"]).fine();
    assert!(said.err.contains("take different space: A 0 B of 4 MiB"), "{said:?}");
    home.run(&["diff", "a", "gone"]).refused(2, &["gone"]);
    home.run(&["diff", "a", "."]).refused(2, &["is a directory and"]);
    let fifo = std::process::Command::new("mkfifo").arg(home.path("fifo")).status().unwrap();
    assert!(fifo.success());
    home.run(&["diff", "a", "fifo"]).refused(2, &["no regular file"]);
}

#[test]
fn trees_are_compared_name_for_name() {
    let home = Home::new();
    let make = |root: &str| {
        fs::create_dir_all(home.path(root).join("d/deep")).unwrap();
        for name in ["same", "d/size", "d/deep/bytes"] {
            fs::write(home.path(root).join(name), name.repeat(1000)).unwrap();
        }
        fs::write(home.path(root).join(std::ffi::OsStr::from_bytes(b"\xff")), "x").unwrap();
        // A loop, a way out, and what must not be opened.
        symlink("..", home.path(root).join("d/up")).unwrap();
        symlink("/etc", home.path(root).join("out")).unwrap();
        symlink("loop", home.path(root).join("loop")).unwrap();
        let fifo = home.path(root).join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        let long = "n".repeat(255);
        fs::write(home.path(root).join(long), "long").unwrap();
    };
    make("a");
    make("b");
    let said = home.run(&["diff", "a", "b"]).fine();
    assert!(said.out.is_empty(), "{said:?}");
    assert!(said.err.contains("5 files compared, no difference"), "{said:?}");
    let b = |name: &str| home.path("b").join(name);
    fs::write(b("d/size"), "short").unwrap();
    let bytes = fs::read_to_string(b("d/deep/bytes")).unwrap();
    fs::write(b("d/deep/bytes"), bytes.replacen('d', "D", 1)).unwrap();
    fs::remove_file(b("out")).unwrap();
    symlink("/usr", b("out")).unwrap();
    fs::remove_file(b("same")).unwrap();
    fs::create_dir(b("same")).unwrap();
    fs::remove_file(home.path("b").join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
    fs::write(b("more"), "").unwrap();
    let said = home.run(&["diff", "a", "b"]);
    assert_eq!(said.code, Some(3));
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(
        lines,
        [
            "out: leads to /etc in A, to /usr in B",
            "same: a file in A, a directory in B",
            "\\xff: only in A",
            "more: only in B",
            "d/size: 6000 bytes in A, 5 bytes in B; differs from byte 0 on",
            "d/deep/bytes: differs from byte 0 on, in 1 of 12000",
        ],
        "{said:?}"
    );
    assert!(said.err.contains("6 differences"), "{said:?}");
}

#[test]
fn fit_finds_a_size_that_takes_the_wanted_time() {
    let home = Home::new();
    let said = home.run(&["fit", "read", "--block", "512", "--for", "20ms..400ms", "--seed", "3"]);
    let said = said.fine();
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let bytes: u64 = words[0].parse().unwrap();
    assert!(bytes >= 1 << 20, "{said:?}");
    assert_eq!(home.names(), [""; 0], "nothing stays");
    // The command that is printed makes the file again.
    let line = said.out.lines().nth(1).unwrap().replace("NAME", "again");
    let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    home.run(&arguments).fine();
    let sum = home.run(&["checksum", "again"]).fine();
    let xor = |text: &str| text.split("xor ").nth(1).unwrap()[..8].to_owned();
    assert_eq!(xor(&sum.out), xor(&said.out));
    fs::remove_file(home.path("again")).unwrap();
    let write = home.run(&["fit", "write", "--for", "1ms..900ms", "--block", "4Ki"]).fine();
    assert!(write.out.contains("in calls of 4 KiB"), "{write:?}");
    assert_eq!(home.names(), [""; 0]);
    home.run(&["fit", "read", "--for", "5s"]).refused(2, &["--for", "5s..15s"]);
    home.run(&["fit", "read", "--for", "5s..1s"]).refused(2, &["empty"]);
    home.run(&["fit", "read", "gone"]).refused(20, &["gone"]);
}
