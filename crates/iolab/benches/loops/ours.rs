//! The same pieces of work through iolab's own workloads, one a process, time in nanoseconds.

use std::path::Path;

use iolab_io::method::consume::Fold;
use iolab_io::method::copy::{self, CopyJob, Holes, Work};
use iolab_io::method::latency::{Watch, Watched};
use iolab_io::method::{Histogram, NoWindow};
use iolab_io::sys::{clock::now_ns, fold::xor32};
use iolab_io::workload::replay::Scene;
use iolab_io::workload::{self, Extent, Subject, Trial};
use iolab_model::catalog::{Factor, Level, Levels};

/// Does what the words say, as bare.c does.
pub fn run(words: &[String]) -> u64 {
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    match words[0].as_str() {
        "meta" => meta(&words[1], number(2), Path::new(&words[3]), number(4), None),
        "meta-latency" => meta(&words[1], number(2), Path::new(&words[3]), number(4), Some("on")),
        "replay" => replay(&words[1], number(2), Path::new(&words[3])),
        "calls" => calls(&words[1], number(2), Path::new(&words[3])),
        "read" => read(&words[1], number(2), number(3), Path::new(&words[4]), number(5)),
        "write" => write(&words[1], number(2), number(3), Path::new(&words[4])),
        "part" => part(number(1), number(2), Path::new(&words[3])),
        "whole" => whole(&words[1], number(2), Path::new(&words[3]), Path::new(&words[4])),
        "fold" => fold(number(1) as usize, number(2)),
        "histogram" => histogram(words[1] == "random", number(2) as usize, number(3)),
        "clock" => recorded(number(1)),
        other => panic!("no work is called {other:?}"),
    }
}

/// The file stands in the scratch directory under the name that the workload gives it.
fn calls(operation: &str, calls: u64, file: &Path) -> u64 {
    let levels = Levels::new().with(Factor::Operation, Level::word(operation));
    let scratch = file.parent().unwrap();
    let trial = Trial { levels: &levels, extent: Extent::Passes(calls), subject: None, scratch };
    (workload::find("syscall").unwrap().run)(&trial, &mut NoWindow).unwrap().wall_ns
}

/// The calls of `calls` as a recorded program would have made them, on a copy of its file beside it.
fn replay(operation: &str, calls: u64, file: &Path) -> u64 {
    let said = |number: u64| match operation {
        "read" => "read(3</w/f>, \"\"..., 1) = 1".to_owned(),
        "pread" => format!("pread64(3</w/f>, \"\"..., 1, {number}) = 1"),
        "write" => "write(3</w/f>, \"\"..., 1) = 1".to_owned(),
        "lseek" => "lseek(3</w/f>, 0, SEEK_SET) = 0".to_owned(),
        other => panic!("no call is named {other:?}"),
    };
    let open = "openat(AT_FDCWD</w>, \"f\", O_RDWR) = 3</w/f>".to_owned();
    let line = |(at, call): (usize, String)| {
        format!("1 {}.{:06} {call} <0.000001>\n", 100 + at / 1_000_000, at % 1_000_000)
    };
    let all = std::iter::once(open).chain((0..calls).map(said));
    let log: String = all.enumerate().map(line).collect();
    let trace = iolab_trace::parse(log.as_bytes(), &iolab_trace::Limits::default()).unwrap();
    let scene = Scene::new(trace, 1);
    let root = tempfile::tempdir_in(file.parent().unwrap()).unwrap();
    let path = root.path().join("files");
    workload::replay::make(&scene, &path, &|| true).unwrap();
    let levels = Levels::new();
    let subject = Subject { replay: Some(&scene), ..Subject::file(&path, calls, 1) };
    let (extent, subject) = (Extent::Passes(1), Some(subject));
    let trial = Trial { levels: &levels, extent, subject, scratch: &path };
    let replay = workload::find("replay").unwrap();
    (replay.around.prepare)(&trial).unwrap();
    (replay.run)(&trial, &mut NoWindow).unwrap().wall_ns
}

fn read(method: &str, threads: u64, passes: u64, path: &Path, bytes: u64) -> u64 {
    let levels = Levels::new()
        .with(Factor::Method, Level::word(method))
        .with(Factor::Block, Level::Number(64 << 10))
        .with(Factor::Threads, Level::Number(threads))
        .with(Factor::Consume, Level::word("xor"));
    let subject = Some(Subject::file(path, bytes, 1));
    let extent = Extent::Passes(passes);
    let trial = Trial { levels: &levels, extent, subject, scratch: Path::new("/nonexistent") };
    (workload::find("read").unwrap().run)(&trial, &mut NoWindow).unwrap().wall_ns
}

