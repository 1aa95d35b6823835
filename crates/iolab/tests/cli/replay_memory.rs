//! A replay reads into as much new memory as the program did, and as far into a page.

use crate::cli_support::{Home, buffer_offsets, document, traceable};

const QUICK: [&str; 6] = ["--block", "recorded", "--rounds", "3", "--budget", "60s"];

/// Page faults of a trial of the replay, and bytes into a page of its reads of 2 MiB, as strace sees them.
fn replayed(home: &Home, trace: &str) -> (f64, Vec<u64>) {
    let arguments = [&["replay", trace, "--format", "json"], &QUICK[..]].concat();
    let run = document(&home.run(&arguments).fine());
    let done = run.cells[0].samples.iter().find(|sample| sample.fault.is_none()).unwrap();
    let into_page =
        buffer_offsets(home, "read", 2 << 20, &[&["replay", trace], &QUICK[..]].concat());
    (done.measurement.metrics["minor_faults"], into_page)
}

/// A python3 that reads its modules into new memory was foretold as a tenth faster than it is: its copy's
/// buffers had their pages, and lay where calls are quick.
#[test]
fn a_replay_reads_into_as_much_new_memory_as_far_into_a_page() {
    let test = "a_replay_reads_into_as_much_new_memory_as_far_into_a_page";
    if !traceable(test) {
        return;
    }
    let home = Home::new();
    home.file("in", 6 << 20);
    // Its one buffer begins with a page, and the first of three reads brings 512 pages into use.
    let dd = ["--", "dd", "if=in", "of=/dev/null", "bs=2M"];
    let record = ["record", "--quiet", "-o", "known.trace", "--runs", "1"];
    home.run(&[&record[..], &dd].concat()).fine();
    home.run(&[&["record", "--quiet", "-o", "unknown.trace"], &dd[..]].concat()).fine();
    let (known, unknown) = (replayed(&home, "known.trace"), replayed(&home, "unknown.trace"));
    let page_bytes = rustix::param::page_size() as f64;
    let new_pages = f64::from(2 << 20) / page_bytes;
    let more = known.0 - unknown.0;
    assert!(more > 0.9 * new_pages && more < 1.2 * new_pages, "{} and {}", known.0, unknown.0);
    let all_at = |at, seen: &[u64]| seen.len() >= 3 * 3 && seen.iter().all(|one| *one == at);
    assert!(all_at(0, &known.1) && all_at(1024, &unknown.1), "{:?} {:?}", known.1, unknown.1);
}
