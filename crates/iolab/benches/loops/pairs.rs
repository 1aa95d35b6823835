//! Pairs: ours and theirs right after each other, in a random order, each in a process of its own,
//! so that where memory lies is drawn anew for both. What is kept of a pair is its ratio.

use std::process::{Command, Stdio};

/// Two programs that do the same work.
pub struct Rivals {
    pub ours: Command,
    pub theirs: Command,
}

/// What many pairs say.
pub struct Ratio {
    /// Median nanoseconds of ours.
    pub ours_ns: f64,
    /// Median nanoseconds of theirs.
    pub theirs_ns: f64,
    /// Median of ours − theirs, in nanoseconds.
    pub more_ns: f64,
    /// Median of ours / theirs.
    pub median: f64,
    /// Exact 95 % interval of that median by order statistics (the sign test's).
    pub low: f64,
    pub high: f64,
}

pub fn measure(rivals: &mut Rivals, pairs: usize) -> Ratio {
    // Once each unrecorded: the programs and the file come into the cache.
    run(&mut rivals.ours);
    run(&mut rivals.theirs);
    let mut coin = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut ratios, mut more) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        coin ^= coin << 13;
        coin ^= coin >> 7;
        coin ^= coin << 17;
        let (a, b);
        if coin >> 63 == 0 {
            a = run(&mut rivals.ours);
            b = run(&mut rivals.theirs);
        } else {
            b = run(&mut rivals.theirs);
            a = run(&mut rivals.ours);
        }
        ours.push(a);
        theirs.push(b);
        ratios.push(a / b);
        more.push(a - b);
    }
    for values in [&mut ours, &mut theirs, &mut ratios, &mut more] {
        values.sort_by(f64::total_cmp);
    }
    let rank = lower_rank(pairs);
    Ratio {
        ours_ns: ours[pairs / 2],
        theirs_ns: theirs[pairs / 2],
        more_ns: more[pairs / 2],
        median: ratios[pairs / 2],
        low: ratios[rank],
        high: ratios[pairs - 1 - rank],
    }
}

/// Both programs print nanoseconds and nothing else.
fn run(command: &mut Command) -> f64 {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    text.trim().parse().unwrap_or_else(|_| panic!("{command:?} said {text:?} {errors}"))
}

/// The largest 0-based rank r with P(Bin(n, ½) ≤ r) ≤ 2.5 %; 0 where there is none.
pub fn lower_rank(n: usize) -> usize {
    let mut probability = 0.5_f64.powi(n as i32);
    let mut sum = probability;
    let mut rank = 0;
    while sum <= 0.025 {
        probability *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
        sum += probability;
    }
    rank
}