/// The file has the name that the workload gives it, so that both write the same one.
fn write(sync: &str, block: u64, count: u64, path: &Path) -> u64 {
    let levels = Levels::new()
        .with(Factor::Method, Level::word("write"))
        .with(Factor::Block, Level::Number(block))
        .with(Factor::Sync, Level::word(sync))
        .with(Factor::Until, Level::word("return"));
    let subject = Some(Subject::file(path, block * count, 1));
    let (extent, scratch) = (Extent::Passes(1), path.parent().unwrap());
    let trial = Trial { levels: &levels, extent, subject, scratch };
    let workload = workload::find("write").unwrap();
    (workload.around.prepare)(&trial).unwrap();
    let measured = (workload.run)(&trial, &mut NoWindow);
    (workload.around.clear)(&trial).unwrap();
    measured.unwrap().wall_ns
}

/// Operations that do nothing, each timed and recorded; by the fastest of many short bursts.
fn recorded(times: u64) -> u64 {
    const BURST: u64 = 10_000;
    let mut watch = Watched::default();
    let burst = |watch: &mut Watched| {
        let start = now_ns();
        for _ in 0..BURST {
            let began = watch.begin();
            watch.end(std::hint::black_box(began));
        }
        now_ns() - start
    };
    let bursts = times / BURST;
    let least = (0..bursts).map(|_| burst(&mut watch)).min().unwrap();
    assert_eq!(watch.finish().unwrap().count(), times);
    least * bursts
}

/// So many reads and writes of the copying loop.
fn part(block: u64, calls: u64, path: &Path) -> u64 {
    let levels = Levels::new()
        .with(Factor::Method, Level::word("read-write"))
        .with(Factor::Block, Level::Number(block));
    let bytes = std::fs::metadata(path).unwrap().len();
    let subject = Some(Subject::file(path, bytes, 1));
    let extent = Extent::Part { first_operation: 0, operations: calls };
    let scratch = path.parent().unwrap();
    let trial = Trial { levels: &levels, extent, subject, scratch };
    let copy = workload::find("copy").unwrap();
    (copy.around.prepare)(&trial).unwrap();
    let took = (copy.run)(&trial, &mut NoWindow).unwrap().wall_ns;
    (copy.around.clear)(&trial).unwrap();
    took
}

/// One copy of a file, left there.
fn whole(method: &str, block_bytes: u64, source: &Path, target: &Path) -> u64 {
    let job = CopyJob {
        source,
        bytes: std::fs::metadata(source).unwrap().len(),
        mode: 0o600,
        work: Work::Whole(vec![target.to_owned()]),
        block_bytes,
        queue_depth: 8,
        holes: Holes::AsItComes,
        sync: iolab_model::catalog::Sync::None,
    };
    let copied = (copy::find(method).unwrap().copy.run)(&job, &mut NoWindow);
    copied.unwrap().outcome.wall_ns
}

/// The tree stands at `root`; what the trial makes beside the files is made and removed here.
fn meta(operation: &str, calls: u64, root: &Path, files: u64, latency: Option<&str>) -> u64 {
    // What uses up its files does so once.
    let pass = if ["create", "unlink"].contains(&operation) { "first" } else { "steady" };
    let levels = Levels::new()
        .with(Factor::Operation, Level::word(operation))
        .with(Factor::Files, Level::Number(files))
        .with(Factor::Pass, Level::word(pass))
        .with(Factor::Latency, Level::word(latency.unwrap_or("off")));
    let subject = Some(Subject::file(root, 0, 1));
    let trial = Trial { levels: &levels, extent: Extent::Passes(calls), subject, scratch: root };
    let meta = workload::find("meta").unwrap();
    (meta.around.prepare)(&trial).unwrap();
    let measured = (meta.run)(&trial, &mut NoWindow).unwrap();
    (meta.around.clear)(&trial).unwrap();
    measured.wall_ns
}

fn buffer(bytes: usize) -> (Vec<u8>, std::ops::Range<usize>) {
    let memory = vec![0xa5; bytes + 4095];
    let start = memory.as_ptr().align_offset(4096);
    (memory, start..start + bytes)
}

fn fold(bytes: usize, times: u64) -> u64 {
    let (memory, range) = buffer(bytes);
    let fold = xor32();
    let mut word = fold(&memory[range.clone()]);
    let start = now_ns();
    for _ in 0..times {
        word ^= fold(std::hint::black_box(&memory[range.clone()]));
    }
    let took = now_ns() - start;
    std::hint::black_box(word);
    took
}

fn histogram(random: bool, bytes: usize, times: u64) -> u64 {
    let (mut memory, range) = buffer(bytes);
    let mut x = 88_172_645_463_325_252_u64;
    for byte in memory[range.clone()].iter_mut().filter(|_| random) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        *byte = (x >> 24) as u8;
    }
    let mut histogram = Histogram::default();
    let start = now_ns();
    for _ in 0..times {
        histogram.block(0, std::hint::black_box(&memory[range.clone()]));
    }
    let took = now_ns() - start;
    std::hint::black_box(histogram.finish());
    took
}
