//! Nonsense for whatever reads bytes of strangers: seeded mutations of known texts, in a process with
//! little memory and a thread with a small stack. `make fuzz` goes on for hours; what it finds is kept
//! in fuzz/corpus and read here ever after.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use iolab_test::fuzz::mutate::Mutator;
use iolab_test::fuzz::{TARGETS, Target, target};

use crate::cli_support::ROOT;

/// Which target this process feeds.
const NAME: &str = "IOLAB_FUZZ_TARGET";
/// A nest of 20 000 levels that is gone down into takes more.
const STACK_BYTES: usize = 1 << 20;
/// Address space of the process in KiB: no reader needs this much for a megabyte.
const MOST_KIB: u64 = 1 << 20;

/// Each target is fed for so long, all of them side by side.
const FED_FOR: Duration = Duration::from_secs(30);

/// As many as an hour of `make trust` holds.
fn turns(target: &Target) -> u64 {
    if std::env::var_os("IOLAB_TRUST").is_some() { target.turns * 100 } else { target.turns }
}

fn input_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"))
}

/// Feeds one target in this process. The input is on disk before it is fed: an abort tells nothing.
fn feed(target: Target) {
    let corpus = target.corpus(Path::new(ROOT));
    assert!(!corpus.is_empty(), "{} has no corpus", target.name);
    for good in &corpus {
        (target.feed)(good);
    }
    let mut mutator = Mutator::new(0x5eed);
    let (least, began) = (turns(&target), Instant::now());
    let mut fed = 0;
    while fed < least || began.elapsed() < FED_FOR {
        fed += 1;
        let input = mutator.next(&corpus);
        std::fs::write(input_of(target.name), &input).unwrap();
        (target.feed)(&input);
    }
    std::fs::remove_file(input_of(target.name)).unwrap();
    eprintln!("{}: {fed} texts", target.name);
}

#[test]
fn whatever_reads_bytes_of_strangers_survives_nonsense() {
    if let Ok(name) = std::env::var(NAME) {
        let small = std::thread::Builder::new().stack_size(STACK_BYTES);
        return small.spawn(move || feed(target(&name))).unwrap().join().unwrap();
    }
    let mut running = Vec::new();
    for target in TARGETS {
        let test = "fuzz::whatever_reads_bytes_of_strangers_survives_nonsense";
        let line =
            format!("ulimit -v {MOST_KIB}; exec nice -n 19 \"$0\" --exact {test} --nocapture");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).arg(std::env::current_exe().unwrap()).env(NAME, target.name);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        running.push((target, child));
    }
    let mut wrong = Vec::new();
    for (target, child) in running {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        eprint!("{said}");
        if !output.status.success() {
            let input = input_of(target.name);
            wrong.push(format!(
                "{}: {} by {}: {said}",
                target.name,
                output.status,
                input.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Each target of the list has its file for `make fuzz`, and each file stands in the manifest.
#[test]
fn every_target_is_fuzzed_for_hours_too() {
    let folder = Path::new(ROOT).join("fuzz/fuzz_targets");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let names = TARGETS.map(|target| target.name.to_owned());
    let without: Vec<&String> = names.iter().filter(|name| !files.contains(name)).collect();
    assert!(without.is_empty(), "{without:?} have no file in fuzz/fuzz_targets");
    let manifest = std::fs::read_to_string(Path::new(ROOT).join("fuzz/Cargo.toml")).unwrap();
    for name in files {
        assert!(manifest.contains(&format!("fuzz_targets/{name}.rs")), "{name} is in no manifest");
    }
}
