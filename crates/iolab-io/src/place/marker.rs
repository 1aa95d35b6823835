//! The file that says whose a scratch directory is, and whether its owner still lives.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, flock, fstat, fsync, openat, renameat,
    unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Name of the marker in a scratch directory.
pub const NAME: &str = "iolab-scratch.json";
/// Its name while it is being written.
pub const UNFINISHED: &str = "iolab-scratch.json.new";
const LONGEST_MARKER: u64 = 4096;
/// What every marker begins with.
const BEGINNING: &[u8] = b"{\"tool\":\"iolab\"";

/// Who made a scratch directory. Fields are only ever added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Always `iolab`.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// The process.
    pub pid: u32,
    /// Its start, in clock ticks since boot (field 22 of /proc/PID/stat): process ids are reused.
    pub start_ticks: u64,
    /// The boot that both are of.
    pub boot_id: String,
    /// The PID namespace that the process id is of.
    #[serde(default)]
    pub pid_namespace: String,
    /// The machine's name: a network file system is seen by several.
    #[serde(default)]
    pub host: String,
    /// The user.
    pub uid: u32,
}

impl Marker {
    /// This process.
    pub fn of_this_process() -> Marker {
        Marker {
            tool: "iolab".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            start_ticks: start_ticks("self").unwrap_or(0),
            boot_id: boot_id(),
            pid_namespace: pid_namespace(),
            host: host(),
            uid: rustix::process::geteuid().as_raw(),
        }
    }

    /// Writes the marker into a directory and returns it open and locked: as long as the owner or
    /// a child of it lives, the lock is held, whichever namespaces they are in. It has its name once
    /// it is whole and on the disk: a kill or a power failure leaves none that cannot be read.
    pub fn write(&self, directory: impl AsFd) -> io::Result<File> {
        let directory = directory.as_fd();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(openat(directory, UNFINISHED, flags, Mode::RUSR | Mode::WUSR)?);
        // A file system without locks still has process ids.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        // On a full file system the name exists and the content does not.
        self.finish(&file, directory).inspect_err(|_| {
            let _ = unlinkat(directory, UNFINISHED, AtFlags::empty());
            let _ = unlinkat(directory, NAME, AtFlags::empty());
        })?;
        Ok(file)
    }

    fn finish(&self, mut file: &File, directory: BorrowedFd<'_>) -> io::Result<()> {
        file.write_all(&serde_json::to_vec(self)?)?;
        to_disk(file.as_fd())?;
        renameat(directory, UNFINISHED, directory, NAME)?;
        to_disk(directory)
    }

    /// Reads the marker of a directory. Only a regular file of the directory's owner counts.
    pub fn read(directory: impl AsFd) -> io::Result<(Marker, File)> {
        let (text, file) = text_of(directory.as_fd(), NAME)?;
        let marker: Marker = serde_json::from_slice(&text)?;
        Ok((marker, file))
    }

    /// Whether nobody uses the directory any more; `Err` says why it must be left alone.
    pub fn is_abandoned(&self, marker: &File) -> Result<(), String> {
        let held =
            flock(marker, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
        if held {
            return Err(format!("in use by process {}", self.pid));
        }
        if self.boot_id == boot_id() {
            // A process id means something in its own namespace; elsewhere the lock has spoken.
            let alive = self.pid_namespace == pid_namespace()
                && start_ticks(&self.pid.to_string()) == Some(self.start_ticks);
            return if alive { Err(format!("in use by process {}", self.pid)) } else { Ok(()) };
        }
        if self.host == host() {
            Ok(())
        } else {
            Err(format!("made on the machine {:?}, which may still use it", self.host))
        }
    }
}

/// What the marker of a directory says; no two directories have the same.
///
/// # Errors
/// It has none, or is not there.
pub fn text(directory: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = openat(CWD, directory, flags, Mode::empty())?;
    let (text, _) = text_of(directory.as_fd(), NAME)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The text of a marker, up to the longest one.
fn text_of(directory: BorrowedFd<'_>, name: &str) -> io::Result<(Vec<u8>, File)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    let (about, of) = (fstat(&file)?, fstat(directory)?);
    let regular = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
    if !regular || about.st_uid != of.st_uid {
        return Err(io::Error::other("it is no marker"));
    }
    let mut text = Vec::new();
    (&file).take(LONGEST_MARKER).read_to_end(&mut text)?;
    Ok((text, file))
}

/// Whether a directory has what a kill or a power failure leaves of a marker: nothing, nothing but
/// zeros, or its beginning. Nobody holds it.
pub fn is_torn(directory: impl AsFd) -> bool {
    let directory = directory.as_fd();
    let torn = |name| {
        text_of(directory, name).is_ok_and(|(text, file)| {
            let zeros = text.iter().all(|byte| *byte == 0);
            let begun = text.starts_with(BEGINNING) || BEGINNING.starts_with(&text);
            let held =
                flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
            (zeros || begun) && !held
        })
    };
    torn(NAME) || torn(UNFINISHED)
}

/// Some file systems have no fsync, of directories or at all, and say so by `EINVAL`.
fn to_disk(file: BorrowedFd<'_>) -> io::Result<()> {
    match fsync(file) {
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        other => Ok(other?),
    }
}

/// Start of a process in clock ticks since boot; `None` where there is no such process, or only
/// what its parent has not yet taken note of.
pub fn start_ticks(pid: &str) -> Option<u64> {
    parse_start_ticks(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Field 22 of /proc/PID/stat, counted from behind the command's name, which may hold anything.
fn parse_start_ticks(stat: &[u8]) -> Option<u64> {
    let behind = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(&stat[behind..]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    if dead { None } else { fields.nth(18)?.parse().ok() }
}

fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

fn pid_namespace() -> String {
    std::fs::read_link("/proc/self/ns/pid").map(|p| p.to_string_lossy().into()).unwrap_or_default()
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{parse_start_ticks, start_ticks};

    #[test]
    fn a_process_name_with_brackets_and_spaces_is_no_trouble() {
        let mut stat = b"42 (a) b (c d) S 1".to_vec();
        for n in 5..=52 {
            stat.extend_from_slice(format!(" {n}").as_bytes());
        }
        assert_eq!(parse_start_ticks(&stat), Some(22));
        assert!(start_ticks("self").is_some_and(|ticks| ticks > 0));
        assert_eq!(start_ticks("0"), None);
    }

    proptest! {
        #[test]
        fn odd_text_never_panics(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse_start_ticks(&text);
        }
    }
}
