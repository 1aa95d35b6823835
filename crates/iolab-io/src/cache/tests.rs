//! Proofs on real files: ext4 or whatever /var/tmp is, tmpfs, overlays and images, as root and
//! as an ordinary user.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{Probe, Prober, conclude, flag, prepare, prime, stored_bytes};
use crate::sys::testing::{among_mounts, as_nobody, open_directory, skip};
use iolab_model::catalog::{CacheState, Code};
use iolab_model::result::CacheProof;

const MIB: u64 = 1 << 20;

fn noise(bytes: u64) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..bytes).map(next).collect()
}

fn make(path: PathBuf, bytes: u64) -> PathBuf {
    std::fs::write(&path, noise(bytes)).unwrap();
    path
}

/// Bytes the device delivered to this thread alone: other tests run beside it.
fn delivered() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap();
    line.parse().unwrap()
}

/// A trial as the agent does it: reach, read it all through a fresh descriptor, conclude.
fn trial(wanted: CacheState, path: &Path, prober: &Prober) -> CacheProof {
    let file = File::open(path).unwrap();
    let mut proof = prepare(wanted, &file, prober).unwrap();
    let before = delivered();
    let mut buffer = vec![0; 64 * 1024];
    let mut fresh = File::open(path).unwrap();
    while fresh.read(&mut buffer).unwrap() > 0 {}
    conclude(&mut proof, None, Some(delivered() - before), 0, 0);
    proof
}

fn assert_both_states(path: &Path, prober: &Prober) {
    for _ in 0..2 {
        let cold = trial(CacheState::Cold, path, prober);
        assert!(cold.proven, "{cold:?} {prober:?}");
        assert_eq!(cold.before.as_ref().unwrap().resident_bytes, 0);
        let warm = trial(CacheState::Warm, path, prober);
        assert!(warm.proven, "{warm:?} {prober:?}");
        let before = warm.before.as_ref().unwrap();
        assert_eq!(before.resident_bytes, before.total_bytes);
    }
}

#[test]
fn cold_and_warm_are_reached_and_proven_on_the_disk() {
    let dir = open_directory();
    let prober = Prober::start(dir.path()).unwrap();
    if !prober.evicts {
        return skip("cold_and_warm_on_the_disk", "/var/tmp does not evict here");
    }
    for bytes in [1, 4096, 4097, 8 * MIB + 123] {
        assert_both_states(&make(dir.path().join(format!("f{bytes}")), bytes), &prober);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4, "the test file is gone");
}

#[test]
fn an_empty_file_is_whatever_is_asked() {
    let dir = open_directory();
    let prober = Prober::start(dir.path()).unwrap();
    let path = make(dir.path().join("empty"), 0);
    for state in [CacheState::Warm, CacheState::Any] {
        assert!(trial(state, &path, &prober).proven);
    }
}

#[test]
fn a_dirty_file_becomes_cold_and_warm() {
    let dir = open_directory();
    let prober = Prober::start(dir.path()).unwrap();
    let path = dir.path().join("dirty");
    for state in [CacheState::Cold, CacheState::Warm] {
        make(path.clone(), MIB);
        let proof = trial(state, &path, &prober);
        assert!(proof.proven || !prober.evicts, "{proof:?}");
    }
}

#[test]
fn a_proof_without_device_bytes_or_with_too_few_does_not_hold() {
    let cold = CacheProof {
        wanted: CacheState::Cold.into(),
        expected_device_bytes: Some(1000),
        ..CacheProof::default()
    };
    for (delivered, proven) in [(None, false), (Some(989), false), (Some(990), true)] {
        let mut proof = cold.clone();
        conclude(&mut proof, None, delivered, 0, 0);
        assert_eq!(proof.proven, proven, "{proof:?}");
        assert_eq!(flag(&proof).is_none(), proven);
    }
    let warm = CacheProof { wanted: CacheState::Warm.into(), ..CacheProof::default() };
    for (delivered, faults, proven) in [(0, 0, true), (4096, 0, false), (0, 1, false)] {
        let mut proof = warm.clone();
        conclude(&mut proof, None, Some(delivered), faults, 0);
        assert_eq!(proof.proven, proven);
        assert_eq!(flag(&proof), (!proven).then_some(Code::WarmUnproven));
    }
}

