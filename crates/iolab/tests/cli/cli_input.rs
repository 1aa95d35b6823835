//! What is written wrongly gets one line with the fix and the right status, and nothing happens.

#![allow(clippy::unwrap_used)]

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::cli_support::{Home, IOLAB, Said};

#[test]
fn a_wrong_level_names_the_option_the_place_and_the_fix() {
    let home = Home::new();
    for (arguments, words) in [
        (&["read", "--method", "raed"][..], &["--method 'raed'", "did you mean read", "pread"][..]),
        (&["read", "--cache", "lukewarm"], &["--cache", "cold, warm, any"]),
        (&["read", "--block", "64KB"], &["64Ki for 65536", "64kB for 64000", "byte 2"]),
        (&["read", "--block", "4Ki,64KB"], &["'4Ki,64KB'", "byte 6"]),
        (&["read", "--block", "64Ki..4Ki:x2"], &["backwards", "4Ki..64Ki"]),
        (&["read", "--block", "4Ki..:x2"], &["empty"]),
        (&["read", "--block", "4Ki..64Ki"], &["how to step", "4Ki..64Ki:x2"]),
        (&["read", "--block", ""], &["nothing is written"]),
        (&["read", "--block", "0"], &["zero"]),
        (&["read", "--block", "-4Ki"], &["negative"]),
        (&["read", "--block", "3Gi"], &["too large", "2147479552"]),
        (&["read", "--file-size", "0"], &["zero"]),
        (&["read", "--file-size", "99999999999999999999"], &["larger than any file"]),
        (&["read", "--file-size", "9000Pi"], &["larger than any file"]),
        (&["read", "--threads", "0"], &["zero"]),
        (&["read", "--threads", "4Ki"], &["does not belong to a count"]),
        (&["read", "--pattern", "stride:x"], &["--pattern", "number"]),
        (&["read", "--budget", "60"], &["--budget", "60s"]),
        (&["read", "--budget", "0s"], &["no time"]),
        (&["read", "--delta", "0.2"], &["% sign"]),
        (&["read", "--delta", "0"], &["out of range"]),
        (&["read", "--rounds", "0"], &["--rounds"]),
        (&["read", "--rounds", "-3"], &["negative"]),
        (&["read", "--cpus", "3-1"], &["1-3"]),
        (&["read", "--cpus", "8000"], &["processor 8000"]),
        (&["read", "--ask", "mehtod"], &["did you mean method"]),
        (&["read", "--ask", "sync"], &["read has no such axis"]),
        (&["read", "--block", "1..1000:+1", "--threads", "1..1000:+1"], &["cells", "fewer levels"]),
        (&["read", "--format", "xml"], &["--format", "json"]),
        (&["read", "--export", "run.json"], &["--export", "FORMAT=PATH"]),
        (&["read", "--export", "xml=run.xml"], &["xml", "json"]),
        (&["explain", "TWIN"], &["TWIN_OFF"]),
        (&["show", "eleven"], &["history"]),
        (&["show", "last"], &["empty"]),
        (&["show", "77"], &["77"]),
    ] {
        home.run(arguments).refused(2, words);
    }
    assert_eq!(home.names(), [""; 0], "nothing was made");
}

/// A place that is a directory was not looked at: the trials failed one by one, and the plan said that
/// the file would be made somewhere else.
#[test]
fn a_directory_in_memory_is_told_from_one_on_a_disk() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("SKIP a_directory_in_memory_is_told_from_one_on_a_disk: no /dev/shm");
        return;
    };
    let home = Home::new();
    let disk = home.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let place = |path: &Path| format!("dir:{}", path.display());
    let (memory, disk) = (place(memory.path()), place(&disk));
    let plan = |places: &str, direct: &str| {
        let always = ["read", "--file-size", "4Mi", "--method", "pread", "--plan"];
        home.run(&[&always[..], &["--direct", direct, "--place", places]].concat())
    };
    plan(&memory, "on").refused(2, &["dir:", "even with O_DIRECT", "take --direct=off"]);
    let said = plan(&format!("{memory},{disk}"), "off");
    assert_eq!(said.code, Some(0), "{said:?}");
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let directories = [memory, disk].map(|place| place.trim_start_matches("dir:").to_owned());
    let both = format!("in all, in {}, removed", directories.join(" and "));
    assert!(text.contains(&both), "{text}");
}

/// "1000 files of 4 KiB" stood above "0 B in all", and neither said that `create` puts nothing in them.
#[test]
fn files_that_are_only_created_are_called_empty() {
    let home = Home::new();
    for more in [&[][..], &["--file-size", "4Ki"]] {
        let plan = home.run(&[&["files", "create", "--plan"], more].concat());
        let text = plan.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("files create, 1000 empty files: "), "{text}");
        assert!(text.contains("makes a tree of 1000 empty files, in "), "{text}");
        assert!(!text.contains("0 B in all"), "{text}");
    }
    let write = home.run(&["files", "write", "--file-size", "4Ki", "--plan"]);
    assert!(write.out.starts_with("files write, 1000 files of 4 KiB: "), "{write:?}");
}

