//! Places made for real: mounted, written to, remounted, read back, taken down; and refused where
//! they should be. What this machine lacks is skipped with the reason.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use iolab_io::place::{
    Consent, KINDS, LEAST_IMAGE_BYTES, Missing, Mounts, PLACES, Place, PlaceOrder, make,
};
use iolab_model::catalog::{PlaceLevel, parse_place};
use iolab_model::result::Fault;

use crate::cli_support::wait_for;

fn ground() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("iolab test,:-").tempdir_in("/var/tmp").unwrap()
}

fn level(text: &str) -> PlaceLevel {
    let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
    parse_place(text, &ids).unwrap()
}

fn available(text: &str) -> Result<(), Missing> {
    let kind = level(text).kind;
    KINDS.iter().find(|k| k.part().id == kind).unwrap().available()
}

fn make_here(text: &str, ground: &Path, mounts: Mounts) -> Result<Box<dyn Place>, Fault> {
    make_with(text, ground, mounts, &Consent::default())
}

fn make_with(
    text: &str,
    ground: &Path,
    mounts: Mounts,
    consent: &Consent,
) -> Result<Box<dyn Place>, Fault> {
    let level = level(text);
    make(&PlaceOrder { level: &level, ground, image_bytes: LEAST_IMAGE_BYTES, consent, mounts })
}

/// `None`: skipped, with the reason printed.
fn usable(test: &str, place: &str) -> Option<Mounts> {
    match available(place) {
        Ok(()) => Some(Mounts::enter().unwrap()),
        Err(missing) => {
            eprintln!("SKIP {test}: {place}: {missing}");
            None
        }
    }
}

fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..length.div_ceil(8)).flat_map(step).take(length).collect()
}

/// Loop devices whose backing file lies, or lay, below this directory.
fn loops_over(ground: &Path) -> usize {
    let blocks = fs::read_dir("/sys/block").unwrap().map(|entry| entry.unwrap().path());
    let backing = blocks.filter_map(|b| fs::read_to_string(b.join("loop/backing_file")).ok());
    backing.filter(|file| file.starts_with(ground.to_str().unwrap())).count()
}

fn mounts_below(path: &Path) -> usize {
    let text = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
    let path = path.to_str().unwrap().replace(' ', "\\040");
    text.lines().filter(|line| line.split(' ').nth(4).is_some_and(|t| t.starts_with(&path))).count()
}

fn nothing_left(ground: &Path) {
    assert_eq!(mounts_below(ground), 0);
    // A child that another test started meanwhile has the mount until it has made its mounts its own.
    wait_for("the loop devices to be given back", || loops_over(ground) == 0);
    let left: Vec<PathBuf> = fs::read_dir(ground).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn every_file_system_is_made_written_remounted_read_back_and_taken_down() {
    let test = "every_file_system_is_made_written_remounted_read_back_and_taken_down";
    for name in ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "nilfs2", "bfs"] {
        let Some(mounts) = usable(test, name) else { continue };
        let ground = ground();
        let mut place = make_here(name, ground.path(), mounts).unwrap();
        let file = place.root().join("file");
        let data = bytes(7, 3_000_001);
        fs::write(&file, &data).unwrap();
        place.seal().unwrap();
        place.remount().unwrap();
        assert_eq!(fs::read(&file).unwrap(), data, "{name}");
        let facts = place.facts();
        assert_eq!(facts.file_system, name);
        assert_eq!(facts.image_bytes, Some(LEAST_IMAGE_BYTES));
        assert!(facts.mkfs[0].starts_with("mkfs."), "{facts:?}");
        assert!(facts.mount_options.contains("rw"), "{facts:?}");
        assert_eq!(fs::read_dir(ground.path()).unwrap().count(), 1, "the image has no name");
        assert_eq!(loops_over(ground.path()), 1);
        if name == "ext2" {
            let served = facts.driver == "ext2" || facts.notes.iter().any(|n| n.contains("ext4"));
            assert!(served, "{facts:?}");
        }
        assert!(facts.loop_direct_io.is_some());
        place.take_down().unwrap();
        drop(place);
        nothing_left(ground.path());
    }
}

