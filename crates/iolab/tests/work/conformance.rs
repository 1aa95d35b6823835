//! Every method and every operation in the catalog, by being listed there: the right bytes, the
//! right digest, the right count, for every awkward size, order, consumer and number of threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use iolab_io::method::{METHODS, NoWindow};
use iolab_io::workload::{Extent, Subject, Trial};
use iolab_io::{host, method, workload};
use iolab_model::catalog::{Capability, Factor, Level, Levels, Part, Pattern};
use iolab_model::result::{Fault, Measurement};
use iolab_test::files::{directory, noise};

const SEED: u64 = 77;

fn read(levels: &Levels, extent: Extent, path: &Path, bytes: u64) -> Result<Measurement, Fault> {
    let subject = Some(Subject::file(path, bytes, SEED));
    let trial = Trial { levels, extent, subject, scratch: Path::new("/nonexistent") };
    (workload::find("read").unwrap().run)(&trial, &mut NoWindow)
}

fn cell(method: &str, block: u64, pattern: &str, consume: &str, threads: u64) -> Levels {
    Levels::new()
        .with(Factor::Method, Level::word(method))
        .with(Factor::Block, Level::Number(block))
        .with(Factor::Pattern, Level::word(pattern))
        .with(Factor::Consume, Level::word(consume))
        .with(Factor::Threads, Level::Number(threads))
}

/// By the definitions, the slow way.
fn digest(consume: &str, content: &[u8], step: u64, sequential: bool) -> Option<String> {
    match consume {
        "xor" => {
            let mut words = [0_u8; 4];
            content.iter().enumerate().for_each(|(i, b)| words[i % 4] ^= b);
            Some(format!("{:08x}", u32::from_le_bytes(words)))
        }
        "histogram" => {
            let mut counts = [0_u64; 256];
            content.iter().for_each(|b| counts[usize::from(*b)] += 1);
            let mut hash = 0xcbf2_9ce4_8422_2325_u64;
            for byte in counts.iter().flat_map(|c| c.to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
            Some(format!("{hash:016x}"))
        }
        "crc32c" if sequential => Some(format!("{:08x}", crc32c(content))),
        "crc32c" => {
            let sum: u64 = content.chunks(step as usize).map(|b| u64::from(crc32c(b))).sum();
            Some(format!("{sum:016x}"))
        }
        _ => None,
    }
}

/// Bit by bit (RFC 3720, reflected polynomial 0x82f63b78).
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| {
            if c & 1 == 1 { (c >> 1) ^ 0x82f6_3b78 } else { c >> 1 }
        })
    })
}

const PATTERNS: [&str; 5] = ["sequential", "random", "reverse", "stride:3", "stride:1000"];
const CONSUMERS: [&str; 4] = ["none", "xor", "histogram", "crc32c"];

/// The methods that read and can be had here; the others are named.
fn readers(directory: &Path) -> Vec<&'static Part> {
    let missing = host::unavailable_methods(directory, true);
    let reads = METHODS.iter().filter(|part| part.capabilities.contains(&Capability::Read));
    reads
        .filter(|part| {
            let why = missing.get(part.id);
            why.inspect(|why| eprintln!("SKIP {}: {why}", part.id)).is_none()
        })
        .collect()
}

