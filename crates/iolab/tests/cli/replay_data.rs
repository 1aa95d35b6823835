//! `iolab replay --with-data`: copies that hold what the recorded files do.

use std::fs;

use crate::cli_support::{Home, document};
use iolab_model::catalog::Factor;
use iolab_model::result::Document;
use serde_json::Value;

/// A home with the trace of a program that reads `in` and `gone`.
fn home() -> Home {
    let home = Home::new();
    fs::write(home.path("in"), "what is in it ".repeat(1000)).unwrap();
    let at = home.path("").canonicalize().unwrap();
    let at = at.display();
    let read = |name: &str, bytes: u64| {
        format!(
            "9 1.000000 openat(AT_FDCWD</>, \"{at}/{name}\", O_RDONLY) = 3<{at}/{name}> <0.000010>\n\
             9 1.000020 read(3<{at}/{name}>, \"\"..., 65536) = {bytes} <0.000010>\n\
             9 1.000040 close(3<{at}/{name}>) = 0 <0.000010>\n"
        )
    };
    fs::write(home.path("two.log"), read("in", 14_000) + &read("gone", 2000)).unwrap();
    home.run(&["import", "two.log"]).fine();
    home
}

fn data(run: &Document) -> Option<&Value> {
    let traces = run.environment.0.iter().filter(|(key, _)| key.starts_with("trace"));
    traces.filter_map(|(_, trace)| trace.get("data")).find(|data| !data.is_null())
}

const QUICK: [&str; 4] = ["--block", "recorded", "--rounds", "2"];

#[test]
fn contents_are_copied_where_the_command_line_says_so_and_only_there() {
    let home = home();
    let plain = [&["replay", "two.trace", "--format", "json"], &QUICK[..]].concat();
    let run = document(&home.run(&plain).fine());
    assert!(!run.experiment.factors.contains_key(&Factor::WithData) && data(&run).is_none());

    let said = home.run(&[&plain[..], &["--with-data"]].concat()).fine();
    let flat = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let lacking = "1 of 2 files with contents not there as recorded, so that 2000 B of 16000 B are \
                   random";
    assert!(flat.contains(lacking) && flat.contains("gone: "), "{flat}");
    let run = document(&said);
    assert_eq!(run.experiment.factors[&Factor::WithData], ["on"]);
    let known = data(&run).unwrap();
    assert_eq!((&known["lacking_files"], &known["lacking_bytes"]), (&1.into(), &2000.into()));
    let details = home.run(&["show", "last", "--details"]).fine();
    let flat = details.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(lacking), "{flat}");

    // No record and no file of experiments lets a trace open anything.
    let refused = home.run(&["more", "last", "500ms"]);
    assert!(refused.err.contains("say --with-data to let it"), "{refused:?}");
    home.run(&["more", "last", "500ms", "--with-data"]).fine();
    home.run(&["export", "last", "toml=again.toml"]).fine();
    let refused = home.run(&["run", "again.toml"]);
    assert!(refused.err.contains("again.toml copies what is in the files"), "{refused:?}");
    home.run(&["run", "again.toml", "--with-data"]).fine();

    // Other contents are another experiment.
    fs::write(home.path("in"), "other").unwrap();
    home.run(&["more", "2", "500ms", "--with-data"]).refused(12, &["run 2", "has changed"]);
}
