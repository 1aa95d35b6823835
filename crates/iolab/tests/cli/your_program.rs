//! `iolab record`, `import`, `profile` and `export` of a trace, with real programs.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::cli_support::{Home, Said, traceable, wait_for};

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap()
}

fn row<'a>(profile: &'a Value, name: &str) -> &'a Value {
    let rows = profile["files"].as_array().unwrap();
    let named = rows.iter().find(|row| row["name"].as_str().unwrap().ends_with(name));
    named.unwrap_or_else(|| panic!("no {name} in {profile}"))
}

#[test]
fn dd_is_recorded_with_every_byte_and_call() {
    if !traceable("dd_is_recorded_with_every_byte_and_call") {
        return;
    }
    let home = Home::new();
    home.file("in", 200_000);
    let said =
        home.run(&["record", "--runs", "1", "--", "dd", "if=in", "of=out", "bs=1000"]).fine();
    assert!(said.err.contains("iolab profile dd.trace"), "{}", said.err);
    // The trace is not the program's; its output is.
    assert_eq!(said.out, "");
    assert_eq!(fs::read(home.path("in")).unwrap(), fs::read(home.path("out")).unwrap());
    let profile = json(&home.run(&["profile", "dd.trace", "--json"]).fine());
    assert_eq!(profile["schema"], "iolab.profile/1");
    assert_eq!(profile["command"], "dd if=in of=out bs=1000");
    let (input, output) = (row(&profile, "/in"), row(&profile, "/out"));
    assert_eq!((&input["read_bytes"], &input["reads"]), (&200_000.into(), &201.into()));
    let written = (&output["written_bytes"], &output["writes"]);
    assert_eq!(written, (&200_000.into(), &200.into()), "{profile}");
    assert_eq!((&input["size_bytes"], &input["pattern"]), (&200_000.into(), &"sequential".into()));
    assert!(profile["whole"]["wall_ns"].as_u64().unwrap() > 0);
    let share = profile["whole"]["file_share"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&share), "{share}");
    // The second is no replacement of the first.
    home.run(&["record", "--quiet", "--", "dd", "if=in", "of=out", "bs=64k"]).fine();
    assert!(home.path("dd-2.trace").exists());
    home.run(&["record", "-o", "dd.trace", "--", "true"]).refused(20, &["dd.trace", "--output"]);
}

