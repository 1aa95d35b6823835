//! Ranks that work on one file, or in one directory, and readers of what another rank wrote.

use std::fs;

use iolab_model::catalog::{AxisWord, CacheState, Fact, Factor, Level, Share};
use iolab_model::result::Document;

use crate::cli_support::{Home, fine_document};
use crate::ranks_support::{MPICH, Mpi, OPEN_MPI, done, left, line, of_rounds};

/// Blocks of each rank.
const BYTES: u64 = 2 << 20;

/// Every trial moved the parts of all, and what lay in the file was right.
fn moved_all(run: &Document, bytes: impl Fn(&Level, u64) -> u64) {
    for (at, cell) in run.cells.iter().enumerate() {
        let ranks = cell.factors.number(Factor::Ranks).unwrap();
        let share = cell.factors.get(Factor::Share).unwrap();
        let samples = of_rounds(run, at, 8);
        for measured in samples.iter().map(|sample| &sample.measurement) {
            let whole = bytes(share, ranks) * measured.repetitions;
            assert_eq!(measured.bytes, whole, "{share} {ranks}: {measured:?}");
            let digest = measured.proof.digest.as_ref().unwrap();
            assert_eq!(digest.matches, Some(true), "{share}");
        }
    }
}

/// What a shared file costs beside one for each: the bytes are those of all, each byte was written once
/// by the right rank, and nothing is left.
fn one_file_and_one_each(mpi: Mpi, test: &str) {
    let Some(relay) = mpi.relay(test) else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let shares = ["--share", "own,segmented,strided", "--ranks", "1,4"];
    let words = line(&["write", &there], &shares);
    let written =
        fine_document(mpi.run(&home, &relay, 4, &[&words[..], &["--method", "pwrite"]].concat()));
    assert_eq!(written.cells.len(), 6);
    moved_all(&written, |_, ranks| ranks * BYTES);
    let read = ["--method", "pread,read", "--cache", "warm", "--consume", "crc32c"];
    let read = fine_document(mpi.run(
        &home,
        &relay,
        4,
        &[&line(&["read", &there], &shares)[..], &read].concat(),
    ));
    assert_eq!(read.cells.len(), 12);
    moved_all(&read, |_, ranks| ranks * BYTES);
    assert!(left(&home.path("data")).is_empty(), "{:?}", left(&home.path("data")));
}

#[test]
fn four_ranks_of_open_mpi_share_one_file() {
    one_file_and_one_each(OPEN_MPI, "four_ranks_of_open_mpi_share_one_file");
}

#[test]
fn four_ranks_of_mpich_share_one_file() {
    one_file_and_one_each(MPICH, "four_ranks_of_mpich_share_one_file");
}

/// Each read all of a person's file, and four clients of a file of 1 TiB could not be had; with a block
/// that is no whole number of pages, and cold: what one rank's read-ahead brings is the machine's.
#[test]
fn a_person_s_file_is_read_in_parts() {
    let Some(relay) = MPICH.relay("a_person_s_file_is_read_in_parts") else { return };
    let home = Home::new();
    let file = home.path("theirs");
    let bytes = 47_008 * 83 + 11;
    fs::write(&file, (0..bytes).map(|at: u64| ((at * at) >> 7) as u8).collect::<Vec<_>>()).unwrap();
    let name = file.display().to_string();
    let shares = ["--share", "own,segmented,strided", "--method", "pread", "--cache", "cold,warm"];
    let words = ["--block", "47008", "--rounds", "8", "--format", "json", "-q"];
    let words = [&["read", &name][..], &shares, &words].concat();
    let run = fine_document(MPICH.run(&home, &relay, 4, &words));
    assert_eq!(run.cells.len(), 6);
    let own = Share::Own.level();
    moved_all(&run, |share, ranks| if *share == own { ranks * bytes } else { bytes });
    let cold = run.cells.iter().filter(|c| c.factors.word() == Some(CacheState::Cold));
    assert_eq!(cold.count(), 3);
}

/// What is overwritten is one file as well, and what is preallocated.
#[test]
fn one_file_is_overwritten_and_preallocated() {
    let Some(relay) = MPICH.relay("one_file_is_overwritten_and_preallocated") else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let more = ["--share", "segmented,strided", "--target", "overwrite,preallocated"];
    let words = line(&["write", &there], &more);
    let words = [&words[..], &["--method", "pwrite", "--ranks", "2,3"]].concat();
    let run = fine_document(MPICH.run(&home, &relay, 3, &words));
    assert_eq!(run.cells.len(), 8);
    moved_all(&run, |_, ranks| ranks * BYTES);
    assert!(left(&home.path("data")).is_empty());
}

