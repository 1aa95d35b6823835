//! iolab's loops against bare C, in interleaved pairs. Prints a Markdown table with PASS or FAIL
//! against the limits of docs/performance.md; the exit status is 1 where one fails.
//!
//! `cargo bench --bench loops` (a few minutes; `-- quick` for a rough look, `-- copies` or
//! `-- meta` for some alone, `-- on ext4` for the calls in an image of that file system, as root). Give the machine a rest meanwhile: a busy neighbour widens the
//! intervals.

#![allow(clippy::unwrap_used)] // a bench that cannot go on should stop loudly

mod copies;
mod direct;
mod ours;
mod pairs;
mod trials;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use iolab_io::place::{Consent, IMAGE_BYTES, Mounts, PLACES, PlaceOrder, make};
use iolab_io::workload::meta::Tree;
use iolab_model::catalog::parse_place;
use iolab_test::files::noise;
use pairs::{Ratio, Rivals, measure};

const FILE_BYTES: u64 = 64 << 20;
/// Fewer than the bytes of the file that they walk through one by one.
const CALLS: u64 = 200_000;
/// Each waits for the device.
const SYNCED_CALLS: u64 = 100;
/// Files that metadata calls are made on.
const META_FILES: u64 = 2000;

/// Operations that are timed by themselves.
const TIMED: u64 = 2_000_000;

/// What a ratio of times must keep to.
enum Limit {
    /// Ours takes at most this multiple of theirs.
    AtMost(f64),
    /// Ours is at least this many times as fast.
    SpeedAtLeast(f64),
    /// Where the device decides: ours is not shown to be slower.
    NotShownSlower,
    /// Ours takes at most so many nanoseconds a unit more.
    MoreAtMost(f64),
}

struct Figure {
    name: String,
    work: Vec<String>,
    /// Units of work, to print what one costs; bytes are printed as GB/s.
    units: f64,
    bytes: bool,
    limit: Limit,
}

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "direct-only") {
        return direct::alone();
    }
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [one, work, rest @ ..] = words.as_slice()
        && (one.as_str(), work.as_str()) == ("one", "direct")
    {
        println!("{}", direct::ours(rest));
        return ExitCode::SUCCESS;
    }
    if words.first().is_some_and(|word| word == "one") {
        println!("{}", ours::run(&words[1..]));
        return ExitCode::SUCCESS;
    }
    if let [on, place, ..] = words.as_slice()
        && on == "on"
    {
        return in_place(place);
    }
    // `-- writes` and the like: only the figures whose name has that word.
    let only = words.iter().find(|word| *word != "quick");
    let quick = words.iter().any(|word| word == "quick");
    let pairs = if quick { 11 } else { 61 };
    let large = if quick { 256 << 20 } else { 1 << 30 };
    let amount = copies::Amount { bytes: large, pairs: if quick { 7 } else { 15 } };
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("loops");
    std::fs::create_dir_all(&directory).unwrap();
    let bare = build_bare(&directory);
    let file = directory.join("file");
    std::fs::write(&file, noise(FILE_BYTES as usize)).unwrap();
    write_ladders(&directory);
    println!("| figure | ours | bare C | ratio (95 %) | limit | |");
    println!("| --- | ---: | ---: | --- | --- | --- |");
    let mut good = true;
    let tree = Tree {
        root: directory.join("tree"),
        files: META_FILES,
        bytes: 0,
        seed: 1,
        attributes: false,
        among: None,
    };
    tree.make(&|| true).unwrap();
    let wanted = |figure: &Figure| only.is_none_or(|only| figure.name.contains(only));
    let figures = figures(&directory, &file).into_iter().chain(writes(&directory));
    for figure in figures.filter(wanted) {
        let mut rivals = rivals(&bare, &figure.work);
        good &= row(&figure, &measure(&mut rivals, pairs));
    }
    if only.is_none_or(|only| only == "copies") {
        good &= copies::rows(&directory, &bare, pairs, &amount);
    }
    if only.is_none() {
        good &= direct::rows(&file, if pairs > 11 { 15 } else { 5 });
        good &= trials::rows(&directory);
    }
    let _ = std::fs::remove_dir_all(&directory);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One byte a call, ours and C's on the same mount: a place must not cost anything in the loop.
