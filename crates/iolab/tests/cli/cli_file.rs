//! Experiments in files: everything a command can ask, read back, run, exported and run again.

#![allow(clippy::unwrap_used)]

use std::fs;

use crate::cli_support::{Home, Said, document};
use iolab_model::catalog::Code;
use iolab_model::result::{Document, Sample};

/// Samples without what is told by all trials of a run: which of them are outliers.
fn bare(samples: &[Sample]) -> Vec<Sample> {
    let mut samples = samples.to_vec();
    samples.iter_mut().for_each(|s| s.measurement.flags.retain(|c| *c != Code::Outlier));
    samples
}

/// Two short experiments.
const TWO: &str = "[defaults]\nworkload = 'read'\nprotocol = { rounds = 10, seed = 3 }\n\
    factors = { block = '64Ki', method = 'read,pread', file-size = '256Ki' }\n\
    [[experiment]]\ntitle = 'one'\n[[experiment]]\ntitle = 'two'\nfactors.block = '4Ki'\n";

#[test]
fn the_example_parses_and_plans() {
    let home = Home::new();
    let example = home.run(&["run", "--example"]).fine().out;
    assert!(example.starts_with("# Experiments"), "{example}");
    fs::write(home.path("mine.toml"), &example).unwrap();
    let said = home.run(&["run", "mine.toml", "--plan"]).fine();
    for word in ["read or mmap", "cold against warm", "mmap", "compares cache"] {
        assert!(said.plain().contains(word), "no {word:?} in {said:?}");
    }
    // What stands behind a # is right too.
    let lines = example.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if rest.contains(" = ") && !rest.starts_with("include") => rest,
        _ => line,
    });
    let open: String = lines.map(|line| format!("{line}\n")).collect();
    fs::write(home.path("a.bin"), [1; 5000]).unwrap();
    let open = open
        .replace("\"/data/a.bin\"", "\"a.bin\"")
        .replace("file-size = \"64Mi\"", "")
        .replace("place = [\"ext4\", \"xfs:noatime\"]", "")
        .replace("vm = true", "vm = false")
        .replace("\"0,2-3\"", "\"0\"");
    fs::write(home.path("open.toml"), &open).unwrap();
    let said = home.run(&["run", "open.toml", "--plan"]).fine();
    assert!(said.plain().contains("exactly") || said.plain().contains("a.bin"), "{said:?}");
    assert_eq!(home.names(), ["a.bin", "mine.toml", "open.toml"], "nothing was done");
}

