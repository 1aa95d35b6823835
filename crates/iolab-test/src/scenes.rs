//! The synthetic runs themselves: one for each kind of chart and each way a run can go wrong.

use crate::fakes::{Fake, document, fake, levels, number};
pub use crate::scenes_beside::{costs, costs_of, files, latencies, steps};
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellStatus, Document};

const KI: u64 = 1024;
const MI: u64 = 1024 * KI;
/// Block sizes of a sweep.
pub const BLOCKS: [u64; 8] = [512, 4 * KI, 16 * KI, 64 * KI, 128 * KI, 256 * KI, MI, 4 * MI];

/// Time to read `bytes` in calls of `block` from the page cache: a cost a call, a cost a byte, and
/// a dearer byte once the block leaves the second-level cache.
fn read_ns(bytes: u64, block: u64) -> f64 {
    let call = 260.0 * (bytes as f64 / block as f64);
    let byte = if block > MI { 0.135 } else { 0.12 };
    call + byte * bytes as f64
}

fn mmap_ns(bytes: u64) -> f64 {
    9_000.0 + 0.105 * bytes as f64
}

/// A warm sweep of block sizes with four methods; mmap has no block.
pub fn blocks() -> Document {
    let bytes = 256 * MI;
    let mut cells = Vec::new();
    for method in ["read", "pread"] {
        for block in BLOCKS {
            let at = [
                (Factor::FileSize, number(bytes)),
                (Factor::Method, Level::word(method)),
                (Factor::Block, number(block)),
                (Factor::Threads, number(1)),
                (Factor::Cache, Level::word("warm")),
            ];
            let wall = read_ns(bytes, block) * if method == "pread" { 0.97 } else { 1.0 };
            let mut cell = fake(levels(&at), wall, bytes);
            let user = (0.05 * bytes as f64 / wall).min(0.6);
            cell.cpu = (user, 0.985 - user);
            cells.push(cell);
        }
    }
    for method in ["mmap", "mmap-populate"] {
        let at = [
            (Factor::FileSize, number(bytes)),
            (Factor::Method, Level::word(method)),
            (Factor::Threads, number(1)),
            (Factor::Cache, Level::word("warm")),
        ];
        let wall = mmap_ns(bytes) * if method == "mmap" { 1.6 } else { 1.25 };
        cells.push(fake(levels(&at), wall, bytes));
    }
    document(1, "read", &[Factor::Method, Factor::Block], 24, cells)
}

/// One method, with cells that failed, were skipped and were eliminated.
pub fn gaps() -> Document {
    let bytes = 256 * MI;
    let cells = BLOCKS.into_iter().enumerate().map(|(at, block)| {
        let at_levels = [
            (Factor::Method, Level::word("pread")),
            (Factor::Block, number(block)),
            (Factor::Cache, Level::word("cold")),
        ];
        let mut cell = fake(levels(&at_levels), read_ns(bytes, block) * 4.0, bytes);
        cell.noise = 0.06;
        cell.cpu = (0.05, 0.2);
        cell.gone = match at {
            0 => Some((CellStatus::Eliminated, "eliminated at round 11, ratio ≥ 1.8")),
            3 => Some((CellStatus::Failed, "read /data/big: Input/output error")),
            6 => Some((CellStatus::Skipped, "needs 4 MiB of locked memory: ulimit -l 4096")),
            _ => None,
        };
        cell
    });
    document(2, "read", &[Factor::Block], 20, cells.collect())
}

/// Cold, warm and cold again by block size.
pub fn cold_warm() -> Document {
    let bytes = 64 * MI;
    let mut cells = Vec::new();
    for block in [4 * KI, 64 * KI, MI] {
        for (cache, pass, factor) in
            [("cold", "first", 5.0), ("warm", "second", 1.0), ("cold", "again", 5.05)]
        {
            let at = [
                (Factor::Method, Level::word("pread")),
                (Factor::Block, number(block)),
                (Factor::Cache, Level::word(cache)),
                (Factor::Pass, Level::word(pass)),
            ];
            let mut cell = fake(levels(&at), read_ns(bytes, block).sqrt() * factor * 9e3, bytes);
            if cache == "cold" {
                (cell.noise, cell.cpu) = (0.04, (0.05, 0.3));
            }
            cells.push(cell);
        }
    }
    document(3, "read", &[Factor::Cache, Factor::Pass], 24, cells)
}

