//! The figures of ranks against another program with MPI, in turn: the span from a barrier to the last
//! rank, for a file of each rank's own. And what a trial costs beside it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod beside;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use beside::Beside;
use iolab_model::result::Document;

const RANKS: &str = "4";
const BYTES: &str = "67108864";
const BLOCK: &str = "1048576";
/// Files of each rank: so many that all ranks work for a hundred milliseconds. Where there are more of them
/// than processors, whoever has to wait for one begins 4 ms later.
const FILES: &str = "20000";
const ROUNDS: &str = "12";
/// Pairs in turn of each workload.
const PAIRS: usize = 7;

/// What is measured, and our words for it.
const WORK: [(&str, &[&str]); 5] = [
    ("read", &["read", "--method", "pread"]),
    ("write", &["write", "--method", "pwrite"]),
    ("create", &["files", "create"]),
    ("stat", &["files", "stat"]),
    ("remove", &["files", "remove"]),
];

/// MPICH's, or whatever there is.
fn found(names: [&'static str; 2]) -> Option<&'static str> {
    names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
}

/// `-- read create` measures these alone; `own` is what a trial costs beside its work. The files are
/// made under IOLAB_RANKS_DIR, or where cargo builds; IOLAB_IOR_DIR names IOR and mdtest, which are then
/// what ours is measured against.
fn main() {
    let tools = found(["mpicc.mpich", "mpicc"]).zip(found(["mpirun.mpich", "mpirun"]));
    let Some((mpicc, mpirun)) = tools else {
        return println!("ranks: no mpicc here: apt-get install mpich libmpich-dev libclang-dev");
    };
    let under = std::env::var("IOLAB_RANKS_DIR");
    let under = under.unwrap_or_else(|_| env!("CARGO_TARGET_TMPDIR").to_owned());
    let home = tempfile::tempdir_in(under).unwrap();
    // The record is not written to what is measured.
    let state = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bench = Bench {
        mpirun,
        relay: built_relay(mpicc),
        beside: Beside::found(mpicc, home.path()),
        there: home.path().to_str().unwrap().to_owned(),
        state: state.path().to_owned(),
    };
    let named: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |word: &str| named.is_empty() || named.iter().any(|name| name == word);
    for (work, ours) in WORK.iter().filter(|(work, _)| wanted(work)) {
        bench.compare(work, ours);
    }
    if wanted("own") {
        let mut each: Vec<f64> = (0..5).map(|_| bench.own_time()).collect();
        let middle = median(&mut each);
        println!(
            "ranks: {middle:.2} ms of our own a trial and rank ({:.2}–{:.2})",
            each[0], each[4]
        );
    }
}

struct Bench {
    mpirun: &'static str,
    relay: PathBuf,
    beside: Beside,
    there: String,
    state: PathBuf,
}

/// Nanoseconds.
struct Own {
    span: f64,
    barrier: f64,
    skew: f64,
    lead: f64,
}

impl Bench {
    fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new(self.mpirun);
        command.args(["-np", RANKS]).args(words).env("XDG_STATE_HOME", &self.state);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn compare(&self, work: &str, ours: &[&str]) {
        let name = self.beside.name(work);
        let mut ratios = Vec::new();
        for pair in 0..PAIRS {
            // Whoever is first finds another machine.
            let (own, plain) = match pair % 2 {
                0 => {
                    let own = self.ours(ours, work);
                    (own, self.beside.span(self, work))
                }
                _ => {
                    let plain = self.beside.span(self, work);
                    (self.ours(ours, work), plain)
                }
            };
            ratios.push(own.span / plain);
            println!(
                "ranks {work}: {:.2} ms, {name} {:.2} ms, {:.3}; a barrier {:.1} µs, left within \
                 {:.1} µs, first call after {:.1} µs",
                own.span / 1e6,
                plain / 1e6,
                own.span / plain,
                own.barrier / 1e3,
                own.skew / 1e3,
                own.lead / 1e3
            );
        }
        let middle = median(&mut ratios);
        let (least, most) = (ratios[0], ratios[PAIRS - 1]);
        println!("ranks {work}: {middle:.3} of {name}, median of {PAIRS} ({least:.3}–{most:.3})");
    }

    /// As long as a whole pass takes, by what a trial did of one.
    fn ours(&self, words: &[&str], work: &str) -> Own {
        let mpi = format!("--mpi={}", self.relay.display());
        let amount: &[&str] = match words[0] {
            "files" => {
                &["--files", FILES, "--sizes", "empty", "--layout", "shared", "--threads", "1"]
            }
            _ => &["--file-size", BYTES, "--block", BLOCK],
        };
        // What is done with files stands before the directory.
        let (what, rest) = words.split_at(if words[0] == "files" { 2 } else { 1 });
        let how = ["--rounds", ROUNDS, "--format", "json", "-q"];
        let how = [&how[..], self.beside.our_words(work)].concat();
        let words =
            [&[env!("CARGO_BIN_EXE_iolab")][..], what, &[&self.there, &mpi], rest, amount, &how];
        let run: Document = serde_json::from_str(&self.run(&words.concat())).unwrap();
        let steady = || run.cells[0].samples.iter().filter(|sample| sample.is_steady());
        let of =
            |id: &str| median(&mut steady().map(|s| s.measurement.metrics[id]).collect::<Vec<_>>());
        let whole: f64 = if what.len() == 2 { FILES } else { BYTES }.parse().unwrap();
        let span = |sample: &iolab_model::result::Sample| {
            let measured = &sample.measurement;
            let done = if what.len() == 2 { measured.operations } else { measured.bytes };
            measured.wall_ns as f64 * whole * RANKS.parse::<f64>().unwrap() / done as f64
        };
        Own {
            span: median(&mut steady().map(span).collect::<Vec<_>>()),
            barrier: of("barrier_ns"),
            skew: of("barrier_skew_ns"),
            lead: of("barrier_to_call_ns"),
        }
    }

    /// Milliseconds of our own a trial and rank: what more rounds of next to nothing take, without what was
    /// timed of them.
    fn own_time(&self) -> f64 {
        let mpi = format!("--mpi={}", self.relay.display());
        let took = |rounds: &str| {
            let words =
                [env!("CARGO_BIN_EXE_iolab"), "read", &self.there, &mpi, "--method", "null"];
            let shape = ["--file-size", "64Ki", "--block", "64Ki", "--rounds", rounds];
            let since = Instant::now();
            let said = self.run(&[&words[..], &shape, &["--format", "json", "-q"]].concat());
            let took_ms = since.elapsed().as_secs_f64() * 1e3;
            let run: Document = serde_json::from_str(&said).unwrap();
            let timed = run.cells[0].samples.iter().map(|sample| sample.measurement.wall_ns);
            // Two trials a round: the cell, and one that is measured twice.
            took_ms - 2.0 * timed.sum::<u64>() as f64 / 1e6
        };
        (took("320") - took("20")) / 600.0 / RANKS.parse::<f64>().unwrap()
    }
}

fn works_on_files(work: &str) -> bool {
    matches!(work, "create" | "stat" | "remove")
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn built_relay(mpicc: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi-bench");
    let mut build = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    build.current_dir(root).args(["build", "--release", "--locked", "-p", "iolab-mpi"]);
    build.args(["--features", "mpi", "--target-dir"]).arg(&target).env("MPICC", mpicc);
    assert!(build.status().unwrap().success());
    target.join("release/iolab-mpi")
}
