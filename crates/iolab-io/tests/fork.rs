//! Every end that a forked piece of work can have. One test, alone in its binary: a fork copies
//! one thread only, so no other test may hold a lock meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write;
use std::os::fd::AsFd;
use std::time::Duration;

use iolab_io::sys::fork::{End, run_forked};
use rustix::process::{Signal, getpid, kill_process};

const LONG: Duration = Duration::from_secs(60);

fn forever() -> Vec<u8> {
    loop {
        std::thread::sleep(LONG);
    }
}

#[test]
fn every_end_is_known() {
    // More than a pipe holds.
    let large = vec![7; 3 << 20];
    let expected = large.clone();
    assert_eq!(run_forked(move || large, LONG, None), Ok(End::Done(expected)));
    assert_eq!(run_forked(Vec::new, LONG, None), Ok(End::Done(Vec::new())));
    let panics = || -> Vec<u8> { panic!("this panic belongs to the test") };
    assert_eq!(run_forked(panics, LONG, None), Ok(End::Exit(101)));
    let killed = || {
        let _ = kill_process(getpid(), Signal::KILL);
        Vec::new()
    };
    assert_eq!(run_forked(killed, LONG, None), Ok(End::Signal(9)));
    let aborts = || -> Vec<u8> { std::process::abort() };
    assert_eq!(run_forked(aborts, LONG, None), Ok(End::Signal(6)));
    assert_eq!(run_forked(forever, Duration::from_millis(50), None), Ok(End::Limit));
    assert_eq!(run_forked(forever, Duration::ZERO, None), Ok(End::Limit));

    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"a request that waits is no reason to stop").unwrap();
    let some = || vec![1];
    assert_eq!(run_forked(some, LONG, Some(reader.as_fd())), Ok(End::Done(vec![1])));
    drop(writer);
    assert_eq!(run_forked(forever, LONG, Some(reader.as_fd())), Ok(End::Deserted));

    // Nothing is left: no zombie, no descriptor.
    let children = format!("/proc/self/task/{}/children", rustix::thread::gettid().as_raw_pid());
    assert_eq!(std::fs::read_to_string(children).unwrap_or_default(), "");
}
