//! Every way of copying in the catalog, by being listed there: the right bytes, size and mode for
//! every awkward size, sparse or not, whole and in parts; and what a copy must never do.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use iolab_io::method::NoWindow;
use iolab_io::method::copy::{self, CopyJob, Holes, METHODS, Work};
use iolab_io::sys::extents::{EXTENT_UNKNOWN, extents};
use iolab_io::workload::{self, Extent, Subject, Trial};
use iolab_model::catalog::{Capability, Code, Factor, Level, Levels, Part, Sync};
use iolab_model::result::{CopyRoute, Fault, Measurement};
use iolab_test::files::{directory, noise};

/// Directories to test in: a disk and memory.
fn directories() -> Vec<tempfile::TempDir> {
    let memory = tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/dev/shm");
    if memory.is_err() {
        eprintln!("SKIP copies on tmpfs: no /dev/shm");
    }
    std::iter::once(directory()).chain(memory).collect()
}

fn levels(method: &str, block: u64, sparse: Option<&str>) -> Levels {
    let levels = Levels::new()
        .with(Factor::Method, Level::word(method))
        .with(Factor::Block, Level::Number(block));
    match sparse {
        Some(word) => levels.with(Factor::Sparse, Level::word(word)),
        None => levels,
    }
}

/// What is left beside the source during a trial, and what the trial says of it.
struct Seen {
    measurement: Measurement,
    copies: Vec<Vec<u8>>,
    stored_bytes: u64,
}

/// A whole trial as the agent does it, but in this process.
fn trial(levels: &Levels, extent: Extent, source: &Path, scratch: &Path) -> Result<Seen, Fault> {
    let bytes = fs::metadata(source).unwrap().len();
    let subject = Some(Subject::file(source, bytes, 1));
    let trial = Trial { levels, extent, subject, scratch };
    let workload = workload::find("copy").unwrap();
    (workload.around.prepare)(&trial)?;
    let ended = (workload.run)(&trial, &mut NoWindow).and_then(|mut measurement| {
        (workload.around.verify)(&trial, &mut measurement)?;
        let targets = targets(scratch);
        let stored_bytes = targets.iter().map(|t| fs::metadata(t).unwrap().blocks() * 512).sum();
        let copies = targets.iter().map(|target| fs::read(target).unwrap()).collect();
        Ok(Seen { measurement, copies, stored_bytes })
    });
    (workload.around.clear)(&trial)?;
    assert!(targets(scratch).is_empty(), "the trial's files are removed");
    ended
}

fn targets(scratch: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        all.filter(|p| p.file_name().unwrap().to_str().unwrap().starts_with("copy-")).collect();
    all.sort();
    all
}

/// The ways that work in this directory.
fn ways(dir: &Path) -> impl Iterator<Item = &'static Part> {
    let source = dir.join("probe");
    fs::write(&source, b"probe").unwrap();
    let works = move |part: &&Part| {
        let seen = trial(
            &levels(part.id, 4096, None),
            Extent::Passes(1),
            &source,
            source.parent().unwrap(),
        );
        match seen {
            Ok(_) => true,
            Err(fault) => {
                let known = [95, 18, 38, 25];
                assert!(fault.errno.is_some_and(|e| known.contains(&e)), "{}: {fault}", part.id);
                false
            }
        }
    };
    METHODS.iter().filter(works).collect::<Vec<_>>().into_iter()
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            if c & 1 == 1 { (c >> 1) ^ 0x82f6_3b78 } else { c >> 1 }
        })
    })
}

#[test]
fn every_way_copies_every_awkward_size() {
    for dir in directories() {
        let (source, ways) = (dir.path().join("source"), ways(dir.path()).collect::<Vec<_>>());
        assert!(ways.len() >= 5, "{ways:?}");
        for (at, size) in [0, 1, 4095, 4096, 4097, 3 * 4096 + 5, 70_001].into_iter().enumerate() {
            let content = noise(size);
            fs::write(&source, &content).unwrap();
            let mode = [0o600, 0o644, 0o755, 0o444][at % 4];
            fs::set_permissions(&source, Permissions::from_mode(mode)).unwrap();
            for part in &ways {
                for block in [1, 512, 4096, 1003] {
                    let what = format!("{} {size} bytes by {block}", part.id);
                    let seen = trial(
                        &levels(part.id, block, None),
                        Extent::Passes(2),
                        &source,
                        dir.path(),
                    );
                    let seen = seen.unwrap_or_else(|fault| panic!("{what}: {fault}"));
                    assert_eq!(seen.copies, [content.clone(), content.clone()], "{what}");
                    let measured = &seen.measurement;
                    assert_eq!(measured.bytes, 2 * size as u64, "{what}");
                    let step = (copy::find(part.id).unwrap().copy.step_bytes)(block);
                    assert_eq!(measured.operations, 2 * (size as u64).div_ceil(step), "{what}");
                    assert!(measured.wall_ns > 0 && measured.repetitions == 2, "{what}");
                    let proof = measured.proof.copy.as_ref().unwrap();
                    assert!(proof.matches, "{what}: {proof:?}");
                    let hex = &measured.proof.digest.as_ref().unwrap().hex;
                    assert_eq!(*hex, format!("{:08x}", crc32c(&content)), "{what}");
                }
            }
            fs::set_permissions(&source, Permissions::from_mode(0o600)).unwrap();
        }
    }
}

