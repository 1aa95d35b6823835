//! A disk or a network on a bad day: every workload by every method on a file system that gives short
//! reads and writes, interruptions, errors at a byte, wrong data, an end that moves, a hang. A trial is
//! right, or it failed and names what, where and why; nothing wrong is counted and nothing is left.

use std::collections::BTreeMap;

use iolab_agent::{InstanceOrder, Reply, Request};
use iolab_model::catalog::Factor;
use iolab_model::result::Fault;
use iolab_test::fault_file_system::{Counted, DataFault};

use crate::cli_support::wait_for;
use crate::fault_bench::{
    AT, BYTES, Bench, EDQUOT, EIO, ENOSPC, ESTALE, LONG_NS, Row, SHORT, Seen, of_many_files,
    of_one_file, with_faults,
};

/// What may become of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    /// It is right: the fault is one that every program must handle.
    BeRight,
    /// It fails, or says that it did not do everything; with this errno, where one is told.
    Fail(Option<i32>),
}

/// What goes wrong where bytes are read, and where they are written.
const READING: [(DataFault, May); 7] = [
    (DataFault::ShortReads(SHORT), May::BeRight),
    (DataFault::Interrupted, May::BeRight),
    (DataFault::Slow, May::BeRight),
    (DataFault::ReadError { errno: EIO, at: AT }, May::Fail(Some(EIO))),
    (DataFault::ReadError { errno: ESTALE, at: AT }, May::Fail(Some(ESTALE))),
    (DataFault::WrongRead(AT), May::Fail(None)),
    (DataFault::Ends(AT), May::Fail(None)),
];
const WRITING: [(DataFault, May); 9] = [
    (DataFault::ShortWrites(SHORT), May::BeRight),
    (DataFault::Interrupted, May::BeRight),
    (DataFault::Slow, May::BeRight),
    (DataFault::WriteError { errno: EIO, at: AT }, May::Fail(Some(EIO))),
    (DataFault::WriteError { errno: ENOSPC, at: AT }, May::Fail(Some(ENOSPC))),
    (DataFault::WriteError { errno: EDQUOT, at: AT }, May::Fail(Some(EDQUOT))),
    (DataFault::WriteError { errno: ESTALE, at: AT }, May::Fail(Some(ESTALE))),
    (DataFault::WrongWrite(AT), May::Fail(None)),
    (DataFault::SyncError(EIO), May::Fail(Some(EIO))),
];

/// Every row against every fault; what is wrong, and how many trials there were.
fn all_against_all(bench: &mut Bench, rows: &[Row]) -> (Vec<String>, usize) {
    let (mut wrong, mut trials) = (Vec::new(), 0);
    for row in rows {
        let plain = bench.trial(row, DataFault::None, LONG_NS);
        if !plain.is_right(row) {
            // What cannot be had here says so, by an errno or in words, and is not asked again.
            let known = plain.ended.as_ref().is_err_and(|fault| !fault.cause.is_empty());
            eprintln!("without a fault: {}: {:?}", row.name(), plain.ended.as_ref().err());
            if !known {
                wrong.push(format!("{}: {}", row.name(), plain.brief()));
            }
            continue;
        }
        let faults = READING.iter().filter(|_| row.reads > 0);
        let faults = faults.chain(WRITING.iter().filter(|_| row.writes > 0));
        for (fault, may) in faults {
            let seen = bench.trial(row, *fault, row.limit_ns());
            trials += 1;
            wrong.extend(why_wrong(row, *fault, *may, &seen, bench.cached));
        }
        let after = bench.trial(row, DataFault::None, LONG_NS);
        if !after.is_right(row) {
            wrong.push(format!("{}: no longer right afterwards: {}", row.name(), after.brief()));
        }
    }
    (wrong, trials)
}

fn why_wrong(row: &Row, fault: DataFault, may: May, seen: &Seen, cached: bool) -> Option<String> {
    let tell = |what: &str| Some(format!("{} {fault:?}: {what}: {}", row.name(), seen.brief()));
    if seen.left.iter().any(|name| !name.starts_with("kept-") && !name.starts_with("group-")) {
        return tell("something is left");
    }
    match (&seen.ended, may) {
        // Nobody looks at bytes that stay in the kernel.
        (Ok(_), May::Fail(None)) if !row.checked => None,
        (Ok(_), May::Fail(_)) if seen.is_right(row) && !reaches(row, fault) => None,
        (Ok(_), May::Fail(_)) if !seen.is_flagged() => tell("it counts"),
        (Ok(_), May::BeRight) if seen.is_right(row) => None,
        (Ok(_), May::BeRight) if seen.is_flagged() && cached => None,
        // A regular file gives less than it is asked for at its end alone: what goes through many files
        // takes its word for it and is found out, and so does the kernel behind io_uring.
        (Ok(_), May::BeRight)
            if seen.is_flagged()
                && fault == DataFault::ShortReads(SHORT)
                && (row.workload == "files" || row.is("io_uring")) =>
        {
            None
        }
        (Ok(_), May::BeRight) => tell("it is not right"),
        (Err(_), May::BeRight) if row.reads_in_kernel() => None,
        (Err(_), May::BeRight) if !cached => tell("what every program must handle was not"),
        (Ok(_), _) => None,
        (Err(error), _) => unnamed(row, error, may).and_then(|what| tell(&what)),
    }
}

