//! Replays of traces of our own, in every way that is listed, on real files.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::{METHODS, Scene, WORKLOAD, make};
use crate::method::NoWindow;
use crate::sys::clock::now_ns;
use crate::sys::direct::alignment_in;
use crate::sys::resident::{may_mincore, mincore_pages};
use crate::sys::testing::skip;
use crate::workload::{Extent, Subject, Trial, impossible};
use iolab_model::catalog::{
    AxisWord, Capability, Factor, Level, Levels, ReplayMethod, ReplayReadahead, ReplaySync,
    ReplayThink,
};
use iolab_model::result::{Fault, Measurement};
use iolab_trace::{Limits, parse};

/// On the disk: /tmp may be tmpfs.
fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap()
}

pub(super) fn scene(lines: &[&str]) -> Scene {
    let line = |(at, line): (usize, &&str)| {
        let (thread, call) = line.split_once(' ').unwrap();
        format!("{thread} {}.{:06} {call} <0.000010>\n", 100 + at / 1000, at % 1000)
    };
    let text: String = lines.iter().enumerate().map(line).collect();
    Scene::new(parse(Cursor::new(text), &Limits::default()).unwrap(), 7)
}

/// The same with its files, below a directory that goes with it.
pub(super) struct Made {
    pub(super) scene: Scene,
    dir: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Made {
    pub(super) fn of(scene: Scene) -> Made {
        Made::below(directory(), scene)
    }

    pub(super) fn below(dir: tempfile::TempDir, scene: Scene) -> Made {
        let root = dir.path().join("files");
        make(&scene, &root, &|| true).unwrap();
        Made { scene, dir, root }
    }

    /// The first that is not empty.
    fn file(&self) -> String {
        listing(&self.root).into_iter().find(|(_, size)| *size > 0).unwrap().0
    }

    pub(super) fn trial(&self, levels: &Levels) -> Result<Measurement, Fault> {
        trial(&self.scene, &self.root, levels)
    }
}

/// A program that does a little of everything, and leaves other files than it found.
const BUSY: &[&str] = &[
    "1 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in>",
    "1 fstat(3</w/in>, {st_mode=S_IFREG|0644, st_size=10000, ...}) = 0",
    "1 read(3</w/in>, \"\"..., 700) = 700",
    "1 read(3</w/in>, \"\"..., 700) = 700",
    "1 readv(3</w/in>, [{}, {}], 2) = 600",
    "1 pread64(3</w/in>, \"\"..., 4096, 8000) = 2000",
    "1 lseek(3</w/in>, 9990, SEEK_SET) = 9990",
    "1 read(3</w/in>, \"\"..., 700) = 10",
    "1 read(3</w/in>, \"\"..., 700) = 0",
    "1 mmap(NULL, 10000, PROT_READ, MAP_SHARED, 3</w/in>, 0) = 0x7f0000000000",
    "1 fadvise64(3</w/in>, 0, 0, POSIX_FADV_SEQUENTIAL) = 0",
    "1 fcntl(3</w/in>, F_GETFL) = 0x8000 (flags O_RDONLY|O_LARGEFILE)",
    "1 fcntl(3</w/in>, F_SETFD, FD_CLOEXEC) = 0",
    "1 fcntl(3</w/in>, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=1073741824, l_len=1}) = 0",
    "1 fcntl(3</w/in>, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=10, l_pid=0}) = 0",
    "1 fstatfs(3</w/in>, {f_type=EXT2_SUPER_MAGIC, f_bsize=4096, ...}) = 0",
    "1 statfs(\"/w/in\", {f_type=EXT2_SUPER_MAGIC, f_bsize=4096, ...}) = 0",
    "1 statfs(\"/w/none\", 0x7f) = -1 ENOENT (No such file or directory)",
    "1 getxattr(\"/w/in\", \"\"..., 0x7f, 128) = -1 ENODATA (No data available)",
    "1 fgetxattr(3</w/in>, \"\"..., 0x7f, 128) = -1 ENODATA (No data available)",
    "1 flock(3</w/in>, LOCK_EX|LOCK_NB) = 0",
    "1 flock(3</w/in>, LOCK_UN) = 0",
    "1 fcntl(3</w/in>, F_SETFL, O_RDONLY|O_NONBLOCK) = 0",
    "1 mkdir(\"/w/made\", 0777) = 0",
    "1 openat(AT_FDCWD</w>, \"made/out\", O_RDWR|O_CREAT|O_EXCL, 0666) = 4</w/made/out>",
    "1 write(4</w/made/out>, \"\"..., 100) = 100",
    "1 write(4</w/made/out>, \"\"..., 100) = 100",
    "1 fsync(4</w/made/out>) = 0",
    "1 pwrite64(4</w/made/out>, \"\"..., 50, 500) = 50",
    "1 ftruncate(4</w/made/out>, 300) = 0",
    "1 copy_file_range(3</w/in>, NULL, 4</w/made/out>, NULL, 1000, 0) = 0",
    "1 fchmod(4</w/made/out>, 0600) = 0",
    "1 dup(4</w/made/out>) = 5</w/made/out>",
    "1 close(5</w/made/out>) = 0",
    "1 close(4</w/made/out>) = 0",
    "1 rename(\"/w/made/out\", \"/w/made/final\") = 0",
    "1 link(\"/w/made/final\", \"/w/made/second\") = 0",
    "1 symlink(\"/etc/passwd\", \"/w/made/link\") = 0",
    "1 readlink(\"/w/made/link\", \"\"..., 100) = 11",
    "1 unlink(\"/w/old\") = 0",
    "1 stat(\"/w/none\", 0x7f) = -1 ENOENT (No such file or directory)",
    "1 openat(AT_FDCWD</w>, \"log\", O_WRONLY|O_APPEND) = 6</w/log>",
    "1 fstat(6</w/log>, {st_mode=S_IFREG|0644, st_size=40, ...}) = 0",
    "1 write(6</w/log>, \"\"..., 5) = 5",
    "1 fcntl(6</w/log>, F_OFD_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=9}) = 0",
    "1 fcntl(6</w/log>, F_OFD_SETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0",
    "1 truncate(\"/w/log\", 20) = 0",
    "1 openat(AT_FDCWD</w>, \"made\", O_RDONLY|O_DIRECTORY) = 7</w/made>",
    "1 getdents64(7</w/made>, 0x55 /* 5 entries */, 32768) = 120",
    "1 getdents64(7</w/made>, 0x55 /* 0 entries */, 32768) = 0",
];

/// One trial with all that is around it.
fn trial(scene: &Scene, root: &Path, levels: &Levels) -> Result<Measurement, Fault> {
    let (bytes, seed) = (scene.replay.file_bytes(), 7);
    let subject = Some(Subject { replay: Some(scene), ..Subject::file(root, bytes, seed) });
    let trial = Trial { levels, extent: Extent::Passes(1), subject, scratch: root };
    (WORKLOAD.around.prepare)(&trial)?;
    let done = (WORKLOAD.run)(&trial, &mut NoWindow)
        .and_then(|mut done| (WORKLOAD.around.verify)(&trial, &mut done).map(|()| done));
    (WORKLOAD.around.clear)(&trial)?;
    done
}

/// Names, and sizes of files, below a directory.
fn listing(root: &Path) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let size = if about.is_file() { about.len() } else { 0 };
        all.push((path.to_string_lossy().into_owned(), size));
        if about.is_dir() {
            all.extend(listing(&path));
        }
    }
    all.sort();
    all
}