#[test]
fn parts_copy_their_ranges_to_the_same_offsets() {
    for dir in directories() {
        let (source, content) = (dir.path().join("source"), noise(10 * 4096 + 77));
        fs::write(&source, &content).unwrap();
        for part in ways(dir.path()) {
            let step = (copy::find(part.id).unwrap().copy.step_bytes)(4096) as usize;
            let all = content.len().div_ceil(step);
            for (first, count) in [(0, 1), (all / 2, 3.min(all)), (all - 1, 2.min(all))] {
                let extent =
                    Extent::Part { first_operation: first as u64, operations: count as u64 };
                let levels = levels(part.id, 4096, None);
                let seen = trial(&levels, extent, &source, dir.path()).unwrap();
                let mut bytes = 0;
                for operation in (first..first + count).map(|o| o % all) {
                    let range = operation * step..((operation + 1) * step).min(content.len());
                    assert_eq!(
                        seen.copies[0][range.clone()],
                        content[range.clone()],
                        "{}",
                        part.id
                    );
                    bytes += range.len() as u64;
                }
                assert_eq!(seen.measurement.bytes, bytes, "{}", part.id);
                assert_eq!(seen.measurement.operations, count as u64, "{}", part.id);
                assert!(seen.measurement.proof.holds(), "{:?}", seen.measurement.proof);
            }
        }
    }
}

/// Data, a hole of a MiB, data that ends off a page, and a hole at the end.
fn islands(path: &Path) -> Vec<u8> {
    let (mut content, file) = (vec![0; (3 << 20) + 11], File::create(path).unwrap());
    let data = noise(70_001);
    for at in [0, 2 << 20] {
        file.write_all_at(&data, at as u64).unwrap();
        content[at..][..data.len()].copy_from_slice(&data);
    }
    file.set_len(content.len() as u64).unwrap();
    file.sync_all().unwrap();
    content
}

#[test]
fn holes_are_kept_or_filled_as_asked() {
    for dir in directories() {
        let source = dir.path().join("source");
        for part in ways(dir.path()) {
            for sparse in [None, Some("keep"), Some("fill")] {
                // Anew each time: to read a hole through a map fills it on tmpfs.
                let content = islands(&source);
                let what = format!("{} {sparse:?}", part.id);
                let levels = levels(part.id, 64 << 10, sparse);
                let seen = match trial(&levels, Extent::Passes(1), &source, dir.path()) {
                    Err(fault) if sparse == Some("fill") => {
                        assert!(fault.cause.contains("keeps the holes"), "{what}: {fault}");
                        continue;
                    }
                    seen => seen.unwrap(),
                };
                assert_eq!(seen.copies[..], *std::slice::from_ref(&content), "{what}");
                let proof = seen.measurement.proof.copy.as_ref().unwrap();
                let size = content.len() as u64;
                match sparse {
                    Some("keep") => {
                        assert!(proof.matches && proof.hole_bytes > size / 2, "{what}: {proof:?}");
                        assert!(seen.stored_bytes < size / 2, "{what}: {}", seen.stored_bytes);
                    }
                    Some(_) if proof.matches => {
                        assert!(seen.stored_bytes >= size, "{what}: {}", seen.stored_bytes);
                    }
                    // The kernel or the file system kept what should have been filled: it is seen.
                    Some(_) => {
                        assert!(proof.hole_bytes > 0, "{what}: {proof:?}");
                        assert!(seen.measurement.flags.contains(&Code::CheckFailed));
                    }
                    None => assert!(proof.matches, "{what}: {proof:?}"),
                }
            }
        }
    }
}

fn job<'a>(source: &'a Path, bytes: u64, target: &Path) -> CopyJob<'a> {
    let work = Work::Whole(vec![target.to_owned()]);
    let (block_bytes, queue_depth) = (4096, 2);
    let (holes, sync) = (Holes::AsItComes, Sync::None);
    CopyJob { source, bytes, mode: 0o600, work, block_bytes, queue_depth, holes, sync }
}

