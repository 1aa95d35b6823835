//! A command under strace: found, started, ended, and the log that it leaves. The log has no name in
//! any directory, so that nothing is left of it however this ends.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, OFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};

use super::fault;
use crate::sys::child::dies_with_us;
use crate::sys::command::{self, Status};
use crate::sys::usage::Usage;
use iolab_model::result::Fault;

/// The oldest strace whose options are used: `-yy`, `-e trace=?NAME`, `-o FILE`.
const OLDEST: (u32, u32) = (4, 26);

/// strace, as it is installed here.
#[derive(Clone, Debug)]
pub struct Strace {
    version: (u32, u32),
}

/// As strace takes them: one that it does not know is no error.
fn listed(calls: &[&str]) -> String {
    let each: Vec<String> = calls.iter().map(|call| format!("?{call}")).collect();
    each.join(",")
}

/// A command that runs under strace.
#[derive(Debug)]
pub struct Traced {
    child: Child,
    log: File,
}

impl Strace {
    /// Looks for strace.
    ///
    /// # Errors
    /// It is not installed or too old: with the package.
    pub fn find() -> Result<Strace, Fault> {
        const DOING: &str = "record with strace";
        let install = "install the package strace (Debian, Ubuntu: sudo apt-get install strace; \
                       Fedora: sudo dnf install strace; Arch: sudo pacman -S strace), or take a log \
                       from a machine that has it: iolab import LOG";
        let said = Command::new("strace").arg("-V").stdin(Stdio::null()).output();
        let said = said.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Fault::new(DOING, "strace is not installed").remedy(install),
            _ => Fault::of(DOING, &error).remedy(install),
        })?;
        let text = String::from_utf8_lossy(&said.stdout);
        let version = version(&text)
            .ok_or_else(|| Fault::new(DOING, "strace -V names no version").remedy(install))?;
        match version >= OLDEST {
            true => Ok(Strace { version }),
            false => {
                let cause = format!(
                    "strace {}.{} is too old; {}.{} or newer is needed",
                    version.0, version.1, OLDEST.0, OLDEST.1
                );
                Err(Fault::new(DOING, cause).remedy(install))
            }
        }
    }

    /// Its name and version, and the machine it traces.
    pub fn describe(&self) -> String {
        format!("strace {}.{}, {}", self.version.0, self.version.1, std::env::consts::ARCH)
    }

    /// Starts a command; its log is kept without a name in `directory`, or in memory.
    ///
    /// # Errors
    /// There is no such command, or the log cannot be made.
    pub fn start(
        &self,
        words: &[OsString],
        calls: &[&str],
        directory: &Path,
    ) -> Result<Traced, Fault> {
        self.start_with(words, calls, directory, |_| ())
    }

    /// Starts a command once more, without its output, for what memory its reads go to
    /// ([`iolab_trace::learn_memory`]).
    ///
    /// # Errors
    /// As of [`Strace::start`].
    pub fn start_for_memory(&self, words: &[OsString], directory: &Path) -> Result<Traced, Fault> {
        self.start_with(words, iolab_trace::CALLS_OF_MEMORY, directory, |strace| {
            strace.args(["-e", &format!("raw={}", listed(iolab_trace::RAW_CALLS))]);
            strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        })
    }

    /// As [`Strace::start`], with more options, and of a command whose input and output are set.
    pub(super) fn start_with(
        &self,
        words: &[OsString],
        calls: &[&str],
        directory: &Path,
        set: impl FnOnce(&mut Command),
    ) -> Result<Traced, Fault> {
        program(words)?;
        let log = nameless(directory).map_err(|error| fault("make a log in", directory, &error))?;
        // strace opens this name itself: the command inherits no descriptor of it.
        let name = format!("/proc/{}/fd/{}", std::process::id(), log.as_raw_fd());
        let mut command = Command::new("strace");
        command.args(["-f", "-ttt", "-T", "-yy", "-s", "0", "-a", "1", "-q", "-o", &name]);
        // No --seccomp-bpf: were strace killed, every such call of the command would fail (ENOSYS).
        command.args(["-e", "signal=none", "-e", &format!("trace={}", listed(calls))]);
        set(&mut command);
        command.arg("--").args(words);
        let child = dies_with_us(&mut command).spawn();
        let child = child.map_err(|error| Fault::of("start strace", &error))?;
        Ok(Traced { child, log })
    }
}

impl Traced {
    /// What the command writes to a pipe of its own, to its end.
    pub(super) fn said(&mut self) -> io::Result<String> {
        let mut said = String::new();
        match self.child.stdout.take() {
            Some(mut pipe) => pipe.read_to_string(&mut said).map(|_| said),
            None => Ok(said),
        }
    }

