//! What is in the files that a trace names, where a replay is to work on copies of it (`--with-data`).
//!
//! The one place that opens a name of a trace, and only where the command line asks for it: to read
//! what is a regular file on a disk, never to write, and nothing else is opened at all.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;

use crate::sys::made_up::is_made_up;
use iolab_model::catalog::{bytes_text, count_text, mix, path_to_text, so_many};
use iolab_trace::replay::{Node, NodeKind, Replay};
use iolab_trace::{File as Recorded, Trace};

/// What of the contents of a trace's files cannot be had any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Files with bytes that the replay begins with.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of them are not there as they were.
    pub lacking_files: u64,
    /// So many bytes of these come from a seed.
    pub lacking_bytes: u64,
    /// One of them, and why.
    pub first: Option<String>,
    /// Tells these files from others of their names: of sizes and times of change.
    pub state: u64,
}

impl Lacking {
    /// The same in words, where something is lacking.
    pub fn words(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(format!(
            "{} of {} with contents not there as recorded, so that {} of {} are random: {first}",
            count_text(self.lacking_files),
            so_many(self.files as usize, "file"),
            bytes_text(self.lacking_bytes),
            bytes_text(self.bytes),
        ))
    }
}

/// Looks at each of the files; none is read.
pub fn lacking(trace: &Trace, replay: &Replay) -> Lacking {
    let mut seen = Lacking::default();
    for node in replay.files.iter().filter(|node| node.kind == NodeKind::File && node.bytes > 0) {
        seen.files += 1;
        seen.bytes += node.bytes;
        let (there, why) = match of(trace, node).and_then(|file| file.metadata()) {
            Ok(about) => {
                let changed_ns = about.mtime().wrapping_mul(1_000_000_000) + about.mtime_nsec();
                seen.state = mix(seen.state, mix(about.len(), changed_ns as u64));
                (about.len(), format!("has {} bytes of {}", about.len(), node.bytes))
            }
            Err(error) => (0, error.to_string()),
        };
        seen.state = mix(seen.state, there);
        if there < node.bytes {
            seen.lacking_files += 1;
            seen.lacking_bytes += node.bytes - there;
            let name = || recorded(trace, node).map_or(&b"?"[..], |file| &file.name);
            seen.first.get_or_insert_with(|| {
                format!("{}: {why}", path_to_text(Path::new(OsStr::from_bytes(name()))))
            });
        }
    }
    seen
}

fn recorded<'a>(trace: &'a Trace, node: &Node) -> Option<&'a Recorded> {
    trace.files.get(node.original? as usize)
}

/// The file that one of a replay is a copy of, opened to be read.
///
/// # Errors
/// It is not there, may not be read, or is none that holds bytes.
pub(super) fn of(trace: &Trace, node: &Node) -> io::Result<File> {
    let file = recorded(trace, node).filter(|file| file.name.starts_with(b"/"));
    let Some(file) = file else { return Err(Errno::NOENT.into()) };
    // What it is is known before it is opened: to open a device or a FIFO does something.
    let name = OsStr::from_bytes(&file.name);
    let seen = open(name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&seen)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("is no file with bytes"));
    }
    let same = format!("/proc/self/fd/{}", seen.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    // Its access time is left alone where that is allowed.
    let opened = match open(&*same, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => open(&*same, flags, Mode::empty()),
        other => other,
    };
    let opened = File::from(opened?);
    match is_made_up(&opened) {
        true => Err(io::Error::other("is made by the kernel as it is read")),
        false => Ok(opened),
    }
}

