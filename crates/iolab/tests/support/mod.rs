//! A directory of its own, the real binary, and what it said.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses its part.

pub mod programs;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use iolab_io::place::kind_named;
use iolab_model::result::Document;

/// The root of the checkout.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// The program under test.
pub const IOLAB: &str = env!("CARGO_BIN_EXE_iolab");

/// A directory on a real disk with a history of its own.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Home {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Home { dir: tempfile::tempdir_in(target).unwrap() }
    }

    /// A home that an ordinary user can enter and write to, wherever the checkout lies.
    pub fn open() -> Home {
        let dir = tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
        Home { dir }
    }

    /// `program` as an ordinary user runs it: as it is, or where this is root, as `nobody`. What is
    /// built may lie where nobody else may enter, so a copy in this (open) home is run.
    pub fn as_ordinary_user(&self, program: &Path) -> Command {
        let copy = self.path("program");
        // By another process: a child that another test forks while this one writes would hold the
        // copy open, and it could not be run (ETXTBSY).
        let copied = Command::new("cp").arg("--").arg(program).arg(&copy).status().unwrap();
        assert!(copied.success());
        fs::set_permissions(&copy, PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = Command::new(&copy);
        if rustix::process::geteuid().is_root() {
            command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
        }
        command.current_dir(self.dir.path()).env("XDG_STATE_HOME", self.path("state"));
        command.env("HOME", self.dir.path());
        command
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn file(&self, name: impl AsRef<OsStr>, bytes: usize) -> PathBuf {
        let path = self.dir.path().join(name.as_ref());
        fs::write(&path, vec![0x5a; bytes]).unwrap();
        path
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(IOLAB);
        command.current_dir(self.dir.path()).env("XDG_STATE_HOME", self.path("state"));
        command.env_remove("NO_COLOR").env_remove("COLUMNS");
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Said {
        Said::from(self.command().args(arguments).output().unwrap())
    }

    /// A run without end that has measured for a while, its agent, and what it has said on stderr.
    pub fn measuring(&self, arguments: &[&str]) -> (Child, u32, BufReader<ChildStderr>, String) {
        let mut command = self.command();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut err = String::new();
        while !err.contains("a round takes about") {
            assert!(errors.read_line(&mut err).unwrap() > 0, "it ended: {err}");
        }
        wait_for("the agent", || !children(child.id()).is_empty());
        let agent = children(child.id())[0];
        wait_for_trials(agent, 12);
        (child, agent, errors, err)
    }

    /// A run without end, interrupted when it has measured for a while; all that it said.
    pub fn interrupted(&self, arguments: &[&str]) -> Said {
        let (child, _, errors, err) = self.measuring(arguments);
        let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        Said::at_end_of(child, errors, err)
    }

    /// Names of what lies in the directory.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Waits until `done`, or fails after a minute.
pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The children of a process.
pub fn children(of: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether a process has ended, be it that nobody has asked yet how (proc(5)).
pub fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('Z'))
}

/// Waits until `agent` has begun this many trials from now on: each is a process of its own.
pub fn wait_for_trials(agent: u32, count: usize) {
    let mut seen = BTreeSet::new();
    wait_for("trials", || {
        seen.extend(children(agent));
        seen.len() >= count
    });
}

/// What the program said and how it ended.
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// What a trial left in its scratch directory, but for trees that are kept until the end of a run.
pub fn left_in(scratch: &Path) -> Vec<String> {
    let names = fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with("kept-") && !name.starts_with("group-")).collect()
}

impl Said {
    /// The data with all white space as single spaces.
    pub fn plain(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// All that a child says until it ends, of which `err` was read already.
    pub fn at_end_of(child: Child, mut errors: BufReader<ChildStderr>, mut err: String) -> Said {
        let reader = std::thread::spawn(move || {
            errors.read_to_string(&mut err).unwrap();
            err
        });
        let mut said = Said::from(child.wait_with_output().unwrap());
        said.err = reader.join().unwrap();
        said
    }

    /// It did its work.
    #[track_caller]
    pub fn fine(self) -> Said {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        self
    }

    /// It did its work but for something that was named and could not be had (status 21), and says
    /// what.
    #[track_caller]
    pub fn lacking(self, what: &str) -> Said {
        assert_eq!(self.code, Some(21), "{self:?}");
        assert!(!self.err.contains("panicked"), "{self:?}");
        let said = "not measured: ";
        let found = self.err.split_once(said).is_some_and(|(_, lacks)| lacks.contains(what));
        assert!(found || self.err.contains("nothing was measured"), "no {what:?}: {self:?}");
        self
    }

    /// It did its work, or what there was of it.
    #[track_caller]
    pub fn done(self) -> Said {
        match self.code {
            Some(21) => self.lacking(""),
            _ => self.fine(),
        }
    }

    /// It refused with this status, in one line on stderr that has all these words, and gave no data.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) -> Said {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "data on stdout");
        let line = self.err.lines().last().unwrap_or_default();
        assert!(line.starts_with("iolab: "), "{self:?}");
        for word in words {
            assert!(line.contains(word), "no {word:?} in {line:?}");
        }
        assert!(!self.err.contains("panicked") && !self.err.contains("internal"), "{self:?}");
        self
    }
}

/// A document may be megabytes long.
impl std::fmt::Debug for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let out: String = self.out.chars().take(2000).collect();
        writeln!(f, "status {:?}\n--- stdout\n{out}\n--- stderr\n{}", self.code, self.err)
    }
}