/// Every method, sync and block: the calls come back as recorded, the files are what they are to
/// become, and afterwards what they were.
#[test]
fn every_way_comes_out_as_recorded_and_leaves_nothing() {
    let scene = scene(BUSY);
    assert_eq!(scene.replay.coverage.lost(), (0, 0), "{:?}", scene.replay.coverage.left_out);
    let made = Made::of(scene);
    let first = listing(&made.root);
    assert_eq!(first.len(), 4, "{first:?}");
    for method in METHODS {
        for sync in ReplaySync::WORDS {
            for (threads, block) in
                [(1, Level::word("recorded")), (2, Level::Number(300)), (3, Level::Number(1 << 20))]
            {
                let levels = Levels::new()
                    .with(Factor::Threads, Level::Number(threads))
                    .with(Factor::Method, Level::word(method.id))
                    .with(Factor::Sync, Level::word(*sync))
                    .with(Factor::Block, block);
                let done = match made.trial(&levels) {
                    Ok(done) => done,
                    // Nothing of it is aligned, and that is said.
                    Err(fault) if method.can(Capability::Direct) => {
                        assert!(fault.cause.contains("--block"), "{fault}");
                        continue;
                    }
                    Err(fault) if fault.cause.contains("io_uring") => {
                        skip("every_way_comes_out_as_recorded_and_leaves_nothing", &fault.cause);
                        continue;
                    }
                    Err(fault) => panic!("{levels:?}: {fault}"),
                };
                assert_eq!(listing(&made.root), first, "{levels:?}");
                assert_eq!((done.bytes, done.operations), (4265, BUSY.len() as u64), "{levels:?}");
            }
        }
    }
}