    /// Waits until the command has ended. `wanted` is asked ten times a second what to do with it.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn wait(mut self, wanted: &mut dyn FnMut() -> Stop) -> Result<(ExitStatus, File), Fault> {
        let failed = |error: io::Error| Fault::of("wait for strace", &error);
        loop {
            if let Some(status) = self.child.try_wait().map_err(failed)? {
                self.log.rewind().map_err(failed)?;
                return Ok((status, self.log));
            }
            match wanted() {
                Stop::GoOn => (),
                Stop::Command => self.end_command(),
                // What strace wrote so far stays; the command runs on without it.
                Stop::Strace => drop(self.child.kill()),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Asks the processes that strace started to end: it blocks such signals for itself.
    fn end_command(&self) {
        let pid = self.child.id();
        let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        for child in list.unwrap_or_default().split_whitespace() {
            if let Some(child) = child.parse().ok().and_then(Pid::from_raw) {
                let _ = kill_process(child, Signal::TERM);
            }
        }
    }
}

/// What is to be done with a command that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing.
    GoOn,
    /// It is asked to end.
    Command,
    /// It is left alone, and no longer recorded.
    Strace,
}

/// Why this machine may have let nothing be recorded.
pub fn forbidden() -> &'static str {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "3" => {
            "ptrace is forbidden here until the next boot (kernel.yama.ptrace_scope is 3): record on \
             another machine and bring the log: iolab import LOG"
        }
        "2" => "ptrace is root's alone here (kernel.yama.ptrace_scope is 2): record as root",
        _ => {
            "if strace was not permitted to trace (a container without CAP_SYS_PTRACE, seccomp), \
             allow it (docker run --cap-add SYS_PTRACE), or record elsewhere: iolab import LOG"
        }
    }
}

/// Runs the command once more without strace and without its output: how it ended, how long it took
/// in nanoseconds, what it used.
///
/// # Errors
/// It cannot be started.
pub fn untraced(words: &[OsString]) -> Result<(Status, u64, Usage), Fault> {
    let (name, arguments) = words.split_first().ok_or_else(|| no_command(""))?;
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let (status, usage) =
        command::run(&mut command).map_err(|error| fault("start", Path::new(name), &error))?;
    let wall_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok((status, wall_ns, usage))
}

/// What is named so now, looked at and not opened: its kind, and of a file its size.
pub fn look(name: &[u8]) -> Option<(Looked, u64)> {
    let path = Path::new(std::ffi::OsStr::from_bytes(name));
    let about = std::fs::symlink_metadata(path).ok().filter(|_| path.is_absolute())?;
    let kind = about.file_type();
    let looked = match () {
        () if kind.is_file() => Looked::Regular,
        () if kind.is_dir() => Looked::Directory,
        () if kind.is_symlink() => Looked::Link,
        () if kind.is_char_device() => Looked::Character,
        () if kind.is_block_device() => Looked::Block,
        () if kind.is_fifo() => Looked::Pipe,
        () => Looked::Socket,
    };
    Some((looked, about.len()))
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// A file with bytes.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A character device.
    Character,
    /// A block device.
    Block,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
}

/// The command is there: strace would say so in words of its own, after the log was made.
fn program(words: &[OsString]) -> Result<(), Fault> {
    let name = words.first().ok_or_else(|| no_command(""))?;
    let is_there = |path: &Path| path.is_file();
    let found = match name.as_bytes().contains(&b'/') {
        true => is_there(Path::new(name)),
        false => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|directory| is_there(&directory.join(name)))
        }
    };
    match found {
        true => Ok(()),
        false => Err(no_command(&iolab_model::catalog::path_to_text(&PathBuf::from(name)))),
    }
}

fn no_command(name: &str) -> Fault {
    let cause =
        "there is no such command; write it as in a shell: iolab record -- COMMAND ARGUMENT…";
    Fault::new(format!("start '{name}'"), cause)
}

/// A file without a name, on the disk where the file system can, else in memory.
fn nameless(directory: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE.bits() as i32;
    let mut options = OpenOptions::new();
    if let Ok(file) = options.read(true).write(true).custom_flags(flags).mode(0o600).open(directory)
    {
        return Ok(file);
    }
    let memory: OwnedFd = memfd_create("iolab-log", MemfdFlags::CLOEXEC)?;
    Ok(File::from(memory))
}

/// `strace -- version 6.1`.
fn version(said: &str) -> Option<(u32, u32)> {
    let word = said.lines().next()?.split_whitespace().last()?;
    let mut parts = word.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next().and_then(|p| p.parse().ok()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("strace -- version 6.1\nCopyright"), Some((6, 1)));
        assert_eq!(version("strace -- version 4.26.0.12-abc"), Some((4, 26)));
        assert_eq!(version("strace -- version 7"), Some((7, 0)));
        assert_eq!(version("busybox"), None);
    }
}
