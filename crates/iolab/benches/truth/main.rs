//! The figures of trials against an independent measurer: real agents and small C programs in turn, on
//! files of their own that are in the same state. Prints a Markdown table with PASS or FAIL; the exit
//! status is 1 where one fails.
//!
//! `cargo bench --bench truth` (a few minutes; `-- quick` for a rough look that fails nothing, `-- calls`
//! and the like for the rows whose name has that word). Give the machine a rest meanwhile.

#![allow(clippy::unwrap_used)] // a bench that cannot go on should stop loudly

#[path = "../loops/pairs.rs"]
#[allow(dead_code)] // pairs of programs are of the other bench
mod pairs;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use iolab_agent::{
    Content, Extent, InstanceOrder, LocalChild, Reply, Request, Transport, TrialRequest,
};
use iolab_model::catalog::Sizes;
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::result::Measurement;
use iolab_model::tree::{Body, Shape, Tree, TreeOrder};
use iolab_test::real_agent::started_agent;
use pairs::lower_rank;

const FILE_BYTES: u64 = 64 << 20;
const BLOCK: u64 = 64 << 10;
const CALLS: u64 = 200_000;
const SYNCED: u64 = 100;
const META_FILES: u64 = 1000;
const META_CALLS: u64 = 40 * META_FILES;
/// Places of a line of 64 bytes at which the C program makes its calls, where it knows how to.
const PLACES: usize = if cfg!(target_arch = "x86_64") { 8 } else { 1 };
/// Empty files that are made, looked at and removed, in memory where that can be had.
const EMPTY_FILES: u64 = 20_000;
const LIMIT_NS: u64 = 60_000_000_000;

/// The instances that the agent makes.
const READ: usize = 0;
const WRITTEN: usize = 1;
const SYNCED_FILE: usize = 2;
const TREE: usize = 3;
const STANDING: usize = 4;
const ABSENT: usize = 5;

/// What is done by both.
struct Case {
    name: String,
    ours: Request,
    theirs: Theirs,
    /// Ours may differ by this share.
    within: f64,
    /// Whether being faster is no fault.
    may_be_faster: bool,
}

/// What ours is held against.
enum Theirs {
    /// The C program with these words.
    Program(Vec<String>),
    /// The C program with these words and a place of its loop; ours must be what some place takes. The
    /// price of a single call hangs on where its loop lies, on some machines by a third
    /// (docs/performance.md), and nothing says which place is the right one.
    AnyPlace(Vec<String>),
    /// The C program with these words and a place of its loop, the next one in each pair.
    PlacesInTurn(Vec<String>),
    /// Our own figure where this trial does not run before it.
    WithoutTrialBefore(Box<Request>),
}