#[test]
fn remounting_makes_a_file_cold_and_a_second_reader_pays_the_device() {
    let Some(mounts) = usable("remounting_makes_a_file_cold", "ext4") else { return };
    let ground = ground();
    let mut place = make_here("ext4", ground.path(), mounts).unwrap();
    let file = place.root().join("file");
    fs::write(&file, bytes(3, 8 << 20)).unwrap();
    assert!(resident_kib(&file) >= 8 << 10);
    place.remount().unwrap();
    assert_eq!(resident_kib(&file), 0);
}

fn resident_kib(file: &Path) -> u64 {
    let output =
        Command::new("fincore").args(["-b", "-n", "-o", "RES"]).arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse::<u64>().unwrap() >> 10
}

#[test]
fn options_are_set_and_read_back_and_a_refused_one_is_named() {
    let test = "options_are_set_and_read_back";
    let Some(mounts) = usable(test, "ext4") else { return };
    let ground = ground();
    let text = "ext4:noatime,data=writeback,mkfs=[-b 1024 -O ^metadata_csum]";
    let mut place = make_here(text, ground.path(), mounts).unwrap();
    let facts = place.facts();
    assert_eq!(
        facts.asked,
        text.replace(":noatime,data=writeback,mkfs", ":mkfs")
            .replace("sum]", "sum],noatime,data=writeback")
    );
    assert!(facts.mount_options.contains("noatime"), "{facts:?}");
    assert!(facts.file_system_options.contains("data=writeback"), "{facts:?}");
    assert!(facts.notes.iter().all(|note| !note.contains("does not show")), "{facts:?}");
    assert_eq!(fs::metadata(place.root()).unwrap().blksize(), 1024);
    place.take_down().unwrap();

    let refused = make_here("ext4:nosuchoption=7", ground.path(), mounts).unwrap_err();
    assert!(refused.to_string().contains("nosuchoption"), "{refused}");
    assert!(refused.cause.ends_with("after a colon: ext4:noatime,data=writeback"), "{refused}");
    let bad_mkfs = make_here("ext4:mkfs=[-O nosuchfeature]", ground.path(), mounts).unwrap_err();
    assert!(bad_mkfs.cause.contains("nosuchfeature"), "{bad_mkfs}");
    nothing_left(ground.path());
}

#[test]
fn an_image_that_is_too_small_names_the_least_size() {
    let Some(mounts) = usable("an_image_that_is_too_small", "xfs") else { return };
    let ground = ground();
    let error = make_here("xfs:size=64Mi", ground.path(), mounts).unwrap_err();
    assert!(error.cause.contains("300 MiB"), "{error}");
    let error = make_here("ext4:size=64Mi", ground.path(), mounts).unwrap_err();
    assert!(error.cause.contains("512Mi"), "{error}");
    let error = make_here("ext4:size=900Ti", ground.path(), mounts).unwrap_err();
    assert_eq!(error.errno, Some(28), "{error}");
    let error = make_here("ext4:on=xfs", ground.path(), mounts).unwrap_err();
    assert!(error.cause.contains("for overlays"), "{error}");
    nothing_left(ground.path());
}

#[test]
fn a_full_place_says_so_and_comes_down() {
    let Some(mounts) = usable("a_full_place_says_so", "ext4") else { return };
    let ground = ground();
    let mut place = make_here("ext4", ground.path(), mounts).unwrap();
    let full = fs::write(place.root().join("big"), vec![1; 600 << 20]).unwrap_err();
    assert_eq!(full.raw_os_error(), Some(28));
    place.take_down().unwrap();
    nothing_left(ground.path());
}

