//! Logs as strace writes them, and as nobody should.

use std::io::Cursor;

use proptest::prelude::*;

use super::{Limits, parse};
use crate::call::{Call, CallKind, NONE, OpenFlags};
use crate::error::TraceError;
use crate::trace::{Ending, FileKind, Trace};

fn trace(log: &str) -> Trace {
    parse(Cursor::new(log), &Limits::default()).unwrap()
}

fn calls_of(trace: &Trace, name: &str) -> Vec<Call> {
    let file = |call: &&Call| trace.file(call.file).is_some_and(|f| f.name == name.as_bytes());
    trace.calls.iter().filter(file).copied().collect()
}

const DD: &str = r#"7 100.000001 execve("/usr/bin/dd", [...], 0x7ffc /* 35 vars */) = 0 <0.000275>
7 100.000100 openat(AT_FDCWD</tmp/st>, "in\377", O_RDONLY|O_CLOEXEC) = 3</tmp/st/in\377> <0.000010>
7 100.000150 newfstatat(3</tmp/st/in\377>, "", {st_mode=S_IFREG|0644, st_size=25, ...}, AT_EMPTY_PATH) = 0 <0.000009>
7 100.000200 openat(AT_FDCWD</tmp/st>, "../out", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 4</tmp/out> <0.000010>
7 100.000300 read(3</tmp/st/in\377>, ""..., 10) = 10 <0.000016>
7 100.000400 write(4</tmp/out>, ""..., 10) = 10 <0.000016>
7 100.000500 lseek(3</tmp/st/in\377>, 5, SEEK_CUR) = 15 <0.000007>
7 100.000600 read(3</tmp/st/in\377>, ""..., 10) = 10 <0.000016>
7 100.000650 pwrite64(4</tmp/out>, ""..., 10, 4096) = 10 <0.000016>
7 100.000660 write(4</tmp/out>, ""..., 10) = 10 <0.000016>
7 100.000700 read(3</tmp/st/in\377>, "", 10) = 0 <0.000016>
7 100.000710 openat(AT_FDCWD</tmp/st>, "gone", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
7 100.000750 write(2</dev/pts/0<char 136:0>>, ""..., 9) = 9 <0.000016>
7 100.000800 close(3</tmp/st/in\377>) = 0 <0.000007>
7 100.000900 exit_group(0) = ?
7 100.001000 +++ exited with 3 +++
"#;

#[test]
fn offsets_are_explicit_and_names_are_bytes() {
    let trace = trace(DD);
    assert_eq!((trace.ending, trace.is_cut, trace.skipped_lines), (Ending::Exited(3), false, 0));
    let file = trace.files.iter().position(|file| file.name == b"/tmp/st/in\xff").unwrap();
    assert_eq!(trace.files[file].size_bytes, Some(25));
    assert_eq!(
        (trace.files[file].kind, trace.files[file].existed),
        (FileKind::Regular, Some(true))
    );
    let reads: Vec<(u64, i64)> = trace
        .calls
        .iter()
        .filter(|call| call.file == file as u32 && call.kind == CallKind::Read)
        .map(|call| (call.offset, call.result))
        .collect();
    assert_eq!(reads, [(0, 10), (15, 10), (25, 0)]);
    let out: Vec<(CallKind, u64)> =
        calls_of(&trace, "/tmp/out").iter().map(|call| (call.kind, call.offset)).collect();
    let expected = [
        (CallKind::Open, 0),
        (CallKind::Write, 0),
        (CallKind::WriteAt, 4096),
        (CallKind::Write, 10),
    ];
    assert_eq!(out, expected);
    let gone = trace.files.iter().find(|file| file.name == b"/tmp/st/gone").unwrap();
    assert_eq!((gone.existed, gone.size_bytes), (Some(false), None));
    let terminal = trace.files.iter().find(|file| file.name == b"/dev/pts/0").unwrap();
    assert_eq!(terminal.kind, FileKind::Character);
    let close = trace.calls.iter().find(|call| call.kind == CallKind::Close).unwrap();
    assert_eq!(close.detail, 1, "the last descriptor of it");
}

#[test]
fn unfinished_calls_are_put_together_and_children_have_their_parents_descriptors() {
    let log = r#"1 10.0 openat(AT_FDCWD</d>, "a", O_RDONLY) = 3</d/a> <0.1>
1 10.1 read(3</d/a>, ""..., 5) = 5 <0.1>
1 10.2 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
2 10.3 read(3</d/a>,  <unfinished ...>
1 10.4 <... clone resumed>, child_tidptr=0x7) = 2 <0.2>
1 10.5 --- SIGWINCH {si_signo=SIGWINCH} ---
1 10.5 wait4(-1,  <unfinished ...>
2 10.6 <... read resumed>""..., 5) = 5 <0.3>
2 10.65 close(3</d/a>) = 0 <0.1>
2 10.7 +++ killed by SIGKILL +++
1 10.8 <... wait4 resumed>[{WIFSIGNALED(s)}], 0, NULL) = 2 <0.3>
1 10.9 read(3</d/a>, ""..., 5) = 5 <0.1>
1 10.95 read(3</d/a>, ""..., 5) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
"#;
    let trace = trace(log);
    assert_eq!(trace.threads.len(), 2);
    let reads: Vec<(u32, u64)> = calls_of(&trace, "/d/a")
        .iter()
        .filter(|call| call.kind == CallKind::Read)
        .map(|call| (call.thread, call.offset))
        .collect();
    // One handle, one offset, two processes.
    assert_eq!(reads, [(0, 0), (1, 5), (0, 10)]);
    let by_kind = |kind| trace.calls.iter().find(|call| call.kind == kind).unwrap();
    assert_eq!(by_kind(CallKind::Fork).other, 1);
    assert_eq!(by_kind(CallKind::Wait).other, 1);
    assert_eq!(by_kind(CallKind::Close).detail, 0, "the parent has it still");
    assert_eq!(trace.calls[trace.threads[1].started_by as usize].kind, CallKind::Fork);
    // The parent never ended: the log is cut; what did not come back is no call.
    assert!(trace.is_cut);
}

/// A thread that nobody ever ended once stood for such a child, and the log was said to be cut.
#[test]
fn a_child_that_ends_before_its_parents_call_comes_back_is_one_thread() {
    let log = r#"1 10.0 vfork( <unfinished ...>
2 10.1 chdir("/x") = 0 <0.1>
2 10.2 +++ exited with 0 +++
1 10.3 <... vfork resumed>) = 2 <0.3>
1 10.4 vfork( <unfinished ...>
2 10.5 chdir("/x") = 0 <0.1>
1 10.6 <... vfork resumed>) = 2 <0.3>
2 10.7 +++ exited with 0 +++
1 10.8 +++ exited with 0 +++
"#;
    let trace = trace(log);
    assert_eq!((trace.threads.len(), trace.is_cut), (3, false));
    let forks = trace.calls.iter().filter(|call| call.kind == CallKind::Fork);
    assert_eq!(forks.map(|call| call.other).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn threads_share_descriptors_and_execs_close_them() {
    let log = r#"1 10.0 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0}, 88) = 2 <0.1>
2 10.1 openat(AT_FDCWD</d>, "a", O_RDONLY|O_CLOEXEC) = 3</d/a> <0.1>
1 10.2 dup(3</d/a>) = 4</d/a> <0.1>
1 10.3 pread64(3</d/a>, ""..., 5, 100) = 5 <0.1>
1 10.4 execve("/bin/x", [...], 0x1 /* 1 var */) = 0 <0.1>
1 10.5 openat(AT_FDCWD</d>, "b", O_WRONLY|O_CREAT|O_APPEND) = 3</d/b> <0.1>
1 10.6 fstat(3</d/b>, {st_mode=S_IFREG|0644, st_size=50, ...}) = 0 <0.1>
1 10.7 write(3</d/b>, ""..., 5) = 5 <0.1>
1 10.8 read(4</d/a>, ""..., 5) = 5 <0.1>
"#;
    let trace = trace(log);
    assert_eq!(trace.threads[1].process, 0);
    let a = calls_of(&trace, "/d/a");
    assert_eq!(a.last().unwrap().handle, a[0].handle, "a duplicate, and not closed by exec");
    let b = calls_of(&trace, "/d/b");
    assert_eq!(b.last().unwrap().offset, 50, "appended");
    assert_ne!(b[0].handle, a[0].handle);
    assert!(OpenFlags(b[0].detail).has(OpenFlags::APPEND));
}

const EVERY_KIND: &str = r#"1 1.0 chdir("/w") = 0 <0.1>
1 1.1 open("a", O_RDWR) = 3 <0.1>
1 1.2 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0x1000) = 0x7f0000001000 <0.1>
1 1.3 madvise(0x7f0000002000, 4096, MADV_RANDOM) = 0 <0.1>
1 1.4 msync(0x7f0000001000, 4096, MS_SYNC) = 0 <0.1>
1 1.5 copy_file_range(3</w/a>, NULL, 5</w/b>, NULL, 100, 0) = 100 <0.1>
1 1.6 sendfile(6<TCP:[1.2.3.4:5->6.7.8.9:10]>, 3</w/a>, [0] => [10], 10) = 10 <0.1>
1 1.7 ioctl(5</w/b>, BTRFS_IOC_CLONE or FICLONE, 3) = 0 <0.1>
1 1.8 rename("a", "c") = 0 <0.1>
1 1.9 unlinkat(AT_FDCWD</w>, "d", AT_REMOVEDIR) = 0 <0.1>
1 2.0 symlink("to", "l") = 0 <0.1>
1 2.1 getdents64(7</w>, 0x1 /* 5 entries */, 32768) = 144 <0.1>
1 2.2 fadvise64(3</w/a>, 0, 0, POSIX_FADV_SEQUENTIAL) = 0 <0.1>
1 2.3 utimensat(3</w/a>, NULL, NULL, 0) = 0 <0.1>
1 2.4 fallocate(3</w/a>, 0, 0, 10000) = 0 <0.1>
1 2.5 ftruncate(3</w/a>, 7) = 0 <0.1>
1 2.6 statx(AT_FDCWD</w>, "s", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=STATX_ALL, stx_mode=S_IFREG|0644, stx_size=77, ...}) = 0 <0.1>
1 2.7 writev(5</w/b>, [...], 2) = 12 <0.1>
1 2.8 preadv2(5</w/b>, [...], 2, -1, 0) = 3 <0.1>
1 2.9 sync() = 0 <0.1>
1 3.0 getpid() = 1 <0.1>
"#;