/// One file, every method × pattern × consumer × threads at this block, two passes each.
fn every_way_of_reading(path: &Path, content: &[u8], block: u64, chosen: fn(&Part) -> bool) {
    let size = content.len() as u64;
    // The slow way once for all methods.
    let mut rights = BTreeMap::new();
    for part in readers(path.parent().unwrap()).into_iter().filter(|part| chosen(part)) {
        let entry = method::find(part.id).unwrap().read.as_ref().unwrap();
        // The rarer methods share their loops with the others.
        let (patterns, consumers) = match part.by_name_only {
            true => (&PATTERNS[..3], &["xor", "crc32c"][..]),
            false => (&PATTERNS[..], &CONSUMERS[..]),
        };
        for pattern in patterns.iter().copied() {
            let parsed: Pattern = pattern.parse().unwrap();
            let step = (entry.step_bytes)(block, parsed);
            for consume in consumers.iter().copied() {
                let sequential = parsed == Pattern::Sequential;
                let right = rights
                    .entry((consume, step, sequential))
                    .or_insert_with(|| digest(consume, content, step, sequential));
                for threads in [1, 3] {
                    let levels = cell(part.id, block, pattern, consume, threads);
                    let seen = read(&levels, Extent::Passes(2), path, size).unwrap();
                    let what = format!("{levels:?} on {size} bytes");
                    assert_eq!(seen.bytes, 2 * size, "{what}");
                    assert_eq!(seen.operations, 2 * size.div_ceil(step), "{what}");
                    assert!(seen.wall_ns > 0 && seen.repetitions == 2, "{what}");
                    let hex = seen.proof.digest.clone().map(|d| (d.hex, d.matches));
                    let right = right.clone().filter(|_| entry.real).map(|hex| (hex, None));
                    assert_eq!(hex, right, "{what}");
                }
            }
        }
    }
}

#[test]
fn every_method_reads_every_awkward_size() {
    let dir = directory();
    for block in [512, 4096, 1003] {
        for size in [0, 1, block - 1, block, block + 1, 2 * block + 3, 7 * block] {
            let (path, content) = (dir.path().join("f"), noise(size as usize));
            std::fs::write(&path, &content).unwrap();
            every_way_of_reading(&path, &content, block, |_| true);
        }
    }
}

#[test]
fn a_mapping_reads_sizes_around_its_window_and_pages() {
    let dir = directory();
    for size in [4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) + 4099] {
        let (path, content) = (dir.path().join("f"), noise(size));
        std::fs::write(&path, &content).unwrap();
        every_way_of_reading(&path, &content, 1 << 20, |p| p.ignores.contains(&Factor::Block));
    }
}

#[test]
fn one_byte_blocks_have_the_same_xor() {
    let dir = directory();
    let (path, content) = (dir.path().join("f"), noise(1003));
    std::fs::write(&path, &content).unwrap();
    every_way_of_reading(&path, &content, 1, |_| true);
    every_way_of_reading(&path, &content, 3, |_| true);
}

#[test]
fn holes_are_read_as_zeros() {
    let dir = directory();
    let path = dir.path().join("sparse");
    let file = File::create(&path).unwrap();
    let (size, at) = (300_001, 200_000);
    file.set_len(size).unwrap();
    file.write_all_at(b"an island", at).unwrap();
    let mut content = vec![0; size as usize];
    content[at as usize..][..9].copy_from_slice(b"an island");
    every_way_of_reading(&path, &content, 4096, |_| true);
    file.set_len(0).unwrap();
    file.set_len(70_000).unwrap();
    every_way_of_reading(&path, &[0; 70_000], 4096, |_| true);
}

/// Bounded trials that go on where the last one stopped see the whole file once: the XOR of their
/// digests is the file's.
#[test]
fn bounded_trials_visit_the_whole_file() {
    let dir = directory();
    let (path, content) = (dir.path().join("f"), noise(24 * 4096 - 77));
    std::fs::write(&path, &content).unwrap();
    let size = content.len() as u64;
    for part in readers(dir.path()) {
        let entry = method::find(part.id).unwrap().read.as_ref().unwrap();
        for pattern in PATTERNS {
            for threads in [1, 2, 3] {
                let step = (entry.step_bytes)(4096, pattern.parse().unwrap());
                let blocks = size.div_ceil(step);
                // Lanes of equal length wrap together, so that each block is seen exactly once.
                if !blocks.is_multiple_of(threads) {
                    continue;
                }
                let levels = cell(part.id, 4096, pattern, "xor", threads);
                let (mut xor, mut bytes, mut first_operation) = (0, 0, 0);
                while first_operation < blocks {
                    let operations = 5.min(blocks - first_operation);
                    let extent = Extent::Part { first_operation, operations };
                    let seen = read(&levels, extent, &path, size).unwrap();
                    assert_eq!((seen.operations, seen.repetitions), (operations, 1));
                    let digest = seen.proof.digest.clone().map(|digest| digest.hex);
                    xor ^= digest.map_or(0, |hex| u32::from_str_radix(&hex, 16).unwrap());
                    bytes += seen.bytes;
                    first_operation += operations;
                }
                assert_eq!(bytes, size, "{levels:?}");
                if entry.real {
                    assert_eq!(Some(format!("{xor:08x}")), digest("xor", &content, 1, true));
                }
            }
        }
    }
}

