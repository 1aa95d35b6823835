//! The small tools against what the machine can do with the bytes: a file made against writes of
//! one buffer, digests and comparison against bare reads. One round has each once. Prints a
//! Markdown table with PASS or FAIL; the exit status is 1 where one fails.
//!
//! `cargo bench --bench tools`. Digests and comparison use every processor, as the tools do; the
//! bare read is one loop of `pread` of 64 KiB.

#![allow(clippy::unwrap_used)] // a bench that cannot go on should stop loudly

use iolab_model::catalog::Fill;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use iolab_io::tool::{FileOrder, checksum, compare_files, make_file};

const BYTES: u64 = 512 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const ROUNDS: usize = 15;
const NAMES: [&str; 5] =
    ["writes of one buffer", "iolab make file", "bare read", "iolab checksum", "iolab diff"];

fn main() -> ExitCode {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = |name: &str| directory.path().join(name);
    let order = FileOrder { bytes: BYTES, fill: Fill::Random, seed: 1 };
    make_file(&at("a"), &order, &mut |_| true).unwrap();
    make_file(&at("b"), &order, &mut |_| true).unwrap();
    let mut rates = vec![Vec::new(); NAMES.len()];
    for round in 0..ROUNDS {
        for turn in 0..NAMES.len() {
            let which = (round + turn) % NAMES.len();
            let _ = std::fs::remove_file(at("new"));
            let start = Instant::now();
            let bytes = match which {
                0 => written(&at("new")),
                1 => make_file(&at("new"), &order, &mut |_| true).map(|()| BYTES).unwrap(),
                2 => read(&at("a")),
                3 => checksum(&at("a"), BLOCK_BYTES as u64, None).unwrap().bytes,
                _ => {
                    assert_eq!(compare_files(&at("a"), &at("b")).unwrap(), None);
                    2 * BYTES
                }
            };
            rates[which].push(bytes as f64 / start.elapsed().as_secs_f64() / 1e9);
        }
    }
    println!("| work, {} MiB cached | GB/s | limit | |\n| --- | ---: | --- | --- |", BYTES >> 20);
    let rate = |which: usize| iolab_stats::median(&rates[which]).unwrap();
    // By the round: what the machine did meanwhile hit both.
    let against = |which: usize, other: usize| {
        let pairs: Vec<f64> = rates[which].iter().zip(&rates[other]).map(|(a, b)| a / b).collect();
        iolab_stats::median(&pairs).unwrap()
    };
    let mut good = true;
    for (which, name) in NAMES.iter().enumerate() {
        let (limit, kept) = match which {
            1 => ("2 GB/s, or the machine's own speed", rate(1) >= 2.0 || against(1, 0) >= 0.9),
            3 | 4 => ("≥ 0.9 × the bare read", against(which, 2) >= 0.9),
            _ => ("–", true),
        };
        let verdict = if kept { "PASS" } else { "FAIL" };
        println!("| {name} | {:.2} | {limit} | {verdict} |", rate(which));
        good &= kept;
    }
    println!(
        "\nmake file against writes {:.2}; checksum {:.2}, diff {:.2} of the bare read",
        against(1, 0),
        against(3, 2),
        against(4, 2)
    );
    ExitCode::from(u8::from(!good))
}

fn written(path: &Path) -> u64 {
    let buffer = vec![0x5a; 1 << 20];
    let mut file = File::create_new(path).unwrap();
    for _ in 0..BYTES >> 20 {
        file.write_all(&buffer).unwrap();
    }
    BYTES
}

fn read(path: &Path) -> u64 {
    let (file, mut buffer) = (File::open(path).unwrap(), vec![0; BLOCK_BYTES]);
    let mut at = 0;
    loop {
        match file.read_at(&mut buffer, at).unwrap() {
            0 => return at,
            count => at += count as u64,
        }
    }
}
