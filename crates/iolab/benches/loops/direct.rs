//! Random direct reads of 4 KiB by io_uring against fio at the same settings, in turn: registered
//! buffers and file, a permutation of the blocks, nothing done with the bytes, no latencies taken.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use iolab_io::host;
use iolab_io::method::NoWindow;
use iolab_io::workload::{self, Extent, Subject, Trial};
use iolab_model::catalog::{Factor, Level, Levels};

use crate::verdict;

const BLOCK_BYTES: u64 = 4096;
const FILE_BYTES: u64 = 256 << 20;

/// Time and processor time of one operation.
#[derive(Clone, Copy)]
struct Cost {
    wall_ns: f64,
    cpu_ns: f64,
}

/// Only these figures, on a file of their own.
pub fn alone() -> ExitCode {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("direct");
    std::fs::write(&file, iolab_test::files::noise(FILE_BYTES as usize)).unwrap();
    std::fs::File::open(&file).unwrap().sync_all().unwrap();
    println!("| figure | ours | fio | ratio (95 %) | limit | |");
    println!("| --- | ---: | ---: | --- | --- | --- |");
    let good = rows(&file, 15);
    let _ = std::fs::remove_file(&file);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A row for the speed and one for the processor time at each depth; true where all limits are kept.
pub fn rows(file: &Path, pairs: usize) -> bool {
    let missing = host::unavailable_methods(file.parent().unwrap(), true);
    if let Some(why) = missing.get("io_uring").or(missing.get("direct=on")) {
        eprintln!("SKIP random direct reads: {why}");
        return true;
    }
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIP random direct reads: fio is not installed");
        return true;
    }
    let mut good = true;
    for (depth, operations) in [(1, 4_000), (32, 40_000)] {
        let mut both: Vec<(Cost, Cost)> = (0..pairs)
            .map(|pair| match pair % 2 {
                0 => {
                    let own = own(file, depth, operations);
                    (own, fio(file, depth, operations))
                }
                _ => {
                    let theirs = fio(file, depth, operations);
                    (own(file, depth, operations), theirs)
                }
            })
            .collect();
        let name = format!("random direct reads of 4 KiB, io_uring, depth {depth}");
        good &= row(&format!("{name}: reads a second"), &mut both, |c| c.wall_ns, 1.0);
        good &= row(&format!("{name}: processor time a read"), &mut both, |c| c.cpu_ns, 1.0);
    }
    good
}

/// Our time over theirs, at most `most`; judged by the interval, for the disk is everyone's.
fn row(name: &str, both: &mut [(Cost, Cost)], value: fn(&Cost) -> f64, most: f64) -> bool {
    both.sort_by(|a, b| (value(&a.0) / value(&a.1)).total_cmp(&(value(&b.0) / value(&b.1))));
    let ratio = |at: usize| value(&both[at].0) / value(&both[at].1);
    let (rank, n) = (crate::pairs::lower_rank(both.len()), both.len());
    let (low, middle, high) = (ratio(rank), ratio(n / 2), ratio(n - 1 - rank));
    let median = |pick: &dyn Fn(&(Cost, Cost)) -> f64| {
        let mut all: Vec<f64> = both.iter().map(pick).collect();
        all.sort_by(f64::total_cmp);
        all[n / 2]
    };
    let (ours, theirs) = (median(&|b| value(&b.0)), median(&|b| value(&b.1)));
    let good = low <= most;
    println!(
        "| {name} | {:.2} µs | {:.2} µs | {middle:.3} ({low:.3}–{high:.3}) | ≤ {most} × the time | {} |",
        ours / 1e3,
        theirs / 1e3,
        verdict(good)
    );
    good
}

fn own(file: &Path, depth: u64, operations: u64) -> Cost {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["one", "direct", &depth.to_string(), &operations.to_string()]).arg(file);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    Cost { wall_ns: figures[0], cpu_ns: figures[1] }
}

/// `DEPTH OPERATIONS FILE`: nanoseconds and processor nanoseconds of one read.
pub fn ours(words: &[String]) -> String {
    let (depth, operations) = (words[0].parse().unwrap(), words[1].parse().unwrap());
    let path = Path::new(&words[2]);
    let levels = Levels::new()
        .with(Factor::Method, Level::word("io_uring"))
        .with(Factor::Block, Level::Number(BLOCK_BYTES))
        .with(Factor::Pattern, Level::word("random"))
        .with(Factor::Consume, Level::word("none"))
        .with(Factor::Direct, Level::word("on"))
        .with(Factor::QueueDepth, Level::Number(depth));
    let bytes = path.metadata().unwrap().len();
    let subject = Some(Subject::file(path, bytes, u64::from(std::process::id())));
    let extent = Extent::Part { first_operation: 0, operations };
    let trial = Trial { levels: &levels, extent, subject, scratch: Path::new("/nonexistent") };
    let seen = (workload::find("read").unwrap().run)(&trial, &mut NoWindow).unwrap();
    let each = |ns: u64| ns as f64 / seen.operations as f64;
    format!("{} {}", each(seen.wall_ns), each(seen.user_ns + seen.system_ns))
}

fn fio(file: &Path, depth: u64, operations: u64) -> Cost {
    let mut command = Command::new("fio");
    command.args(["--name=r", "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=io_uring"]);
    command.args(["--fixedbufs=1", "--registerfiles=1", "--gtod_reduce=1", "--output-format=json"]);
    command.arg(format!("--randseed={}", std::process::id()));
    command.arg(format!("--iodepth={depth}"));
    command.arg(format!("--io_size={}", operations * BLOCK_BYTES));
    command.arg(format!("--filename={}", file.display()));
    let output = command.output().unwrap();
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let job = &said["jobs"][0];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let wall_ns = 1e9 / number(&job["read"]["iops"]);
    let share = (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0;
    Cost { wall_ns, cpu_ns: wall_ns * share }
}
