//! Who is measured beside us: a plain program of ours, or IOR and mdtest.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{BLOCK, BYTES, Bench, FILES, ROUNDS, median, works_on_files};

pub enum Beside {
    /// `plain.c`.
    Plain(PathBuf),
    /// The directory that holds both `ior` and `mdtest`, built for the same MPI library.
    Ior(PathBuf),
}

impl Beside {
    /// IOLAB_IOR_DIR names where `ior` and `mdtest` are; without it the plain program is built.
    pub fn found(mpicc: &str, home: &Path) -> Self {
        std::env::var("IOLAB_IOR_DIR")
            .map_or_else(|_| Self::Plain(built_plain(mpicc, home)), |at| Self::Ior(at.into()))
    }

    pub fn name(&self, work: &str) -> &'static str {
        match self {
            Self::Plain(_) => "plain",
            Self::Ior(_) if works_on_files(work) => "mdtest",
            Self::Ior(_) => "IOR",
        }
    }

    /// What our words must say more, so that both do the same: IOR looks at none of the bytes it reads.
    pub fn our_words(&self, work: &str) -> &'static [&'static str] {
        if matches!(self, Self::Ior(_)) && work == "read" { &["--consume", "none"] } else { &[] }
    }

    /// Nanoseconds from the barrier until the last rank was done, the median of the rounds.
    pub fn span(&self, bench: &Bench, work: &str) -> f64 {
        match self {
            Self::Plain(program) => plain_span(bench, program, work),
            Self::Ior(at) if works_on_files(work) => mdtest_span(bench, &at.join("mdtest"), work),
            Self::Ior(at) => ior_span(bench, &at.join("ior"), work),
        }
    }
}

fn plain_span(bench: &Bench, program: &Path, work: &str) -> f64 {
    let amount = if works_on_files(work) { [FILES, "0"] } else { [BYTES, BLOCK] };
    let words = [&[program.to_str().unwrap(), work, &bench.there][..], &amount, &[ROUNDS]];
    bench.run(&words.concat()).trim().parse().unwrap()
}

/// A file of each rank's own in calls of one size; what is written is synced before its time ends.
fn ior_span(bench: &Bench, ior: &Path, work: &str) -> f64 {
    let file = format!("{}/ior", bench.there);
    let shape = [
        ior.to_str().unwrap(),
        "-F",
        "-b",
        BYTES,
        "-t",
        BLOCK,
        "-o",
        &file,
        "-O",
        "summaryFormat=JSON",
    ];
    let once = |rest: &[&str]| bench.run(&[&shape[..], rest].concat());
    if work == "write" {
        return ior_median(&once(&["-w", "-e", "-i", ROUNDS]));
    }
    once(&["-w", "-k"]);
    let said = once(&["-r", "-E", "-k", "-i", ROUNDS]);
    for entry in std::fs::read_dir(&bench.there).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("ior.") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    ior_median(&said)
}

fn ior_median(said: &str) -> f64 {
    let said: Value = serde_json::from_str(said).unwrap();
    let rounds = said["tests"][0]["Results"].as_array().unwrap();
    let mut spans: Vec<f64> =
        rounds.iter().map(|round| round["wrRdTime"].as_f64().unwrap() * 1e9).collect();
    median(&mut spans)
}

/// Empty files in a directory of each rank's own. Verbose, mdtest tells what each round took until the
/// last rank was done, as the rate of one rank.
fn mdtest_span(bench: &Bench, mdtest: &Path, work: &str) -> f64 {
    let row = match work {
        "create" => "File creation",
        "stat" => "File stat",
        _ => "File removal",
    };
    let under = format!("{}/mdtest", bench.there);
    let shape = [mdtest.to_str().unwrap(), "-F", "-u", "-v", "-C", "-T", "-r", "-d", &under];
    let said = bench.run(&[&shape[..], &["-n", FILES, "-i", ROUNDS]].concat());
    let of_a_round = said.lines().filter(|line| line.contains("Line") && line.contains(row));
    let mut spans: Vec<f64> = of_a_round
        .map(|line| {
            let rate = line.rsplit(' ').nth(1).unwrap();
            FILES.parse::<f64>().unwrap() * 1e9 / rate.parse::<f64>().unwrap()
        })
        .collect();
    median(&mut spans)
}

fn built_plain(mpicc: &str, home: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/ranks/plain.c");
    let program = home.join("plain");
    let done =
        Command::new(mpicc).args(["-O3", "-march=native", "-o"]).arg(&program).arg(source).status();
    assert!(done.unwrap().success());
    program
}
