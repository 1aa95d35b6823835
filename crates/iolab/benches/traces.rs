//! What reading a trace costs, alone in a process: a million calls of four threads on 200 files in under
//! 1 s and 100 MiB. Prints a row with PASS or FAIL; the exit status is 1 where it fails.
//!
//! `cargo bench --bench traces`.

#![allow(clippy::unwrap_used)] // a bench that cannot go on should stop loudly

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::process::{Command, Stdio};
use std::time::Instant;

use iolab_trace::{Limits, Trace, parse, read, write};

const CALLS: u64 = 1_000_000;
const LIMIT_SECONDS: f64 = 1.0;
const LIMIT_KIB: u64 = 100 << 10;
const TIMES: usize = 7;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let [_, load, path] = &words[..]
        && load == "load"
    {
        return load_one(path);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("million.trace");
    write(&million(), &mut File::create(&path).unwrap()).unwrap();
    let mut seen: Vec<(f64, u64)> = (0..TIMES)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output = command.arg("load").arg(&path).stderr(Stdio::inherit()).output().unwrap();
            let said = String::from_utf8(output.stdout).unwrap();
            let (seconds, peak_kib) = said.trim().split_once(' ').unwrap();
            (seconds.parse().unwrap(), peak_kib.parse().unwrap())
        })
        .collect();
    seen.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, bytes) = (seen[TIMES / 2].0, path.metadata().unwrap().len());
    let peak_kib = seen.iter().map(|one| one.1).max().unwrap_or(0);
    let good = seconds < LIMIT_SECONDS && peak_kib < LIMIT_KIB;
    let said = if good { "PASS" } else { "FAIL" };
    let (megabytes, mebibytes) = (bytes as f64 / 1e6, peak_kib >> 10);
    println!("| a million calls, {megabytes:.1} MB | {seconds:.3} s | {mebibytes} MiB | {said} |");
    std::process::exit(i32::from(!good));
}

/// Reads it, and says how long that took and the peak of this process.
fn load_one(path: &str) {
    let start = Instant::now();
    let trace = read(BufReader::new(File::open(path).unwrap())).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(trace.calls.len() as u64, CALLS);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("{seconds} {}", peak.trim().trim_end_matches(" kB"));
}

/// Four threads that open files, read them and close them.
fn million() -> Trace {
    let mut log = String::new();
    for call in 0..CALLS {
        let (thread, file) = (1 + call % 4, (call / 40) % 200);
        let (seconds, micros) = (100 + call / 50_000, call % 50_000 * 20);
        let of = format!("</d/file-{file}>");
        let fd = 3 + thread;
        let what = match call / 4 % 10 {
            0 => format!("openat(AT_FDCWD</d>, \"file-{file}\", O_RDONLY) = {fd}{of}"),
            9 => format!("close({fd}{of}) = 0"),
            _ => format!("read({fd}{of}, \"\"..., 4096) = 4096"),
        };
        let _ = writeln!(log, "{thread} {seconds}.{micros:06} {what} <0.000007>");
    }
    parse(Cursor::new(log), &Limits::default()).unwrap()
}