#[test]
fn every_kind_of_call_finds_its_file() {
    let trace = trace(EVERY_KIND);
    let found: Vec<(&str, String)> = trace
        .calls
        .iter()
        .map(|call| {
            let name = trace.file(call.file).map(|file| file.name.clone()).unwrap_or_default();
            (call.kind.word(), String::from_utf8(name).unwrap())
        })
        .collect();
    let expected = [
        ("chdir", "/w"),
        ("open", "/w/a"),
        ("mmap", "/w/a"),
        ("madvise", "/w/a"),
        ("msync", "/w/a"),
        ("copy_file_range", "/w/a"),
        ("sendfile", "/w/a"),
        ("reflink", "/w/a"),
        ("rename", "/w/a"),
        ("rmdir", "/w/d"),
        ("symlink", "/w/l"),
        ("getdents", "/w"),
        ("fadvise", "/w/a"),
        ("utimens", "/w/a"),
        ("fallocate", "/w/a"),
        ("ftruncate", "/w/a"),
        ("stat", "/w/s"),
        ("write", "/w/b"),
        ("read", "/w/b"),
        ("sync", ""),
    ];
    let expected: Vec<(&str, String)> = expected
        .iter()
        .map(|(kind, name)| {
            (if *kind == "ftruncate" { "truncate" } else { *kind }, (*name).to_owned())
        })
        .collect();
    assert_eq!(found, expected);
    assert_eq!(trace.other_calls, 1);
    let of = |kind| *trace.calls.iter().find(|call| call.kind == kind).unwrap();
    assert_eq!((of(CallKind::MapAdvise).offset, of(CallKind::MapAdvise).detail), (0x1000, 1));
    assert_eq!(of(CallKind::List).detail, 5);
    let target = trace.file_of_handle(of(CallKind::CopyRange).other).unwrap();
    assert_eq!(trace.files[target as usize].name, b"/w/b");
    // The copy went to the start, the vector behind it.
    assert_eq!(of(CallKind::Write).offset, 100);
    let seen = trace.files.iter().find(|file| file.name == b"/w/s").unwrap();
    assert_eq!(seen.size_bytes, Some(77));
    let socket = trace.files.iter().find(|file| file.kind == FileKind::Socket).unwrap();
    assert_eq!(socket.name, b"socket", "addresses are not kept");
}

