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
    let (last, lines) = lines.split_last().unwrap();
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{said:?}");
    assert!(last.contains(&format!("of {} claims replicated", claims(name))), "{said:?}");
    let judged = lines.iter().filter(|line| {
        let word = line.trim_start();
        VERDICTS.iter().any(|verdict| word.starts_with(verdict))
    });
    assert_eq!(judged.count(), claims(name), "{said:?}");
    let page = std::fs::read_to_string(home.path(&format!("pages/{name}.md"))).unwrap();
    assert!(page.contains("## Claims") && page.contains("claims replicated"), "{page}");
    assert!(!page.contains('\x1b') && !page.contains("inf×"), "{page}");
    // The first paragraph: five sentences for somebody who has the study in hand.
    let first = page.lines().nth(2).unwrap();
    assert!(first.starts_with("Of ") && first.contains("The study was made on"), "{first}");
    // What is drawn is there.
    for linked in page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(home.path("pages").join(linked).is_file(), "{linked} is linked and not there");
    }
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

const MINE: &str = r#"
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

/// The file is small: on a busy machine a pass over one of 1 MiB was cut short, and a part of a pass
/// leaves no digest to compare.
#[test]
fn a_study_of_ones_own_is_checked_run_and_gone_on_with() {
    let home = Home::new();
    std::fs::write(home.path("mine.toml"), MINE).unwrap();
    let checked = home.run(&["study", "check", "mine.toml"]).fine().out;
    assert!(checked.contains("nothing wrong"), "{checked}");
    assert!(checked.contains("says   64 KiB is faster than 1 KiB"), "{checked}");
    assert!(
        checked.contains("tested [blocks] time of block 64 KiB is less than that of block 1 KiB"),
        "{checked}"
    );
    let parted = MINE.replace("64 KiB is faster than 1 KiB", "64 KiB is faster than 4 KiB");
    std::fs::write(home.path("parted.toml"), parted).unwrap();
    let told = home.run(&["study", "check", "parted.toml"]);
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.err.contains("parted.toml, line 22, column 8"), "{told:?}");
    assert!(told.err.contains("the test holds block 1 KiB") && told.err.contains('^'), "{told:?}");
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
    // The same study as of two runs, and as of none.
    home.run(&["study", "run", "mine.toml"]).fine();
    let beside = home.run(&["study", "compare", "mine.toml", "1", "2"]).fine().out;
    assert!(beside.contains("| both find the same value |"), "{beside}");
    assert!(beside.contains("of 2 claims have another verdict"), "{beside}");
    let none = home.run(&["study", "compare", "many-files", "1", "2"]);
    assert!(none.code == Some(2) && none.err.contains("no run of the study"), "{none:?}");
}

#[test]
fn several_studies_have_a_page_that_leads_to_theirs() {
    let home = Home::new();
    std::fs::write(home.path("mine.toml"), MINE).unwrap();
    let twice = ["study", "run", "mine.toml", "mine.toml", "--resume", "--output", "all"];
    home.run(&twice).fine();
    let index = std::fs::read_to_string(home.path("all/README.md")).unwrap();
    assert_eq!(index.matches("| [mine](mine.md) | 2 | ").count(), 2, "{index}");
}

/// Files are called by them, and one that was called so left the directory of `--output`.
#[test]
fn names_in_a_study_lead_nowhere() {
    let home = Home::new();
    let (_, text) = SHIPPED.iter().find(|(name, _)| *name == "read-vs-mmap").unwrap();
    for key in ["name", "id"] {
        let line = text.lines().find(|line| line.starts_with(&format!("{key} = \""))).unwrap();
        for name in ["x/../../y", "..", "/etc/x", "a b", "a\\u0000"] {
            let led = text.replace(line, &format!("{key} = \"{name}\""));
            std::fs::write(home.path("leads.toml"), led).unwrap();
            let said = home.run(&["study", "show", "leads.toml"]);
            assert!(said.code == Some(2) && said.err.contains("leads elsewhere"), "{said:?}");
        }
    }
}

/// What a study of somebody else's asked for was done: it started any command.
#[test]
fn a_study_of_a_file_starts_and_opens_nothing_that_was_not_allowed() {
    let home = Home::new();
    let study = |factors: &str| {
        format!(
            "title = 't'\nsummary = 's'\nbudget = '4s'\n[source]\nmachine = 'm'\n[[experiment]]\n\
             name = 'one'\n{factors}\n[experiment.protocol]\nrounds = 1\n"
        )
    };
    let taken = home.path("taken").to_string_lossy().into_owned();
    let command = format!(
        "workload = 'read'\n[experiment.factors]\nfile-size = '64Ki'\nmethod = 'pread'\n\
         block = '64Ki'\ncontender = 'cp {{file}} {taken}'"
    );
    // One of this name comes with iolab; this one does not.
    let name = home.path("read-vs-mmap.toml");
    std::fs::write(&name, study(&command)).unwrap();
    let run = ["study", "run", "read-vs-mmap.toml"];
    let said = home.run(&run);
    assert!(said.err.contains("starts commands: cp {file} "), "{said:?}");
    assert_eq!((said.code, home.path("taken").exists()), (Some(20), false));
    home.run(&[&run[..], &["--allow-commands"]].concat()).fine();
    assert!(home.path("taken").exists());

    let log = "9 1.0 openat(AT_FDCWD</>, \"/etc/hostname\", O_RDONLY) = 3</etc/hostname> <0.1>\n\
               9 1.2 read(3</etc/hostname>, \"\"..., 100) = 2 <0.1>\n";
    std::fs::write(home.path("their.log"), log).unwrap();
    home.run(&["import", "their.log"]).fine();
    let replay = "workload = 'replay'\n[experiment.factors]\ntrace = 'their.trace'\n\
                  block = 'recorded'\nwith-data = 'on'";
    std::fs::write(&name, study(replay)).unwrap();
    let said = home.run(&run);
    assert!(said.err.contains("copies what is in the files that its trace names"), "{said:?}");
    home.run(&[&run[..], &["--with-data"]].concat()).fine();
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

#[test]
fn the_full_setting_says_hours_and_space() {
    let home = Home::new();
    let said = home.run(&["study", "run", "many-files", "--full", "--plan"]).fine();
    let (plan, told) = (&said.out, format!("{}{}", said.out, said.err));
    let last = plan.lines().last().unwrap();
    // What the disk has no room for is named instead.
    let left = told.lines().filter(|line| line.contains(": not tested: ")).count();
    let all = format!("in all: {} experiments, about ", 8 - left);
    assert!(last.starts_with(&all) && last.contains("of space"), "{left} left: {last}");
    assert!(left == 0 || told.contains("no space in "), "{told}");
    let lines = home.run(&["study", "check", "many-files"]).fine().out;
    assert!(
        lines.contains("nothing wrong") && lines.contains("tested [published or kinds;"),
        "{lines}"
    );
}

/// The largest files of a study were named by its full setting, and its own place was too small for
/// them: nothing but a run of hours said so.
#[test]
fn the_full_setting_leaves_out_nothing_that_its_own_places_hold() {
    let home = Home::new();
    for study in ["many-files", "overlay-metacopy", "copy-buffer-sizes", "read-vs-mmap"] {
        let told = home.run(&["study", "run", study, "--full", "--plan"]).fine();
        let told = format!("{}{}", told.out, told.err);
        assert!(!told.replace(['\n', ' '], "").contains("doesnotfitinto"), "{study}: {told}");
    }
}
