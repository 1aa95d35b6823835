//! What a person's program does stands before what it takes to start it.

use std::fmt::Write;
use std::io::Cursor;

use super::super::{FindingKind, Profile};
use crate::strace::{Limits, parse};
use crate::trace::Trace;

/// A log of calls of processes, 20 µs each.
fn log(command: &[&str], calls: &[(u32, String)]) -> Trace {
    let mut text = String::new();
    for (at, (process, call)) in calls.iter().enumerate() {
        writeln!(text, "{process} 100.{at:06} {call} <0.000020>").unwrap();
    }
    let mut trace = parse(Cursor::new(text), &Limits::default()).unwrap();
    trace.command = command.iter().map(|word| word.as_bytes().to_vec()).collect();
    trace.directory = b"/home/ana/work".to_vec();
    trace
}

fn lost(process: u32, names: impl Iterator<Item = String>) -> Vec<(u32, String)> {
    let call = |name| format!("access(\"{name}\", F_OK) = -1 ENOENT (No such file or directory)");
    names.map(|name| (process, call(name))).collect()
}

/// A shim that becomes another shell, which becomes Python: a hundred names sought in vain, a file of
/// the shim that is looked up over and over, and the person's own file, read a byte at a time.
fn shimmed() -> Trace {
    let at = |name: &str| (1, format!("execve(\"{name}\", [], 0x7ff) = 0"));
    let mut calls = vec![at("/home/ana/.pyenv/shims/python3")];
    calls.extend(lost(1, (0..40).map(|n| format!("/usr/lib/locale/{n}/LC_ALL"))));
    let look = "newfstatat(AT_FDCWD</home/ana/work>, \"/home/ana/.shim-version\", {st_mode=S_IFREG|0644, st_size=7}, 0) = 0";
    calls.extend((0..150).map(|_| (1, look.to_owned())));
    calls.push(at("/home/ana/.pyenv/versions/3.12/bin/python3"));
    // Python seeks each module beside the script first.
    for n in 0..30 {
        calls.extend(lost(1, std::iter::once(format!("/home/ana/work/module{n}.so"))));
        calls.extend(lost(
            1,
            std::iter::once(format!("/home/ana/.pyenv/versions/3.12/lib/python3.12/module{n}.py")),
        ));
    }
    calls.extend(lost(1, (0..25).map(|n| format!("/home/ana/work/data/{n}.csv"))));
    let open = "openat(AT_FDCWD</home/ana/work>, \"in.csv\", O_RDONLY) = 3</home/ana/work/in.csv>";
    calls.push((1, open.to_owned()));
    let read = "read(3</home/ana/work/in.csv>, \"\"..., 1) = 1";
    calls.extend((0..120).map(|_| (1, read.to_owned())));
    log(&["python3", "slow.py"], &calls)
}

#[test]
fn the_persons_own_files_stand_before_the_wrappers() {
    let trace = shimmed();
    let profile = Profile::of(&trace);
    let own: Vec<_> =
        profile.findings.iter().take_while(|f| f.kind != FindingKind::Start).collect();
    assert!(own.iter().all(|finding| !finding.of_start));
    assert!(own[0].sentence.contains("in.csv"), "{own:?}");
    let lost = own.iter().find(|finding| finding.kind == FindingKind::NotFound);
    // Names of data that are not there are the person's, those of modules are the interpreter's.
    assert!(lost.is_some_and(|finding| finding.calls == 25), "{own:?}");
    assert!(own.iter().all(|finding| !finding.sentence.contains("shim")), "{own:?}");
    let start: Vec<_> = profile.findings.iter().filter(|f| f.kind == FindingKind::Start).collect();
    assert_eq!(start.len(), 1);
    assert_eq!(start[0].calls, 40 + 150 + 60);
    assert!(start[0].sentence.starts_with("start of python3 and another program: 250 calls, "));
    let after = &profile.findings[own.len() + 1..];
    assert!(after.iter().any(|finding| finding.sentence.contains(".shim-version")), "{after:?}");
    assert!(after.iter().all(|finding| finding.of_start));
}

/// With LD_LIBRARY_PATH the loader seeks each library in a person's directories first, and asks for the
/// directories that are not there.
#[test]
fn a_loaders_search_path_is_none_of_the_persons() {
    let mut calls = vec![(1, "execve(\"/usr/bin/cat\", [], 0x7ff) = 0".to_owned())];
    for at in 0..30 {
        let built = format!("/home/ana/work/build/{at}");
        let names = ["glibc-hwcaps/x86-64-v3/libc.so.6", "glibc-hwcaps/x86-64-v3", "libc.so.6"];
        calls.extend(lost(1, names.iter().map(|name| format!("{built}/{name}"))));
        calls.extend(lost(1, std::iter::once(built)));
    }
    let found = "openat(AT_FDCWD</home/ana/work>, \"/lib/x86_64-linux-gnu/libc.so.6\", O_RDONLY) = 3</lib/x86_64-linux-gnu/libc.so.6>";
    calls.push((1, found.to_owned()));
    let profile = Profile::of(&log(&["cat", "in"], &calls));
    let own: Vec<_> = profile.findings.iter().filter(|finding| !finding.of_start).collect();
    assert_eq!(own.len(), 1, "{own:?}");
    assert_eq!((own[0].kind, own[0].calls), (FindingKind::Start, 121));
}

/// Whose a file is goes by where it is and by who names it, not by how often it is touched.
#[test]
fn files_of_the_system_are_the_persons_where_the_command_names_them() {
    let reads = |name: &str| {
        let open = format!("openat(AT_FDCWD</home/ana/work>, \"{name}\", O_RDONLY) = 3<{name}>");
        let mut calls = vec![(1, "execve(\"/usr/bin/wc\", [], 0x7ff) = 0".to_owned()), (1, open)];
        calls.extend((0..120).map(|_| (1, format!("read(3<{name}>, \"\"..., 1) = 1"))));
        calls
    };
    let of_start = |command: &[&str], name: &str| {
        let profile = Profile::of(&log(command, &reads(name)));
        let row = profile.files.iter().find(|row| row.name == name).unwrap();
        row.of_start
    };
    assert!(of_start(&["wc"], "/usr/share/dict/words"));
    assert!(!of_start(&["wc", "/usr/share/dict/words"], "/usr/share/dict/words"));
    assert!(!of_start(&["sh", "-c", "wc <'/usr/share/dict/words'"], "/usr/share/dict/words"));
    assert!(!of_start(&["dd", "if=/etc/services"], "/etc/services"));
    assert!(!of_start(&["grep", "-r", "x", "/usr/share/dict/"], "/usr/share/dict/words"));
    // The program that is named is no data.
    assert!(of_start(&["env", "/opt/tool/bin/wc"], "/usr/lib/x"));
    assert!(!of_start(&["wc"], "/srv/words"));
    assert!(!of_start(&["wc"], "/home/ana/work/lib/words"));
    assert!(of_start(&["wc"], "/home/ana/work/venv/lib/site-packages/x.py"));
}