/// Bytes of a file whose place on the device is not known yet: they were not written there.
fn delayed_bytes(path: &Path) -> u64 {
    let all = extents(&File::open(path).unwrap()).unwrap();
    all.iter().filter(|e| e.flags & EXTENT_UNKNOWN != 0).map(|e| e.length).sum()
}

#[test]
fn sync_levels_leave_durable_copies() {
    let dir = directory();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    let content = noise(300_007);
    fs::write(&source, &content).unwrap();
    File::open(&source).unwrap().sync_all().unwrap();
    let run = |part: &Part, sync| {
        let job = CopyJob { sync, ..job(&source, 300_007, &target) };
        (copy::find(part.id).unwrap().copy.run)(&job, &mut NoWindow).unwrap();
        let seen = (fs::read(&target).unwrap(), delayed_bytes(&target));
        fs::remove_file(&target).unwrap();
        seen
    };
    let ways: Vec<_> = ways(dir.path()).collect();
    let loop_way = ways.iter().find(|part| part.id == "read-write").unwrap();
    if (0..5).all(|_| run(loop_way, Sync::None).1 == 0) {
        return eprintln!("SKIP sync_levels_leave_durable_copies: no delayed allocation here");
    }
    for part in ways {
        for sync in [Sync::End, Sync::Fsync, Sync::Dsync, Sync::Sync, Sync::Every(3)] {
            let (copied, delayed) = run(part, sync);
            assert_eq!(copied, content, "{} {sync}", part.id);
            assert_eq!(delayed, 0, "{} {sync}", part.id);
        }
    }
}

/// With several requests under way blocks end in any order; each is where it belongs.
#[test]
fn every_queue_depth_copies_the_same() {
    let dir = directory();
    let source = dir.path().join("source");
    let content = noise(200_003);
    fs::write(&source, &content).unwrap();
    for part in ways(dir.path()) {
        for depth in [1, 2, 7, 64] {
            let levels = levels(part.id, 4096, None).with(Factor::QueueDepth, Level::Number(depth));
            let seen = trial(&levels, Extent::Passes(2), &source, dir.path()).unwrap();
            assert_eq!(seen.copies, [content.clone(), content.clone()], "{} {depth}", part.id);
        }
    }
}

#[test]
fn nothing_that_exists_is_ever_written_to() {
    let dir = directory();
    let path = |name: &str| dir.path().join(name);
    let content = noise(10_000);
    fs::write(path("source"), &content).unwrap();
    fs::write(path("file"), b"keep me").unwrap();
    fs::create_dir(path("directory")).unwrap();
    fs::hard_link(path("source"), path("hard")).unwrap();
    std::os::unix::fs::symlink(path("source"), path("link")).unwrap();
    std::os::unix::fs::symlink(path("nowhere"), path("dangling")).unwrap();
    for part in METHODS {
        for name in ["source", "file", "directory", "hard", "link", "dangling"] {
            let (source, target) = (path("source"), path(name));
            let run = copy::find(part.id).unwrap().copy.run;
            let fault = run(&job(&source, 10_000, &target), &mut NoWindow).unwrap_err();
            assert_eq!(fault.errno, Some(17), "{} to {name}: {fault}", part.id);
            assert!(fault.cause.contains("never overwrites"), "{fault}");
            assert!(fault.doing.contains(name), "it names the target: {fault}");
        }
    }
    assert_eq!(fs::read(path("source")).unwrap(), content);
    assert_eq!(fs::read(path("file")).unwrap(), b"keep me");
    assert!(!path("nowhere").exists());
}

#[test]
fn a_source_that_lost_its_tail_is_a_fault_and_no_short_copy() {
    let dir = directory();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    fs::write(&source, noise(10_000)).unwrap();
    for part in ways(dir.path()) {
        // Touching what a mapping lost ends the process: tests/copy_run.rs sees that.
        if ["mmap-both", "reflink"].contains(&part.id) {
            continue;
        }
        let run = copy::find(part.id).unwrap().copy.run;
        let fault = run(&job(&source, 30_000, &target), &mut NoWindow).unwrap_err();
        assert!(fault.cause.contains("shorter"), "{}: {fault}", part.id);
        fs::remove_file(&target).unwrap();
    }
    // Of a source that grew no more is copied than was planned.
    for part in ways(dir.path()).filter(|part| part.id != "reflink") {
        let run = copy::find(part.id).unwrap().copy.run;
        let copied = run(&job(&source, 5_000, &target), &mut NoWindow).unwrap();
        assert_eq!(copied.outcome.bytes, 5_000, "{}", part.id);
        assert_eq!(fs::metadata(&target).unwrap().len(), 5_000, "{}", part.id);
        fs::remove_file(&target).unwrap();
    }
}

