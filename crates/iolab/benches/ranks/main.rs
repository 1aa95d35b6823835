//! The figures of ranks against a plain program with MPI, in turn: the span from a barrier to the last
//! rank, for a file of each rank's own. And what a trial costs beside it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use iolab_model::result::Document;

const RANKS: &str = "4";
const BYTES: &str = "67108864";
const BLOCK: &str = "1048576";
const ROUNDS: &str = "20";
/// Pairs in turn of each workload.
const PAIRS: usize = 6;

/// MPICH's, or whatever there is.
fn found(names: [&'static str; 2]) -> Option<&'static str> {
    names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
}

fn main() {
    let tools = found(["mpicc.mpich", "mpicc"]).zip(found(["mpirun.mpich", "mpirun"]));
    let Some((mpicc, mpirun)) = tools else {
        return println!("ranks: no mpicc here: apt-get install mpich libmpich-dev libclang-dev");
    };
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (relay, plain) = (built_relay(mpicc), built_plain(mpicc, home.path()));
    let run = |words: &[&str]| {
        let mut command = Command::new(mpirun);
        command.args(["-np", RANKS]).args(words).env("XDG_STATE_HOME", home.path());
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let there = home.path().to_str().unwrap();
    for (workload, method) in [("read", "pread"), ("write", "pwrite")] {
        let mut ratios = Vec::new();
        for pair in 0..PAIRS {
            let theirs = || -> f64 {
                run(&[plain.to_str().unwrap(), workload, there, BYTES, BLOCK, ROUNDS])
                    .trim()
                    .parse()
                    .unwrap()
            };
            let ours = || measured(&run, &relay, there, (workload, method));
            // Whoever is first finds another machine.
            let (own, plain_ns) = match pair % 2 {
                0 => {
                    let own = ours();
                    (own, theirs())
                }
                _ => {
                    let plain_ns = theirs();
                    (ours(), plain_ns)
                }
            };
            ratios.push(own.span_ns / plain_ns);
            println!(
                "ranks {workload}: {:.2} ms, plain {:.2} ms, {:.3}; a barrier {:.1} µs, left within \
                 {:.1} µs, first call after {:.1} µs",
                own.span_ns / 1e6,
                plain_ns / 1e6,
                own.span_ns / plain_ns,
                own.barrier_ns / 1e3,
                own.skew_ns / 1e3,
                own.lead_ns / 1e3
            );
        }
        println!(
            "ranks {workload}: {:.3} of the plain program, median of {PAIRS}",
            median(&mut ratios)
        );
    }
    println!(
        "ranks: {:.2} ms a trial beside the work, all ranks together",
        beside(&run, &relay, there)
    );
}

struct Own {
    span_ns: f64,
    barrier_ns: f64,
    skew_ns: f64,
    lead_ns: f64,
}

type Run<'a> = &'a dyn Fn(&[&str]) -> String;

fn measured(run: Run<'_>, relay: &Path, there: &str, (workload, method): (&str, &str)) -> Own {
    let mpi = format!("--mpi={}", relay.display());
    let words = [env!("CARGO_BIN_EXE_iolab"), workload, there, &mpi, "--method", method];
    let rest =
        ["--file-size", BYTES, "--block", BLOCK, "--rounds", ROUNDS, "--format", "json", "-q"];
    let text = run(&[&words[..], &rest].concat());
    let run: Document = serde_json::from_str(&text).unwrap();
    let steady = || run.cells[0].samples.iter().filter(|sample| sample.is_steady());
    let of =
        |id: &str| median(&mut steady().map(|s| s.measurement.metrics[id]).collect::<Vec<_>>());
    let span = |s: &iolab_model::result::Sample| {
        s.measurement.wall_ns as f64 / s.measurement.repetitions.max(1) as f64
    };
    Own {
        span_ns: median(&mut steady().map(span).collect::<Vec<_>>()),
        barrier_ns: of("barrier_ns"),
        skew_ns: of("barrier_skew_ns"),
        lead_ns: of("barrier_to_call_ns"),
    }
}

/// Milliseconds of a trial of next to nothing: what more rounds take, over their trials.
fn beside(run: Run<'_>, relay: &Path, there: &str) -> f64 {
    let mpi = format!("--mpi={}", relay.display());
    let took = |rounds: &str| {
        let words = [env!("CARGO_BIN_EXE_iolab"), "read", there, &mpi, "--method", "null"];
        let rest = ["--file-size", "64Ki", "--block", "64Ki", "--rounds", rounds, "-q"];
        let since = Instant::now();
        run(&[&words[..], &rest].concat());
        since.elapsed().as_secs_f64() * 1e3
    };
    // Two trials a round: the cell, and one that is measured twice.
    (took("520") - took("20")) / 1000.0
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

fn built_plain(mpicc: &str, home: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ranks/plain.c");
    let program = home.join("plain");
    let done = Command::new(mpicc).args(["-O3", "-o"]).arg(&program).arg(source).status();
    assert!(done.unwrap().success());
    program
}
