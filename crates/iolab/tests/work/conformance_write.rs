//! Every method of the catalog that can write, by being listed there: the right bytes at the right
//! offsets, the right size and the right count, for every awkward size, order, sync and target.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use iolab_io::method::{METHODS, NoWindow, Pool};
use iolab_io::workload::{Extent, Subject, Trial, Workload};
use iolab_io::{method, workload};
use iolab_model::catalog::{Capability, Code, Factor, Level, Levels, Pattern};
use iolab_model::result::{Fault, Measurement};
use iolab_test::files::directory;

const SEED: u64 = 77;
/// What a file holds before it is appended to.
const HEAD_BYTES: usize = 1 << 20;

fn writers() -> impl Iterator<Item = &'static str> {
    let can = |part: &&iolab_model::catalog::Part| part.capabilities.contains(&Capability::Write);
    METHODS.iter().filter(can).map(|part| part.id)
}

fn write() -> &'static Workload {
    workload::find("write").unwrap()
}

fn cell(words: &[(Factor, &str)], block: u64, threads: u64) -> Levels {
    let levels = Levels::new()
        .with(Factor::Block, Level::Number(block))
        .with(Factor::Threads, Level::Number(threads));
    words.iter().fold(levels, |levels, (factor, word)| levels.with(*factor, Level::word(*word)))
}

/// A trial on files in one directory.
struct Bench {
    dir: tempfile::TempDir,
    bytes: u64,
}

impl Bench {
    fn new(bytes: u64) -> Bench {
        Bench { dir: directory(), bytes }
    }

    fn subject(&self) -> PathBuf {
        self.dir.path().join("subject")
    }

    fn written(&self, levels: &Levels) -> PathBuf {
        match levels.text(Factor::Target) {
            Some("overwrite") => self.subject(),
            _ => self.dir.path().join("written"),
        }
    }

    /// Prepared, run, looked at by `look`, verified, cleared.
    fn trial(
        &self,
        levels: &Levels,
        extent: Extent,
        look: impl FnOnce(&Path),
    ) -> Result<Measurement, Fault> {
        let path = self.subject();
        let subject = Some(Subject::file(&path, self.bytes, SEED));
        let trial = Trial { levels, extent, subject, scratch: self.dir.path() };
        let around = &write().around;
        let measured = (around.prepare)(&trial).and_then(|()| {
            let mut measurement = (write().run)(&trial, &mut NoWindow)?;
            look(&self.written(levels));
            (around.verify)(&trial, &mut measurement)?;
            Ok(measurement)
        });
        (around.clear)(&trial).unwrap();
        (around.clear)(&trial).unwrap();
        assert!(!self.dir.path().join("written").exists(), "{levels:?} leaves a file");
        measured
    }
}

/// The content by its definition: one block after the other.
fn content(step: u64, bytes: u64) -> Vec<u8> {
    let pool = Pool::new("random".parse().unwrap(), SEED, step, bytes).unwrap();
    let blocks = (0..bytes.div_ceil(step)).flat_map(|index| pool.block(index).to_vec());
    blocks.take(bytes as usize).collect()
}

fn step_of(id: &str, block: u64, pattern: &str) -> (u64, bool) {
    let entry = method::find(id).unwrap().write.as_ref().unwrap();
    let pattern: Pattern = pattern.parse().unwrap();
    ((entry.step_bytes)(block, pattern), entry.real)
}

