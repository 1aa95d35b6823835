//! Replays on places: what was recorded on one file system comes out the same on every other.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use crate::cli_support::{document, programs, traceable, usable};
use iolab_model::catalog::Factor;

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