#[test]
fn tmpfs_is_made_and_has_no_cold_state() {
    let Some(mounts) = usable("tmpfs_is_made", "tmpfs") else { return };
    let ground = ground();
    let mut place = make_here("tmpfs:size=16Mi", ground.path(), mounts).unwrap();
    assert!(fs::write(place.root().join("f"), vec![1; 17 << 20]).is_err(), "its size is a limit");
    assert!(place.remount().unwrap_err().cause.contains("no cold state"));
    place.take_down().unwrap();
    nothing_left(ground.path());
}

#[test]
fn read_only_places_are_built_from_what_was_put_in_them() {
    for name in ["squashfs", "erofs"] {
        let Some(mounts) = usable("read_only_places_are_built", name) else { continue };
        let ground = ground();
        let mut place = make_here(name, ground.path(), mounts).unwrap();
        let data = bytes(9, 5_000_003);
        fs::create_dir(place.root().join("d")).unwrap();
        fs::write(place.root().join("d/file"), &data).unwrap();
        place.seal().unwrap();
        assert_eq!(fs::read(place.root().join("d/file")).unwrap(), data);
        assert_eq!(place.facts().file_system, name);
        let refused = fs::write(place.root().join("new"), "x").unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(30), "{refused}");
        place.remount().unwrap();
        assert_eq!(fs::read(place.root().join("d/file")).unwrap(), data);
        place.take_down().unwrap();
        drop(place);
        nothing_left(ground.path());
    }
}

#[test]
fn overlays_copy_up_what_their_arm_says() {
    for name in ["overlay", "overlay+metacopy", "overlay+volatile", "overlay+metacopy+volatile"] {
        for layers in ["", ":on=ext4", ":lower=xfs,upper=ext4"] {
            let text = format!("{name}{layers}");
            let Some(mounts) = usable("overlays_copy_up", name) else { continue };
            if layers.contains("xfs") && usable("overlays_copy_up", "xfs").is_none() {
                continue;
            }
            let ground = ground();
            let mut place = make_here(&text, ground.path(), mounts).unwrap();
            let data = bytes(5, 300_000);
            fs::write(place.root().join("file"), &data).unwrap();
            place.seal().unwrap();
            let options = place.facts().file_system_options.clone();
            assert_eq!(options.contains("metacopy=on"), name.contains("metacopy"), "{options}");
            assert_eq!(options.contains("volatile"), name.contains("volatile"), "{options}");
            for _ in 0..2 {
                let file = place.root().join("file");
                fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
                let copied = fs::metadata(place.upper().unwrap().join("file")).unwrap();
                let has_data = copied.blocks() * 512 >= 300_000;
                assert_eq!(has_data, !name.contains("metacopy"), "{text}: {}", copied.blocks());
                assert_eq!(fs::read(&file).unwrap(), data);
                place.renew().unwrap();
                assert_eq!(fs::read_dir(place.upper().unwrap()).unwrap().count(), 0);
                assert_eq!(fs::read(&file).unwrap(), data);
            }
            assert_eq!(place.remount().is_ok(), !layers.is_empty(), "{text}");
            place.take_down().unwrap();
            drop(place);
            nothing_left(ground.path());
        }
    }
}

#[test]
fn fuse_overlayfs_serves_and_ends() {
    let Some(mounts) = usable("fuse_overlayfs_serves", "fuse-overlayfs") else { return };
    let odd = ground();
    let mut refused = make_here("fuse-overlayfs", odd.path(), mounts).unwrap();
    assert!(refused.seal().unwrap_err().cause.contains("comma"));
    let ground = tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap();
    let mut place = make_here("fuse-overlayfs", ground.path(), mounts).unwrap();
    fs::write(place.root().join("file"), "below").unwrap();
    place.seal().unwrap();
    fs::write(place.root().join("file"), "above").unwrap();
    assert_eq!(fs::read_to_string(place.lower().unwrap().join("file")).unwrap(), "below");
    assert_eq!(fs::read_to_string(place.upper().unwrap().join("file")).unwrap(), "above");
    assert!(place.facts().file_system.starts_with("fuse"), "{:?}", place.facts());
    place.renew().unwrap();
    assert_eq!(fs::read_to_string(place.root().join("file")).unwrap(), "below");
    place.take_down().unwrap();
    nothing_left(ground.path());
}