#[test]
fn a_profile_is_one_screen_with_the_sentence_of_a_reviewer() {
    let home = Home::new();
    fs::write(home.path("strace.txt"), log(3000)).unwrap();
    let said = home.run(&["import", "strace.txt"]).fine();
    assert_eq!(said.out, "strace.trace\n");
    let text = home.run(&["profile", "strace.trace"]).fine().out;
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let flat = text.replace('\u{202f}', " ");
    assert!(flat.contains("reads of 1 byte in /w/conf.ini: buffer them"), "{text}");
    assert!(flat.contains("is made durable"), "{text}");
    let all = home.run(&["profile", "strace.trace", "--all"]).fine().out;
    assert!(all.contains("names asked for are not there"), "{all}");
    home.run(&["profile", "strace.trace", "--charts", "charts"]).fine();
    for name in ["call-sizes", "offsets-over-time"] {
        let svg = fs::read_to_string(home.path(&format!("charts/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}");
    }
    assert!(!text.contains('\x1b') && !all.contains('\x1b'), "a name moves the cursor: {text}");
    let csv = home.run(&["profile", "strace.trace", "--format", "csv"]).fine().out;
    let names: Vec<&str> = csv.lines().filter_map(|line| line.split(',').next()).collect();
    assert!(names.contains(&"/w/conf.ini") && names.contains(&"\"/w/a"), "{csv}");
}

/// A log of one thread with a fault of each sort, and names that would move a cursor.
fn log(reads: usize) -> String {
    let mut calls =
        vec!["openat(AT_FDCWD</w>, \"conf.ini\", O_RDONLY) = 3</w/conf.ini>".to_owned()];
    calls.extend((0..50).map(|_| "lseek(3</w/conf.ini>, 0, SEEK_CUR) = 0".to_owned()));
    calls.extend((0..reads).map(|_| "read(3</w/conf.ini>, \"\"..., 1) = 1".to_owned()));
    calls
        .push("openat(AT_FDCWD</w>, \"a,\\33[2J\", O_WRONLY|O_CREAT) = 4</w/a,\\33[2J>".to_owned());
    for _ in 0..40 {
        calls.push("write(4</w/a,\\33[2J>, \"\"..., 4096) = 4096".to_owned());
        calls.push("fsync(4</w/a,\\33[2J>) = 0".to_owned());
        calls.push("access(\"/w/none\", F_OK) = -1 ENOENT (No such file or directory)".to_owned());
    }
    let line = |(at, call): (usize, &String)| {
        format!("9 {}.{:06} {call} <0.000012>\n", 1_700_000_000 + at / 10_000, at % 10_000 * 100)
    };
    calls.iter().enumerate().map(line).collect()
}

#[test]
fn what_is_no_trace_and_no_log_is_refused_with_what_to_do() {
    let home = Home::new();
    home.run(&["profile", "none.trace"]).refused(2, &["none.trace", "iolab record"]);
    home.file("zeros", 5000);
    home.run(&["profile", "zeros"]).refused(2, &["zeros", "no trace", "iolab import"]);
    fs::write(home.path("times.log"), "7 close(3) = 0\n").unwrap();
    home.run(&["import", "times.log"]).refused(2, &["line 1 has no time", "-ttt"]);
    fs::write(home.path("good.log"), log(10)).unwrap();
    home.run(&["import", "good.log"]).fine();
    let whole = fs::read(home.path("good.trace")).unwrap();
    fs::write(home.path("cut.trace"), &whole[..whole.len() / 2]).unwrap();
    home.run(&["profile", "cut.trace"]).refused(2, &["cut.trace", "damaged at byte"]);
    home.run(&["export", "good.trace", "fio=x"]).refused(2, &["fio-iolog, fio-files, csv, json"]);
    assert_eq!(home.run(&["record"]).code, Some(2));
}

#[test]
fn strace_that_is_missing_is_named_with_its_package() {
    let home = Home::new();
    let output =
        home.command().args(["record", "--", "/bin/true"]).env("PATH", home.path("")).output();
    let said = Said::from(output.unwrap());
    let words =
        ["strace is not installed", "apt-get install strace", "dnf", "pacman", "iolab import"];
    said.refused(20, &words);
}

/// Programs that stand for strace: what it says is told as it is meant.
#[test]
fn a_strace_that_is_old_or_not_permitted_is_told() {
    let home = Home::new();
    let script = home.path("strace");
    let record = |text: &str| {
        // By another process: one that is forked meanwhile would hold the script open (ETXTBSY).
        let line = format!("printf '%s\\n' '#!/bin/sh' '{text}' > strace; chmod +x strace");
        let made = Command::new("sh").args(["-c", &line]).current_dir(home.path("")).status();
        assert!(made.unwrap().success() && script.exists());
        let path = format!("{}:/usr/bin:/bin", home.path("").display());
        let output = home.command().args(["record", "--", "true"]).env("PATH", path).output();
        Said::from(output.unwrap())
    };
    record("echo strace -- version 4.8").refused(20, &["4.8 is too old", "package strace"]);
    let denied = "[ $1 = -V ] && echo strace -- version 6.1 && exit; echo no >&2; exit 1";
    record(denied).refused(20, &["nothing was recorded", "status 1"]);
    assert!(!home.path("true.trace").exists());
}

#[test]
fn a_command_that_fails_or_is_not_there_is_told() {
    if !traceable("a_command_that_fails_or_is_not_there_is_told") {
        return;
    }
    let home = Home::new();
    home.run(&["record", "--", "no-such-command"]).refused(2, &["no-such-command", "COMMAND"]);
    let said = home.run(&["record", "-o", "cat.trace", "--", "cat", "gone"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains("status 1") && said.err.contains("kept"), "{}", said.err);
    let profile = json(&home.run(&["profile", "cat.trace", "--json"]).fine());
    assert_eq!(row(&profile, "/gone")["calls"], 1);
    let said = home.run(&["record", "--", "sh", "-c", "kill -9 $$"]);
    assert!(said.err.contains("signal 9") || said.err.contains("status 137"), "{}", said.err);
}

fn kill(pid: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The profile of a shell's line whose recording is stopped once it is `ready`.
fn stopped(home: &Home, line: &str, ready: impl FnMut() -> bool) -> Value {
    let mut child = home
        .command()
        .args(["record", "-o", "long.trace", "--", "sh", "-c", line])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the command", ready);
    // As a terminal does not: to iolab alone.
    kill(child.id(), Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    json(&home.run(&["profile", "long.trace", "--json"]).fine())
}

/// A program that never ends: what it did is kept.
#[test]
fn ctrl_c_keeps_what_is_recorded() {
    if !traceable("ctrl_c_keeps_what_is_recorded") {
        return;
    }
    let home = Home::new();
    home.file("in", 5000);
    let line = "read x < in; echo ready > flag; exec sleep 1000";
    let profile = stopped(&home, line, || home.path("flag").exists());
    assert!(row(&profile, "/in")["read_bytes"].as_u64().unwrap() > 0);
}

/// A program that does not end when it is asked to runs on, and its calls still work: strace's filters
/// would let them fail.
#[test]
fn a_command_that_will_not_end_is_left_to_run() {
    if !traceable("a_command_that_will_not_end_is_left_to_run") {
        return;
    }
    let home = Home::new();
    let line = "trap \"\" TERM; echo $$ > pid; while :; do date > now; sleep 0.05; done";
    let pid = || fs::read_to_string(home.path("pid")).ok()?.trim().parse::<u32>().ok();
    let profile = stopped(&home, line, || pid().is_some() && home.path("now").exists());
    fs::remove_file(home.path("now")).unwrap();
    wait_for("the command to go on", || home.path("now").exists());
    kill(pid().unwrap(), Signal::KILL);
    assert!(row(&profile, "/now")["calls"].as_u64().unwrap() > 0);
}

/// Pipes, children and a name that is no UTF-8.
#[test]
fn cp_and_a_pipeline_are_recorded_with_all_their_processes() {
    if !traceable("cp_and_a_pipeline_are_recorded_with_all_their_processes") {
        return;
    }
    let home = Home::new();
    fs::create_dir(home.path("tree")).unwrap();
    for at in 0..5 {
        home.file(format!("tree/{at}"), 10_000);
    }
    home.run(&["record", "-o", "cp.trace", "--", "cp", "-R", "tree", "copy"]).fine();
    let profile = json(&home.run(&["profile", "cp.trace", "--json"]).fine());
    for at in 0..5 {
        assert_eq!(row(&profile, &format!("/tree/{at}"))["read_bytes"], 10_000);
        assert_eq!(row(&profile, &format!("/copy/{at}"))["written_bytes"], 10_000);
    }
    let line = "cat tree/* | wc -c > count";
    home.run(&["record", "-o", "sh.trace", "--", "sh", "-c", line]).fine();
    let profile = json(&home.run(&["profile", "sh.trace", "--json"]).fine());
    assert!(profile["whole"]["threads"].as_u64().unwrap() >= 3);
    assert!(profile["whole"]["elsewhere_calls"].as_u64().unwrap() > 0, "the pipe is no file");
    assert_eq!(row(&profile, "/tree/4")["read_bytes"], 10_000);
}

#[test]
fn fio_replays_what_is_exported() {
    let home = Home::new();
    fs::write(home.path("good.log"), log(10)).unwrap();
    home.run(&["import", "good.log"]).fine();
    let said = home
        .run(&["export", "good.trace", "fio-iolog=log.fio", "fio-files=files.sh", "csv=log.csv"])
        .fine();
    assert!(said.err.contains("none that fio can replay"), "{}", said.err);
    let text = fs::read_to_string(home.path("log.fio")).unwrap();
    assert!(text.starts_with("fio version 2 iolog\n"), "{text}");
    assert!(!text.contains("/w/"), "names of the trace are nothing that fio may write to: {text}");
    assert_eq!(text.matches(" write ").count(), 40);
    home.run(&["export", "good.trace", "csv=log.csv"]).refused(20, &["not replaced"]);
    if Command::new("fio").arg("--version").output().is_err() {
        return eprintln!("SKIP fio_replays_what_is_exported: fio is not installed");
    }
    let made = Command::new("sh").arg("files.sh").current_dir(home.path("")).status().unwrap();
    assert!(made.success());
    let fio = Command::new("fio")
        .args(["--name=replay", "--read_iolog=log.fio", "--ioengine=psync", "--output-format=json"])
        .arg("--replay_no_stall=1")
        .current_dir(home.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&fio.stdout).into_owned();
    assert!(fio.status.success(), "{said}{}", String::from_utf8_lossy(&fio.stderr));
    let start = said.find('{').unwrap();
    let result: Value = serde_json::from_str(&said[start..]).unwrap();
    let job = &result["jobs"][0];
    assert_eq!(job["write"]["io_bytes"], 40 * 4096, "{said}");
    assert_eq!(job["read"]["io_bytes"], 10, "{said}");
}

/// A shell that starts a program which copies a byte at a time: what the program itself says its copy
/// took is held against the profile, in turn, five times; the middle ones are compared.
#[test]
fn the_time_of_short_calls_is_that_of_the_program_without_a_tracer() {
    if !traceable("the_time_of_short_calls_is_that_of_the_program_without_a_tracer") {
        return;
    }
    const BYTES: usize = 20_000;
    let home = Home::new();
    home.file("in", BYTES);
    let (mut own, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..5 {
        let alone = Command::new("dd")
            .args(["if=in", "of=alone", "bs=1"])
            .current_dir(home.path(""))
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        // `20000 bytes (20 kB, 20 KiB) copied, 0.03 s, 600 kB/s`
        let said = String::from_utf8_lossy(&alone.stderr).into_owned();
        let seconds = said.rsplit(", ").nth(1).and_then(|word| word.split(' ').next());
        own.push(seconds.unwrap().parse::<f64>().unwrap() * 1e9);
        let trace = format!("{turn}.trace");
        home.run(&["record", "-o", &trace, "--runs", "1", "--", "dd", "if=in", "of=out", "bs=1"])
            .fine();
        let whole = json(&home.run(&["profile", &trace, "--json"]).fine())["whole"].clone();
        assert_eq!(whole["tracer_is_calibrated"], true, "{whole}");
        let figure = |name: &str| whole[name].as_f64().unwrap_or_else(|| panic!("{name}: {whole}"));
        let shares = ["file_low_share", "file_share", "file_high_share"].map(figure);
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
        low.push(figure("file_low_ns"));
        high.push(figure("file_high_ns"));
    }
    for figures in [&mut own, &mut low, &mut high] {
        figures.sort_by(f64::total_cmp);
    }
    let (own, low, high) = (own[2], low[2], high[2]);
    assert!(low <= own * 2.0, "{low} to {high} ns, the program says {own}");
    assert!(high >= own / 2.0, "{low} to {high} ns, the program says {own}");
    // A range that says nothing would hold anything.
    assert!(high <= own * 3.0, "{low} to {high} ns, the program says {own}");
}

/// The person's file is what is told, not what a shell and its libraries do before.
#[test]
fn a_wrapper_stands_in_one_line_behind_the_persons_own_files() {
    if !traceable("a_wrapper_stands_in_one_line_behind_the_persons_own_files") {
        return;
    }
    let home = Home::new();
    home.file("in", 500);
    let line = "i=0; while [ $i -lt 25 ]; do cat /usr/none/$i; i=$((i+1)); done 2>/dev/null; \
                exec dd if=in of=out bs=1 2>/dev/null";
    fs::write(home.path("slow.sh"), line).unwrap();
    let said = home.run(&["profile", "--", "sh", "slow.sh"]).fine();
    assert!(home.path("sh.trace").exists() && said.err.contains("sh.trace"), "{}", said.err);
    let text = said.out;
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let at = |part: &str| text.lines().position(|line| line.contains(part));
    let (own, start) = (at("of 1 byte in"), at("- start of "));
    assert!(own.is_some() && own < start && start < at("file   "), "{text}");
    assert!(!text.contains("names asked for"), "the search path is the wrapper's: {text}");
    let profile = json(&home.run(&["profile", "sh.trace", "--json"]).fine());
    assert_eq!(row(&profile, "/in")["of_start"], false);
    let rows = profile["files"].as_array().unwrap();
    let of_start = rows.iter().filter(|row| row["of_start"] == true).count();
    assert!(of_start > 0, "{profile}");
    let starts = profile["findings"].as_array().unwrap().iter();
    assert_eq!(starts.filter(|finding| finding["kind"] == "start").count(), 1);
}