/// Whether a fault is met at all: what is made durable is decided by the levels.
fn reaches(row: &Row, fault: DataFault) -> bool {
    let syncs = matches!(fault, DataFault::SyncError(_));
    // `null` touches no file.
    (!syncs || row.workload == "write") && !row.is("null")
}

/// An error names what was done, to which file and where, and why.
fn unnamed(row: &Row, error: &Fault, may: May) -> Option<String> {
    // A mapping has no errno: there is a signal, a bad address, or nothing at all until the limit.
    let mapped = row.is("mmap");
    let text = error.to_string();
    match may {
        May::Fail(Some(errno)) if !mapped && error.errno != Some(errno) => {
            Some(format!("another errno than {errno}"))
        }
        _ if !mapped && !text.contains("/") => Some("it names no file".into()),
        // Of many files the file is place enough.
        May::Fail(Some(EIO | ESTALE))
            if !mapped
                && row.workload != "files"
                // The kernel does not say of which byte what it writes back by itself had failed.
                && !["byte", "durable", "write back the file system of"].iter().any(|w| text.contains(w)) =>
        {
            Some("it does not say where".into())
        }
        _ => None,
    }
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_method_meets_every_fault_of_a_file() {
    let test = "every_method_meets_every_fault_of_a_file";
    with_faults(test, false, |bench| {
        let (wrong, trials) = all_against_all(bench, &of_one_file());
        report(&wrong);
        assert!(trials > 100, "{trials} trials");
    });
}

#[test]
fn every_method_meets_every_fault_of_a_file_through_the_page_cache() {
    let test = "every_method_meets_every_fault_of_a_file_through_the_page_cache";
    with_faults(test, true, |bench| {
        let (wrong, trials) = all_against_all(bench, &of_one_file());
        report(&wrong);
        assert!(trials > 150, "{trials} trials");
    });
}

#[test]
fn every_operation_on_many_files_meets_every_fault() {
    let test = "every_operation_on_many_files_meets_every_fault";
    with_faults(test, false, |bench| {
        let (wrong, trials) = all_against_all(bench, &of_many_files());
        report(&wrong);
        assert!(trials > 60, "{trials} trials");
    });
}

/// What a method says that it has moved is what the file system was asked for and given: one that does
/// less is found out by whoever counts.
#[test]
fn bytes_that_are_claimed_are_bytes_that_were_moved() {
    let test = "bytes_that_are_claimed_are_bytes_that_were_moved";
    with_faults(test, false, |bench| {
        let (mut held, mut liars) = (0, BTreeMap::new());
        for row in of_one_file().into_iter().chain(of_many_files()) {
            let seen = bench.trial(&row, DataFault::None, LONG_NS);
            if !seen.is_right(&row) {
                continue;
            }
            let Counted { read_bytes, written_bytes } = seen.counted;
            match read_bytes >= row.reads && written_bytes >= row.writes {
                true => held += 1,
                false => drop(liars.insert(row.name(), seen.counted)),
            }
        }
        assert!(held > 30, "{held}");
        // The one that is there to do nothing is the proof that doing nothing is seen.
        let null = liars.iter().filter(|(name, _)| name.contains("null"));
        assert_eq!(null.count(), liars.len(), "{liars:?}");
        assert!(!liars.is_empty(), "`null` moves nothing");
    });
}

/// A trial on a file system that answers no more costs its time limit and is left behind; the agent
/// goes on, and all is as before once there is an answer.
#[test]
fn a_hang_costs_its_trial_alone() {
    let test = "a_hang_costs_its_trial_alone";
    with_faults(test, false, |bench| {
        let rows = of_one_file();
        let pick = |workload: &str, method: &str| {
            let is = |row: &&Row| {
                row.workload == workload && row.levels.text(Factor::Method) == Some(method)
            };
            rows.iter().find(is).unwrap().clone()
        };
        let row = pick("read", "pread");
        let seen = bench.trial(&row, DataFault::Hangs, 100_000_000);
        let fault = seen.ended.unwrap_err();
        assert!(fault.cause.contains("limit"), "{fault}");
        bench.control.release();
        wait_for("an answer", || bench.trial(&row, DataFault::None, LONG_NS).is_right(&row));
    });
}

/// Where the directory lies on a file system that is full of faults, a run ends in words and leaves
/// nothing.
#[test]
fn a_fault_at_the_start_is_told_and_leaves_nothing() {
    let test = "a_fault_at_the_start_is_told_and_leaves_nothing";
    with_faults(test, false, |bench| {
        for (fault, errno) in [
            (DataFault::WriteError { errno: ENOSPC, at: AT }, ENOSPC),
            (DataFault::WriteError { errno: EIO, at: AT }, EIO),
            (DataFault::SyncError(EIO), EIO),
        ] {
            bench.control.set(fault);
            let order = InstanceOrder { id: 9, bytes: BYTES, seed: 1, ..InstanceOrder::default() };
            let reply = bench.ask(&Request::Make(order));
            bench.control.set(DataFault::None);
            let Reply::Refused(told) = reply else { panic!("{fault:?}: {reply:?}") };
            assert_eq!(told.errno, Some(errno), "{told}");
            assert!(told.doing.contains("file-9"), "{told}");
            assert!(!bench.control.names().iter().any(|name| name == "file-9"), "{fault:?}");
        }
    });
}
