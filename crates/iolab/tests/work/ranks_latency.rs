//! Single operations of all ranks, timed one by one.

use std::fs;

use iolab_model::catalog::Factor;
use iolab_model::result::{Document, Measurement};

use crate::cli_support::{Home, fine_document};
use crate::ranks_support::{MPICH, Mpi, OPEN_MPI, done, left};

/// Operations of each rank: the fewest that support a p99 are those of four.
const FEW: &str = "32";

/// What counts was timed operation by operation, at all ranks.
fn timed_all(run: &Document, each: impl Fn(&Measurement, &str)) {
    for (at, cell) in run.cells.iter().enumerate() {
        let ranks = cell.factors.number(Factor::Ranks).unwrap();
        let operation = cell.factors.text(Factor::Operation).unwrap_or_default();
        let samples = done(run, at);
        assert!(samples.len() >= 6, "{cell:?}");
        for measured in samples.iter().map(|sample| &sample.measurement) {
            let timed = measured.metrics["timed_operations"];
            assert_eq!(timed, measured.operations as f64, "{cell:?}: {measured:?}");
            assert!(measured.operations.is_multiple_of(ranks), "{measured:?}");
            assert!(measured.recorded.is_empty(), "a record holds what is made of it");
            each(measured, operation);
        }
    }
}

/// Each rank's own p99 said nothing about that of all, so that none was told.
fn operations_of_all_ranks_are_timed(mpi: Mpi, test: &str) {
    let Some(relay) = mpi.relay(test) else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let rounds = ["--latency", "--ranks", "1,4", "--rounds", "6", "--format", "json", "-q"];
    let run = |words: &[&str]| fine_document(mpi.run(&home, &relay, 4, &[words, &rounds].concat()));
    let blocks = ["--file-size", "2Mi", "--block", "64Ki"];
    // 32 blocks in a trial of one rank: a hundred take all four.
    let cold = ["read", &there, "--method", "pread", "--cache", "cold"];
    let write = ["write", &there, "--method", "pwrite", "--sync", "end"];
    for words in [cold, write] {
        timed_all(&run(&[&words[..], &blocks].concat()), |measured, _| {
            let metric = |id: &str| measured.metrics.get(id).copied();
            let all = measured.operations >= 100;
            assert_eq!(metric("latency_p99_ns").is_some(), all, "{measured:?}");
            let most = metric("latency_max_ns").unwrap();
            assert!(metric("latency_p50_ns").unwrap() <= most, "{measured:?}");
            assert!(most <= measured.wall_ns as f64, "{measured:?}");
        });
    }
    let files = ["--files", FEW, "--file-size", "4Ki", "--threads", "1"];
    let words = ["files", "create,read,stat", &there];
    timed_all(&run(&[&words[..], &files].concat()), |measured, operation| {
        let step = if operation == "stat" { "call" } else { "open" };
        assert!(measured.metrics.contains_key(&format!("{step}_latency_p50_ns")), "{operation}");
        let others = measured.metrics.contains_key("transfer_latency_p50_ns");
        assert_eq!(others, operation == "read", "{measured:?}");
    });
    let words = ["meta", &there, "--operation", "create,stat,readdir", "--files", FEW];
    timed_all(&run(&words), |measured, operation| {
        assert!(measured.metrics.contains_key("latency_p50_ns"), "{operation}");
    });
    assert!(left(&home.path("data")).is_empty(), "{:?}", left(&home.path("data")));
    let shown = home.run(&["show", "last", "--details"]).fine().plain();
    assert!(shown.contains("p50"), "{shown}");
}

#[test]
fn four_ranks_of_open_mpi_time_their_operations() {
    operations_of_all_ranks_are_timed(OPEN_MPI, "four_ranks_of_open_mpi_time_their_operations");
}

#[test]
fn four_ranks_of_mpich_time_their_operations() {
    operations_of_all_ranks_are_timed(MPICH, "four_ranks_of_mpich_time_their_operations");
}
