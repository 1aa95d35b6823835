//! Where the record of a running experiment is kept until it ends.
//!
//! A run is written trial by trial to a database of its own, the spool, and moved into the history
//! at the end. The spool lies beside the history where that is on a disk of its own, else on a
//! memory file system: the file system under test is never written to by the record. A lock file
//! beside it, held with flock(2), says that its writer lives: the kernel lets go of it however the
//! writer ends, and unlike a process number it is true across PID namespaces.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::error::RecordError;
use iolab_model::catalog::fnv1a;

/// Magic numbers of statfs(2) of file systems that live in memory: tmpfs, ramfs.
const MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// What the names of all spools begin with.
const PREFIX: &str = "run-";

/// A directory for spools.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    /// On a memory file system: nothing there survives a power failure, so nothing is synced.
    pub(super) in_memory: bool,
    /// What names of this history's spools begin with. A place in memory is shared by histories,
    /// and even a short look at another's spool would hide it from its own.
    prefix: String,
    /// The history that a lock in memory names.
    history: Option<PathBuf>,
}

impl Place {
    fn beside(store: &Path) -> Place {
        let mut name = store.file_name().unwrap_or_default().to_owned();
        name.push("-live");
        let directory = store.with_file_name(name);
        Place { directory, in_memory: false, prefix: PREFIX.into(), history: None }
    }

    pub(super) fn in_memory(directory: PathBuf, store: &Path) -> Place {
        let name = fnv1a(store.as_os_str().as_bytes().iter().copied());
        let prefix = format!("{PREFIX}{name:016x}-");
        Place { directory, in_memory: true, prefix, history: Some(store.to_owned()) }
    }
}

/// The file and its lock; dropping lets go of the lock and leaves the file.
#[derive(Debug)]
pub(super) struct Spool {
    pub(super) path: PathBuf,
    pub(super) token: String,
    _lock: File,
}

/// Whether writing beside the history may reach a file system under test. Device numbers tell
/// disks apart; anonymous ones (major 0: btrfs, overlay, network) do not, so they count as shared.
pub(super) fn shared(store: &Path, avoid_devices: &[u64]) -> bool {
    let device = nearest_existing(store).and_then(|p| fs::metadata(p).ok()).map(|m| m.dev());
    let anonymous = |d: u64| rustix::fs::major(d) == 0;
    match device {
        _ if avoid_devices.is_empty() => false,
        Some(store) => {
            anonymous(store) || avoid_devices.iter().any(|&d| d == store || anonymous(d))
        }
        None => true,
    }
}

/// The place for the spool of a new run.
pub(super) fn choose(store: &Path, avoid_devices: &[u64]) -> Result<Place, RecordError> {
    let beside = Place::beside(store);
    if !shared(store, avoid_devices) {
        make_private(&beside.directory).map_err(|e| RecordError::io("make", store, &e))?;
        return Ok(beside);
    }
    let mut tried = Vec::new();
    for directory in memory_candidates() {
        match try_memory(&directory, avoid_devices) {
            Ok(directory) => return Ok(Place::in_memory(directory, store)),
            Err(why) => tried.push(format!("{}: {why}", directory.display())),
        }
    }
    let device = nearest_existing(store).and_then(|p| fs::metadata(p).ok()).map(|m| m.dev());
    if device.is_some_and(|d| !avoid_devices.contains(&d)) {
        // Shared only as far as device numbers can tell.
        make_private(&beside.directory).map_err(|e| RecordError::io("make", store, &e))?;
        return Ok(beside);
    }
    Err(RecordError::NoSpool { store: store.to_path_buf(), tried: tried.join("; ") })
}

/// Every place where a spool for this history may have been left.
pub(super) fn known(store: &Path) -> Vec<Place> {
    let memory = memory_directories().into_iter().map(|d| Place::in_memory(d, store));
    let beside = Some(Place::beside(store)).filter(|p| is_private(&p.directory).is_ok());
    beside.into_iter().chain(memory).collect()
}

