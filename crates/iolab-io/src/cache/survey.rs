//! How much of a person's files is in the page cache now, and how to bring them in or out of it.
//! Looking reads no page: `cachestat(2)` where there is one, else `mincore(2)`.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fstatfs};

use super::evict::{evict, prime};
use super::residency::Probe;
use iolab_model::result::Residency;

/// overlayfs (include/uapi/linux/magic.h), whose own inodes have no pages that cachestat counts.
const OVERLAYFS: u64 = 0x794c_7630;

/// What is done to each file before it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheChange {
    /// It is left as it is.
    Nothing,
    /// It is taken out of the page cache.
    Evict,
    /// It is read once.
    Load,
}

/// A file and what of it is in the page cache.
#[derive(Debug)]
pub struct CachedFile {
    /// The file.
    pub path: PathBuf,
    /// What was seen.
    pub seen: Residency,
}

/// A file that could not be looked at or changed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", .path.display())]
pub struct Unseen {
    /// The file.
    pub path: PathBuf,
    /// What was being done, and what to do.
    pub why: String,
}

/// Looks at a file, or at every regular file below a directory: links are not followed and other
/// file systems not entered; of several names of one file the first counts. The order is that of
/// names.
pub fn survey(path: &Path, change: CacheChange, told: &mut dyn FnMut(Result<CachedFile, Unseen>)) {
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) => return told(Err(unseen(path, "look at it", &error))),
    };
    if about.is_dir() {
        return walk(path, about.dev(), change, &mut BTreeSet::new(), told);
    }
    let kind = about.file_type();
    if !about.is_file() {
        let what =
            if kind.is_block_device() || kind.is_char_device() { "a device" } else { "no file" };
        let why = format!("it is {what}: name files or directories");
        return told(Err(Unseen { path: path.to_path_buf(), why }));
    }
    told(one(path, 0, change));
}

fn walk(
    directory: &Path,
    device: u64,
    change: CacheChange,
    known: &mut BTreeSet<(u64, u64)>,
    told: &mut dyn FnMut(Result<CachedFile, Unseen>),
) {
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        let listed = fs::read_dir(&directory).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
        });
        let mut paths = match listed {
            Ok(paths) => paths,
            Err(error) => {
                told(Err(unseen(&directory, "read the directory", &error)));
                continue;
            }
        };
        paths.sort();
        let mut below = Vec::new();
        for path in paths {
            match fs::symlink_metadata(&path) {
                Err(error) => told(Err(unseen(&path, "look at it", &error))),
                Ok(about) if about.is_dir() && about.dev() == device => below.push(path),
                Ok(about) if about.is_file() && known.insert((about.dev(), about.ino())) => {
                    told(one(&path, OFlags::NOFOLLOW.bits() as i32, change));
                }
                Ok(_) => {}
            }
        }
        waiting.extend(below.into_iter().rev());
    }
}

fn one(path: &Path, flags: i32, change: CacheChange) -> Result<CachedFile, Unseen> {
    // What was a file a moment ago may be a pipe by now: opening it must not wait.
    let flags = flags | OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| unseen(path, "open it for reading", &error))?;
    let about = file.metadata().map_err(|error| unseen(path, "look at it", &error))?;
    if change != CacheChange::Nothing {
        may_change(path, &about)?;
    }
    let fault = |fault: iolab_model::result::Fault| Unseen {
        path: path.to_path_buf(),
        why: fault.to_string(),
    };
    match change {
        CacheChange::Nothing => {}
        CacheChange::Evict => evict(&file).map_err(fault)?,
        CacheChange::Load => drop(prime(&file).map_err(fault)?),
    }
    let seen = look(&file).map_err(|error| unseen(path, "see its pages", &error))?;
    Ok(CachedFile { path: path.to_path_buf(), seen })
}

/// The page cache is shared: what others work with is not taken from them, nor is memory filled with
/// what is theirs.
fn may_change(path: &Path, about: &Metadata) -> Result<(), Unseen> {
    let why = match () {
        () if !about.is_file() => "it is no regular file: its pages are left alone".to_owned(),
        () if about.uid() != rustix::process::geteuid().as_raw() => format!(
            "it belongs to user {} and not to you: the pages of others are left alone",
            about.uid()
        ),
        () => return Ok(()),
    };
    Err(Unseen { path: path.to_path_buf(), why })
}

/// By the first probe that works here and does not disturb.
fn look(file: &File) -> io::Result<Residency> {
    let overlay = fstatfs(file).is_ok_and(|fs| fs.f_type as u64 == OVERLAYFS);
    if !overlay && let Ok(seen) = Probe::Cachestat.look(file) {
        return Ok(seen);
    }
    Probe::Mincore.look(file)
}

fn unseen(path: &Path, doing: &str, error: &io::Error) -> Unseen {
    let fix = match error.kind() {
        io::ErrorKind::NotFound => "; check the name",
        io::ErrorKind::PermissionDenied => "; ask its owner, or run as root",
        _ => "",
    };
    Unseen { path: path.to_path_buf(), why: format!("cannot {doing}: {error}{fix}") }
}
