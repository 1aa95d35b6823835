//! `iolab record` where something is in its way: strace that may not trace, programs that go on without
//! their parent, that have more rights than others, that do more than can be kept.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli_support::{Home, IOLAB, Said, traceable, wait_for};

/// A program that is found before strace and stands for it.
fn as_strace(home: &Home, script: &str) -> Command {
    // By another process: one that is forked meanwhile would hold the script open (ETXTBSY).
    let made = Command::new("sh")
        .args(["-c", "mkdir -p bin; cat > bin/strace; chmod +x bin/strace"])
        .current_dir(home.path(""))
        .stdin(Stdio::piped())
        .spawn();
    let mut made = made.unwrap();
    let text =
        format!("#!/bin/sh\n[ \"$1\" = -V ] && echo 'strace -- version 6.1' && exit\n{script}\n");
    std::io::Write::write_all(&mut made.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(made.wait().unwrap().success());
    let mut command = home.command();
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
    command
}

/// What strace says in a container without CAP_SYS_PTRACE, and where the kernel is set so.
#[test]
fn where_tracing_is_forbidden_the_way_out_is_told() {
    let home = Home::new();
    let words = "strace: PTRACE_TRACEME: Operation not permitted";
    let mut command = as_strace(&home, &format!("echo '{words}' >&2; exit 1"));
    let said = Said::from(command.args(["record", "--", "true"]).output().unwrap());
    assert!(said.err.contains(words), "strace's own words are the first to be seen: {said:?}");
    let said = said.refused(20, &["nothing was recorded", "status 1"]);
    let ways = ["SYS_PTRACE", "ptrace_scope is 2", "ptrace_scope is 3"];
    assert!(ways.iter().any(|way| said.err.contains(way)), "{said:?}");
    assert!(!home.path("true.trace").exists());
}

/// So many calls that have begun and never come back that memory is given to no more of them.
fn endless() -> String {
    let buffers = "x".repeat(1_000_000);
    (1..40).map(|thread| format!("{thread} 1.0 read(3, {buffers} <unfinished ...>\n")).collect()
}

/// It was an internal error, with the advice to tell us.
#[test]
fn more_than_memory_is_given_to_is_refused_with_what_to_do() {
    let home = Home::new();
    fs::write(home.path("endless.log"), endless()).unwrap();
    let words = ["more than 33554432 bytes of begun calls", "a shorter part"];
    home.run(&["import", "endless.log"])
        .refused(2, &[&words[..], &["endless.log: line "]].concat());
    let script = "while [ \"$1\" != -o ]; do shift; done; cat endless.log > \"$2\"";
    let said = as_strace(&home, script).args(["record", "--", "true"]).output().unwrap();
    Said::from(said).refused(20, &words);
    assert!(!home.path("endless.trace").exists() && !home.path("true.trace").exists());
}

fn profile(home: &Home, trace: &str) -> Value {
    serde_json::from_str(&home.run(&["profile", trace, "--json"]).fine().out).unwrap()
}

/// Whether a row ends in this name.
fn has(profile: &Value, name: &str) -> bool {
    let mut rows = profile["files"].as_array().unwrap().iter();
    rows.any(|row| row["name"].as_str().unwrap().ends_with(name))
}

/// A program that puts itself into the background: it is recorded until somebody says that it is enough,
/// and goes on undisturbed.
#[test]
fn a_daemon_is_recorded_and_then_left_to_run() {
    if !traceable("a_daemon_is_recorded_and_then_left_to_run") {
        return;
    }
    let home = Home::new();
    let daemon = "trap \"\" TERM; echo $$ > pid; while :; do date > now; sleep 0.05; done";
    let line = format!("setsid sh -c '{daemon}' & echo begun > parent");
    let mut command = home.command();
    command.args(["record", "-o", "daemon.trace", "--", "sh", "-c", &line]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let pid = || fs::read_to_string(home.path("pid")).ok()?.trim().parse::<i32>().ok();
    wait_for("the daemon", || pid().is_some() && home.path("now").exists());
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    fs::remove_file(home.path("now")).unwrap();
    wait_for("the daemon to go on", || home.path("now").exists());
    kill_process(Pid::from_raw(pid().unwrap()).unwrap(), Signal::KILL).unwrap();
    let profile = profile(&home, "daemon.trace");
    assert!(has(&profile, "/parent") && has(&profile, "/now"), "{profile}");
}

/// cat that is installed setuid root reads a file of root's, but not under a tracer of somebody else's:
/// it fails there, which is told, and is no way to what others may not read.
#[test]
fn a_setuid_program_is_recorded_without_its_privilege() {
    let test = "a_setuid_program_is_recorded_without_its_privilege";
    if !traceable(test) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP {test}: only root can install a program setuid root");
    }
    let home = Home::open();
    fs::write(home.path("secret"), "of root").unwrap();
    fs::set_permissions(home.path("secret"), PermissionsExt::from_mode(0o600)).unwrap();
    let install = "cp \"$(command -v cat)\" privileged && chmod 4755 privileged";
    let made = Command::new("sh").args(["-c", install]).current_dir(home.path("")).status();
    assert!(made.unwrap().success());
    let alone =
        home.as_ordinary_user(Path::new("/usr/bin/env")).args(["./privileged", "secret"]).output();
    let alone = Said::from(alone.unwrap());
    if alone.out != "of root" {
        return eprintln!("SKIP {test}: this file system honours no setuid: {alone:?}");
    }
    let mut command = home.as_ordinary_user(Path::new(IOLAB));
    command.args(["record", "-o", "cat.trace", "--", "./privileged", "secret"]);
    let said = Said::from(command.output().unwrap());
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.err.contains("status 1") && said.err.contains("kept"), "{said:?}");
    assert!(has(&profile(&home, "cat.trace"), "/secret"));
}
