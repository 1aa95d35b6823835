//! Real programs that are recorded, and what a replay of each must have come to.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::process::{Command, Stdio};

use super::Home;
use iolab_model::catalog::Family;
use iolab_model::result::{CellStatus, Document};

/// So much of a program is replayed at least, in calls; of its bytes nearly all.
const LEAST_SHARE: f64 = 0.75;
const DATABASE: &str = "import sqlite3; d = sqlite3.connect('d.db'); \
    d.execute('create table t(a)'); \
    [d.execute('insert into t values (?)', (i,)) for i in range(500)]; d.commit()";

/// Their names and command lines. They work on the files of [`home`], one after the other.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("dd", &["dd", "if=in", "of=out", "bs=1000"]),
    ("cp", &["cp", "-R", "tree", "copy"]),
    ("tar", &["tar", "cf", "tree.tar", "tree"]),
    ("grep", &["grep", "-r", "no such text", "tree"]),
    ("sh", &["sh", "-c", "cat tree/1/* > all; mv all other; ls tree/* > names; rm other"]),
    ("rm", &["rm", "-r", "copy"]),
    ("python3", &["python3", "-c", DATABASE]),
];

/// A home with files for them.
pub fn home() -> Home {
    let home = Home::new();
    home.file("in", 300_000);
    for directory in 0..5 {
        fs::create_dir_all(home.path(&format!("tree/{directory}"))).unwrap();
        for file in 0..20 {
            home.file(format!("tree/{directory}/{file}"), 1000 * file);
        }
    }
    home
}

/// Records those that there are as `NAME.trace`; each that there is not is skipped aloud.
pub fn recorded(home: &Home, test: &str) -> Vec<&'static str> {
    let mut all = Vec::new();
    for (name, command) in PROGRAMS {
        let mut asked = Command::new(command[0]);
        let has = asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if has.is_err() {
            eprintln!("SKIP {test}: no {name}");
            continue;
        }
        let trace = format!("{name}.trace");
        let arguments = ["record", "--quiet", "-o", &trace, "--"].into_iter();
        home.run(&arguments.chain(command.iter().copied()).collect::<Vec<_>>());
        all.push(*name);
    }
    all
}

/// Every cell was measured, and no trial of it was lost.
pub fn is_whole(run: &Document, what: &str) {
    for cell in &run.cells {
        assert_eq!(cell.status, CellStatus::Measured, "{what} {}: {:?}", cell.id, cell.reason);
        for sample in &cell.samples {
            assert_eq!(sample.fault, None, "{what} {}", cell.id);
        }
    }
}

/// The same, and nearly all of the program was replayed.
pub fn came_out(run: &Document, name: &str) {
    is_whole(run, name);
    let known = run.environment.0.iter().find(|(key, _)| Family::Trace.holds(key)).unwrap().1;
    let number = |key: &str| known[key].as_f64().unwrap();
    let calls = number("lost_calls") / number("calls");
    let bytes = number("lost_bytes") / number("bytes").max(1.0);
    assert!(calls < 1.0 - LEAST_SHARE && bytes < 0.02, "{name}: {}", known["left_out"]);
}