#[test]
fn what_is_no_log_is_refused_with_its_line() {
    let refused = |log: &str| parse(Cursor::new(log), &Limits::default()).unwrap_err();
    assert!(matches!(refused(""), TraceError::Empty));
    assert!(super::looks_like_log(DD.as_bytes()) && super::looks_like_log(b"\n[pid 5] +++ exited"));
    for other in ["{\"schema\": 1}", "", "12 13 14", "fio: this platform\n{"] {
        assert!(!super::looks_like_log(other.as_bytes()), "{other}");
    }
    assert!(matches!(refused("\n# hello\nworld\n"), TraceError::NotALog { line: 2, .. }));
    assert!(matches!(refused("close(3) = 0\n"), TraceError::NoTime { line: 1 }));
    let text = refused("\x1b[31mhello").to_string();
    assert!(text.contains("strace -f -ttt") && !text.contains('\x1b'), "{text}");
}

#[test]
fn memory_has_its_limits() {
    let line = |at: u32, call: &str| format!("{at} {at}.0 {call} = 0 <0.1>\n");
    let with = |limits: Limits, log: &str| parse(Cursor::new(log.to_owned()), &limits);
    let few = Limits { calls: 2, ..Limits::default() };
    let three: String = (1..4).map(|at| line(at, "sync()")).collect();
    let error = with(few, &three).unwrap_err();
    assert!(matches!(error, TraceError::TooMany { line: 3, what: "calls", limit: 2 }), "{error}");
    let few = Limits { threads: 2, ..Limits::default() };
    assert!(matches!(with(few, &three).unwrap_err(), TraceError::TooMany { what: "threads", .. }));
    let few = Limits { name_bytes: 200, ..Limits::default() };
    let names: String = (1..4).map(|at| line(at, &format!("chdir(\"/{at:0100}\")"))).collect();
    assert!(matches!(with(few, &names).unwrap_err(), TraceError::TooMany { line: 2, .. }));
    let few = Limits { descriptors: 3, ..Limits::default() };
    let open: String = (1..9)
        .map(|at| format!("1 {at}.0 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = {at}</d/a> <0.1>\n"))
        .collect();
    assert!(matches!(with(few, &open).unwrap_err(), TraceError::TooMany { line: 3, .. }));
    let few = Limits { begun_bytes: 100, ..Limits::default() };
    let begun: String =
        (1..9).map(|at| format!("{at} {at}.0 read({at:030} <unfinished ...>\n")).collect();
    assert!(with(few, &begun).is_err());
    // A line of any length is passed over in a fixed space.
    let few = Limits { line_bytes: 100, ..Limits::default() };
    let long = format!("{}{}{}", line(1, "sync()"), "x".repeat(100_000), "\n") + &line(2, "sync()");
    let trace = with(few, &long).unwrap();
    assert_eq!((trace.calls.len(), trace.skipped_lines), (2, 1));
}