fn in_place(text: &str) -> ExitCode {
    let mounts = Mounts::enter().unwrap();
    let ground = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
    let (level, consent) = (parse_place(text, &ids).unwrap(), Consent::default());
    let order = PlaceOrder {
        level: &level,
        ground: ground.path(),
        image_bytes: IMAGE_BYTES,
        consent: &consent,
        mounts,
    };
    let mut place = make(&order).unwrap();
    place.seal().unwrap();
    let bare = build_bare(place.root());
    write_ladders(place.root());
    println!("| figure, in {text} | ours | bare C | ratio (95 %) | limit | |");
    println!("| --- | ---: | ---: | --- | --- | --- |");
    let mut good = true;
    for figure in figures(place.root(), Path::new("none")) {
        if figure.work[0] == "calls" {
            good &= row(&figure, &measure(&mut rivals(&bare, &figure.work), 61));
        }
    }
    place.take_down().unwrap();
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The files of the ladder: ours and C's, the same ones.
fn write_ladders(directory: &Path) {
    for name in ["ladder", "ladder-write"] {
        std::fs::write(directory.join(name), noise(1 << 20)).unwrap();
    }
}

fn figures(directory: &Path, file: &Path) -> Vec<Figure> {
    let mut all = Vec::new();
    let mut add = |name: &str, work: &str, path: &Path, units: u64, bytes, limit| {
        let path = path.to_str().unwrap();
        let work = work.split(' ').map(|word| word.replace("FILE", path)).collect();
        all.push(Figure { name: name.into(), work, units: units as f64, bytes, limit });
    };
    for operation in ["read", "pread", "lseek", "getppid", "write"] {
        let work = format!("calls {operation} {CALLS} FILE");
        let moves = ["read", "pread", "write"].contains(&operation);
        let name = format!("{operation}{}", if moves { ", 1 byte a call" } else { "" });
        let own = if operation == "write" { "ladder-write" } else { "ladder" };
        let ladder = directory.join(own);
        add(&name, &work, &ladder, CALLS, false, Limit::AtMost(1.03));
    }
    for operation in ["read", "pread", "lseek", "write"] {
        let name = format!("{operation} of a replay, each with its own place and result");
        let own = if operation == "write" { "ladder-write" } else { "ladder" };
        let work = format!("replay {operation} {CALLS} FILE");
        add(&name, &work, &directory.join(own), CALLS, false, Limit::MoreAtMost(100.0));
    }
    let recorded = "an operation timed and recorded, against two clock readings";
    add(recorded, &format!("clock {TIMED}"), file, TIMED, false, Limit::MoreAtMost(25.0));
    for operation in ["stat", "access", "open-close", "chmod", "utimens", "create", "unlink"] {
        let once = ["create", "unlink"].contains(&operation);
        let calls = if once { META_FILES } else { 40 * META_FILES };
        let work = format!("meta {operation} {calls} FILE {META_FILES}");
        let name = format!("meta {operation}");
        add(&name, &work, &directory.join("tree"), calls, false, Limit::AtMost(1.05));
        if ["stat", "chmod"].contains(&operation) {
            let name =
                format!("meta {operation}, recorded, against C with one clock reading a call");
            let work = work.replace("meta ", "meta-latency ");
            add(&name, &work, &directory.join("tree"), calls, false, Limit::MoreAtMost(25.0));
        }
    }
    for method in ["pread", "mmap"] {
        for threads in [1, 2] {
            let work = format!("read {method} {threads} 4 FILE {FILE_BYTES}");
            let name = format!("cached {method} 64 KiB + XOR, {threads} thread(s)");
            add(&name, &work, file, 4 * FILE_BYTES, true, Limit::SpeedAtLeast(0.98));
        }
    }
    for (name, bytes, times) in
        [("XOR fold, 64 KiB", 64_u64 << 10, 30_000_u64), ("XOR fold, 256 MiB", 256 << 20, 2)]
    {
        let work = format!("fold {bytes} {times}");
        add(name, &work, file, bytes * times, true, Limit::SpeedAtLeast(0.98));
    }
    for (data, speed) in [("random", 1.1), ("constant", 3.0)] {
        let work = format!("histogram {data} 1048576 30");
        let name = format!("histogram against a byte loop, {data} bytes");
        add(&name, &work, file, 30 << 20, true, Limit::SpeedAtLeast(speed));
    }
    all
}

/// Files written anew, by the workload and by hand, until the last call has returned.
fn writes(directory: &Path) -> Vec<Figure> {
    let path = directory.join("written");
    let figure = |name: String, sync: &str, block: u64, count: u64, limit| {
        let path = path.to_str().unwrap().to_owned();
        let numbers = [block.to_string(), count.to_string()];
        let work = ["write".into(), sync.into()].into_iter().chain(numbers).chain([path]);
        let bytes = sync == "none";
        let units = if bytes { block * count } else { count };
        Figure { name, work: work.collect(), units: units as f64, bytes, limit }
    };
    let cached = [(4_u64 << 10, "4 KiB"), (64 << 10, "64 KiB")].map(|(block, text)| {
        let name = format!("cached writes, {text}");
        figure(name, "none", block, FILE_BYTES / block, Limit::AtMost(1.03))
    });
    let synced = [(512, "512 B"), (4 << 10, "4 KiB"), (64 << 10, "64 KiB")].map(|(block, text)| {
        let name = format!("O_SYNC writes, {text}");
        figure(name, "sync", block, SYNCED_CALLS, Limit::NotShownSlower)
    });
    cached.into_iter().chain(synced).collect()
}

fn row(figure: &Figure, ratio: &Ratio) -> bool {
    let cost = |ns: f64| match figure.bytes {
        true => format!("{:.2} GB/s", figure.units / ns),
        false => format!("{:.1} ns", ns / figure.units),
    };
    let (good, limit, low, middle, high) = match figure.limit {
        Limit::AtMost(most) => {
            let limit = format!("≤ {most} × the time");
            (ratio.median <= most, limit, ratio.low, ratio.median, ratio.high)
        }
        Limit::NotShownSlower => {
            let limit = "interval reaches 1".to_owned();
            (ratio.low <= 1.0, limit, ratio.low, ratio.median, ratio.high)
        }
        Limit::SpeedAtLeast(least) => {
            let limit = format!("≥ {least} × the speed");
            let (low, high) = (1.0 / ratio.high, 1.0 / ratio.low);
            (1.0 / ratio.median >= least, limit, low, 1.0 / ratio.median, high)
        }
        Limit::MoreAtMost(most) => {
            let more = ratio.more_ns / figure.units;
            let limit = format!("{more:.1} ns more, ≤ {most} ns");
            (more <= most, limit, ratio.low, ratio.median, ratio.high)
        }
    };
    println!(
        "| {} | {} | {} | {middle:.3} ({low:.3}–{high:.3}) | {limit} | {} |",
        figure.name,
        cost(ratio.ours_ns),
        cost(ratio.theirs_ns),
        verdict(good),
    );
    good
}

/// The last column.
pub fn verdict(good: bool) -> &'static str {
    if good { "PASS" } else { "**FAIL**" }
}

fn rivals(bare: &Path, work: &[String]) -> Rivals {
    let mut ours = Command::new(std::env::current_exe().unwrap());
    ours.arg("one").args(work);
    let mut theirs = Command::new(bare);
    theirs.args(work);
    Rivals { ours, theirs }
}

fn build_bare(directory: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/loops/bare.c");
    let program = directory.join("bare");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-O2", "-march=native", "-pthread", "-o"]).arg(&program).arg(source);
    assert!(cc.status().is_ok_and(|status| status.success()), "a C compiler is needed: {cc:?}");
    program
}
