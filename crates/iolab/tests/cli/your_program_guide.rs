//! docs/your-program.md takes a slow program to a fast one: its own programs and commands are run here.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cli_support::{Home, IOLAB, ROOT, Said, document, traceable};

/// The text between the fences of this language, one after the other.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let start = format!("{language}\n");
    let all = page.split("```").skip(1).step_by(2);
    all.filter_map(|text| text.strip_prefix(&start)).map(str::to_owned).collect()
}

/// A command of the page, with more words, as a shell in this home runs it.
fn typed(home: &Home, line: &str, more: &str) -> Said {
    let programs = Path::new(IOLAB).parent().unwrap().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{line} {more}")]).current_dir(home.path(""));
    shell.env("PATH", format!("{programs}:{path}")).env("XDG_STATE_HOME", home.path("state"));
    shell.env_remove("NO_COLOR").env_remove("COLUMNS");
    Said::from(shell.output().unwrap())
}

fn compiled(home: &Home, name: &str, source: &str) -> bool {
    fs::write(home.path(&format!("{name}.c")), source).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-o", name, &format!("{name}.c")]).current_dir(home.path(""));
    cc.status().is_ok_and(|status| status.success())
}

/// Nothing ran what the page says: it could have led nowhere.
#[test]
fn the_page_takes_a_slow_program_to_a_fast_one() {
    let test = "the_page_takes_a_slow_program_to_a_fast_one";
    let page = fs::read_to_string(Path::new(ROOT).join("docs/your-program.md")).unwrap();
    let (sources, shell) = (blocks(&page, "c"), blocks(&page, ""));
    let [slow, fast] = sources.as_slice() else { panic!("two programs: {sources:?}") };
    let [record, profile, replay] = shell[0].lines().collect::<Vec<_>>()[..] else {
        panic!("three commands: {:?}", shell[0])
    };
    let contend = shell.iter().find(|text| text.starts_with("iolab read big.csv")).unwrap();
    if !traceable(test) {
        return;
    }
    let home = Home::new();
    if !compiled(&home, "report", slow) || !compiled(&home, "report-buffered", fast) {
        return eprintln!("SKIP {test}: no C compiler");
    }
    fs::write(home.path("big.csv"), "one,two,three\n".repeat(4000)).unwrap();
    assert_eq!(typed(&home, record, "").fine().out, "4000\n");
    let told = typed(&home, profile, "").fine().plain();
    assert!(told.contains("reads of 1 byte in") && told.contains("buffer them"), "{told}");
    let answer = typed(&home, replay, "--budget 30s").fine().plain();
    // The plateau begins somewhere there, whatever the machine.
    let better = ["4 KiB", "64 KiB", "1 MiB"];
    let says =
        |block: &&str| answer.contains(&format!("with {block} blocks the file work takes 0.0"));
    assert!(better.iter().any(says), "{answer}");
    assert!(answer.contains("the whole program"), "what it is worth to all of it: {answer}");
    let run = document(&typed(&home, contend.trim(), "--budget 30s --format json").fine());
    let median = |name: &str| {
        let of = |id: &str| id.split('/').any(|part| part == name);
        let cell = run.cells.iter().find(|cell| of(&cell.id)).unwrap_or_else(|| {
            panic!("no {name}: {:?}", run.cells.iter().map(|cell| &cell.id).collect::<Vec<_>>())
        });
        cell.estimate.as_ref().unwrap().wall_ns.median
    };
    let (before, after) = (median("report"), median("report-buffered"));
    assert!(before > 3.0 * after, "{before} ns, then {after} ns");
}