/// read against mmap over file sizes and blocks.
pub fn mapping() -> Document {
    let mut cells = Vec::new();
    for bytes in [4 * KI, 32 * KI, 128 * KI, 512 * KI, MI, 8 * MI, 64 * MI, 256 * MI] {
        let at = |more: &[(Factor, Level)]| {
            levels(
                &[&[(Factor::FileSize, number(bytes)), (Factor::Cache, Level::word("warm"))], more]
                    .concat(),
            )
        };
        for block in [512, KI, 4 * KI, 8 * KI, 16 * KI, 64 * KI] {
            let level =
                at(&[(Factor::Method, Level::word("read")), (Factor::Block, number(block))]);
            let mut cell = fake(level, read_ns(bytes, block) + 600.0, bytes);
            if bytes == 512 * KI && block == KI {
                cell.gone = Some((CellStatus::Failed, "killed by SIGKILL after 10 s"));
            }
            cells.push(cell);
        }
        // At 32 KiB the two are equal, at 128 KiB too noisy to tell.
        let wall = if bytes == 32 * KI { read_ns(bytes, 8 * KI) + 600.0 } else { mmap_ns(bytes) };
        let mut cell = fake(at(&[(Factor::Method, Level::word("mmap"))]), wall, bytes);
        cell.noise = if bytes == 128 * KI { 0.3 } else { 0.008 };
        cells.push(cell);
    }
    document(4, "read", &[Factor::Method, Factor::Block], 40, cells)
}

/// Threads from 1 to 8 on four processors.
pub fn threads() -> Document {
    let bytes = 256 * MI;
    let mut cells = Vec::new();
    for method in ["pread", "mmap"] {
        for threads in 1..=8u64 {
            let at = [
                (Factor::Method, Level::word(method)),
                (Factor::Threads, number(threads)),
                (Factor::Cache, Level::word("warm")),
            ];
            let t = threads.min(4) as f64;
            let gain = t / (1.0 + 0.09 * (t - 1.0)) * if method == "mmap" { 0.8 } else { 1.0 };
            let gain = if threads == 1 { 1.0 } else { gain.max(1.1) };
            let mut cell = fake(levels(&at), read_ns(bytes, 64 * KI) / gain, bytes);
            cell.cpu = (0.3 * gain, 0.65 * gain);
            cells.push(cell);
        }
    }
    document(5, "read", &[Factor::Method, Factor::Threads], 24, cells)
}

/// The ladder of system calls, alone and with an idle thread beside.
pub fn ladder() -> Document {
    let rungs = [
        ("clock", 24.0),
        ("getppid", 110.0),
        ("lseek", 131.0),
        ("read", 228.0),
        ("pread", 214.0),
        ("write", 372.0),
        ("pwrite", 355.0),
        ("fstat", 240.0),
        ("stat", 610.0),
        ("open-close", 1130.0),
        ("fchmod", 440.0),
        ("chmod", 690.0),
    ];
    let mut cells = Vec::new();
    for (name, ns) in rungs {
        for idle in [0, 1] {
            let at = [(Factor::Operation, Level::word(name)), (Factor::IdleThreads, number(idle))];
            let dearer = if idle == 1 && !["clock", "getppid"].contains(&name) { 9.0 } else { 0.0 };
            let mut cell = fake(levels(&at), (ns + dearer) * 1e5, 0);
            (cell.operations, cell.cpu, cell.noise) = (100_000, (0.2, 0.8), 0.006);
            cells.push(cell);
        }
    }
    document(6, "syscall", &[Factor::IdleThreads], 30, cells)
}

/// Methods that tie, with one clear loser.
pub fn ranking() -> Document {
    let bytes = 64 * MI;
    let times = [
        ("read", 8.2),
        ("pread", 8.18),
        ("readv", 8.21),
        ("mmap", 10.4),
        ("mmap-populate", 9.1),
        ("io_uring", 8.5),
    ];
    let cells = times.map(|(method, ms)| {
        let mut cell = fake(levels(&[(Factor::Method, Level::word(method))]), ms * 1e6, bytes);
        cell.noise = 0.006;
        cell
    });
    document(7, "read", &[Factor::Method], 40, cells.to_vec())
}

/// Copies on four file systems by block size: a line a place, over four decades of time.
pub fn places() -> Document {
    let bytes = 100 * MI;
    let mut cells = Vec::new();
    for (place, share) in [("ext4", 1.0), ("xfs", 1.12), ("btrfs", 1.6), ("jfs", 0.93)] {
        for block in [1, 16, 256, KI, 4 * KI, 16 * KI, 64 * KI] {
            let at = [(Factor::Place, Level::word(place)), (Factor::Block, number(block))];
            let call = 640.0 * bytes as f64 / block as f64 * share;
            let mut cell = fake(levels(&at), call + 0.9 * bytes as f64 * share.sqrt(), bytes);
            (cell.cpu, cell.noise) = ((0.08, 0.72), 0.03);
            cells.push(cell);
        }
    }
    document(8, "copy", &[Factor::Place, Factor::Block], 20, cells)
}