#[test]
fn a_copy_that_differs_does_not_count() {
    let dir = directory();
    let source = dir.path().join("source");
    fs::write(&source, noise(9_000)).unwrap();
    let levels = levels("read-write", 4096, None);
    let subject = Some(Subject::file(&source, 9_000, 1));
    let extent = Extent::Passes(1);
    let trial = Trial { levels: &levels, extent, subject, scratch: dir.path() };
    let workload = workload::find("copy").unwrap();
    let copy = dir.path().join("copy-0");
    let spoil: [&dyn Fn(); 3] = [
        &|| fs::set_permissions(&copy, Permissions::from_mode(0o777)).unwrap(),
        &|| File::options().write(true).open(&copy).unwrap().set_len(8_999).unwrap(),
        &|| File::options().write(true).open(&copy).unwrap().set_len(9_001).unwrap(),
    ];
    for spoil in spoil {
        let mut seen = (workload.run)(&trial, &mut NoWindow).unwrap();
        spoil();
        (workload.around.verify)(&trial, &mut seen).unwrap();
        assert!(!seen.proof.holds() && seen.flags.contains(&Code::CheckFailed), "{seen:?}");
        (workload.around.clear)(&trial).unwrap();
    }
    // One bit: size and mode are right, the digest is not.
    let mut seen = (workload.run)(&trial, &mut NoWindow).unwrap();
    (workload.around.verify)(&trial, &mut seen).unwrap();
    let right = seen.proof.digest.as_ref().unwrap().hex.clone();
    let byte = fs::read(&copy).unwrap()[777] ^ 1;
    File::options().write(true).open(&copy).unwrap().write_all_at(&[byte], 777).unwrap();
    let mut seen = Measurement::default();
    (workload.around.verify)(&trial, &mut seen).unwrap();
    assert_ne!(seen.proof.digest.as_ref().unwrap().hex, right);
    (workload.around.clear)(&trial).unwrap();
}

#[test]
fn routes_are_what_they_are_called_where_nothing_clones() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("SKIP routes_are_what_they_are_called: no /dev/shm");
    };
    let source = dir.path().join("source");
    fs::write(&source, noise(100_000)).unwrap();
    let route = |method| {
        let seen = trial(&levels(method, 4096, None), Extent::Passes(1), &source, dir.path());
        seen.unwrap().measurement.proof.copy.as_ref().unwrap().route
    };
    assert_eq!(route("read-write"), CopyRoute::UserSpace);
    assert_eq!(route("copy_file_range"), CopyRoute::InKernel);
    assert_eq!(route("splice"), CopyRoute::InKernel);
}

#[test]
fn impossible_levels_are_refused_in_words() {
    let dir = directory();
    let source = dir.path().join("source");
    fs::write(&source, b"x").unwrap();
    let refused =
        |levels: Levels, extent| trial(&levels, extent, &source, dir.path()).err().unwrap().cause;
    let once = Extent::Passes(1);
    assert!(refused(levels("teleport", 1, None), once).contains("teleport"));
    assert!(refused(levels("read-write", 0, None), once).contains("blocks of 0 bytes"));
    assert!(refused(levels("read-write", 1, Some("some")), once).contains("keep"));
    assert!(refused(levels("read-write", 1, None), Extent::Passes(0)).contains("no copy"));
    assert!(refused(levels("read-write", 1, None), Extent::Passes(1 << 40)).contains("copies"));
    assert!(METHODS.iter().all(|part| part.capabilities.contains(&Capability::Copy)));
    let deep = levels("io_uring", 1, None).with(Factor::QueueDepth, Level::Number(1 << 20));
    assert!(refused(deep, once).contains("queue depth"));
}

/// Signals with a handler arrive all the time; the bytes stay right.
#[test]
fn a_storm_of_signals_changes_nothing() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let dir = directory();
    let source = dir.path().join("source");
    let content = noise(3 << 20);
    fs::write(&source, &content).unwrap();
    let (seen, done) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGALRM, Arc::clone(&seen)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::ALARM).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        });
        for part in ways(dir.path()) {
            let levels = levels(part.id, 1 << 16, None);
            let copied = trial(&levels, Extent::Passes(1), &source, dir.path()).unwrap();
            assert_eq!(copied.copies[..], *std::slice::from_ref(&content), "{}", part.id);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(seen.load(Ordering::Relaxed));
}
