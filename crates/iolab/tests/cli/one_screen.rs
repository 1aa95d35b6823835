//! Real commands on a real terminal: the report is one screen, and the answer stands at its end.

use std::process::{Command, Stdio};

use crate::cli_support::{Home, IOLAB};
use iolab_model::result::Document;
use iolab_report::{TextStyle, write};
use iolab_test::{documents, scenes};

/// What stands on a terminal of so many rows and columns when the command has ended.
fn on_terminal(home: &Home, rows: usize, columns: usize, arguments: &str) -> String {
    let line = format!("stty rows {rows} cols {columns}; exec {IOLAB} {arguments}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(home.path(""));
    command.env("XDG_STATE_HOME", home.path("state")).env("TERM", "xterm");
    command.env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
    // The terminal of whoever runs the tests is left alone.
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{arguments}: {text}");
    let shown: Vec<&str> = text.split('\n').map(last_drawn).collect();
    shown.join("\n").trim_end().to_owned() + "\n"
}

/// Of a line that was drawn several times what stood there last.
fn last_drawn(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    line.rsplit("\x1b[K").next().unwrap_or(line).trim_start_matches("\x1b[2K")
}

fn imported(home: &Home, doc: &Document) {
    let mut bytes = Vec::new();
    write("json", doc, &TextStyle::default(), &mut bytes).unwrap();
    std::fs::write(home.path("run.json"), bytes).unwrap();
    home.run(&["import", "run.json"]).fine();
}

#[test]
fn recorded_runs_on_two_screens() {
    let scenes = [
        ("winner", documents::winner()),
        ("tie", documents::tie()),
        ("blocks", scenes::blocks()),
        ("mapping", scenes::mapping()),
        ("ladder", scenes::ladder()),
        ("skipped", scenes::gaps()),
    ];
    for (name, doc) in scenes {
        let home = Home::new();
        imported(&home, &doc);
        for (rows, columns) in [(24, 80), (40, 120)] {
            let text = on_terminal(&home, rows, columns, "show last");
            let most = 24 + 6 * doc.answers.len().saturating_sub(1);
            assert!(text.lines().count() <= most, "{text}");
            insta::assert_snapshot!(format!("screen_{name}_{columns}x{rows}"), text);
        }
    }
}

/// `iolab read FILE` once printed 113 lines; on a terminal of 24 the headline was line 45 of 153.
#[test]
fn what_is_measured_ends_on_its_answer_on_one_screen() {
    let home = Home::new();
    home.file("data", 8 << 20);
    for command in [
        "read data --budget 2s",
        "copy data --budget 2s",
        "files create --files 50 --budget 2s",
        "meta --operation chmod,stat --files 50 --budget 2s",
        "write --file-size 1Mi --sync fsync --block 64Ki --budget 6s",
    ] {
        let text = on_terminal(&home, 24, 80, command);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.last().unwrap().contains("--details"), "{command}:\n{text}");
        let asked = command.split(' ').next().unwrap();
        let heads = [format!("{asked} "), format!("{asked}, ")];
        let begin = lines.iter().position(|line| heads.iter().any(|head| line.starts_with(head)));
        let begin = begin.unwrap_or_else(|| panic!("{command}:\n{text}"));
        assert!(lines.len() - begin <= 24, "{command}:\n{text}");
        // Before it only what is going to be written and what cannot be had.
        assert!(begin <= 6, "{command}:\n{text}");
    }
}

#[test]
fn all_of_it_is_told_on_request() {
    let home = Home::new();
    imported(&home, &scenes::blocks());
    let short = home.run(&["show", "last"]).fine().out;
    let whole = home.run(&["show", "last", "--details"]).fine().out;
    assert!(whole.lines().count() > short.lines().count(), "{whole}");
    for format in ["markdown", "asciidoc"] {
        let short = home.run(&["show", "last", "--format", format]).fine().out;
        let whole = home.run(&["show", "last", "--details", "--format", format]).fine().out;
        assert!(whole.len() > short.len(), "{whole}");
    }
    let out = "markdown=short.md";
    home.run(&["export", "last", out]).fine();
    home.run(&["export", "last", "--details", "markdown=whole.md"]).fine();
    let size = |name: &str| std::fs::metadata(home.path(name)).unwrap().len();
    assert!(size("short.md") < size("whole.md"));
}