#[test]
fn a_cut_log_is_read_up_to_its_end() {
    for end in 0..DD.len() {
        if !DD.is_char_boundary(end) {
            continue;
        }
        if let Ok(trace) = parse(Cursor::new(&DD[..end]), &Limits::default()) {
            assert!(trace.skipped_lines <= 1);
            assert!(trace.is_cut || end > DD.find("+++").unwrap());
        }
    }
}

/// Lines that look like those of a log.
fn nearly_a_line() -> impl Strategy<Value = String> {
    let call = prop::sample::select(super::CALLS);
    let argument = prop::sample::select(vec![
        "3</d/a>",
        "AT_FDCWD</d>",
        "\"x\"",
        "\"../../y\\377\"",
        "NULL",
        "18446744073709551615",
        "-1",
        "[{iov_len=9}]",
        "O_RDWR|O_CREAT",
        "{st_mode=S_IFREG|0644, st_size=9, ...}",
        "SEEK_END",
        "4<pipe:[1]>",
        "0x7f00",
        "CLONE_FILES",
        "[1] => [2]",
        "F_DUPFD",
        "<",
        "\"",
        "FICLONE",
    ]);
    let result = prop::sample::select(vec![
        "0",
        "3</d/a>",
        "-1 ENOENT (x)",
        "?",
        "9223372036854775807",
        "5",
    ]);
    (1u32..4, call, prop::collection::vec(argument, 0..7), result, any::<u8>()).prop_map(
        |(thread, call, arguments, result, shape)| {
            let arguments = arguments.join(", ");
            match shape % 8 {
                0 => format!("{thread} 1.0 {call}({arguments} <unfinished ...>"),
                1 => format!("{thread} 1.0 <... {call} resumed>{arguments}) = {result} <0.1>"),
                2 => format!("{thread} 1.0 +++ exited with 0 +++"),
                _ => format!("{thread} 1.0 {call}({arguments}) = {result} <0.1>"),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is in a log: a trace whose indices all name something, or an error.
    #[test]
    fn nonsense_is_read_or_refused(lines in prop::collection::vec(nearly_a_line(), 0..40)) {
        if let Ok(trace) = parse(Cursor::new(lines.join("\n")), &Limits::default()) {
            for call in &trace.calls {
                prop_assert!((call.thread as usize) < trace.threads.len());
                prop_assert!(call.file == NONE || (call.file as usize) < trace.files.len());
                prop_assert!(call.handle == NONE || (call.handle as usize) < trace.handles.len());
            }
            let mut bytes = Vec::new();
            crate::write(&trace, &mut bytes).unwrap();
            prop_assert_eq!(crate::read(bytes.as_slice()).unwrap(), trace.clone());
            let _ = crate::Profile::of(&trace);
            let _ = crate::export::fio_iolog(&trace);
        }
    }

    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(Cursor::new(&bytes), &Limits::default());
        let _ = crate::read(bytes.as_slice());
    }
}