/// "0 rounds; the run failed", status 1: that of a defect of ours.
#[test]
fn a_place_that_is_no_directory_is_said_before_the_start() {
    let home = Home::new();
    home.file("file", 10);
    let write = |place: &str, more: &[&str]| {
        home.run(&[&["write", "--file-size", "1Mi", "--place", place], more].concat())
    };
    for more in [&[][..], &["--plan"]] {
        write("dir:gone", more).refused(2, &["gone does not exist", "make it first"]);
        write("dir:file", more).refused(2, &["file is no directory", "name a directory"]);
    }
    let mixed = write("dir:gone,dir:.", &["--plan", "--method", "write", "--block", "64Ki"]);
    assert!(mixed.out.contains("gone does not exist"), "{mixed:?}");
}

#[test]
fn unknown_options_and_subcommands_end_with_2() {
    let home = Home::new();
    for arguments in [&["raed"][..], &["read", "--blok", "4Ki"], &["explain", "--x"], &[]] {
        let said = home.run(arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert_eq!(said.out, "");
        assert!(said.err.contains("Usage"), "{said:?}");
    }
}

#[test]
fn what_is_no_file_to_read_is_named_with_the_fix() {
    let home = Home::new();
    home.file("empty", 0);
    std::fs::create_dir(home.path("dir")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(home.path("fifo")).status().unwrap();
    assert!(fifo.success());
    let _socket = std::os::unix::net::UnixListener::bind(home.path("socket")).unwrap();
    for (file, words) in [
        ("gone", &["gone", "does not exist"][..]),
        ("empty", &["empty"]),
        ("dir", &["is a directory", "--file-size"]),
        ("fifo", &["FIFO"]),
        ("socket", &["socket"]),
        ("/dev/null", &["device"]),
        ("/proc/self/status", &["kernel"]),
        ("empty/below", &["no directory"]),
        ("", &["name a file"]),
    ] {
        home.run(&["read", file]).refused(2, words);
    }
    home.run(&["read", "dir", "--block", "4Ki", "--plan"]).refused(2, &["is a directory"]);
    home.run(&["syscall", "gone", "--plan"]).refused(2, &["gone"]);
    home.run(&["syscall", "empty", "--plan"]).refused(2, &["not a directory"]);
    home.file("real", 5000);
    home.run(&["read", "real", "--file-size", "1Mi"]).refused(2, &["has its size already"]);
}

#[test]
fn a_file_that_may_not_be_read() {
    let home = Home::open();
    let path = home.file("secret", 5000);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    let mut command = home.as_ordinary_user(Path::new(IOLAB));
    let output = command.args(["read", "secret"]).output().unwrap();
    Said::from(output).refused(2, &["secret", "may not be read"]);
}

#[test]
fn one_bad_file_among_good_ones_is_skipped_with_the_reason() {
    let home = Home::new();
    home.file("good", 5000);
    let few = ["--method", "read,pread", "--block", "4Ki,64Ki"];
    let said = home.run(&[&["read", "good", "gone", "--plan"], &few[..]].concat()).fine();
    assert!(
        said.plain().contains("skipped gone/read/4Ki and 3 more")
            && said.plain().contains("does not exist"),
        "{}",
        said.out
    );
}

#[test]
fn odd_names_are_shown_on_one_line() {
    let home = Home::new();
    for name in [&b"new\nline"[..], b"not\xffutf8", b"-dash", b"a,b", b"\x1b[31mred"] {
        let name = std::ffi::OsStr::from_bytes(name);
        home.file(name, 5000);
        let said = home.run(&["read".as_ref(), "--plan".as_ref(), "--".as_ref(), name]).fine();
        assert!(!said.out.contains('\x1b') && !said.out.contains('\u{fffd}'), "{}", said.out);
        assert!(said.out.lines().all(|line| line.chars().count() > 2), "{}", said.out);
    }
}

#[test]
fn a_plan_does_nothing_and_says_what_it_would() {
    let home = Home::new();
    let said = home.run(&["read", "--plan", "--cache", "cold,warm", "--file-size", "1Mi"]).fine();
    for word in ["compares method, block", "twin", "makes one file of 1 MiB", "writes", "needs"] {
        assert!(said.plain().contains(word), "no {word:?} in {}", said.out);
    }
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    assert_eq!(home.names(), [""; 0], "nothing was made, no history either");
    let said = home.run(&["read", "--plan", "--format", "json"]).fine();
    let plan: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(plan["ask"], serde_json::json!(["method", "block"]));
    assert_eq!(plan["cost"]["bytes_written"], 256 << 20);
}

#[test]
fn more_space_than_there_is_is_refused_with_the_numbers() {
    let home = Home::new();
    let said = home.run(&["read", "--file-size", "4096Ti", "--cache", "any"]);
    said.refused(20, &["no space", "4 PiB", "free"]);
    let said = home.run(&["read", "--file-size", "4096Ti"]);
    said.refused(20, &["cannot be warm", "memory"]);
    assert_eq!(home.names(), [""; 0]);
}

fn planned(home: &Home, arguments: &[&str]) -> serde_json::Value {
    let said = home.run(&[arguments, &["--plan", "--format", "json"]].concat()).fine();
    serde_json::from_str(&said.out).unwrap()
}

/// A call that does not ask how large its files are was once planned with files of 1 MiB, so that
/// 100 000 of them needed 98 GiB.
#[test]
fn metadata_calls_work_on_empty_files() {
    let plan = planned(&Home::new(), &["meta", "--operation", "create", "--files", "300"]);
    assert_eq!(plan["files"][0]["bytes"], 0, "{plan}");
}

/// `files copy tree` once said that it writes nothing and that 400 rounds fit.
#[test]
fn the_forecast_counts_what_copies_of_a_tree_write() {
    let home = Home::new();
    std::fs::create_dir(home.path("tree")).unwrap();
    for number in 0..40 {
        home.file(format!("tree/{number}"), 100_000);
    }
    let slow = ["--contender", "cp-r", "--budget", "200ms"];
    let plan = planned(&home, &[&["files", "copy", "tree"], &slow[..]].concat());
    let cost = |name: &str| plan["cost"][name].as_u64().unwrap();
    assert!(cost("space_bytes") >= 4_000_000, "{plan}");
    assert!(cost("bytes_written") >= 3 * 4_000_000, "{plan}");
    assert!(cost("rounds") < 20, "{plan}");
    let read = planned(&home, &["files", "read", "tree"]);
    assert_eq!(read["cost"]["bytes_written"], 0, "{read}");
}

#[test]
fn trees_that_are_alike_are_announced_in_one_line() {
    let home = Home::new();
    let few =
        ["files", "read", "--files", "50", "--file-size", "1Ki", "--layout", "shared,sharded"];
    let said = home.run(&[&few[..], &["--plan"]].concat()).fine();
    let plain = said.plain();
    assert!(plain.contains("makes 2 trees of 50 files, 50 KiB each"), "{}", said.out);
    assert_eq!(plain.matches("50 files, ").count(), 1, "{}", said.out);
}

/// Copies are made where one stands: in the tree itself they would be copied too.
#[test]
fn a_tree_is_not_copied_into_itself() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("tree/sub")).unwrap();
    home.file("tree/a", 10);
    for (from, tree) in [("tree", "."), ("tree/sub", "..")] {
        let mut command = home.command();
        let output = command.current_dir(home.path(from)).args(["files", "copy", tree]).output();
        let said = crate::cli_support::Said::from(output.unwrap());
        said.refused(20, &["lies in the tree", "cd to a directory outside"]);
    }
    assert_eq!(home.names(), ["tree"]);
}

