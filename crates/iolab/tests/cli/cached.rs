//! `iolab cached`: what is in the page cache, brought in and out, of files of one's own alone.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::cli_support::{Home, IOLAB};

const SIZE: usize = 1 << 20;

fn json(said: &str) -> serde_json::Value {
    serde_json::from_str(said).unwrap()
}

#[test]
fn a_file_goes_out_of_the_page_cache_and_comes_back() {
    let home = Home::new();
    home.file("data", SIZE);
    let resident = |arguments: &[&str]| {
        let said = home.run(&[&["cached", "data", "--format", "json"], arguments].concat()).fine();
        let seen = json(&said.out);
        assert_eq!(seen["schema"], "iolab.cached/1");
        assert_eq!(seen["files"][0]["total_bytes"], SIZE);
        seen["all"]["resident_bytes"].as_u64().unwrap()
    };
    assert_eq!(resident(&["--load"]), SIZE as u64);
    assert_eq!(resident(&[]), SIZE as u64);
    assert_eq!(resident(&["--evict"]), 0);
    // Looking brings nothing in.
    assert_eq!(resident(&[]), 0);
    let table = home.run(&["cached", "data"]).fine().out;
    assert!(table.contains("data") && table.contains("0 %"), "{table}");
}

/// Half a file, beside what the system's own tool says of it.
#[test]
fn a_file_that_is_partly_cached_has_its_share() {
    let home = Home::new();
    let file = home.file("data", SIZE);
    home.run(&["cached", "data", "--evict"]).fine();
    let mut half = fs::File::open(&file).unwrap();
    rustix::fs::fadvise(&half, 0, None, rustix::fs::Advice::Random).unwrap();
    half.read_exact(&mut vec![0; SIZE / 2]).unwrap();
    let seen = json(&home.run(&["cached", "data", "--format", "json"]).fine().out);
    let resident = seen["files"][0]["resident_bytes"].as_u64().unwrap();
    // What was read ahead before the advice came is no more than a page or two.
    assert!((SIZE as u64 * 2 / 5..=SIZE as u64 * 3 / 5).contains(&resident), "{resident}");
    let fincore = std::process::Command::new("fincore")
        .args(["--bytes", "--noheadings", "--output", "RES"])
        .arg(&file)
        .output();
    let Ok(fincore) = fincore else {
        println!(
            "SKIP a_file_that_is_partly_cached_has_its_share: fincore is missing (util-linux)"
        );
        return;
    };
    let told: u64 = String::from_utf8(fincore.stdout).unwrap().trim().parse().unwrap();
    assert_eq!(resident, told);
}

#[test]
fn a_directory_is_walked_without_following_links() {
    let home = Home::new();
    fs::create_dir_all(home.path("tree/sub")).unwrap();
    for at in 0..20 {
        home.file(format!("tree/sub/{at:02}"), 8192);
    }
    home.file(OsStr::from_bytes(b"tree/odd\xff\n\x1b[31m"), 4096);
    home.file("outside", SIZE);
    home.file("tree/empty", 0);
    symlink("../outside", home.path("tree/link")).unwrap();
    symlink("..", home.path("tree/loop")).unwrap();
    fs::hard_link(home.path("tree/sub/00"), home.path("tree/twice")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.path("tree/pipe")).status().unwrap();
    assert!(made.success());
    let said = home.run(&["cached", "tree", "--format", "json"]).fine();
    let seen = json(&said.out);
    // Twenty files, an odd one and an empty one; the second name of a file is no second file.
    assert_eq!(seen["files"].as_array().unwrap().len(), 22, "{}", said.out);
    assert_eq!(seen["all"]["total_bytes"], 20 * 8192 + 4096);
    let table = home.run(&["cached", "tree"]).fine().out;
    assert!(table.lines().count() <= 20 && table.contains("all 22 files"), "{table}");
    assert!(!table.contains('\x1b') && !table.contains("outside"), "{table}");
    let all = home.run(&["cached", "tree", "--all"]).fine().out;
    assert_eq!(all.lines().count(), 24, "{all}");
}

#[test]
fn what_cannot_be_seen_or_changed_is_named() {
    let home = Home::open();
    home.file("mine", 4096);
    let said = home.run(&["cached", "mine", "gone"]);
    assert_eq!(said.code, Some(20));
    assert!(said.err.contains("gone: ") && said.err.contains("check the name"), "{}", said.err);
    assert!(said.out.contains("mine"), "{}", said.out);
    // A name that is none is asked wrongly, as with every other command.
    home.run(&["cached", "gone"]).refused(2, &["gone: ", "check the name"]);
    home.run(&["cached", "/dev/null", "--evict"]).refused(20, &["/dev/null", "a device"]);
    assert_eq!(home.run(&["cached", "--evict", "--load"]).code, Some(2));
    let file = home.file("theirs", 4096);
    let owner = if rustix::process::geteuid().is_root() { "65534" } else { return };
    let given = std::process::Command::new("chown").arg(owner).arg(&file).status().unwrap();
    assert!(given.success());
    for change in ["--evict", "--load"] {
        home.run(&["cached", "theirs", change]).refused(20, &["belongs to user 65534"]);
    }
    home.run(&["cached", "theirs"]).fine();
    // Who neither owns a file nor may write to it is not shown its pages (CVE-2019-5489).
    let mut command = home.as_ordinary_user(std::path::Path::new(IOLAB));
    let output = command.args(["cached", "mine"]).output().unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("mine"));
}