/// One whole pass, and every byte of the file looked at here.
fn whole(bench: &Bench, id: &str, block: u64, threads: u64, more: &[(Factor, &str)]) {
    let words = [&[(Factor::Method, id)], more].concat();
    let levels = cell(&words, block, threads);
    if workload::impossible("write", &levels).is_some() {
        return;
    }
    let what = format!("{levels:?} of {} bytes", bench.bytes);
    let pattern = levels.text(Factor::Pattern).unwrap_or("sequential").to_owned();
    let (step, real) = step_of(id, block, &pattern);
    let head = if levels.text(Factor::Target) == Some("append") { HEAD_BYTES } else { 0 };
    let look = |path: &Path| {
        if real {
            let file = fs::read(path).unwrap();
            assert_eq!(file.len() as u64, head as u64 + bench.bytes, "{what}");
            assert!(file[head..] == content(step, bench.bytes), "{what}: other bytes");
        }
    };
    let seen =
        bench.trial(&levels, Extent::Passes(1), look).unwrap_or_else(|f| panic!("{what}: {f}"));
    assert_eq!((seen.bytes, seen.repetitions), (bench.bytes, 1), "{what}");
    assert_eq!(seen.operations, bench.bytes.div_ceil(step), "{what}");
    let matches = seen.proof.digest.as_ref().map(|digest| digest.matches);
    assert_eq!(matches, real.then_some(Some(true)), "{what}");
    assert!(seen.flags.is_empty() && seen.wall_ns > 0, "{what}: {:?}", seen.flags);
}

const PATTERNS: [&str; 5] = ["sequential", "random", "reverse", "stride:3", "stride:1000"];
const SYNCS: [&str; 7] = ["none", "end", "fsync", "fdatasync", "dsync", "sync", "every:3"];
const TARGETS: [&str; 4] = ["new", "overwrite", "preallocated", "append"];

#[test]
fn every_method_writes_every_awkward_size_in_every_order() {
    for block in [512, 4096, 1003] {
        for size in [0, 1, block - 1, block, block + 1, 2 * block + 3, 7 * block] {
            let bench = Bench::new(size);
            for id in writers() {
                for pattern in PATTERNS {
                    for threads in [1, 3] {
                        // The disk is not the subject here.
                        let more = [(Factor::Pattern, pattern), (Factor::Until, "return")];
                        whole(&bench, id, block, threads, &more);
                    }
                }
            }
        }
    }
}

#[test]
fn a_mapping_writes_sizes_around_its_window_and_pages() {
    for size in [4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) + 4099] {
        let bench = Bench::new(size);
        for pattern in ["sequential", "random"] {
            let more = [(Factor::Pattern, pattern), (Factor::Until, "return")];
            whole(&bench, "mmap", 4096, 2, &more);
        }
    }
}

#[test]
fn every_sync_and_target_leaves_the_same_bytes() {
    let bench = Bench::new(3 * 4096 + 5);
    fs::write(bench.subject(), vec![0xee; bench.bytes as usize]).unwrap();
    for id in writers() {
        for sync in SYNCS {
            for target in TARGETS {
                whole(&bench, id, 4096, 1, &[(Factor::Sync, sync), (Factor::Target, target)]);
            }
        }
    }
}

#[test]
fn one_byte_at_a_time_is_the_same_file() {
    let bench = Bench::new(1003);
    for id in writers() {
        whole(&bench, id, 1, 1, &[(Factor::Until, "close")]);
        whole(&bench, id, 1, 3, &[(Factor::Pattern, "random"), (Factor::Until, "return")]);
    }
}

/// Parts of a file that is there go on where the last one stopped; one that grows grows anew.
#[test]
fn bounded_trials_write_what_they_say() {
    let bench = Bench::new(24 * 4096 - 77);
    fs::write(bench.subject(), vec![0xee; bench.bytes as usize]).unwrap();
    let part = |levels: &Levels, first_operation, look: &dyn Fn(&Path)| {
        let extent = Extent::Part { first_operation, operations: 8 };
        let seen = bench.trial(levels, extent, look).unwrap();
        assert_eq!((seen.operations, seen.repetitions), (8, 1));
        assert_eq!(seen.proof.digest.as_ref().unwrap().matches, Some(true));
    };
    for id in ["write", "pwrite", "writev"] {
        for pattern in ["sequential", "random", "stride:5"] {
            let words =
                [(Factor::Method, id), (Factor::Pattern, pattern), (Factor::Target, "overwrite")];
            fs::write(bench.subject(), vec![0xee; bench.bytes as usize]).unwrap();
            for first in [0, 8, 16] {
                part(&cell(&words, 4096, 2), first, &|_| {});
            }
            assert!(fs::read(bench.subject()).unwrap() == content(4096, bench.bytes), "{words:?}");
        }
        let grows = cell(&[(Factor::Method, id), (Factor::Target, "new")], 4096, 1);
        let size = |path: &Path| assert_eq!(fs::metadata(path).unwrap().len(), 8 * 4096);
        part(&grows, 16, &size);
    }
}