#[test]
fn a_file_that_lost_its_tail_is_a_fault_and_no_short_measurement() {
    let dir = directory();
    let path = dir.path().join("f");
    std::fs::write(&path, noise(10_000)).unwrap();
    for method in ["read", "pread", "readv", "preadv2", "io_uring", "splice", "sendfile"] {
        if !readers(dir.path()).iter().any(|part| part.id == method) {
            continue;
        }
        for threads in [1, 2] {
            let levels = cell(method, 4096, "sequential", "xor", threads);
            let fault = read(&levels, Extent::Passes(1), &path, 20_000).unwrap_err();
            assert!(fault.cause.contains("shorter"), "{fault}");
            assert!(fault.doing.contains("/f"), "it names the file: {fault}");
        }
    }
    let levels = cell("read", 4096, "sequential", "xor", 2);
    let gone = read(&levels, Extent::Passes(1), &dir.path().join("none"), 10).unwrap_err();
    assert_eq!(gone.errno, Some(2));
}

/// Requests that overtake each other change neither the bytes nor, for a CRC of the file, their
/// order; and direct reads see the same bytes, a tail that is no whole unit too.
#[test]
fn any_depth_reads_the_same_bytes_cached_or_direct() {
    let dir = directory();
    let (path, content) = (dir.path().join("f"), noise(37 * 4096 + 777));
    std::fs::write(&path, &content).unwrap();
    let missing = host::unavailable_methods(dir.path(), true);
    for part in readers(dir.path()) {
        let deep = !part.ignores.contains(&Factor::QueueDepth);
        let direct =
            part.capabilities.contains(&Capability::Direct) && !missing.contains_key("direct=on");
        for (pattern, consume) in
            [("sequential", "crc32c"), ("random", "crc32c"), ("reverse", "xor")]
        {
            for depth in if deep { vec![1, 2, 7, 64] } else { vec![1] } {
                for way in if direct { vec!["off", "on"] } else { vec!["off"] } {
                    for latency in ["off", "on"] {
                        let levels = cell(part.id, 4096, pattern, consume, 1 + depth % 2)
                            .with(Factor::QueueDepth, Level::Number(depth))
                            .with(Factor::Direct, Level::word(way))
                            .with(Factor::Latency, Level::word(latency));
                        let entry = method::find(part.id).unwrap().read.as_ref().unwrap();
                        let step = (entry.step_bytes)(4096, pattern.parse().unwrap());
                        let seen = read(&levels, Extent::Passes(2), &path, content.len() as u64);
                        let seen = seen.unwrap();
                        let right = digest(consume, &content, step, pattern == "sequential");
                        let hex = seen.proof.digest.clone().map(|d| d.hex);
                        assert_eq!(hex, right.filter(|_| entry.real), "{levels:?}");
                        let told = seen.metrics.contains_key("latency_max_ns");
                        assert_eq!(told, latency == "on", "{levels:?}");
                        let timed = seen.metrics.get("timed_operations").copied();
                        let all = seen.operations as f64;
                        assert_eq!(timed, told.then_some(all), "{levels:?}");
                        let p50 = seen.metrics.get("latency_p50_ns").copied();
                        assert!(p50.is_none_or(|ns| ns <= seen.wall_ns as f64), "{levels:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn impossible_levels_are_refused_in_words() {
    let path = Path::new("/dev/null");
    let refused = |levels: &Levels| read(levels, Extent::Passes(1), path, 10).unwrap_err();
    assert!(refused(&cell("teleport", 1, "random", "xor", 1)).cause.contains("teleport"));
    assert!(refused(&cell("read", 1, "sideways", "xor", 1)).cause.contains("stride:N"));
    assert!(refused(&cell("read", 1, "random", "sha", 1)).cause.contains("histogram"));
    assert!(refused(&cell("read", 0, "random", "xor", 1)).cause.contains("blocks of 0 bytes"));
    assert!(refused(&cell("read", 1, "random", "xor", 0)).cause.contains("0 threads"));
    let levels = cell("read", 1, "random", "xor", 1);
    assert!(read(&levels, Extent::Passes(0), path, 10).unwrap_err().cause.contains("no pass"));
    assert!(refused(&cell("pread", 2 << 30, "random", "xor", 1)).cause.contains("1 GiB"));
    let deep = |depth| {
        let levels = cell("pread", 1, "random", "xor", 1);
        levels.with(Factor::QueueDepth, Level::Number(depth))
    };
    assert!(refused(&deep(0)).cause.contains("queue depth"));
    assert!(refused(&deep(1 << 40)).cause.contains("queue depth"));
    let levels = cell("mmap", 1, "random", "xor", 1).with(Factor::Direct, Level::word("on"));
    assert!(refused(&levels).cause.contains("cannot bypass"));
}

/// Signals with a handler arrive all the time; the bytes stay right.
#[test]
fn a_storm_of_signals_changes_nothing() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let dir = directory();
    let (path, content) = (dir.path().join("f"), noise(3 << 20));
    std::fs::write(&path, &content).unwrap();
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
        let all = readers(dir.path()).into_iter();
        for part in all.filter(|p| method::find(p.id).unwrap().read.as_ref().unwrap().real) {
            let levels = cell(part.id, 1 << 16, "sequential", "crc32c", 2);
            let measured = read(&levels, Extent::Passes(5), &path, 3 << 20).unwrap();
            assert_eq!(
                measured.proof.digest.clone().map(|d| d.hex),
                digest("crc32c", &content, 1, true)
            );
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(seen.load(Ordering::Relaxed));
}

/// Counters of this process; other tests run beside, so they can only be larger.
fn calls_so_far(field: &str) -> Option<u64> {
    let io = std::fs::read_to_string("/proc/self/io").ok()?;
    io.lines().find_map(|line| line.strip_prefix(field)?.trim().parse().ok())
}

#[test]
fn every_operation_makes_its_calls() {
    let dir = directory();
    for part in workload::operations() {
        for (block, idle) in [(1, 0), (1, 1), (4096, 0), (70_000, 2)] {
            let levels = Levels::new()
                .with(Factor::Operation, Level::word(part.id))
                .with(Factor::Block, Level::Number(block))
                .with(Factor::IdleThreads, Level::Number(idle));
            let calls = 503;
            let trial = Trial {
                levels: &levels,
                extent: Extent::Passes(calls),
                subject: None,
                scratch: dir.path(),
            };
            let counter = match part.id {
                "read" | "pread" => Some("syscr:"),
                "write" | "pwrite" => Some("syscw:"),
                _ => None,
            };
            let before = counter.and_then(calls_so_far);
            let run = workload::find("syscall").unwrap().run;
            let seen = run(&trial, &mut NoWindow).unwrap();
            assert_eq!((seen.operations, seen.repetitions), (calls, calls), "{}", part.id);
            let moves = !part.ignores.contains(&Factor::Block);
            assert_eq!(seen.bytes, if moves { calls * block } else { 0 }, "{}", part.id);
            assert!(seen.wall_ns > 0 && seen.proof.digest.is_none());
            if let (Some(before), Some(after)) = (before, counter.and_then(calls_so_far)) {
                assert!(after - before >= calls, "{} made {} calls", part.id, after - before);
            }
        }
    }
}

#[test]
fn operations_on_a_bad_scratch_directory_or_block_are_faults() {
    let run = |block: u64, scratch: &Path| {
        let levels = Levels::new()
            .with(Factor::Operation, Level::word("read"))
            .with(Factor::Block, Level::Number(block));
        let trial = Trial { levels: &levels, extent: Extent::Passes(9), subject: None, scratch };
        (workload::find("syscall").unwrap().run)(&trial, &mut NoWindow).unwrap_err()
    };
    assert_eq!(run(1, Path::new("/nonexistent")).errno, Some(2));
    let dir = directory();
    assert!(run(0, dir.path()).cause.contains("64 MiB"));
    assert!(run(1 << 40, dir.path()).cause.contains("64 MiB"));
}