/// Files in whole blocks, a tail that is in none, and a read at the end of the file.
#[test]
fn what_is_aligned_goes_past_the_cache_and_comes_out_the_same() {
    let test = "what_is_aligned_goes_past_the_cache_and_comes_out_the_same";
    let scene = scene(&[
        "1 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in>",
        "1 fstat(3</w/in>, {st_mode=S_IFREG|0644, st_size=100000, ...}) = 0",
        "1 pread64(3</w/in>, \"\"..., 65536, 0) = 65536",
        "1 pread64(3</w/in>, \"\"..., 65536, 65536) = 34464",
        "1 pread64(3</w/in>, \"\"..., 100, 50) = 100",
        "1 openat(AT_FDCWD</w>, \"out\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 4</w/out>",
        "1 write(4</w/out>, \"\"..., 65536) = 65536",
        "1 write(4</w/out>, \"\"..., 34464) = 34464",
        "1 close(4</w/out>) = 0",
    ]);
    let made = Made::of(scene);
    if alignment_in(&made.root).is_none_or(|unit| 4096 % unit.offset_bytes.max(1) != 0) {
        return skip(test, "no direct I/O of blocks of 4 KiB");
    }
    let levels = Levels::new().with(Factor::Method, ReplayMethod::Direct.level());
    let done = made.trial(&levels).unwrap();
    let metric = |id| done.metrics.get(id).copied();
    assert_eq!(metric("direct_calls"), Some(3.0));
    assert_eq!(metric("direct_bytes"), Some(65536.0 + 34464.0 + 65536.0));
    assert_eq!(done.bytes, 2 * 100_000 + 100);
}

/// What of a file is in memory after its first block was read from the disk.
#[test]
fn advice_reaches_the_kernel() {
    let scene = scene(&[
        "1 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in>",
        "1 fstat(3</w/in>, {st_mode=S_IFREG|0644, st_size=4194304, ...}) = 0",
        "1 read(3</w/in>, \"\"..., 4096) = 4096",
    ]);
    let made = Made::of(scene);
    let file = fs::File::open(made.file()).unwrap();
    let resident = |advice: Option<ReplayReadahead>| {
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        assert_eq!(mincore_pages(&file, 4 << 20).unwrap(), 0);
        let levels = Levels::new();
        let levels =
            advice.map_or(levels.clone(), |advice| levels.with(Factor::Readahead, advice.level()));
        made.trial(&levels).unwrap();
        mincore_pages(&file, 4 << 20).unwrap()
    };
    if !may_mincore(&file) {
        return skip("advice_reaches_the_kernel", "mincore says nothing here");
    }
    let recorded = resident(None);
    if recorded == 1 {
        return skip("advice_reaches_the_kernel", "nothing is read ahead here");
    }
    assert_eq!(resident(Some(ReplayReadahead::Random)), 1);
    assert!(resident(Some(ReplayReadahead::Sequential)) > 1);
    assert_eq!(resident(Some(ReplayReadahead::Normal)), recorded);
}

