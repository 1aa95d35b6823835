//! `iolab replay` of what should not be replayed: of other machines, of devices, of more than there is, of
//! somebody's making.

use std::fs;

use crate::cli_support::{Home, document, programs};
use iolab_model::catalog::Family;
use iolab_model::result::Document;
use iolab_trace::{Limits, parse};

/// A home with a trace of this log.
fn home(log: &str) -> Home {
    let home = Home::new();
    fs::write(home.path("it.log"), log).unwrap();
    home.run(&["import", "it.log"]).fine();
    home
}

const ROUNDS: [&str; 6] = ["--rounds", "1", "--budget", "60s", "--block", "recorded"];

fn replayed(home: &Home) -> Document {
    let fixed = ["replay", "it.trace", "--format", "json"];
    document(&home.run(&[&fixed[..], &ROUNDS].concat()).fine())
}

/// A program of 32 bits on arm: other names of calls, sizes that come first, and an offset that lseek gives
/// back in an argument. It was taken for 0, and what was read then for read again.
#[test]
fn a_trace_of_another_architecture_comes_out_as_recorded() {
    let home = home(
        "9 1.000000 [ Process PID=9 runs in 32 bit mode. ]\n\
         9 1.000100 openat(AT_FDCWD</w>, \"in\", O_RDONLY|O_LARGEFILE) = 3</w/in> <0.000010>\n\
         9 1.000200 fstat64(3</w/in>, {st_mode=S_IFREG|0644, st_size=9000, ...}) = 0 <0.000010>\n\
         9 1.000300 _llseek(3</w/in>, 8000, [8000], SEEK_SET) = 0 <0.000010>\n\
         9 1.000400 read(3</w/in>, \"\"..., 4096) = 1000 <0.000010>\n\
         9 1.000500 mmap2(NULL, 9000, PROT_READ, MAP_PRIVATE, 3</w/in>, 0) = 0xb6f00000 <0.000010>\n\
         9 1.000600 fstatat64(AT_FDCWD</w>, \"none\", 0xbe, 0) = -1 ENOENT (No such file or directory) <0.000010>\n\
         9 1.000700 fcntl64(3</w/in>, F_GETFL) = 0x20000 (flags O_RDONLY|O_LARGEFILE) <0.000010>\n\
         9 1.000800 +++ exited with 0 +++\n",
    );
    let run = replayed(&home);
    programs::is_whole(&run, "of 32 bits");
    let known = run.environment.0.iter().find(|(key, _)| Family::Trace.holds(key)).unwrap().1;
    assert_eq!((&known["calls"], &known["lost_calls"]), (&7.into(), &0.into()), "{known}");
    let profile = home.run(&["profile", "it.trace", "--json"]).fine().out;
    let profile: serde_json::Value = serde_json::from_str(&profile).unwrap();
    let rows = profile["files"].as_array().unwrap();
    let input = rows.iter().find(|row| row["name"] == "/w/in").unwrap();
    assert_eq!((&input["size_bytes"], &input["read_bytes"]), (&9000.into(), &1000.into()));
}

/// Files are made before anything is measured: what has no room is refused before that.
#[test]
fn files_that_have_no_room_are_refused_before_they_are_made() {
    let home = home(
        "9 1.000000 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in> <0.000010>\n\
         9 1.000100 fstat(3</w/in>, {st_mode=S_IFREG|0644, st_size=9000000000000000, ...}) = 0 <0.000010>\n\
         9 1.000200 read(3</w/in>, \"\"..., 4096) = 4096 <0.000010>\n",
    );
    let before = home.names();
    let said = home.run(&["replay", "it.trace", "--cache", "any"]);
    let said = said.refused(20, &["no space in", "7.99 PiB", "a directory that has room"]);
    assert!(!said.err.contains("--file-size"), "a trace has its sizes: {said:?}");
    home.run(&["replay", "it.trace"]).refused(20, &["7.99 PiB", "--cache any"]);
    let news: Vec<_> = home.names().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(news.iter().all(|name| name == "state"), "{news:?}");
}

/// A disk, a terminal, a connection and a file of the kernel are nobody's to be read and written again.
#[test]
fn devices_and_sockets_are_left_out_and_said() {
    let home = home(
        "9 1.000000 openat(AT_FDCWD</w>, \"/dev/sda\", O_RDWR) = 3</dev/sda<block 8:0>> <0.000010>\n\
         9 1.000100 write(3</dev/sda<block 8:0>>, \"\"..., 4096) = 4096 <0.000010>\n\
         9 1.000200 read(5<TCP:[1.2.3.4:5->6.7.8.9:10]>, \"\"..., 100) = 100 <0.000010>\n\
         9 1.000300 openat(AT_FDCWD</w>, \"/proc/meminfo\", O_RDONLY) = 4</proc/meminfo> <0.000010>\n\
         9 1.000400 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 6</w/in> <0.000010>\n\
         9 1.000500 read(6</w/in>, \"\"..., 4096) = 4096 <0.000010>\n",
    );
    let plan = home.run(&["replay", "it.trace", "--plan"]).fine().plain();
    assert!(
        plan.contains("devices, pipes, sockets and files of the kernel are left out: 4"),
        "{plan}"
    );
    let run = replayed(&home);
    programs::is_whole(&run, "devices");
    for sample in run.cells.iter().flat_map(|cell| &cell.samples) {
        let seen = &sample.measurement;
        assert_eq!((seen.bytes, seen.operations), (4096, 2), "the file alone");
    }
}

/// A trace whose names lead out of every directory, and say what to do to a file of the person's: all that
/// it names is as it was, and the replay says which names it left out.
#[test]
fn a_hostile_trace_changes_nothing_outside_of_its_scratch() {
    let home = home("9 1.0 close(3</w/x>) = 0 <0.000001>\n");
    let victim = home.path("victim");
    fs::write(&victim, "untouched").unwrap();
    let name = victim.display();
    let mut text = format!(
        "9 1.000000 openat(AT_FDCWD</>, \"{name}\", O_WRONLY|O_TRUNC) = 3<{name}> <0.000010>\n\
         9 1.000100 write(3<{name}>, \"\"..., 5) = 5 <0.000010>\n\
         9 1.000200 unlink(\"{name}\") = 0 <0.000010>\n\
         9 1.000300 symlink(\"{name}\", \"/x\") = 0 <0.000010>\n"
    );
    for at in 4..24 {
        text += &format!("9 1.00{at:02}00 truncate(\"/deep/{at}\", 5) = 0 <0.000010>\n");
    }
    let mut trace = parse(text.as_bytes(), &Limits::default()).unwrap();
    for file in trace.files.iter_mut().filter(|file| file.name.starts_with(b"/deep")) {
        file.name =
            b"/../../../..".iter().chain(victim.to_str().unwrap().as_bytes()).copied().collect();
    }
    let mut made = fs::File::create(home.path("hostile.trace")).unwrap();
    iolab_trace::write(&trace, &mut made).unwrap();
    let before = home.names();
    let plan = home.run(&["replay", "hostile.trace", "--plan"]).fine().plain();
    assert!(plan.contains("20 truncate (on a name that no file can have)"), "{plan}");
    let fixed = ["replay", "hostile.trace", "--format", "json"];
    let run = document(&home.run(&[&fixed[..], &ROUNDS].concat()).fine());
    programs::is_whole(&run, "hostile");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    let news: Vec<_> = home.names().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(news.iter().all(|name| name == "state"), "{news:?}");
}