/// Directories of this user's in memory, those that are there.
pub(super) fn memory_directories() -> Vec<PathBuf> {
    let all = memory_candidates().into_iter().map(|directory| private_name(&directory));
    all.filter(|directory| is_private(directory).is_ok()).collect()
}

fn memory_candidates() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = PathBuf::from(format!("/run/user/{}", rustix::process::geteuid().as_raw()));
    let mut all: Vec<PathBuf> = runtime.into_iter().filter(|p| p.is_absolute()).collect();
    all.extend([own, "/dev/shm".into(), "/run".into(), "/tmp".into()]);
    let mut seen = Vec::new();
    all.retain(|p| (!seen.contains(p)).then(|| seen.push(p.clone())).is_some());
    all
}

fn private_name(directory: &Path) -> PathBuf {
    directory.join(format!("iolab-{}", rustix::process::geteuid().as_raw()))
}

fn try_memory(directory: &Path, avoid_devices: &[u64]) -> io::Result<PathBuf> {
    let device = fs::metadata(directory)?.dev();
    if avoid_devices.contains(&device) {
        return Err(io::Error::other("is under test"));
    }
    let kind = rustix::fs::statfs(directory)?.f_type as u64;
    if !MEMORY.contains(&kind) {
        return Err(io::Error::other("not a memory file system"));
    }
    let private = private_name(directory);
    make_private(&private)?;
    Ok(private)
}

/// Makes a directory that only this user can look into, or checks that it is one: a name in
/// /dev/shm can be taken by anybody.
pub(super) fn make_private(directory: &Path) -> io::Result<()> {
    if let Some(parent) = directory.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => is_private(directory),
    }
}

fn is_private(directory: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(directory)?;
    if !meta.is_dir() || meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("belongs to another user"));
    }
    match meta.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(io::Error::other("others may write to it")),
    }
}

pub(super) fn nearest_existing(path: &Path) -> Option<&Path> {
    // `a/b` is relative to "", which is "." to the system.
    path.ancestors()
        .map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p })
        .find(|p| p.exists())
}

/// What a lock says of the history: the number of a device, and on the next line a directory.
pub(super) fn note(store: &Path) -> io::Result<Vec<u8>> {
    let directory = nearest_existing(store).ok_or(io::ErrorKind::NotFound)?;
    let mut note = format!("{}\n", fs::metadata(directory)?.dev()).into_bytes();
    note.extend(directory.as_os_str().as_bytes());
    Ok(note)
}

