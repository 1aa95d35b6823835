//! Names, and the directories that they are given below.

use super::logs::trace;
use super::{Action, Choice, Program, Replay, Step};
use crate::call::NONE;

/// Whoever opens files by their last name, in a directory that is open, had each looked up from the
/// top of all copies: 2.9 µs for 2.0. What is no longer the directory of that name is not gone through.
#[test]
fn names_are_looked_up_from_where_the_program_gave_them() {
    let trace = trace(&[
        "1 openat(AT_FDCWD</w/d>, \"in\", O_RDONLY|O_DIRECTORY) = 3</w/d/in>",
        "1 newfstatat(3</w/d/in>, \"x\", {st_mode=S_IFREG|0644, st_size=5, ...}, 0) = 0",
        "1 openat(3</w/d/in>, \"x\", O_RDONLY) = 4</w/d/in/x>",
        "1 openat(3</w/d/in>, \"gone\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "1 newfstatat(AT_FDCWD</w/d>, \"/w/d/in/x\", {st_mode=S_IFREG|0644, ...}, 0) = 0",
        "1 newfstatat(3</w/d/in>, \"../other\", {st_mode=S_IFREG|0644, ...}, 0) = 0",
        "1 rename(\"in\", \"out\") = 0",
        "1 mkdir(\"in\", 0777) = 0",
        "1 mkdirat(3</w/d/out>, \"y\", 0777) = 0",
        "1 mkdirat(AT_FDCWD</w/d>, \"in/z\", 0777) = 0",
    ]);
    let named = |choice| {
        let program = Program::of(&trace, choice);
        assert!(program.inherited.iter().all(|one| !one.writes));
        let depth = |step: &Step| match step.path {
            NONE => 0,
            path => program.paths[path as usize].to_bytes().split(|byte| *byte == b'/').count(),
        };
        let all = program.lanes.iter().flatten();
        all.map(|step| (step.action, step.other != NONE, depth(step))).collect::<Vec<_>>()
    };
    let (open, stat, make) = (Action::Open, Action::Stat, Action::MakeDirectory);
    let as_given = [
        (open, true, 1),
        (stat, true, 1),
        (open, true, 1),
        (open, true, 1),
        (stat, false, 4),
        (stat, false, 3),
        (Action::Rename, true, 3),
        (make, true, 1),
        // By then the log calls the directory something else.
        (make, false, 4),
        (make, true, 2),
    ];
    assert_eq!(Replay::of(&trace).coverage.lost(), (0, 0));
    assert_eq!(named(Choice::default()), as_given);
    // Several threads do not wait for one another's directories.
    let apart = named(Choice { threads: 2, ..Choice::default() });
    let below = |one: &&(Action, bool, usize)| one.0 != Action::Rename && one.0.is_below() && one.1;
    assert_eq!(apart.iter().filter(below).count(), 0, "{apart:?}");
}