/// Cold reads by block and method that were stopped by Ctrl-C in round 4.
pub fn partial() -> Document {
    let mut run = blocks();
    run.run.complete = false;
    run.run.finished = None;
    run.experiment.protocol.stopped = "interrupted".to_owned();
    for cell in run.cells.iter_mut().skip(5) {
        cell.samples.truncate(1);
        cell.estimate = None;
    }
    run.answers.clear();
    run
}

/// A single cell.
pub fn one_cell() -> Document {
    let at = levels(&[(Factor::Method, Level::word("pread")), (Factor::Block, number(4096))]);
    document(9, "read", &[Factor::Method], 20, vec![fake(at, 1e7, MI)])
}

/// Nothing was measured.
pub fn nothing() -> Document {
    let mut run = gaps();
    for cell in &mut run.cells {
        cell.status = CellStatus::Failed;
        cell.reason = Some("read /data/big: No such file or directory".to_owned());
        cell.samples.clear();
        cell.estimate = None;
    }
    run.answers.clear();
    run.twin = None;
    run
}

/// `cells` cells with `rounds` steady rounds each: many file sizes by block and method.
pub fn many(cells: usize, rounds: u32) -> Document {
    let fakes = (0..cells).map(|at| {
        let (file, rest) = (at / 20, at % 20);
        let (method, block) = (rest / 10, rest % 10);
        let bytes = (file as u64 + 1) * 4 * MI;
        let at = [
            (Factor::FileSize, number(bytes)),
            (Factor::Method, Level::word(if method == 0 { "read" } else { "pread" })),
            (Factor::Block, number(512 << block)),
        ];
        fake(levels(&at), read_ns(bytes, 512 << block), bytes)
    });
    document(10, "read", &[Factor::Method, Factor::Block], rounds, fakes.collect())
}

/// Values that are zero, huge, equal, or no numbers at all.
pub fn extremes() -> Document {
    let block = |n: u64| levels(&[(Factor::Block, number(n))]);
    let mut cells: Vec<Fake> = (0..6).map(|at| fake(block(4096 << at), 1e6, MI)).collect();
    cells.iter_mut().for_each(|c| c.noise = 0.0);
    cells.push(fake(block(0), 0.0, 0));
    cells.push(fake(block(u64::MAX), 1e19, u64::MAX));
    let mut run = document(11, "read", &[Factor::Block], 12, cells);
    if let Some(estimate) = run.cells.get_mut(2).and_then(|c| c.estimate.as_mut()) {
        estimate.wall_ns.median = f64::NAN;
        estimate.user_ns.median = f64::INFINITY;
        estimate.wall_ns.low = Some(f64::NEG_INFINITY);
    }
    for comparison in run.answers.iter_mut().flat_map(|a| &mut a.comparisons).take(3) {
        (comparison.ratio, comparison.low, comparison.high) = (0.0, Some(f64::NAN), None);
    }
    run
}

/// Names that try to leave the place they stand in.
pub fn hostile() -> Document {
    let names = [
        "</script><script>alert(1)</script>",
        "\"onload=\"alert(1)\" x='%00%n'",
        "\u{202e}gnp.exe\u{202c}",
        "שלום עולם.iso",
        "new\nline\ttab\0nul",
        "]]>--><!--<svg/onload=alert(1)>",
        "NaN",
        "𝕏 emoji 🦀 ünïcödé ｗｉｄｅ",
    ];
    let mut cells = Vec::new();
    for name in names {
        for block in [4 * KI, 64 * KI] {
            let at = [(Factor::File, Level::Path(name.into())), (Factor::Block, number(block))];
            cells.push(fake(levels(&at), read_ns(MI, block), MI));
        }
    }
    let mut run = document(12, "read", &[Factor::Block], 20, cells);
    run.run.title = names.join(" ");
    run.run.argv.extend(names.map(str::to_owned));
    run.environment.0.insert(names[0].to_owned(), serde_json::json!({names[1]: names}));
    for warning in &mut run.warnings {
        warning.text = names[0].to_owned();
    }
    for answer in &mut run.answers {
        answer.sentence = format!("{} is fastest", answer.best.join(" "));
    }
    run
}

/// Every run by name, small ones only.
pub fn all() -> Vec<(&'static str, Document)> {
    vec![
        ("blocks", blocks()),
        ("gaps", gaps()),
        ("cold-warm", cold_warm()),
        ("mapping", mapping()),
        ("threads", threads()),
        ("ladder", ladder()),
        ("ranking", ranking()),
        ("places", places()),
        ("partial", partial()),
        ("one-cell", one_cell()),
        ("nothing", nothing()),
        ("extremes", extremes()),
        ("hostile", hostile()),
        ("costs", costs()),
        ("latencies", latencies()),
        ("files", files()),
        ("steps", steps()),
    ]
}