fn main() -> ExitCode {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let quick = words.iter().any(|word| word == "quick");
    let only = words.iter().find(|word| *word != "quick");
    let count = if quick { 7 } else { 41 };
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("truth");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let program = build(&directory);
    let mut agent = agent(&directory);
    // Where files come and go on a disk its journal, or what was there before, is measured.
    let memory = Path::new("/dev/shm");
    let memory = tempfile::tempdir_in(if memory.is_dir() { memory } else { &directory }).unwrap();
    let file = directory.join("file");
    their(&program, &["make", text(&file), &FILE_BYTES.to_string()]);
    let small = directory.join("small");
    their(&program, &["make", text(&small), &(1_u64 << 20).to_string()]);
    let at_a_place = count / 3;
    println!(
        "| figure | iolab / C, median of {count} pairs, of calls {at_a_place} a place (95 %) | limit | |"
    );
    println!("| --- | --- | --- | --- |");
    let mut good = true;
    let wanted = |case: &Case| only.is_none_or(|only| case.name.contains(only.as_str()));
    for case in cases(&directory, &file, &small).iter().filter(|case| wanted(case)) {
        good &= row(case, &compared(case, &mut agent, &program, count));
    }
    stay_on_one_processor();
    let mut in_memory = agent_of_files(memory.path());
    for case in cases_of_files(memory.path()).iter().filter(|case| wanted(case)) {
        good &= row(case, &compared(case, &mut in_memory, &program, count));
    }
    for mut agent in [agent, in_memory] {
        assert_eq!(agent.ask(&Request::End).unwrap(), Reply::Done);
    }
    let _ = std::fs::remove_dir_all(&directory);
    if good || quick { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// An inode costs more where the other processor had it last: by chance, and by who made and who removed
/// it, which differs between the two programs. What is started from here on stays where this is.
fn stay_on_one_processor() {
    let mut here = rustix::thread::CpuSet::new();
    here.set(rustix::thread::sched_getcpu());
    rustix::thread::sched_setaffinity(None, &here).unwrap();
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn build(directory: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/truth/truth.c");
    let program = directory.join("truth");
    let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-O3", "-march=native", "-o"]).arg(&program).arg(source);
    assert!(cc.status().is_ok_and(|status| status.success()), "a C compiler is needed: {cc:?}");
    program
}

fn agent(directory: &Path) -> LocalChild {
    let mut agent = started_agent(env!("CARGO_BIN_EXE_iolab").into(), directory);
    let absent = Content::Sparse;
    for (id, bytes, content, files) in [
        (READ, FILE_BYTES, Content::Random, None),
        (WRITTEN, FILE_BYTES, absent, None),
        (SYNCED_FILE, SYNCED * 4096, absent, None),
        (TREE, 0, Content::Random, Some(META_FILES)),
    ] {
        let order =
            InstanceOrder { id, bytes, seed: 1, content, files, ..InstanceOrder::default() };
        assert_eq!(agent.ask(&Request::Make(order)).unwrap(), Reply::Done);
    }
    assert_eq!(agent.ask(&Request::Renew(vec![READ])).unwrap(), Reply::Done);
    agent
}

fn agent_of_files(directory: &Path) -> LocalChild {
    let mut agent = started_agent(env!("CARGO_BIN_EXE_iolab").into(), directory);
    let (standing, absent) = (TreeOrder::Kept(empty_files()), TreeOrder::Each(empty_files()));
    for (id, tree) in [(STANDING, standing), (ABSENT, absent)] {
        let order = InstanceOrder { id, seed: 1, tree: Some(tree), ..InstanceOrder::default() };
        assert_eq!(agent.ask(&Request::Make(order)).unwrap(), Reply::Done);
    }
    agent
}

fn empty_files() -> Tree {
    let (sizes, shape, body) = (Sizes::Fixed(0), Shape::Shared, Body::Random);
    Tree { files: EMPTY_FILES, sizes, shape, body, seed: 1, first: 0, rank: 0 }
}

fn words(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

fn program(line: &str) -> Theirs {
    Theirs::Program(words(line))
}

fn case(name: &str, ours: Request, theirs: Theirs, within: f64) -> Case {
    Case { name: name.to_owned(), ours, theirs, within, may_be_faster: false }
}

fn cases(directory: &Path, file: &Path, small: &Path) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    for call in ["getppid", "lseek", "read", "pread", "pwrite"] {
        let theirs = Theirs::AnyPlace(words(&format!("calls {call} {CALLS} {}", text(small))));
        all.push(case(&format!("calls: {call}"), calls(call), theirs, 0.03));
    }
    let name = "calls: pread beside pwrite, by pread alone";
    let alone = Theirs::WithoutTrialBefore(Box::new(calls("pwrite")));
    all.push(case(name, calls("pread"), alone, 0.03));
    for how in ["xor", "histogram"] {
        let theirs = program(&format!("read warm {how} {BLOCK} 1 {}", text(file)));
        let mut one = case(&format!("reads, cached, {how}"), read("warm", how), theirs, 0.03);
        one.may_be_faster = true;
        all.push(one);
    }
    let theirs = program(&format!("read cold xor {BLOCK} 1 {}", text(file)));
    all.push(case("reads, cold", read("cold", "xor"), theirs, 0.05));
    let target = directory.join("target");
    let theirs = program(&format!("copy {BLOCK} {} {}", text(file), text(&target)));
    let levels = Levels::new()
        .with(Factor::Method, Level::word("read-write"))
        .with(Factor::Block, Level::Number(BLOCK))
        .with(Factor::Cache, Level::word("warm"));
    all.push(case("copies", trial("copy", levels, Some(READ), 1), theirs, 0.03));
    for (name, sync, block, count, id, within) in [
        ("writes, cached", "none", BLOCK, FILE_BYTES / BLOCK, WRITTEN, 0.03),
        ("writes, fsync after each block", "fsync", 4096, SYNCED, SYNCED_FILE, 0.05),
    ] {
        let theirs = program(&format!("write {sync} {block} {count} {}", text(&target)));
        let levels = Levels::new()
            .with(Factor::Method, Level::word("write"))
            .with(Factor::Block, Level::Number(block))
            .with(Factor::Sync, Level::word(sync))
            .with(Factor::Until, Level::word("return"));
        all.push(case(name, trial("write", levels, Some(id), 1), theirs, within));
    }
    for call in ["stat", "chmod"] {
        let tree = directory.join("tree");
        let theirs = program(&format!("meta {call} {META_CALLS} {META_FILES} {}", text(&tree)));
        let levels = Levels::new()
            .with(Factor::Operation, Level::word(call))
            .with(Factor::Files, Level::Number(META_FILES))
            .with(Factor::Pass, Level::word("steady"));
        let ours = trial("meta", levels, Some(TREE), META_CALLS);
        all.push(case(&format!("metadata: {call}"), ours, theirs, 0.05));
    }
    all
}

fn cases_of_files(directory: &Path) -> Vec<Case> {
    let of = |(operation, id)| {
        let theirs =
            format!("files {operation} {EMPTY_FILES} {}", text(&directory.join(operation)));
        let levels = Levels::new()
            .with(Factor::Operation, Level::word(operation))
            .with(Factor::Files, Level::Number(EMPTY_FILES))
            .with(Factor::Sizes, Level::word("empty"))
            .with(Factor::Layout, Level::word("shared"))
            .with(Factor::Threads, Level::Number(1));
        let ours = trial("files", levels, Some(id), 1);
        case(&format!("files: {operation}"), ours, Theirs::PlacesInTurn(words(&theirs)), 0.05)
    };
    [("create", ABSENT), ("stat", STANDING), ("remove", ABSENT)].map(of).into()
}

fn calls(call: &str) -> Request {
    let levels = Levels::new().with(Factor::Operation, Level::word(call));
    trial("syscall", levels, None, CALLS)
}

fn read(state: &str, how: &str) -> Request {
    let levels = Levels::new()
        .with(Factor::Method, Level::word("pread"))
        .with(Factor::Block, Level::Number(BLOCK))
        .with(Factor::Consume, Level::word(how))
        .with(Factor::Cache, Level::word(state));
    trial("read", levels, Some(READ), 1)
}

fn trial(workload: &str, levels: Levels, instance: Option<usize>, passes: u64) -> Request {
    let (workload, extent) = (workload.to_owned(), Extent::Passes(passes));
    Request::Trial(Box::new(TrialRequest {
        workload,
        levels,
        instance,
        extent,
        limit_ns: LIMIT_NS,
    }))
}

/// Ours over theirs, sorted; of several places, those of the one that is nearest to ours.
fn compared(case: &Case, agent: &mut LocalChild, program: &Path, count: usize) -> Vec<f64> {
    match &case.theirs {
        Theirs::Program(words) => {
            let theirs = |_: &mut LocalChild| their(program, words);
            ratios(agent, |agent| wall_ns(agent, &case.ours), theirs, count)
        }
        Theirs::AnyPlace(words) => {
            let at = |place: usize, agent: &mut LocalChild| {
                let theirs = |_: &mut LocalChild| their_at(program, words, place);
                ratios(agent, |agent| wall_ns(agent, &case.ours), theirs, count / 3)
            };
            let far = |ratios: &Vec<f64>| ratios[ratios.len() / 2].ln().abs();
            let all = (0..PLACES).map(|place| at(place, agent));
            all.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
        }
        Theirs::PlacesInTurn(words) => {
            let turn = Cell::new(0);
            let theirs = |_: &mut LocalChild| {
                their_at(program, words, turn.replace(turn.get() + 1) % PLACES)
            };
            ratios(agent, |agent| wall_ns(agent, &case.ours), theirs, count)
        }
        Theirs::WithoutTrialBefore(before) => {
            let beside = |agent: &mut LocalChild| {
                wall_ns(agent, before);
                wall_ns(agent, &case.ours)
            };
            ratios(agent, beside, |agent| wall_ns(agent, &case.ours), count)
        }
    }
}

/// Ours over theirs, pair by pair, in an order that a coin decides; sorted.
fn ratios(
    agent: &mut LocalChild,
    ours: impl Fn(&mut LocalChild) -> f64,
    theirs: impl Fn(&mut LocalChild) -> f64,
    count: usize,
) -> Vec<f64> {
    // Once each unrecorded: programs and files come into the caches.
    ours(agent);
    theirs(agent);
    let mut coin = 0x9e37_79b9_7f4a_7c15_u64;
    let mut ratios: Vec<f64> = (0..count)
        .map(|_| {
            coin ^= coin << 13;
            coin ^= coin >> 7;
            coin ^= coin << 17;
            match coin >> 63 {
                0 => ours(agent) / theirs(agent),
                _ => 1.0 / (theirs(agent) / ours(agent)),
            }
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

fn wall_ns(agent: &mut LocalChild, request: &Request) -> f64 {
    measured(agent.ask(request).unwrap()).wall_ns as f64
}

fn measured(reply: Reply) -> Measurement {
    match reply {
        Reply::Measured(measurement) => *measurement,
        other => panic!("{other:?}"),
    }
}

/// What the C program prints.
fn their(program: &Path, words: &[impl AsRef<std::ffi::OsStr> + std::fmt::Debug]) -> f64 {
    let output = Command::new(program).args(words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    text.trim().parse().unwrap_or_else(|_| panic!("{words:?} said {text:?} {errors}"))
}

/// The same with its loop at a place.
fn their_at(program: &Path, words: &[String], place: usize) -> f64 {
    let words: Vec<String> = words.iter().cloned().chain([place.to_string()]).collect();
    their(program, &words)
}

fn row(case: &Case, ratios: &[f64]) -> bool {
    let (middle, rank) = (ratios[ratios.len() / 2], lower_rank(ratios.len()));
    let (low, high) = (ratios[rank], ratios[ratios.len() - 1 - rank]);
    let fast = case.may_be_faster || middle >= 1.0 / (1.0 + case.within);
    let good = fast && middle <= 1.0 + case.within;
    let limit = match case.may_be_faster {
        true => format!("at most {:.0} % more", 100.0 * case.within),
        false => format!("within {:.0} %", 100.0 * case.within),
    };
    let verdict = if good { "PASS" } else { "**FAIL**" };
    println!("| {} | {middle:.3} ({low:.3}–{high:.3}) | {limit} | {verdict} |", case.name);
    good
}