/// A reader that had written its part itself found it in memory; its neighbour's it must fetch.
#[test]
fn a_rank_reads_what_another_has_written() {
    let Some(relay) = MPICH.relay("a_rank_reads_what_another_has_written") else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let more = ["--share", "own,segmented,strided", "--shift", "1,off", "--method", "pread"];
    let words = line(&["read", &there], &more);
    let run = fine_document(MPICH.run(&home, &relay, 3, &words));
    assert_eq!(run.cells.len(), 6);
    // The digests are those of the parts as their writers made them.
    moved_all(&run, |_, ranks| ranks * BYTES);
    let plan = MPICH
        .run(&home, &relay, 3, &["read", &there, "--file-size", "2Mi", "--shift", "1", "--plan"])
        .fine();
    let note = "3 of 3 ranks work on what their own machine wrote";
    assert!(plan.plain().replace("\n  ", " ").contains(note), "{plan:?}");
    assert!(left(&home.path("data")).is_empty());
    let refused = |more: &[&str], words: &[&str]| {
        let line = [&["read", &there, "--file-size", "2Mi"][..], more].concat();
        MPICH.run(&home, &relay, 2, &line).refused(2, words);
    };
    refused(&["--shift", "auto"], &["all ranks are on one machine", "--shift 1"]);
    refused(&["--shift", "2"], &["of 2 ranks each would read its own"]);
    home.run(&["write", "--share", "segmented"]).refused(2, &["--share", "mpirun"]);
}

/// All ranks made files of the same names in one directory, and the second found those of the first.
#[test]
fn ranks_have_files_in_one_directory() {
    let Some(relay) = MPICH.relay("ranks_have_files_in_one_directory") else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let rounds = ["--files", "60", "--share", "own,one", "--threads", "1", "--layout", "shared"];
    let more = ["--ranks", "1,3", "--rounds", "6", "--format", "json", "-q"];
    for words in [
        &["files", "create,write,remove", &there, "--file-size", "3901"][..],
        &["files", "read,stat", &there, "--file-size", "3901"],
    ] {
        let run = fine_document(MPICH.run(&home, &relay, 3, &[words, &rounds, &more].concat()));
        for (at, cell) in run.cells.iter().enumerate() {
            let ranks = cell.factors.number(Factor::Ranks).unwrap();
            let samples = of_rounds(&run, at, 6);
            for measured in samples.iter().map(|sample| &sample.measurement) {
                assert!(measured.operations.is_multiple_of(ranks), "{measured:?}");
                assert_eq!(measured.ranks_ns.len() as u64, if ranks > 1 { ranks } else { 0 });
            }
        }
        assert!(left(&home.path("data")).is_empty(), "{:?}", left(&home.path("data")));
    }
}

/// Files that a rank had made itself were found in memory; those of its neighbour it must fetch. What the
/// files hold differs from rank to rank, and the sums are those of whose they were.
#[test]
fn a_rank_works_on_files_that_another_has_made() {
    let Some(relay) = MPICH.relay("a_rank_works_on_files_that_another_has_made") else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let tree = ["--files", "90", "--file-size", "3901", "--layout", "shared"];
    let rounds = ["--rounds", "6", "--format", "json", "-q"];
    let run = |words: &[&str]| {
        fine_document(MPICH.run(&home, &relay, 3, &[words, &tree, &rounds].concat()))
    };
    let shares = ["--share", "own,one", "--shift", "1,off", "--threads", "1,2"];
    let warm = ["files", "read,stat", &there];
    let warm = run(&[&warm[..], &shares].concat());
    assert_eq!(warm.cells.len(), 16);
    let cold = ["files", "read", &there, "--cache", "cold", "--shift", "2", "--threads", "1"];
    let cold = run(&cold);
    // The shift goes round among those that work.
    let few = run(&["files", "read", &there, "--shift", "1", "--ranks", "2,3", "--threads", "1"]);
    assert_eq!((cold.cells.len(), few.cells.len()), (1, 2));
    for run in [warm, cold, few] {
        for (at, cell) in run.cells.iter().enumerate() {
            let samples = done(&run, at);
            assert!(samples.len() >= 6, "{cell:?}");
            for measured in samples.iter().map(|sample| &sample.measurement) {
                let digest = measured.proof.digest.as_ref().unwrap();
                assert_eq!(digest.matches, Some(true), "{cell:?}");
            }
        }
    }
    assert!(left(&home.path("data")).is_empty(), "{:?}", left(&home.path("data")));
    let run = |ranks: u32, more: &[&str]| {
        let line = [&["files"][..], more, &[&there, "--files", "90"]].concat();
        MPICH.run(&home, &relay, ranks, &line)
    };
    let plan = run(3, &["stat", "--shift", "1", "--plan"]).fine();
    let note = "3 of 3 ranks work on what their own machine wrote";
    assert!(plan.plain().replace("\n  ", " ").contains(note), "{plan:?}");
    let refused = |more: &[&str], words: &[&str]| {
        run(2, more).refused(2, words);
    };
    refused(&["read,create", "--shift", "1"], &["files create", "read and stat"]);
    refused(&["read", "--shift", "auto"], &["all ranks are on one machine", "--shift 1"]);
    refused(&["read", "--shift", "1", "--ranks", "1,2"], &["of 1 rank each would read its own"]);
    home.run(&["files", "read", "--shift", "1"]).refused(2, &["--shift", "mpirun"]);
}