#[test]
fn a_false_claim_of_cold_is_found_out_by_the_device() {
    let dir = open_directory();
    let prober = Prober::start(dir.path()).unwrap();
    let path = make(dir.path().join("primed"), MIB);
    let file = File::open(&path).unwrap();
    let mut proof = prepare(CacheState::Cold, &file, &prober).unwrap();
    prime(&file).unwrap(); // someone else reads it between the proof and the window
    let before = delivered();
    std::fs::read(&path).unwrap();
    conclude(&mut proof, None, Some(delivered() - before), 0, 0);
    assert!(!proof.proven);
    if prober.evicts {
        assert_eq!(flag(&proof), Some(Code::ProofsDisagree), "{proof:?}");
    }
}

#[test]
fn holes_and_unwritten_space_are_not_asked_of_the_device() {
    let dir = open_directory();
    let prober = Prober::start(dir.path()).unwrap();
    let path = dir.path().join("sparse");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    file.set_len(16 * MIB).unwrap();
    file.write_all_at(&noise(MIB), 3 * MIB).unwrap();
    let reserve =
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::KEEP_SIZE, 8 * MIB, 2 * MIB);
    file.sync_all().unwrap();
    let stored = stored_bytes(&file).unwrap();
    assert_eq!(stored, MIB, "fallocate: {reserve:?}");
    let proof = trial(CacheState::Cold, &path, &prober);
    assert!(proof.proven || !prober.evicts, "{proof:?}");
}

#[test]
fn part_of_a_pass_needs_its_part_of_the_device() {
    let proof = CacheProof {
        wanted: CacheState::Cold.into(),
        expected_device_bytes: Some(100 * MIB),
        before: Some(iolab_model::result::Residency {
            total_bytes: 100 * MIB,
            ..Default::default()
        }),
        ..CacheProof::default()
    };
    for (stored, worked, least) in
        [(100, 10, 10), (100, 100, 100), (40, 30, 0), (95, 10, 5), (100, 500, 100)]
    {
        let mut proof = proof.clone();
        proof.expected_device_bytes = Some(stored * MIB);
        conclude(&mut proof, Some(worked * MIB), Some(least * MIB), 0, 0);
        assert_eq!(proof.expected_device_bytes, Some(least * MIB));
        assert!(proof.proven);
    }
}

#[test]
fn tmpfs_is_warm_and_never_cold() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return skip("tmpfs_is_warm_and_never_cold", "no /dev/shm");
    };
    let prober = Prober::start(dir.path()).unwrap();
    assert!(!prober.evicts, "{prober:?}");
    let path = make(dir.path().join("f"), MIB + 5);
    assert!(trial(CacheState::Warm, &path, &prober).proven);
    let cold = trial(CacheState::Cold, &path, &prober);
    assert!(!cold.proven && cold.reason.as_ref().unwrap().contains("tmpfs"), "{cold:?}");
    assert_eq!(flag(&cold), Some(Code::ColdUnproven));
    let sparse = dir.path().join("sparse");
    File::create(&sparse).unwrap().set_len(MIB).unwrap();
    assert!(trial(CacheState::Warm, &sparse, &prober).proven);
}