#[test]
fn what_was_not_written_is_seen() {
    let bench = Bench::new(5 * 4096);
    let spoilt = |spoil: &dyn Fn(&Path)| {
        let levels = cell(&[(Factor::Method, "pwrite")], 4096, 1);
        bench.trial(&levels, Extent::Passes(1), spoil)
    };
    let open = |path: &Path| File::options().write(true).open(path).unwrap();
    let flipped = spoilt(&|path| open(path).write_all_at(b"x", 9000).unwrap()).unwrap();
    let cut = spoilt(&|path| open(path).set_len(4 * 4096).unwrap()).unwrap();
    let grown = spoilt(&|path| open(path).set_len(6 * 4096).unwrap()).unwrap();
    for seen in [flipped, cut, grown] {
        assert_eq!(seen.proof.digest.as_ref().unwrap().matches, Some(false));
        assert!(!seen.proof.holds() && seen.flags.contains(&Code::CheckFailed));
    }
    let gone = spoilt(&|path| fs::remove_file(path).unwrap()).unwrap_err();
    assert!(gone.cause.contains("removes files") && gone.errno == Some(2), "{gone}");
}

/// Every block is counted once, whatever follows it.
#[test]
fn latency_records_each_block() {
    let bench = Bench::new(300 * 512);
    for id in writers() {
        for threads in [1, 2] {
            let words = [(Factor::Method, id), (Factor::Latency, "on"), (Factor::Until, "return")];
            let levels = cell(&words, 512, threads);
            let seen = bench.trial(&levels, Extent::Passes(1), |_| {}).unwrap();
            let (step, real) = step_of(id, 512, "sequential");
            let told = |id: &str| seen.metrics.get(id).copied();
            if !real {
                continue;
            }
            assert_eq!(told("timed_operations"), Some(seen.operations as f64), "{id}");
            let greatest = told("latency_max_ns").unwrap();
            assert!(greatest > 0.0 && greatest <= seen.wall_ns as f64, "{id}: {greatest}");
            assert_eq!(told("latency_p99_ns").is_some(), step == 512, "{id}: 100 blocks or more");
            assert!(told("latency_p50_ns").is_none_or(|ns| ns <= greatest));
        }
    }
}

/// Requests under way together, more and fewer of them than blocks of the pool.
#[test]
fn any_queue_depth_writes_the_same_bytes() {
    let bench = Bench::new(5 * 4096 + 7);
    for depth in [1, 3, 8, 64] {
        let words = [(Factor::Method, "io_uring"), (Factor::Until, "close")];
        for pattern in PATTERNS {
            let levels = cell(&words, 4096, 2)
                .with(Factor::QueueDepth, Level::Number(depth))
                .with(Factor::Pattern, Level::word(pattern));
            let right = |path: &Path| {
                assert!(fs::read(path).unwrap() == content(4096, bench.bytes), "{levels:?}");
            };
            match bench.trial(&levels, Extent::Passes(1), right) {
                Ok(seen) => assert_eq!(seen.proof.digest.as_ref().unwrap().matches, Some(true)),
                Err(fault) if fault.cause.contains("io_uring cannot be set up") => {
                    return eprintln!("SKIP any_queue_depth_writes_the_same_bytes: {fault}");
                }
                Err(fault) => panic!("{fault}"),
            }
        }
    }
    let levels = cell(&[(Factor::Method, "io_uring")], 4096, 1)
        .with(Factor::QueueDepth, Level::Number(1 << 20));
    let fault = bench.trial(&levels, Extent::Passes(1), |_| {}).unwrap_err();
    assert!(fault.cause.contains("4096"), "{fault}");
}

