//! `kill -9` at random moments: afterwards there is no mount, no loop device, no control group, no
//! process and no file. 20 runs; 200 with IOLAB_TRUST (`make trust`).

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use iolab_io::place::memory::Limit;
use iolab_io::place::{
    CleanupWatchdog, Consent, Mounts, PLACES, PlaceOrder, Scratch, kind_named, make,
};
use iolab_model::catalog::{PlaceLevel, parse_place};
use rand_core::Rng;
use rand_pcg::Pcg64;

const VICTIM: &str = "IOLAB_TEST_VICTIM";
const TEST: &str = "places_kill::killed_at_any_moment_nothing_is_left";

fn levels() -> Vec<PlaceLevel> {
    let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
    let texts = [
        "ext4",
        "xfs",
        "btrfs",
        "tmpfs",
        "overlay+metacopy:on=ext4",
        "overlay",
        "fuse-overlayfs",
        "squashfs",
        "erofs",
        "f2fs",
    ];
    let all = texts.iter().map(|text| parse_place(text, &ids).unwrap());
    all.filter(|level| kind_named(&level.kind).unwrap().available().is_ok()).collect()
}

/// Makes and takes down places until it is killed.
fn be_the_victim(directory: &Path) -> ! {
    let _heir = CleanupWatchdog::leave(directory).unwrap();
    println!("begin");
    let scratch = Scratch::make(directory).unwrap();
    let mounts = Mounts::enter().unwrap();
    let consent = Consent::default();
    for level in levels().iter().cycle() {
        let _limit = Limit::make(64 << 20);
        let order = PlaceOrder {
            level,
            ground: scratch.path(),
            image_bytes: 512 << 20,
            consent: &consent,
            mounts,
        };
        let mut place = make(&order).unwrap();
        fs::write(place.root().join("file"), vec![1; 1 << 20]).unwrap();
        place.seal().unwrap();
        let _ = place.remount();
        let _ = fs::read(place.root().join("file")).unwrap();
        place.take_down().unwrap();
    }
    unreachable!("the list has no end")
}

/// What is left of it, in words.
fn left_over(directory: &Path) -> Vec<String> {
    let name = directory.to_str().unwrap();
    let mut left: Vec<String> = Vec::new();
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        left.extend(file.starts_with(name).then(|| format!("{:?}", entry.file_name())));
    }
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let mounts = fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
        let words = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let mounted = mounts.contains(name);
        let running = words.contains(name);
        left.extend((mounted || running).then(|| format!("{:?} {words}", entry.path())));
    }
    left.extend(fs::read_dir(directory).unwrap().flatten().map(|e| format!("{:?}", e.path())));
    left
}

/// Memory limits that a process of this number has made.
pub(crate) fn groups_of(pid: u32) -> Vec<PathBuf> {
    fn walk(dir: &Path, name: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(name) {
                    found.push(entry.path());
                }
                walk(&entry.path(), name, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new("/sys/fs/cgroup"), &format!("iolab-{pid}-"), &mut found);
    found
}

fn within<T>(limit: Duration, mut look: impl FnMut() -> Vec<T>) -> Vec<T> {
    let start = Instant::now();
    loop {
        let seen = look();
        if seen.is_empty() || start.elapsed() > limit {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn killed_at_any_moment_nothing_is_left() {
    if let Some(directory) = std::env::var_os(VICTIM) {
        be_the_victim(Path::new(&directory));
    }
    if let Err(missing) = kind_named("ext4").unwrap().available() {
        return eprintln!("SKIP {TEST}: {missing}");
    }
    let runs = if std::env::var_os("IOLAB_TRUST").is_some() { 200 } else { 20 };
    let mut random = Pcg64::new(5, 5);
    let directory = tempfile::Builder::new().prefix("iolab-kill-").tempdir_in("/var/tmp").unwrap();
    for run in 0..runs {
        let mut victim = Command::new(std::env::current_exe().unwrap());
        victim.args(["--exact", TEST, "--nocapture"]).env(VICTIM, directory.path());
        let mut victim = victim.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + random.next_u64() % 1500));
        assert!(victim.try_wait().unwrap().is_none(), "run {run}: it ended by itself");
        victim.kill().unwrap();
        victim.wait().unwrap();
        let left = within(Duration::from_secs(10), || left_over(directory.path()));
        assert!(left.is_empty(), "run {run}: {left:#?}");
        let groups = within(Duration::from_secs(10), || groups_of(victim.id()));
        assert!(groups.is_empty(), "run {run}: {groups:?}");
    }
}