#[test]
fn an_ordinary_user_proves_own_files_and_those_only_readable() {
    let test = "cache::tests::an_ordinary_user_proves_own_files_and_those_only_readable";
    let prepare = |dir: &Path| {
        let path = make(dir.join("of-root"), 2 * MIB);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    let Some(dir) = as_nobody(test, prepare) else { return };
    let prober = Prober::start(&dir).unwrap();
    if !prober.evicts {
        return skip(test, "/var/tmp does not evict here");
    }
    assert_both_states(&make(dir.join("own"), MIB), &prober);
    assert_both_states(&dir.join("of-root"), &prober);
    let foreign = File::open(dir.join("of-root")).unwrap();
    assert!(Probe::Cachestat.look(&foreign).is_err(), "the kernel refuses");
    assert!(Probe::Mincore.look(&foreign).is_err(), "it would call all resident");
    assert_eq!(prober.residency(&foreign).unwrap().probe, "rwf_nowait");
}

#[test]
fn an_overlay_is_proven_without_the_probe_that_lies_there() {
    let test = "cache::tests::an_overlay_is_proven_without_the_probe_that_lies_there";
    let script = "mkdir lower upper work merged; head -c 2097152 /dev/urandom >lower/below
        mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged || exit 77";
    let Some(dir) = among_mounts(test, script) else { return };
    let merged = dir.join("merged");
    let prober = Prober::start(&merged).unwrap();
    let lies = prober.rejected().iter().any(|r| r.probe == Probe::Cachestat);
    eprintln!("on an overlay: {prober:?}");
    if !prober.evicts {
        return skip(test, "nothing is evicted on this overlay");
    }
    assert_both_states(&merged.join("below"), &prober);
    assert_both_states(&make(merged.join("above"), MIB), &prober);
    // The prober may have been started elsewhere than where the person's file is.
    let elsewhere = Prober::start(&dir).unwrap();
    assert_both_states(&merged.join("below"), &elsewhere);
    let seen = elsewhere.residency(&File::open(merged.join("below")).unwrap()).unwrap();
    assert!(!lies || seen.probe != "cachestat", "{seen:?}");
}

/// Cold and warm on a file system in an image; compressible data where it compresses.
fn in_an_image(name: &str, make_fs: &str, options: &str) {
    let test = format!("cache::tests::{name}");
    let script = format!(
        "truncate -s 320M image; mkdir m
         {make_fs} image >/dev/null 2>&1 || {{ echo '{make_fs} failed' >&2; exit 77; }}
         mount -o loop{options} image m || exit 77"
    );
    let Some(dir) = among_mounts(&test, &script) else { return };
    let mount = dir.join("m");
    let prober = Prober::start(&mount).unwrap();
    assert!(prober.evicts, "{prober:?}");
    assert_both_states(&make(mount.join("f"), 3 * MIB + 1), &prober);
    let zeros = mount.join("compressible");
    std::fs::write(&zeros, vec![b'a'; 4 << 20]).unwrap();
    assert_both_states(&zeros, &prober);
}

#[test]
fn ext4_in_an_image() {
    in_an_image("ext4_in_an_image", "mkfs.ext4 -q -F", "");
}

#[test]
fn xfs_in_an_image() {
    in_an_image("xfs_in_an_image", "mkfs.xfs -f", "");
}

#[test]
fn btrfs_in_an_image() {
    in_an_image("btrfs_in_an_image", "mkfs.btrfs -f", "");
}

#[test]
fn compressed_btrfs_in_an_image() {
    in_an_image("compressed_btrfs_in_an_image", "mkfs.btrfs -f", ",compress-force=zstd");
}

#[test]
fn squashfs_in_an_image() {
    let test = "cache::tests::squashfs_in_an_image";
    let script = "command -v mksquashfs >/dev/null || { echo 'no mksquashfs' >&2; exit 77; }
        mkdir in m; head -c 3145729 /dev/urandom >in/noise; head -c 3145729 /dev/zero >in/zeros
        mksquashfs in image -quiet -no-progress >/dev/null; mount -o loop image m || exit 77";
    let Some(dir) = among_mounts(test, script) else { return };
    let prober = Prober::start(&dir).unwrap();
    assert_both_states(&dir.join("m/noise"), &prober);
    // The zeros are not stored and their tail is in a cache of squashfs's own: nothing is read,
    // and the claim of cold is refused for it.
    let zeros = trial(CacheState::Cold, &dir.join("m/zeros"), &prober);
    assert!(zeros.proven || flag(&zeros) == Some(Code::ProofsDisagree), "{zeros:?}");
}