#[test]
fn a_directory_is_used_through_a_scratch_directory_of_its_own() {
    let (ground, mine) = (ground(), ground());
    let Ok(mounts) = Mounts::enter() else {
        return eprintln!("SKIP a_directory_is_used: mounting is forbidden here");
    };
    fs::write(mine.path().join("precious"), "kept").unwrap();
    let mut place =
        make_here(&format!("dir:{}", mine.path().display()), ground.path(), mounts).unwrap();
    assert!(place.root().starts_with(mine.path()));
    assert!(!place.facts().file_system.is_empty());
    assert!(place.remount().unwrap_err().cause.contains("does not unmount"));
    place.take_down().unwrap();
    assert_eq!(fs::read_dir(mine.path()).unwrap().count(), 1);
    assert!(make_here("dir:/no/such", ground.path(), mounts).is_err());
}

/// A loop device over 600 MiB of zeros, as a disk of the person's.
struct Disk(String);

impl Disk {
    fn make(directory: &Path) -> Disk {
        let file = directory.join("disk");
        fs::File::create(&file).unwrap().set_len(600 << 20).unwrap();
        let output = Command::new("losetup").args(["-f", "--show"]).arg(&file).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Disk(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

#[test]
fn a_device_is_refused_unless_it_is_named_free_and_empty() {
    let Some(mounts) = usable("a_device_is_refused", "ext4") else { return };
    let (ground, store) = (ground(), ground());
    let disk = Disk::make(store.path());
    let path = PathBuf::from(&disk.0);
    let text = format!("device:{},fs=ext4,noatime", disk.0);
    let refused = |consent: &Consent| make_with(&text, ground.path(), mounts, consent).unwrap_err();

    let error = refused(&Consent::default());
    assert!(error.cause.contains("--allow-device"), "{error}");
    let allowed = Consent { devices: vec![path.clone()], destroy: vec![] };
    let mut place = make_with(&text, ground.path(), mounts, &allowed).unwrap();
    fs::write(place.root().join("f"), "x").unwrap();
    place.remount().unwrap();
    assert_eq!(fs::read_to_string(place.root().join("f")).unwrap(), "x");
    let busy = refused(&Consent { devices: vec![], destroy: vec![path.clone()] });
    assert!(busy.cause.contains("in use"), "{busy}");
    place.take_down().unwrap();

    let full = refused(&allowed);
    assert!(full.cause.contains("holds ext4") && full.cause.contains("--destroy"), "{full}");
    let destroy = Consent { devices: vec![], destroy: vec![path] };
    make_with(&text, ground.path(), mounts, &destroy).unwrap().take_down().unwrap();
    for (text, word) in
        [("device:/dev/null", "no block device"), ("device:/no/such", "name a block")]
    {
        let error = make_with(text, ground.path(), mounts, &destroy).unwrap_err();
        assert!(error.cause.contains(word), "{error}");
    }
    nothing_left(ground.path());
}

#[test]
fn a_place_in_use_is_reported_and_ends_with_its_user() {
    let Some(mounts) = usable("a_place_in_use_is_reported", "ext4") else { return };
    let ground = ground();
    let mut place = make_here("ext4", ground.path(), mounts).unwrap();
    let held = fs::File::create(place.root().join("f")).unwrap();
    let error = place.take_down().unwrap_err();
    assert!(error.cause.contains("end the process"), "{error}");
    assert_eq!(mounts_below(ground.path()), 0);
    drop(held);
}