impl Spool {
    /// A new, locked, empty spool.
    pub(super) fn create(place: &Place) -> io::Result<Spool> {
        loop {
            let token = random_token()?;
            let path = place.directory.join(format!("{}{token}.sqlite", place.prefix));
            let lock_path = lock_path(&path);
            let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&lock_path);
            let mut lock = match lock {
                // Another process may have removed the directory when it was empty.
                Err(e) if e.kind() == io::ErrorKind::NotFound && !place.directory.exists() => {
                    make_private(&place.directory)?;
                    continue;
                }
                opened => opened?,
            };
            flock(&lock, FlockOperation::LockExclusive)?;
            // Between the two calls above another process may have taken it for abandoned.
            if same_file(&lock, &lock_path) {
                if let Some(history) = &place.history {
                    lock.write_all(&note(history)?)?;
                }
                let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
                drop(file?);
                return Ok(Spool { path, token, _lock: lock });
            }
        }
    }

    /// Spools whose writer is gone, locked for the caller.
    pub(super) fn abandoned(place: &Place) -> Vec<Spool> {
        let Ok(entries) = fs::read_dir(&place.directory) else { return Vec::new() };
        let mut spools: Vec<Spool> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Spool::take(place, &name))
            .collect();
        spools.sort_by(|a, b| a.path.cmp(&b.path));
        spools
    }

    fn take(place: &Place, name: &str) -> Option<Spool> {
        let token = name.strip_suffix(".lock")?.strip_prefix(&place.prefix)?;
        Spool::take_at(place.directory.join(name).with_extension("sqlite"), token)
    }

    /// The spool of this lock, of whatever history, where its writer is gone.
    pub(super) fn take_whosever(lock: &Path) -> Option<Spool> {
        let name = lock.file_name()?.to_str()?;
        let token = name.strip_suffix(".lock")?.strip_prefix(PREFIX)?;
        Spool::take_at(lock.with_extension("sqlite"), token)
    }

    fn take_at(path: PathBuf, token: &str) -> Option<Spool> {
        let lock = OpenOptions::new().write(true).open(lock_path(&path)).ok()?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        let spool = Spool { path, token: token.to_owned(), _lock: lock };
        if !same_file(&spool._lock, &lock_path(&spool.path)) {
            return None;
        }
        if !spool.path.exists() {
            spool.remove();
            return None;
        }
        Some(spool)
    }

    /// Removes the files; the lock last, so that nobody takes half of it.
    pub(super) fn remove(&self) {
        let with = |suffix: &str| {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        for path in [with("-wal"), with("-shm"), self.path.clone(), lock_path(&self.path)] {
            // What cannot be removed is found by the next command, which knows its token.
            let _ = fs::remove_file(path);
        }
        // Only where it is empty: nothing of ours is left behind.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

fn lock_path(spool: &Path) -> PathBuf {
    spool.with_extension("lock")
}

fn same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

/// 128 random bits in hexadecimal: names a run across machines.
pub(super) fn random_token() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::{Place, Spool, choose, make_private, shared};
    use crate::history::RecordError;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;
    use std::time::{Duration, Instant};

    #[test]
    fn a_directory_that_others_can_write_or_redirect_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(make_private(&open).is_err());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/tmp", &link).unwrap();
        assert!(make_private(&link).is_err());
        let own = dir.path().join("own");
        make_private(&own).unwrap();
        make_private(&own).unwrap();
        assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o700);
    }

    /// A child that another test forked holds the lock as well, until it ends.
    fn once_let_go(place: &Place) -> Vec<Spool> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let taken = Spool::abandoned(place);
            if !taken.is_empty() || Instant::now() > deadline {
                return taken;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_living_spool_is_not_taken_and_a_dead_one_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::in_memory(dir.path().to_owned(), Path::new("/mine"));
        let other = Place::in_memory(dir.path().to_owned(), Path::new("/other"));
        let spool = Spool::create(&place).unwrap();
        assert!(Spool::abandoned(&place).is_empty());
        drop(spool);
        // A command of another history that looked at the same moment once held its lock, and
        // the run was not taken over.
        assert!(Spool::abandoned(&other).is_empty());
        let taken = once_let_go(&place);
        assert_eq!(taken.len(), 1);
        assert!(Spool::abandoned(&place).is_empty());
        taken[0].remove();
        drop(taken);
        assert!(Spool::abandoned(&place).is_empty());
        assert!(!dir.path().exists(), "an empty directory is left");
        drop(Spool::create(&place).unwrap());
    }

    #[test]
    fn devices_decide_where_the_spool_lies() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("not/yet/history.sqlite");
        let device = dir.path().metadata().unwrap().dev();
        assert!(!shared(&store, &[]));
        assert!(shared(&store, &[device]));
        // A device that names no disk (btrfs, overlay) may be the same one.
        assert!(shared(&store, &[rustix::fs::makedev(0, 77)]));
        let other = rustix::fs::makedev(rustix::fs::major(device) + 1, 0);
        assert_eq!(shared(&store, &[other]), rustix::fs::major(device) == 0);
        match choose(&store, &[device]) {
            Ok(place) => {
                assert!(place.in_memory);
                assert_ne!(place.directory.metadata().unwrap().dev(), device);
            }
            Err(RecordError::NoSpool { tried, .. }) => assert!(tried.contains("/dev/shm")),
            Err(e) => panic!("{e}"),
        }
        assert!(!Place::beside(&store).directory.exists());
        let beside = Place::beside(Path::new("/s/h.sqlite")).directory;
        assert_eq!(beside, Path::new("/s/h.sqlite-live"));
    }
}