#[test]
fn a_run_that_is_exported_replays_identically() {
    let home = Home::new();
    home.file("odd \u{e9}'\".bin", 300_000);
    let asked = ["--method", "read,pread", "--block", "4Ki..64Ki:x4", "--cache", "cold,warm"];
    let protocol = ["--rounds", "10", "--seed", "77", "--delta", "3%", "--format", "json"];
    let mut arguments = vec!["read", "odd \u{e9}'\".bin"];
    arguments.extend(asked.iter().chain(&protocol));
    let first = document(&home.run(&arguments).fine());
    home.run(&["export", "last", "toml=again.toml"]).fine();
    // From another directory: names are whole.
    fs::create_dir(home.path("elsewhere")).unwrap();
    let mut command = home.command();
    command.current_dir(home.path("elsewhere"));
    command.args(["run", "../again.toml", "--format", "json"]);
    let second = document(&Said::from(command.output().unwrap()).fine());
    assert_eq!((first.run.id, second.run.id), (1, 2));
    assert_eq!(first.run.title, second.run.title);
    assert_eq!(first.run.seed, second.run.seed);
    assert_eq!(first.experiment.factors, second.experiment.factors);
    assert_eq!(first.experiment.directory, second.experiment.directory);
    assert_eq!(first.experiment.ask, second.experiment.ask);
    assert_eq!(first.experiment.protocol.delta, second.experiment.protocol.delta);
    let schedule = |run: &Document| -> Vec<_> {
        let of = |cell: &iolab_model::result::CellRecord| {
            let order = cell.samples.iter().map(|s| (s.round, s.position)).collect::<Vec<_>>();
            (cell.id.clone(), cell.factors.clone(), order)
        };
        run.cells.iter().map(of).collect()
    };
    assert_eq!(schedule(&first), schedule(&second), "the same rounds in the same order");
    // What it wrote of itself is the same file again.
    home.run(&["export", "last", "toml=third.toml"]).fine();
    let body = |name: &str| {
        let text = fs::read_to_string(home.path(name)).unwrap();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(body("again.toml"), body("third.toml"));
}

#[test]
fn each_experiment_is_a_run_and_one_that_fails_costs_itself_alone() {
    let home = Home::new();
    let two = TWO.replace("title = 'one'", "title = 'one'\nexport = 'csv=one.csv'");
    fs::write(home.path("b.toml"), &two).unwrap();
    fs::write(home.path("a.toml"), "include = 'b.toml'\n").unwrap();
    let said = home.run(&["run", "a.toml"]).fine();
    assert!(said.err.contains("experiment 2 of 2"), "{said:?}");
    let history = home.run(&["history", "--format", "json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&history.out).unwrap();
    assert_eq!((&runs[0]["title"], &runs[1]["title"]), (&"two".into(), &"one".into()));
    assert_eq!(home.names(), ["a.toml", "b.toml", "one.csv", "state"]);
    home.run(&["run", "a.toml", "--export", "csv=x.csv"]).refused(2, &["write export ="]);
    // From stdin.
    let mut command = home.command();
    command.args(["run", "-", "--plan"]).stdin(fs::File::open(home.path("b.toml")).unwrap());
    Said::from(command.output().unwrap()).fine();
    // The last one is impossible: told before the first is measured.
    let wrong = TWO.replace("title = 'two'", "title = 'two'\ndirectory = 'gone'");
    fs::write(home.path("b.toml"), wrong).unwrap();
    home.run(&["run", "b.toml"]).refused(2, &["b.toml, line", "gone"]);
    let history = home.run(&["history", "--format", "json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&history.out).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 2, "nothing more was measured");
}

#[test]
fn a_run_of_a_file_is_gone_on_with_though_the_file_is_gone() {
    let home = Home::new();
    home.file("f", 300_000);
    let text = "[[experiment]]\nworkload = 'read'\nprotocol.rounds = 100000\n\
        factors = { file = 'f', method = ['read', 'pread'], block = '64Ki' }\n\
        [[experiment]]\nworkload = 'syscall'\n";
    fs::write(home.path("a.toml"), text).unwrap();
    let said = home.interrupted(&["run", "a.toml", "--format", "json"]);
    assert_eq!(said.code, Some(130), "{said:?}");
    let partial = document(&said);
    fs::remove_file(home.path("a.toml")).unwrap();
    let said = home.interrupted(&["run", "--resume", "last"]);
    assert_eq!(said.code, Some(130), "{said:?}");
    let resumed = document(&home.run(&["show", "last", "--format", "json"]).fine());
    assert_eq!(resumed.run.id, partial.run.id, "the second experiment was not begun");
    let count = partial.cells[0].samples.len();
    assert!(resumed.cells[0].samples.len() > count, "it went on");
    let kept = bare(&resumed.cells[0].samples[..count]);
    assert_eq!(kept, bare(&partial.cells[0].samples));
}

#[test]
fn what_is_wrong_in_a_file_is_shown_with_a_caret() {
    let home = Home::new();
    let wrong = |text: &str, words: &[&str]| {
        fs::write(home.path("w.toml"), text).unwrap();
        let said = home.run(&["run", "w.toml"]);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{said:?}");
        for word in words {
            assert!(said.err.contains(word), "no {word:?} in {said:?}");
        }
        let planned = home.run(&["run", "w.toml", "--plan"]);
        assert_eq!((planned.code, planned.err), (Some(2), said.err), "a plan finds it too");
    };
    let head = "[[experiment]]\nworkload = 'read'\n";
    wrong(
        &format!("{head}factors.method = 'raed'\n"),
        &["w.toml, line 3, column 18", "did you mean read", "\n    |                  ^^^^^^\n"],
    );
    wrong(&format!("{head}titel = 'x'\n"), &["line 3, column 1", "did you mean title"]);
    wrong(&format!("{head}title = 'x'\ntitle = 'y'\n"), &["line 4", "twice"]);
    wrong(&format!("{head}protocol.budget = '60'\n"), &["unit is missing"]);
    wrong(&format!("{head}protocol.cpus = '8000'\n"), &["w.toml, line 1", "processor 8000"]);
    wrong(&format!("{head}export = 'xml=a'\n"), &["w.toml, line 3", "no such format"]);
    wrong(&format!("{head}directory = 'gone'\n"), &["w.toml, line 3", "gone"]);
    wrong(&format!("{head}factors.latency = true\n"), &["line 3", "in quotes", "off, on"]);
    wrong("include = 'w.toml'\n", &["line 1, column 11", "includes itself"]);
    wrong("include = 'gone.toml'\n", &["gone.toml", "line 1"]);
    wrong(&"[".repeat(1_000_000), &["line 1"]);
    wrong(&" ".repeat(1_100_000), &["bytes"]);
    wrong("", &["no experiment"]);
    std::os::unix::fs::symlink("w.toml", home.path("other.toml")).unwrap();
    wrong("include = './other.toml'\n", &["includes itself"]);
    fs::write(home.path("w.toml"), b"a = '\xff'").unwrap();
    home.run(&["run", "w.toml"]).refused(2, &["byte 5 is not UTF-8"]);
    home.run(&["run", "gone.toml"]).refused(2, &["gone.toml"]);
    home.run(&["run", "."]).refused(2, &["directory"]);
    assert_eq!(home.run(&["run"]).code, Some(2));
    assert_eq!(home.names(), ["other.toml", "w.toml"], "nothing was made");
}

/// What a workload is asked for, exported and run again: the same cells in the same order.
#[test]
fn every_workload_and_commands_too_replay_from_what_they_export() {
    let lines = [
        "files read,copy --files 12 --sizes uniform:1..9000 --layout tree --threads 1,2 --sync end \
         --method sendfile --cache any --latency=on",
        "files write --files 5 --sizes lognormal:4Ki:1.5 --threads 3 --layout private",
        "meta --operation create,chmod --files 7 --pass first,steady --repeats 2 --file-size 0,100",
        "copy --file-size 64Ki --method read-write --block 4Ki,16Ki",
        "copy --file-size 64Ki --method read-write --block 16Ki --contender cp --contender dd",
    ];
    for line in lines {
        let home = Home::new();
        let words = line.split_whitespace();
        let protocol = ["--rounds", "1", "--seed", "5", "--budget", "30s", "--format", "json"];
        let arguments: Vec<&str> = words.chain(protocol).collect();
        let first = document(&home.run(&arguments).fine());
        home.run(&["export", "last", "toml=again.toml"]).fine();
        let second = document(&home.run(&["run", "again.toml", "--format", "json"]).fine());
        assert_eq!(first.experiment.factors, second.experiment.factors, "{line}");
        assert_eq!(first.run.seed, second.run.seed);
        let schedule = |run: &Document| -> Vec<_> {
            let order = |cell: &iolab_model::result::CellRecord| {
                cell.samples.iter().map(|s| (s.round, s.position)).collect::<Vec<_>>()
            };
            run.cells.iter().map(|c| (c.id.clone(), c.factors.clone(), order(c))).collect()
        };
        assert_eq!(schedule(&first), schedule(&second), "{line}");
    }
}

/// The example as it is printed, with less time and fewer rounds.
#[test]
fn the_example_runs() {
    let home = Home::new();
    let mut example = home.run(&["run", "--example"]).fine().out;
    for (what, less) in
        [("\"20s\"", "\"3s\""), ("rounds = 20", "rounds = 2"), ("\"64Mi\"", "\"1Mi\"")]
    {
        assert!(example.contains(what), "{what}");
        example = example.replace(what, less);
    }
    fs::write(home.path("mine.toml"), example).unwrap();
    home.run(&["run", "mine.toml"]).fine();
    let history = home.run(&["history", "--format", "json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&history.out).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs}");
    assert_eq!(home.names(), ["mine.toml", "state"]);
}

/// Each kind of nonsense, about a megabyte of it, ends in one message and in little memory.
#[test]
fn a_megabyte_of_any_nonsense_is_refused_in_a_few_lines() {
    let home = Home::new();
    let head = "[[experiment]]\nworkload = 'files'\n";
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise as u8
    };
    let random: Vec<u8> = (0..1_000_000).map(|_| byte()).collect();
    let printable: Vec<u8> = random.iter().map(|b| b' ' + b % 95).collect();
    let (long, keys) = ("y".repeat(1_000_000), (0..60_000).map(|n| format!("k{n} = {n}\n")));
    let texts: Vec<(&str, Vec<u8>)> = vec![
        ("lists in lists", format!("a = {}{}", "[".repeat(500_000), "]".repeat(500_000)).into()),
        ("tables in tables", "a = {b = ".repeat(110_000).into()),
        ("a name of many parts", format!("[a{}]", ".b".repeat(490_000)).into()),
        ("a comment without end", format!("# {long}").into()),
        ("a word without end", format!("{head}factors.operation = '{long}'").into()),
        ("a title without end", format!("{head}title = '{long}'").into()),
        ("a key without end", format!("{head}{long} = 1").into()),
        ("very many keys", keys.collect::<String>().into()),
        ("a line of zeroes", vec![0; 1_000_000]),
        ("binary", random),
        ("anything printable", printable),
        ("very many levels", format!("{head}factors.block = '1..1000000000:+1'\n").into()),
        ("a text that does not end", format!("{head}title = '''{}", "z\n".repeat(500_000)).into()),
    ];
    for (what, text) in texts {
        fs::write(home.path("w.toml"), text).unwrap();
        let line =
            format!("ulimit -v 1000000; exec {} run w.toml --plan", crate::cli_support::IOLAB);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).current_dir(home.path("."));
        let said = Said::from(shell.output().unwrap());
        let length = said.err.len();
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{what}: {length} bytes");
        assert!(said.err.starts_with("iolab: ") && length < 2000, "{what}: {length} bytes");
        assert!(!said.err.contains("panicked"), "{what}: {said:?}");
    }
}

/// A file from elsewhere once started its commands unasked, as whoever ran it.
#[test]
fn commands_of_a_file_start_only_where_that_is_said() {
    let home = Home::new();
    home.file("f", 100_000);
    let text = "[[experiment]]\nworkload = \"read\"\ntitle = \"a\\u001b[2Jb\"\n\
                [experiment.factors]\nfile = \"f\"\nmethod = \"read\"\n\
                contender = [\"cat {file}\"]\n[experiment.protocol]\nrounds = 5\n";
    fs::write(home.path("theirs.toml"), text).unwrap();
    let plan = home.run(&["run", "theirs.toml", "--plan"]).fine();
    assert!(plan.out.contains("cat {file}"), "{plan:?}");
    assert!(!plan.out.contains('\u{1b}'), "a title speaks to the terminal: {plan:?}");
    home.run(&["run", "theirs.toml"])
        .refused(20, &["theirs.toml", "cat {file}", "--allow-commands"]);
    home.run(&["show", "last"]).refused(2, &["the history is empty"]);
    home.run(&["run", "theirs.toml", "--allow-commands"]).fine();
}

/// Whatever a file of somebody else's says: its titles, commands, names and mistakes are shown, and none
/// of them moves the cursor or colours the screen.
#[test]
fn nothing_in_a_file_speaks_to_the_terminal() {
    let home = Home::new();
    home.file("f", 100_000);
    let esc = "\\u001b[2J\\u009b31m\\u202e";
    let head = "[[experiment]]\nworkload = \"read\"\nprotocol.rounds = 3\n";
    let file = "factors.file = \"f\"\nfactors.method = \"read\"\n";
    let texts = [
        format!("{head}{file}title = \"a{esc}\"\nexport = \"csv=x{esc}\"\n"),
        format!("{head}{file}factors.contender = [\"sh -c 'echo {esc}' {{file}}\"]\n"),
        format!("{head}factors.file = \"{esc}\"\n"),
        format!("{head}{file}directory = \"{esc}\"\n"),
        format!("{head}factors.method = \"{esc}\"\n"),
        format!("{head}factors.place = \"ext4:{esc}\"\n"),
        format!("{head}factors.place = \"dir:{esc}\"\n"),
        format!("{head}\"{esc}\" = 1\n"),
        format!("{head}export = \"{esc}=x\"\n"),
        format!("workload = \"{esc}\"\n"),
        format!("include = \"{esc}\"\n"),
        format!("{head}title = 'raw \u{1b}[2J'\n"),
        "\u{1b}[2J = \u{9b}31m\n".to_owned(),
    ];
    let harmless = |text: &str, said: &Said| {
        // JSON is for programs, and escapes what its format has it escape.
        let json = said.out.starts_with('{');
        let harms = |c: &char| match c {
            '\u{1b}' | '\r' => true,
            '\u{9b}' | '\u{202e}' => !json,
            _ => false,
        };
        for all in [&said.out, &said.err] {
            assert!(!all.contains(|c| harms(&c)), "{text:?} speaks to the terminal: {said:?}");
        }
        assert!(!said.err.contains("panicked"), "{said:?}");
    };
    for text in &texts {
        fs::write(home.path("theirs.toml"), text).unwrap();
        for more in [&["--plan"][..], &["--plan", "--format", "json"], &[], &["--allow-commands"]] {
            harmless(text, &home.run(&[&["run", "theirs.toml"], more].concat()));
        }
        for look in [&["show"][..], &["history"], &["show", "last", "--details"]] {
            harmless(text, &home.run(look));
        }
        harmless(text, &home.run(&["study", "run", "./theirs.toml", "--plan"]));
    }
}

/// A file of somebody else's could name any file of one's own as its export, and it was gone.
#[test]
fn an_export_of_a_file_replaces_nothing_unless_that_is_said() {
    let home = Home::new();
    let text = "[[experiment]]\nworkload = \"read\"\nexport = \"csv=notes.txt\"\n\
                [experiment.factors]\nfile-size = \"64Ki\"\nmethod = \"read\"\n\
                [experiment.protocol]\nrounds = 3\n";
    fs::write(home.path("theirs.toml"), text).unwrap();
    let plan = home.run(&["run", "theirs.toml", "--plan"]).fine();
    assert!(plan.out.contains("writes a report: csv=notes.txt"), "{plan:?}");
    let refused = ["theirs.toml, line 3", "notes.txt, which is there", "--replace"];
    fs::write(home.path("notes.txt"), "mine").unwrap();
    home.run(&["run", "theirs.toml"]).refused(20, &refused);
    assert_eq!(fs::read(home.path("notes.txt")).unwrap(), b"mine");
    // A link is there as well, wherever it leads.
    fs::rename(home.path("notes.txt"), home.path("kept")).unwrap();
    std::os::unix::fs::symlink("nowhere", home.path("notes.txt")).unwrap();
    home.run(&["run", "theirs.toml"]).refused(20, &refused);
    fs::remove_file(home.path("notes.txt")).unwrap();
    let said = home.run(&["run", "theirs.toml"]).fine();
    assert!(said.err.contains("writes a report: csv=notes.txt"), "{said:?}");
    home.run(&["run", "theirs.toml", "--replace"]).fine();
    assert!(fs::read_to_string(home.path("notes.txt")).unwrap().starts_with("run,"));
}

/// A report that lands in a tree while that is measured is a file more in it.
#[test]
fn no_export_goes_into_a_tree_that_is_measured() {
    let home = Home::new();
    fs::create_dir_all(home.path("tree/sub")).unwrap();
    home.file("tree/a", 100);
    for export in ["json=tree/run.json", "json=tree/sub/run.json", "json=tree/a", "svg=tree/svg"] {
        let asked = ["files", "read", "tree", "--rounds", "3", "--export", export];
        home.run(&asked).refused(20, &["--export", "what is measured"]);
    }
    assert_eq!(fs::read_dir(home.path("tree")).unwrap().count(), 2);
}
