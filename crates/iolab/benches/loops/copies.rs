//! Copies: the loop against bare C block by block, and the best way against `cp` and against `dd`
//! at its best block, each a whole program from start to end.

use std::path::Path;
use std::process::Command;

use crate::pairs::{Rivals, measure};
use crate::verdict;

/// What `dd` and our loop are tried with.
const BLOCKS: [u64; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// How much: the size of the large file, and pairs for it.
pub struct Amount {
    /// Bytes of the file that is copied.
    pub bytes: usize,
    /// Pairs.
    pub pairs: usize,
}

/// Prints the rows; true where the limits are kept.
pub fn rows(directory: &Path, bare: &Path, loop_pairs: usize, amount: &Amount) -> bool {
    let small = directory.join("file");
    let mut good = true;
    for (block, calls) in [(1_u64, 40_000_u64), (512, 20_000), (4096, 8_000), (65_536, 500)] {
        good &= loop_row(directory, bare, &small, block, calls, loop_pairs);
    }
    let large = directory.join("large");
    std::fs::write(&large, iolab_test::files::noise(amount.bytes)).unwrap();
    let target = directory.join("target");
    let ours = fastest(bare, &target, ways(&large, &target));
    println!("best way here: {}", ours.0);
    let cp = vec!["cp".into(), text(&large), text(&target)];
    good &= program_row(bare, &target, "cp", &ours, &cp, amount);
    let dd = fastest(bare, &target, BLOCKS.map(|b| dd(&large, &target, b)).to_vec());
    good & program_row(bare, &target, &dd.0, &ours, &dd.1, amount)
}

fn loop_row(
    directory: &Path,
    bare: &Path,
    file: &Path,
    block: u64,
    calls: u64,
    pairs: usize,
) -> bool {
    let work = ["part".to_owned(), block.to_string(), calls.to_string(), text(file)];
    let mut ours = Command::new(std::env::current_exe().unwrap());
    ours.arg("one").args(&work);
    let mut theirs = Command::new(bare);
    theirs.args(&work).arg(directory.join("copy-bare"));
    let ratio = measure(&mut Rivals { ours, theirs }, pairs);
    let kept = ratio.median <= 1.03;
    println!(
        "| copy loop, {block} bytes a call | {:.0} ns | {:.0} ns | {:.3} ({:.3}–{:.3}) | ≤ 1.03 × the time | {} |",
        ratio.ours_ns / calls as f64,
        ratio.theirs_ns / calls as f64,
        ratio.median,
        ratio.low,
        ratio.high,
        verdict(kept)
    );
    kept
}

fn program_row(
    bare: &Path,
    target: &Path,
    name: &str,
    (way, words): &(String, Vec<String>),
    rival: &[String],
    amount: &Amount,
) -> bool {
    let timed = |words: &[String]| {
        let mut command = Command::new(bare);
        command.arg("command").arg(target).args(words);
        command
    };
    let mut rivals = Rivals { ours: timed(words), theirs: timed(rival) };
    let ratio = measure(&mut rivals, amount.pairs);
    let kept = ratio.low <= 1.0;
    println!(
        "| copy of {} MiB, cached: {way} against {name} | {:.0} ms | {:.0} ms | {:.3} ({:.3}–{:.3}) | not slower | {} |",
        amount.bytes >> 20,
        ratio.ours_ns / 1e6,
        ratio.theirs_ns / 1e6,
        ratio.median,
        ratio.low,
        ratio.high,
        verdict(kept)
    );
    kept
}

type Named = (String, Vec<String>);

fn ways(source: &Path, target: &Path) -> Vec<Named> {
    let program = text(&std::env::current_exe().unwrap());
    let way = |method: &str, block: u64| {
        let words = ["one", "whole", method, &block.to_string(), &text(source), &text(target)];
        let words = words.iter().map(|word| (*word).to_owned());
        (
            format!("{method} {}Ki", block >> 10),
            std::iter::once(program.clone()).chain(words).collect(),
        )
    };
    let mut all: Vec<Named> = BLOCKS.map(|block| way("read-write", block)).to_vec();
    all.push(way("copy_file_range", BLOCKS[0]));
    all.push(way("sendfile", BLOCKS[0]));
    all.push(way("splice", 1 << 20));
    all
}

fn dd(source: &Path, target: &Path, block: u64) -> Named {
    let words = [
        "dd".to_owned(),
        format!("if={}", text(source)),
        format!("of={}", text(target)),
        format!("bs={block}"),
        "status=none".to_owned(),
    ];
    (format!("dd bs={}Ki", block >> 10), words.to_vec())
}

/// The fastest of some programs by the median of five, one after another.
fn fastest(bare: &Path, target: &Path, all: Vec<Named>) -> Named {
    let mut times = vec![Vec::new(); all.len()];
    for _ in 0..5 {
        for ((_, words), times) in all.iter().zip(&mut times) {
            let output = Command::new(bare).arg("command").arg(target).args(words).output();
            let ns = String::from_utf8_lossy(&output.unwrap().stdout).trim().parse::<u64>();
            times.push(ns.unwrap());
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    let best = (0..all.len()).min_by_key(|at| times[*at][2]).unwrap();
    all[best].clone()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