/// 30 ms between two calls: the time of the trial has them where that is asked for.
#[test]
fn the_programs_own_time_passes_where_it_is_asked_for() {
    let log = "1 100.000000 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in> <0.000010>\n\
               1 100.030010 read(3</w/in>, \"\"..., 10) = 10 <0.000010>\n\
               1 100.030520 read(3</w/in>, \"\"..., 10) = 10 <0.000010>\n";
    let scene = Scene::new(parse(Cursor::new(log), &Limits::default()).unwrap(), 7);
    let made = Made::of(scene);
    let levels = Levels::new().with(Factor::Think, ReplayThink::Recorded.level());
    let done = made.trial(&levels).unwrap();
    assert_eq!((done.bytes, done.operations), (20, 3));
    assert!(done.wall_ns >= 30_500_000, "30 ms and 500 µs: {done:?}");
    // The same passes, and is no part of the time.
    let (began, levels) = (now_ns(), levels.with(Factor::Think, ReplayThink::Uncounted.level()));
    let done = made.trial(&levels).unwrap();
    assert!(now_ns() - began >= 30_500_000);
    assert!((1..30_000_000).contains(&done.wall_ns) && done.user_ns == 0, "three calls: {done:?}");
    assert!(done.metrics.get("clock_pair_ns").is_some_and(|ns| *ns > 0.0), "{:?}", done.metrics);
    // Of threads side by side the sum would say nothing.
    let levels = levels.with(Factor::Threads, Level::Number(2));
    let why = impossible("replay", &levels).unwrap();
    assert!(why.contains("--threads") && why.contains("--think none"), "{why}");
    let levels = levels.with(Factor::Threads, Level::word("recorded"));
    assert_eq!(impossible("replay", &levels), None);
}

#[test]
fn a_call_that_comes_back_otherwise_is_a_fault_that_names_it() {
    let scene = scene(&[
        "1 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in>",
        "1 read(3</w/in>, \"\"..., 100) = 100",
        "1 read(3</w/in>, \"\"..., 100) = 50",
    ]);
    let made = Made::of(scene);
    fs::File::options().write(true).open(made.file()).unwrap().set_len(120).unwrap();
    let fault = made.trial(&Levels::new()).unwrap_err();
    assert_eq!(fault.doing, "replay read of the copy of /w/in at byte 100");
    assert!(fault.cause.contains("with 20 and was recorded with 50"), "{}", fault.cause);
    // What is not known is made anew, and then it comes out.
    made.trial(&Levels::new()).unwrap();
}

/// Names of others, with links in the way: what they name is not touched, and nothing is followed.
#[test]
fn a_hostile_trace_stays_below_its_directory() {
    let dir = directory();
    let victim = dir.path().join("victim");
    fs::write(&victim, "untouched").unwrap();
    let victim_name = victim.to_string_lossy().into_owned();
    let lines = [
        format!("1 openat(AT_FDCWD</>, \"{victim_name}\", O_WRONLY|O_TRUNC) = 3<{victim_name}>"),
        format!("1 write(3<{victim_name}>, \"\"..., 5) = 5"),
        format!("1 unlink(\"{victim_name}\") = 0"),
        format!("1 symlink(\"{victim_name}\", \"/x\") = 0"),
        "1 openat(AT_FDCWD</>, \"../../victim\", O_WRONLY|O_CREAT, 0666) = 4</../../victim>".into(),
        "1 rename(\"../victim\", \"../../etc\") = 0".into(),
        "1 chmod(\"/x\", 0777) = 0".into(),
        "1 truncate(\"../victim\", 0) = 0".into(),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let mut scene = scene(&lines);
    // And a file of somebody's making, whose names were never cleaned.
    for (at, file) in scene.trace.files.iter_mut().enumerate() {
        if at % 2 == 1 {
            file.name = [&b"../"[..], &file.name].concat();
        }
    }
    scene = Scene::new(scene.trace, 7);
    let made = Made::below(dir, scene);
    let before = listing(&made.root);
    let _ = made.trial(&Levels::new());
    assert_eq!(listing(&made.root), before);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    let names: Vec<_> =
        fs::read_dir(made.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// A parent writes, its child reads what it wrote, again and again.
#[test]
fn threads_come_in_the_recorded_order() {
    let mut lines = vec![
        "1 openat(AT_FDCWD</w>, \"a\", O_RDWR|O_CREAT|O_EXCL, 0666) = 3</w/a>".to_owned(),
        "1 clone(child_stack=NULL, flags=SIGCHLD) = 2".to_owned(),
        "2 openat(AT_FDCWD</w>, \"a\", O_RDONLY) = 4</w/a>".to_owned(),
    ];
    for _ in 0..200 {
        lines.push("1 write(3</w/a>, \"\"..., 10) = 10".to_owned());
        lines.push("2 read(4</w/a>, \"\"..., 100) = 10".to_owned());
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let scene = scene(&lines);
    let made = Made::of(scene);
    for _ in 0..20 {
        let done = made.trial(&Levels::new()).unwrap();
        assert_eq!(done.bytes, 4000);
    }
}
