//! Metadata calls of ranks: each in a directory of its own, and all in one.

use std::fs;

use iolab_model::catalog::{Factor, Share};
use iolab_model::result::Document;

use crate::cli_support::{Home, fine_document};
use crate::ranks_support::{MPICH, Mpi, OPEN_MPI, left, of_rounds};

const FILES: u64 = 60;
/// Whatever a call leaves: a name that was not there or is gone, in this directory or in another, a mark.
const CALLS: &str = "create,stat,chmod,rename,rename-across,link,symlink,readlink,mkdir,rmdir,unlink,\
                     truncate,readdir,readdir-stat,first-write";

/// Every trial that counts left what it was to leave, at all ranks.
fn all_calls_are_right(run: &Document, made: u64) {
    for (at, cell) in run.cells.iter().enumerate() {
        let ranks = cell.factors.number(Factor::Ranks).unwrap();
        let operation = cell.factors.text(Factor::Operation).unwrap();
        let samples = of_rounds(run, at, 4);
        for measured in samples.iter().map(|sample| &sample.measurement) {
            assert!(measured.proof.holds(), "{operation} {ranks}: {measured:?}");
            assert!(measured.operations.is_multiple_of(ranks), "{measured:?}");
            // Each lists the files of all who have some there; a listing that has not every one of them
            // is no trial.
            let one = cell.factors.word() == Some(Share::One);
            let entries = if one { made * FILES } else { FILES };
            let lists = operation.starts_with("readdir");
            let whole = measured.operations.is_multiple_of(ranks * entries);
            assert!(!lists || whole, "{} of {ranks} × {entries}", measured.operations);
        }
    }
}

/// All ranks made names that others had made, and the first one that cleared up took those of all.
fn calls_in_one_directory(mpi: Mpi, test: &str) {
    let Some(relay) = mpi.relay(test) else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let files = FILES.to_string();
    let small = ["--files", &files, "--rounds", "4", "--format", "json", "-q"];
    for (words, cells) in [
        (&["--operation", "create,unlink,readdir", "--share", "own,one", "--ranks", "1,2,4"], 18),
        (&["--operation", CALLS, "--share", "one", "--pass", "steady"], 15),
        (&["--operation", CALLS, "--share", "one", "--pass", "first"], 15),
    ] {
        let line = [&["meta", &there][..], words, &small].concat();
        let run = fine_document(mpi.run(&home, &relay, 4, &line));
        assert_eq!(run.cells.len(), cells);
        all_calls_are_right(&run, 4);
        assert!(left(&home.path("data")).is_empty(), "{:?}", left(&home.path("data")));
    }
}

#[test]
fn four_ranks_of_open_mpi_make_calls_in_one_directory() {
    calls_in_one_directory(OPEN_MPI, "four_ranks_of_open_mpi_make_calls_in_one_directory");
}

#[test]
fn four_ranks_of_mpich_make_calls_in_one_directory() {
    calls_in_one_directory(MPICH, "four_ranks_of_mpich_make_calls_in_one_directory");
}

/// Those who never work have no files there; and files with bytes.
#[test]
fn the_directory_holds_the_files_of_those_who_work() {
    let test = "the_directory_holds_the_files_of_those_who_work";
    let Some(relay) = MPICH.relay(test) else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let files = FILES.to_string();
    let words = ["meta", &there, "--operation", "unlink,create,readdir", "--share", "one"];
    for (ranks, made) in [("1", 1), ("1,2", 2)] {
        let more = ["--files", &files, "--file-size", "100", "--ranks", ranks, "--rounds", "4"];
        let line = [&words[..], &more, &["--pass", "second", "--format", "json", "-q"]].concat();
        all_calls_are_right(&fine_document(MPICH.run(&home, &relay, 3, &line)), made);
        assert!(left(&home.path("data")).is_empty(), "{:?}", left(&home.path("data")));
    }
}
