//! Replays on places: what was recorded on one file system comes out the same on every other.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use crate::cli_support::{document, programs, traceable, usable};
use iolab_model::catalog::Factor;
use iolab_model::result::{CellRecord, Sample};

/// Where they are replayed, and the kinds that each needs.
const PLACES: &[(&str, &[&str])] = &[
    ("ext4:size=512Mi", &["ext4"]),
    ("xfs", &["xfs"]),
    ("tmpfs", &["tmpfs"]),
    ("overlay:on=tmpfs", &["overlay", "tmpfs"]),
];

/// The help itself has `iolab replay --place ext4,xfs,tmpfs`, and every place was "no such place": none
/// of them said that it can hold a replay.
#[test]
fn real_programs_come_out_as_recorded_on_every_file_system() {
    let test = "real_programs_come_out_as_recorded_on_every_file_system";
    if !traceable(test) {
        return;
    }
    // One that cannot be had leaves the others to be tried.
    let places: Vec<&str> =
        PLACES.iter().filter(|(_, kinds)| usable(test, kinds)).map(|(place, _)| *place).collect();
    if places.is_empty() {
        return;
    }
    let home = programs::home();
    for name in programs::recorded(&home, test) {
        let (trace, places) = (format!("{name}.trace"), places.join(","));
        let said = home.run(&[
            "replay", &trace, "--block", "64Ki", "--place", &places, "--rounds", "1", "--budget",
            "60s", "--format", "json",
        ]);
        let run = document(&said.fine());
        programs::came_out(&run, name);
        let cells = run.cells.iter().filter(|cell| !cell.samples.is_empty());
        let on: Vec<_> = cells.filter_map(|cell| cell.factors.text(Factor::Place)).collect();
        assert_eq!(on.len(), 2 * run.experiment.factors[&Factor::Place].len(), "{name}: {on:?}");
    }
}

/// What a program takes right after the machine has started: nobody had tried it with a replay. Each cold
/// trial must have read its files from the device, and that takes longer than memory.
#[test]
fn a_real_program_is_replayed_with_its_files_cold() {
    let test = "a_real_program_is_replayed_with_its_files_cold";
    if !traceable(test) || !usable(test, &["ext4"]) {
        return;
    }
    let home = programs::home();
    let Some(name) = programs::recorded(&home, test).into_iter().find(|name| *name == "grep")
    else {
        return;
    };
    let said = home.run(&[
        "replay",
        "grep.trace",
        "--place",
        "ext4:size=512Mi",
        "--cache",
        "cold,warm",
        "--block",
        "recorded",
        "--rounds",
        "5",
        "--budget",
        "2m",
        "--format",
        "json",
    ]);
    let run = document(&said.fine());
    programs::came_out(&run, name);
    let walls = |cache: &str| {
        let is = |cell: &&CellRecord| cell.factors.text(Factor::Cache) == Some(cache);
        let cell = run.cells.iter().find(is).unwrap();
        let proof = |sample: &&Sample| sample.measurement.proof.cache.clone().unwrap();
        // Another test may have emptied the cache meanwhile: a trial that was to be warm counts for
        // nothing then, and is none of most. A cold one has no such excuse.
        let proven: Vec<&Sample> = cell.samples.iter().filter(|s| proof(s).proven).collect();
        let (enough, all) =
            (2 * proven.len() > cell.samples.len(), proven.len() == cell.samples.len());
        assert!(if cache == "warm" { enough } else { all }, "{cache}: {:?}", cell.samples);
        let mut walls: Vec<u64> = proven.iter().map(|s| s.measurement.wall_ns).collect();
        for sample in &proven {
            let proof = proof(sample);
            let read = proof.device_bytes.unwrap_or(0);
            // The tree alone has 950 000 bytes, of which the largest part is read by whole pages.
            assert_eq!(read >= 900_000, cache == "cold", "{cache}: {proof:?}");
        }
        walls.sort_unstable();
        walls[walls.len() / 2]
    };
    let (cold, warm) = (walls("cold"), walls("warm"));
    assert!(cold > 2 * warm, "cold {cold} ns, warm {warm} ns");
}
