//! Many files: reading and copying a tree with iolab's workers against `cp -R`, xcp, fcp and cpz
//! where they are installed, in interleaved rounds; and a million empty files made, counted and
//! removed. Prints a Markdown table with PASS or FAIL; the exit status is 1 where one fails.
//!
//! `cargo bench --bench files`. `IOLAB_FILES_SCALE` (0.1 unless given; 1 is the whole: 10 GB of
//! source and copy) multiplies the number of files, `IOLAB_FILES_DIR` says where, words after `--`
//! choose rows: `cargo bench --bench files -- million`. Every program walks the tree, makes the
//! directories and the files, and is timed as a process from start to end. What iolab would report
//! is less: the walk, which asks for sizes that others need not know, comes before its clock. So
//! the share of that window alone stands beside.

#![allow(clippy::unwrap_used)] // a bench that cannot go on should stop loudly

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use iolab_io::method::NoWindow;
use iolab_io::workload::files::{Listing, MAKE_BLOCK, clear, make_directories, make_files, scan};
use iolab_io::workload::{self, Extent, Subject, Trial};
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::tree::{Body, Shape, Tree};

const ROUNDS: usize = 7;
/// Copies that may stand side by side.
const KEPT_BYTES: u64 = 24 << 30;
/// Peak memory of the process that works on a million files.
const MEMORY_LIMIT_KIB: u64 = 100 << 10;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if words.first().is_some_and(|word| word == "one") {
        one(&words[1..]);
        return ExitCode::SUCCESS;
    }
    let scale: f64 =
        std::env::var("IOLAB_FILES_SCALE").ok().and_then(|s| s.parse().ok()).unwrap_or(0.1);
    let base = std::env::var_os("IOLAB_FILES_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")), PathBuf::from);
    let base = base.join("files-bench");
    std::fs::create_dir_all(&base).unwrap();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    println!("| tree | work | program | median s | CPU s | ours / it | our window / it | |");
    println!("| --- | --- | --- | ---: | ---: | ---: | ---: | --- |");
    let mut good = true;
    for (name, files, bytes) in [("512 KiB", 10_000.0, 512 << 10), ("4 KiB", 50_000.0, 4 << 10)] {
        let files = (files * scale) as u64;
        let name = format!("{files} × {name}");
        if wanted(&name) || wanted("read") || wanted("copy") {
            good &= tree(&base, &name, files, bytes, &wanted);
        }
    }
    if wanted("million") {
        good &= million(&base, (1_000_000.0 * scale.max(0.01) * 10.0).min(1e6) as u64);
    }
    let _ = std::fs::remove_dir_all(&base);
    ExitCode::from(u8::from(!good))
}

/// A process that works: what the parent times.
fn one(words: &[String]) {
    let (root, scratch) = (PathBuf::from(&words[1]), PathBuf::from(&words[2]));
    let number: u64 = words[3].parse().unwrap();
    let levels = |operation: &str, workers| {
        Levels::new()
            .with(Factor::Operation, Level::word(operation))
            .with(Factor::Threads, Level::Number(workers))
    };
    if words[0] == "million" {
        let sizes = "empty".parse().unwrap();
        let (shape, body) = (Shape::Sharded, Body::Random);
        let listing =
            Listing::Made(Tree { files: number, sizes, shape, body, seed: 1, first: 0, rank: 0 });
        for operation in ["create", "remove"] {
            trial(&root, &scratch, &listing, &levels(operation, 2), true);
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        println!("{}", peak.trim().trim_end_matches(" kB"));
        return;
    }
    let listing = Listing::Found(scan(&root).unwrap());
    println!("{}", trial(&root, &scratch, &listing, &levels(&words[0], number), false));
}

/// Nanoseconds of the timed window.
fn trial(root: &Path, scratch: &Path, listing: &Listing, levels: &Levels, whole: bool) -> u64 {
    let subject = Some(Subject::tree(root, 0, 1, listing));
    let trial = Trial { levels, extent: Extent::Passes(1), subject, scratch };
    let files = workload::find("files").unwrap();
    (files.around.prepare)(&trial).unwrap();
    let mut seen = (files.run)(&trial, &mut NoWindow).unwrap();
    assert_eq!(seen.operations, listing.files());
    if whole {
        (files.around.verify)(&trial, &mut seen).unwrap();
        assert!(seen.proof.digest.as_ref().is_some_and(|digest| digest.matches == Some(true)));
        (files.around.clear)(&trial).unwrap();
        eprintln!("{levels:?}: {:.0} files a second", seen.metrics["rate_last"]);
    }
    seen.wall_ns
}

/// From a source and a target to what is run.
type Line = dyn Fn(&Path, &Path) -> Command;

struct Rival {
    name: String,
    work: &'static str,
    command: Box<Line>,
    seconds: Vec<f64>,
    /// Of ours, what it says of its window.
    window: Vec<f64>,
    processor: f64,
}

fn ours(work: &'static str, workers: u32) -> Rival {
    let command = move |source: &Path, target: &Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["one", work]).arg(source).arg(target).arg(workers.to_string());
        command
    };
    rival(&format!("iolab, {workers} worker{}", if workers > 1 { "s" } else { "" }), work, command)
}