#[test]
fn what_is_no_tree_is_named_with_what_to_do() {
    let home = Home::new();
    home.file("big", 5000);
    home.run(&["files", "read", "big"]).refused(2, &["big is one file", "iolab read"]);
    home.run(&["files", "read", "gone"]).refused(2, &["gone does not exist", "--files"]);
    let said = home.run(&["files", "read", "--contender", "cat {file}"]);
    said.refused(2, &["has no {file}", "{source}"]);
}

/// `--latency on` once took `on` for the name of a file.
#[test]
fn a_switch_takes_its_level_after_a_space_or_an_equals_sign() {
    let home = Home::new();
    for direct in [&["--direct", "off,on"][..], &["--direct=off,on"]] {
        let words = [&["read", "--file-size", "1Mi", "--plan"], direct].concat();
        let plan = home.run(&words).fine().out;
        assert!(plan.contains("direct"), "{plan}");
    }
    home.run(&["read", "--latency", "on", "--plan"]).fine();
    home.run(&["read", "--latency=on", "--plan"]).fine();
    home.run(&["read", "--latency", "--plan"]).fine();
    // A file of that name is named by its directory.
    home.file("on", 5000);
    let plan = home.run(&["read", "--latency", "./on", "--plan"]).fine().out;
    assert!(plan.contains("/on (4.88 KiB)") || plan.contains("/on ("), "{plan}");
}

/// `--place device:/dev/a,fs=ext4 --place device:/dev/b,fs=ext4` was refused: an option may stand there
/// only once.
#[test]
fn levels_may_be_given_one_by_one() {
    let home = Home::new();
    home.file("data", 1 << 20);
    let plan = |words: &str| home.run(&words.split(' ').collect::<Vec<_>>()).fine().out;
    let read = |blocks: &str| {
        plan(&format!("read data --method pread --seed 1 --plan --format json {blocks}"))
    };
    assert_eq!(read("--block 4Ki --block 64Ki,4Ki"), read("--block 4Ki,64Ki"));
    let write = |places: &str| {
        plan(&format!("write --file-size 1Mi --seed 1 --plan --format json {places}"))
    };
    assert_eq!(write("--place dir:. --place dir:/tmp"), write("--place dir:.,dir:/tmp"));
}