/// Every metric of a run is one of `iolab list metrics`.
pub fn known_metrics(run: &iolab_model::result::Document) {
    for sample in run.cells.iter().flat_map(|cell| &cell.samples) {
        for (id, _) in sample.measurement.metrics.iter() {
            assert!(iolab_io::metric::find(id.as_str()).is_some(), "{id:?} is in no list");
        }
    }
}

/// The same of a command that did its work.
#[track_caller]
pub fn fine_document(said: Said) -> Document {
    document(&said.fine())
}

/// The run that was written to stdout as JSON.
pub fn document(said: &Said) -> Document {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"))
}

/// Whether these kinds of places can be had here; else the test is skipped aloud.
pub fn usable(test: &str, kinds: &[&str]) -> bool {
    let missing = kinds.iter().find_map(|id| kind_named(id).unwrap().available().err());
    missing.inspect(|missing| eprintln!("SKIP {test}: {missing}")).is_none()
}

/// Whether programs can be traced here; else the test is skipped aloud.
pub fn traceable(test: &str) -> bool {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let why = match tried {
        Err(_) => "strace is not installed",
        Ok(output) if !output.status.success() => "ptrace is not permitted",
        Ok(_) => return true,
    };
    eprintln!("SKIP {test}: {why}");
    false
}

/// What strace with these options says of iolab with these arguments and all that it starts.
pub fn traced(home: &Home, options: &[&str], arguments: &[&str]) -> String {
    let log = home.path("calls.log");
    let mut strace = Command::new("strace");
    strace.arg("-f").args(options).arg("-o").arg(&log).arg(IOLAB).args(arguments);
    strace.envs(home.command().get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = strace.current_dir(home.path(".")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(&log).unwrap()
}

/// Of the reads of so many bytes that iolab makes with this call, how many bytes into a page of 4 KiB each
/// buffer begins, as strace sees it.
pub fn buffer_offsets(home: &Home, call: &str, bytes: u64, arguments: &[&str]) -> Vec<u64> {
    let options = ["-e", &format!("trace={call}"), "-e", &format!("raw={call}")];
    let number = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let offset = |line: &str| {
        let mut words = line.split_once('(')?.1.split([',', ')']).map(str::trim).skip(1);
        let (address, asked) = (number(words.next()?)?, number(words.next()?)?);
        (asked == bytes).then_some(address % 4096)
    };
    traced(home, &options, arguments).lines().filter_map(offset).collect()
}