fn rival(
    name: &str,
    work: &'static str,
    command: impl Fn(&Path, &Path) -> Command + 'static,
) -> Rival {
    let (seconds, window, processor) = (Vec::new(), Vec::new(), 0.0);
    Rival { name: name.into(), work, command: Box::new(command), seconds, window, processor }
}

fn rivals() -> Vec<Rival> {
    let copier = |program: &'static str, flags: &'static [&'static str]| {
        move |source: &Path, target: &Path| {
            let mut command = Command::new(program);
            command.args(flags).arg(source).arg(target.join("copy"));
            command
        }
    };
    let cat = |source: &Path, _: &Path| {
        let mut command = Command::new("sh");
        let line = "find \"$0\" -type f -print0 | xargs -0 -n 256 -P 2 cat >/dev/null";
        command.args(["-c", line]).arg(source);
        command
    };
    let mut all = vec![ours("read", 2), ours("read", 1), rival("xargs -P 2 cat", "read", cat)];
    all.extend([ours("copy", 2), ours("copy", 1), rival("cp -R", "copy", copier("cp", &["-R"]))]);
    let others: [(&'static str, &'static [&'static str]); 3] =
        [("xcp", &["-r", "-w", "2", "--no-progress"]), ("fcp", &[]), ("cpz", &[])];
    for (name, flags) in others {
        let mut there = Command::new(name);
        there.arg("--help").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut there = there.spawn();
        match &mut there {
            Ok(child) => {
                let _ = child.wait();
                all.push(rival(name, "copy", copier(name, flags)));
            }
            Err(_) => println!("| | copy | {name} | | | | | not installed |"),
        }
    }
    all
}

fn tree(base: &Path, name: &str, files: u64, bytes: u64, wanted: &dyn Fn(&str) -> bool) -> bool {
    let source = base.join("source");
    let (shape, body) = (Shape::Sharded, Body::Random);
    let sizes = format!("{bytes}").parse().unwrap();
    let made = Tree { files, sizes, shape, body, seed: 3, first: 0, rank: 0 };
    let listing = Listing::Made(made.clone());
    make_directories(&listing, &source).unwrap();
    let mut content = made.content(MAKE_BLOCK);
    make_files(&listing, &source, 0..files, &mut content, &|| true).unwrap();
    let mut all: Vec<Rival> = rivals().into_iter().filter(|rival| wanted(rival.work)).collect();
    if all.is_empty() {
        all = rivals();
    }
    // ext4 passes over inodes that were freed in the last minute, one by one: whoever copies after
    // a removal pays for it. So copies stay to the end, where there is room for all.
    let keep = files * bytes * (ROUNDS as u64 + 1) * all.len() as u64 <= KEPT_BYTES;
    let mut kept = 0;
    let mut coin = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..=ROUNDS {
        let mut order: Vec<usize> = (0..all.len()).collect();
        for last in (1..order.len()).rev() {
            coin = coin.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            order.swap(last, (coin >> 33) as usize % (last + 1));
        }
        for at in order {
            let target = base.join(format!("target-{kept}"));
            let (seconds, window, processor) = once(&all[at], base, &source, &target);
            match keep {
                true => kept += 1,
                false => std::fs::remove_dir_all(&target).unwrap(),
            }
            // The first round brings programs and files into the cache.
            if round > 0 {
                all[at].seconds.push(seconds);
                all[at].window.extend(window);
                all[at].processor += processor / ROUNDS as f64;
            }
        }
    }
    for number in 0..kept {
        std::fs::remove_dir_all(base.join(format!("target-{number}"))).unwrap();
    }
    clear(&listing, &source, &listing.whole()).unwrap();
    ["read", "copy"].map(|work| report(name, work, &all)) == [true, true]
}

/// Seconds of the process, those of its window where it tells, and processor seconds.
fn once(rival: &Rival, base: &Path, source: &Path, target: &Path) -> (f64, Option<f64>, f64) {
    std::fs::create_dir(target).unwrap();
    // What the last one has left to be written back is not this one's burden.
    rustix::fs::syncfs(std::fs::File::open(base).unwrap()).unwrap();
    let before = children_seconds();
    let start = Instant::now();
    let mut command = (rival.command)(source, target);
    let ours = rival.name.starts_with("iolab");
    command.stdout(if ours { Stdio::piped() } else { Stdio::null() }).stderr(Stdio::null());
    let output = command.spawn().and_then(|child| child.wait_with_output()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let processor = children_seconds() - before;
    assert!(output.status.success(), "{} failed: {}", rival.name, output.status);
    let window = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().ok();
    (seconds, window.map(|ns| ns / 1e9), processor)
}

/// User and system time of ended children: fields 16 and 17 of /proc/self/stat, in ticks of 10 ms.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let rest = stat.rsplit(')').next().unwrap();
    let ticks = rest.split_whitespace().skip(13).take(2).map(|t| t.parse::<f64>().unwrap());
    ticks.sum::<f64>() / 100.0
}

fn median(values: &[f64]) -> f64 {
    iolab_stats::median(values).unwrap()
}

fn report(name: &str, work: &str, all: &[Rival]) -> bool {
    let of_work: Vec<&Rival> = all.iter().filter(|rival| rival.work == work).collect();
    let Some(leader) = of_work.first() else { return true };
    let mut good = true;
    for rival in &of_work {
        let against = |ours: &[f64]| {
            let pairs: Vec<f64> = ours.iter().zip(&rival.seconds).map(|(a, b)| a / b).collect();
            median(&pairs)
        };
        let (ratio, window) = (against(&leader.seconds), against(&leader.window));
        let theirs = !rival.name.starts_with("iolab");
        good &= !theirs || window <= 1.0;
        let said = match (ratio <= 1.0, window <= 1.0) {
            _ if !theirs => "",
            (true, _) => "PASS",
            (false, true) => "PASS without the walk",
            (false, false) => "FAIL",
        };
        let (seconds, processor) = (median(&rival.seconds), rival.processor);
        println!(
            "| {name} | {work} | {} | {seconds:.3} | {processor:.2} | {ratio:.2} | {window:.2} | \
             {said} |",
            rival.name
        );
    }
    good
}

fn million(base: &Path, files: u64) -> bool {
    let scratch = base.join("million");
    std::fs::create_dir(&scratch).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["one", "million"]).arg(&scratch).arg(&scratch).arg(files.to_string());
    let start = Instant::now();
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let peak: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    let good = output.status.success() && peak <= MEMORY_LIMIT_KIB;
    let said = if good { "PASS" } else { "FAIL" };
    println!(
        "| {files} empty | create, count, remove | iolab, 2 workers | {seconds:.1} | | {} MiB | | {said} |",
        peak >> 10
    );
    good
}