#[test]
fn times_come_in_their_order_and_end_where_they_are_asked_to() {
    let bench = Bench::new(64 << 10);
    for sync in SYNCS {
        for until in ["return", "close", "durable", "namespace"] {
            let words = [(Factor::Method, "write"), (Factor::Sync, sync), (Factor::Until, until)];
            let levels = cell(&words, 4096, 1);
            let seen = bench.trial(&levels, Extent::Passes(1), |_| {}).unwrap();
            let time = |id: &str| seen.metrics.get(id).map(|ns| *ns as u64);
            assert_eq!(time(&format!("{until}_ns")), Some(seen.wall_ns), "{sync} {until}");
            assert!(time("return_ns") <= time("close_ns"));
            let waits = ["durable", "namespace"].contains(&until);
            if waits {
                assert!(time("return_ns") <= time("durable_ns"), "{sync} {until}");
                assert!(time("durable_ns") <= time("namespace_ns"), "{sync} {until}");
                assert!(time("sync_ns") > Some(0), "{sync} {until}");
            }
            assert_eq!(time("namespace_ns").is_some(), waits, "{sync} {until}");
            let per_byte = seen.wall_ns as f64 / seen.bytes as f64;
            assert_eq!(seen.metrics["ns_per_byte"], per_byte);
        }
    }
}

#[test]
fn impossible_levels_are_refused_in_words() {
    let bench = Bench::new(10);
    let refused = |words: &[(Factor, &str)], block, threads| {
        let levels = cell(words, block, threads);
        bench.trial(&levels, Extent::Passes(1), |_| {}).unwrap_err().cause
    };
    let one = |factor, word: &str| refused(&[(Factor::Method, "write"), (factor, word)], 4096, 1);
    assert!(one(Factor::Method, "read").contains("no method"));
    assert!(one(Factor::Sync, "always").contains("every:N"));
    assert!(one(Factor::Fill, "compressible:101").contains("100"));
    assert!(one(Factor::Target, "old").contains("preallocated"));
    assert!(one(Factor::Until, "later").contains("namespace"));
    assert!(refused(&[], 4096, 0).contains("0 threads"));
    assert!(refused(&[], 0, 1).contains("blocks of 0 bytes"));
    assert!(refused(&[], 2 << 30, 1).contains("1 GiB"));
    let append = (Factor::Target, "append");
    assert!(refused(&[(Factor::Method, "write"), append], 1, 2).contains("--threads 1"));
    let mapped = (Factor::Method, "mmap");
    assert!(refused(&[mapped, append], 1, 1).contains("does not grow"));
    assert!(refused(&[mapped, (Factor::Sync, "dsync")], 1, 1).contains("--sync end"));
    let levels = cell(&[(Factor::Method, "write")], 4096, 1);
    assert!(bench.trial(&levels, Extent::Passes(0), |_| {}).unwrap_err().cause.contains("no pass"));
}

/// Signals with a handler arrive all the time; the bytes stay right.
#[test]
fn a_storm_of_signals_changes_nothing() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let (seen, done) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGALRM, Arc::clone(&seen)).unwrap();
    let bench = Bench::new(3 << 20);
    let pid = rustix::process::getpid();
    std::thread::scope(|scope| {
        let storm = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                rustix::process::kill_process(pid, rustix::process::Signal::ALARM).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        });
        for id in writers() {
            whole(&bench, id, 64 << 10, 2, &[(Factor::Sync, "every:8")]);
        }
        done.store(true, Ordering::Relaxed);
        storm.join().unwrap();
    });
    assert!(seen.load(Ordering::Relaxed), "no signal came");
}