/// The four presets run at ranks, and say what they are not.
#[test]
fn presets_run_at_ranks_and_name_what_differs() {
    let Some(relay) = MPICH.relay("presets_run_at_ranks_and_name_what_differs") else { return };
    let home = Home::new();
    for name in ["ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"] {
        let text = home.run(&["run", "--example", name]).fine().out;
        assert!(text.contains("budget = \"30s\""));
        // The same experiments, small.
        let small =
            text.replace("budget = \"30s\"", "rounds = 6").replace("files = 1000", "files = 60");
        let small = small.replace("file-size = \"64Mi\"", "file-size = \"4Mi\"");
        let small = small.replace("47008000", "470080");
        // The line that waits in it is written for several machines.
        let shifted = small.replace("# shift = \"auto\"", "shift = 1");
        fs::write(home.path("shifted.toml"), shifted).unwrap();
        let plan = MPICH.run(&home, &relay, 3, &["run", "shifted.toml", "--plan"]).fine();
        let note = plan.plain().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(note.matches("what their own machine wrote").count(), 1, "{name}: {plan:?}");
        fs::write(home.path("small.toml"), small).unwrap();
        let said = MPICH.run(&home, &relay, 3, &["run", "small.toml"]).fine();
        let shown = home.run(&["show", "last", "--format", "json"]).fine();
        let run: Document = serde_json::from_str(&shown.out).unwrap();
        assert!(run.run.title.starts_with(name), "{:?} {said:?}", run.run.title);
        for at in 0..run.cells.len() {
            of_rounds(&run, at, 6);
        }
        let plan = MPICH.run(&home, &relay, 2, &["run", name, "--plan"]).fine();
        assert!(
            plan.err.contains("What differs: ") && plan.err.contains("none of IO500's"),
            "{plan:?}"
        );
    }
}

/// An experiment of a study and the claims that it decides, at four ranks: what differs a hundredfold is
/// found, and what two processors make of four ranks is judged, one way or the other.
const STUDY: &str = r#"
title = "Ranks that read small and large blocks"
summary = "Ranks read their files by blocks of two sizes."
budget = "8s"
[source]
machine = "none"
[defaults]
workload = "read"
[[experiment]]
name = "blocks"
title = "reading by block, with one rank and with all"
[experiment.factors]
file-size = "1Mi"
method = "pread"
cache = "warm"
block = "16,256Ki"
ranks = "1,4"
[[claim]]
id = "large"
says = "four ranks read large blocks faster than small ones"
experiment = "blocks"
kind = "faster"
of = { ranks = 4 }
a = { block = "256Ki" }
b = { block = "16" }
[[claim]]
id = "more"
says = "four ranks read more than one"
experiment = "blocks"
kind = "faster"
of = { block = "256Ki" }
a = { ranks = 4 }
b = { ranks = 1 }
"#;

#[test]
fn a_study_is_judged_at_ranks() {
    let Some(relay) = MPICH.relay("a_study_is_judged_at_ranks") else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    fs::write(home.path("blocks.toml"), STUDY).unwrap();
    let words = ["study", "run", "blocks.toml", "--directory", "data", "--output", "pages"];
    let said = MPICH.run(&home, &relay, 4, &words).fine();
    let judged: Vec<&str> = said.out.lines().filter(|line| line.contains("four ranks")).collect();
    assert!(judged.len() == 2 && judged[0].trim_start().starts_with("replicated"), "{said:?}");
    assert!(!judged[1].contains("not tested"), "{said:?}");
    let page = fs::read_to_string(home.path("pages/blocks.md")).unwrap();
    assert!(page.contains("four ranks read large blocks faster"), "{page}");
    let shown = home.run(&["show", "last", "--format", "json"]).fine();
    let run: Document = serde_json::from_str(&shown.out).unwrap();
    assert_eq!((run.cells.len(), run.environment.number(Fact::RunRanks)), (4, Some(4)));
    for cell in &run.cells {
        let ranks = cell.factors.number(Factor::Ranks).unwrap();
        let block = cell.factors.number(Factor::Block).unwrap();
        // A cell that is slow reads a part of its file in each trial, and all ranks as much.
        for measured in cell.samples.iter().filter(|s| s.is_steady()).map(|s| &s.measurement) {
            assert!(measured.operations.is_multiple_of(ranks), "{}: {measured:?}", cell.id);
            assert_eq!(measured.bytes, measured.operations * block, "{}", cell.id);
        }
    }
    assert!(left(&home.path("data")).is_empty());
    // Without ranks there is nothing to judge by, and that is said.
    let alone = home.run(&["study", "run", "blocks.toml"]).fine();
    assert_eq!(alone.plain().matches("not tested").count(), 3, "{alone:?}");
    assert!(alone.plain().contains("mpirun -np 4"), "{alone:?}");
}
