//! Processes of a program are threads of its replay, each with a table of descriptors of its own.

use crate::cli_support::{Home, traceable, traced};

/// How often a thread of a replay gets a table of descriptors of its own.
fn tables(home: &Home, trace: &str, command: &[&str]) -> usize {
    home.run(&[&["record", "--quiet", "-o", trace, "--"], command].concat()).fine();
    let quick = ["replay", trace, "--block", "recorded", "--rounds", "3", "--budget", "60s"];
    let log = traced(home, &["-e", "trace=unshare"], &quick);
    log.lines().filter(|line| line.contains("CLONE_FILES")).count()
}

/// The reads of a gcc were foretold as dearer than they are: its three processes shared one table, in which
/// each look-up is atomic.
#[test]
fn processes_have_a_table_of_descriptors_each() {
    if !traceable("processes_have_a_table_of_descriptors_each") {
        return;
    }
    let home = Home::new();
    home.file("in", 1 << 20);
    let (process, two) = (["cat", "in"], ["sh", "-c", "cat in > /dev/null; test -e in"]);
    assert_eq!(tables(&home, "one.trace", &process), 0, "it has its process's");
    // Two threads, in three rounds at least.
    let of_two = tables(&home, "two.trace", &two);
    assert!(of_two >= 2 * 3 && of_two.is_multiple_of(2), "{of_two}");
}