/// Copies the first bytes of a file over those of another; gives back how many there were.
///
/// # Errors
/// The other cannot be written. What cannot be read is not there.
pub(super) fn copy(
    from: &File,
    to: &File,
    bytes: u64,
    piece: &mut [u8],
    wanted: &dyn Fn() -> bool,
) -> io::Result<u64> {
    let mut at = 0;
    while at < bytes {
        let most = (bytes - at).min(piece.len() as u64) as usize;
        let got = match from.read_at(&mut piece[..most], at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
            Ok(got) => got,
        };
        to.write_all_at(&piece[..got], at)?;
        at += got as u64;
        if !wanted() {
            return Err(io::Error::other("the controller has gone"));
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::super::tests::{Made, scene};
    use super::{Lacking, lacking};
    use iolab_model::catalog::Levels;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    /// Reads 60 bytes of `in`, appends five to the 40 of `log`, reads ten of `gone` and of `odd`.
    fn lines(at: &Path) -> Vec<String> {
        let at = at.display();
        let read = |name: &str, bytes: u64| {
            vec![
                format!("1 openat(AT_FDCWD</>, \"{at}/{name}\", O_RDONLY) = 3<{at}/{name}>"),
                format!("1 read(3<{at}/{name}>, \"\"..., 100) = {bytes}"),
                format!("1 read(3<{at}/{name}>, \"\"..., 100) = 0"),
                format!("1 close(3<{at}/{name}>) = 0"),
            ]
        };
        let append = vec![
            format!("1 openat(AT_FDCWD</>, \"{at}/log\", O_WRONLY|O_APPEND) = 3<{at}/log>"),
            format!("1 fstat(3<{at}/log>, {{st_mode=S_IFREG|0644, st_size=40, ...}}) = 0"),
            format!("1 write(3<{at}/log>, \"\"..., 5) = 5"),
        ];
        [read("in", 60), read("gone", 10), read("odd", 10), append].concat()
    }

    /// What copies of so many bytes hold.
    fn held(root: &Path, bytes: u64) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(root).unwrap().map(|entry| entry.unwrap()) {
            let about = entry.metadata().unwrap();
            if about.is_dir() {
                all.extend(held(&entry.path(), bytes));
            } else if about.len() == bytes {
                all.push(fs::read(entry.path()).unwrap());
            }
        }
        all
    }

    /// The files of a replay held random bytes, whatever was asked.
    #[test]
    fn copies_hold_what_their_originals_do_and_those_stay_as_they_are() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let theirs = dir.path().canonicalize().unwrap();
        let (input, log) = (b"sixty bytes.".repeat(5), b"forty bytes of a log".repeat(2));
        fs::write(theirs.join("in"), &input).unwrap();
        fs::write(theirs.join("log"), [&log[..], b"and what came since"].concat()).unwrap();
        // Opened, it would wait for somebody who writes.
        mknodat(CWD, theirs.join("odd"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        let lines = lines(&theirs);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut scene = scene(&lines);
        let seen = lacking(&scene.trace, &scene.replay);
        let told = seen.words().unwrap();
        let expected =
            Lacking { files: 4, bytes: 120, lacking_files: 2, lacking_bytes: 20, ..seen.clone() };
        assert_eq!(seen, expected);
        assert!(told.starts_with("2 of 4 files with contents not there as recorded"), "{told}");
        assert!(told.contains("/gone: ") || told.contains("/odd: is no file"), "{told}");
        let inode = theirs.join("log").metadata().unwrap().ino();
        scene.with_data = true;
        let made = Made::of(scene);
        for _ in 0..2 {
            assert_eq!(held(&made.root, 60), std::slice::from_ref(&input));
            assert_eq!(
                held(&made.root, 40),
                std::slice::from_ref(&log),
                "its state before the program"
            );
            assert_eq!(held(&made.root, 10).len(), 2, "what is not there is random");
            made.trial(&Levels::new()).unwrap();
        }
        assert_eq!(theirs.join("log").metadata().unwrap().ino(), inode);
        assert!(fs::read(theirs.join("log")).unwrap().ends_with(b"and what came since"));
        // What is there now is not what was there when it was looked at.
        fs::write(theirs.join("in"), b"other").unwrap();
        let later = lacking(&made.scene.trace, &made.scene.replay);
        assert_eq!((later.lacking_files, later.state == seen.state), (3, false));
    }
}
