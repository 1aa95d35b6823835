//! Each shipped study at a tiny budget: what it prints, writes and records. Whether its claims
//! hold is the machine's affair; that each is judged, or says why not, is ours.

use crate::cli_support::Home;
use iolab_study::SHIPPED;

const VERDICTS: [&str; 4] = ["replicated", "contradicted", "inconclusive", "not tested"];

fn claims(name: &str) -> usize {
    let text = SHIPPED.iter().find(|(shipped, _)| *shipped == name).unwrap().1;
    text.matches("[[claim]]").count()
}

fn runs(name: &str, budget: &str) {
    let home = Home::new();
    let said = home.run(&["study", "run", name, "--budget", budget, "--output", "pages"]).fine();
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].contains(&format!("of {} claims replicated", claims(name))), "{said:?}");
    let judged = lines[1..].iter().filter(|line| {
        let word = line.trim_start();
        VERDICTS.iter().any(|verdict| word.starts_with(verdict))
    });
    assert_eq!(judged.count(), claims(name), "{said:?}");
    let page = std::fs::read_to_string(home.path(&format!("pages/{name}.md"))).unwrap();
    assert!(page.contains("## Claims") && page.contains("claims replicated"), "{page}");
    assert!(!page.contains('\x1b'));
    assert_eq!(home.names(), ["pages", "state"], "nothing is left behind");
}

#[test]
fn read_vs_mmap() {
    runs("read-vs-mmap", "6s");
}

#[test]
fn block_size_and_caching() {
    runs("block-size-and-caching", "6s");
}

#[test]
fn copy_buffer_sizes() {
    runs("copy-buffer-sizes", "6s");
}

#[test]
fn many_files() {
    runs("many-files", "6s");
}

#[test]
fn overlay_metacopy() {
    runs("overlay-metacopy", "6s");
}

/// The file is small: on a busy machine a pass over one of 1 MiB was cut short, and a part of a pass
/// leaves no digest to compare.
#[test]
fn a_study_of_ones_own_is_checked_run_and_gone_on_with() {
    let home = Home::new();
    let study = r#"
title = "mine"
summary = "Whether a block matters."
budget = "4s"
[[experiment]]
name = "blocks"
workload = "read"
[experiment.factors]
file-size = "64Ki"
method = "pread"
block = "1Ki,64Ki"
[[table]]
id = "speed"
title = "speed"
experiment = "blocks"
quantity = "mib-per-s"
columns = [{ label = "MiB/s" }]
rows = [{ label = "1 KiB", of = { block = "1Ki" } }, { label = "64 KiB", of = { block = "64Ki" } }]
values = [[100], [nan]]
[[claim]]
id = "larger"
says = "64 KiB is faster than 1 KiB"
experiment = "blocks"
kind = "faster"
a = { block = "64Ki" }
b = { block = "1Ki" }
[[claim]]
id = "same"
says = "both find the same value"
experiment = "blocks"
kind = "same-value"
"#;
    std::fs::write(home.path("mine.toml"), study).unwrap();
    assert!(home.run(&["study", "check", "mine.toml"]).fine().out.contains("nothing wrong"));
    assert!(home.run(&["study", "show", "mine.toml"]).fine().out.contains("larger"));
    let plan = home.run(&["study", "run", "mine.toml", "--plan"]).fine();
    assert!(plan.out.contains("mine"), "{plan:?}");
    let said = home.run(&["study", "run", "mine.toml", "--output", "p"]).fine();
    // A busy machine may leave the times undecided; the value is the same everywhere.
    assert!(said.out.contains("of 2 claims replicated"), "{said:?}");
    assert!(said.out.contains("replicated    both find the same value"), "{said:?}");
    assert!(!said.out.contains("contradicted"), "{said:?}");
    let csv = std::fs::read_to_string(home.path("p/mine-speed.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 3, "{csv}");
    assert!(rows[1].starts_with("1 KiB,MiB/s,MiB/s,100,") && rows[2].contains("MiB/s,,"), "{csv}");
    // What was measured stands in the history, and is taken from there.
    let again = home.run(&["study", "run", "mine.toml", "--resume"]).fine();
    assert_eq!(again.out, said.out);
    let history = home.run(&["history", "--format", "json"]).fine().out;
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
}

#[test]
fn what_is_asked_wrongly() {
    let home = Home::new();
    let said = home.run(&["study", "run", "read-vs-map"]);
    assert!(said.code == Some(2) && said.err.contains("read-vs-mmap"), "{said:?}");
    let said = home.run(&["study", "run", "read-vs-mmap", "--budget", "3"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    let listed = home.run(&["study", "list"]).fine();
    for (name, _) in SHIPPED {
        assert!(listed.out.contains(name), "{listed:?}");
    }
}
