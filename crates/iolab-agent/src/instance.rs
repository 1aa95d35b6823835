//! The files that trials work on: made in the scratch directory, or the person's, opened for
//! reading only.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::content::{Content, ISLAND_BYTES};
use super::expected_digests::ExpectedDigests;
use super::kept;
use super::messages::InstanceOrder;
use iolab_io::method::open_for_reading;
use iolab_io::sys::remove::remove_tree;
use iolab_io::workload::Subject;
use iolab_io::workload::Visit;
use iolab_io::workload::meta::Tree;
use iolab_model::catalog::{path_from_text, path_to_text};
use iolab_model::plan::SharedBy;
use iolab_model::result::Fault;

/// A file is made in pieces of this size; in between it is asked whether anyone still wants it.
pub(super) const PIECE_BYTES: u64 = 4 << 20;

/// A file that trials work on, or a tree of them.
#[derive(Debug)]
pub struct Instance {
    /// Where, absolute or as the person wrote it.
    pub path: PathBuf,
    /// Its size; of a tree, that of each file.
    pub bytes: u64,
    /// Its seed.
    pub seed: u64,
    /// It is in the scratch directory of the first rank, and these have a part of it.
    pub shared: Option<SharedBy>,
    /// Open for reading.
    pub file: File,
    /// Trials change what is in a tree, and bring it back.
    pub(super) tree: Option<Tree>,
    place: Option<String>,
    /// Absent for a person's file.
    content: Option<Content>,
    known: Identity,
    ledger: ExpectedDigests,
}

/// What changes when a file is replaced or written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Of a device the number changes when the machine starts: it is no part of this.
impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Identity { bytes, inode, modified: (seconds, ns), .. } = self;
        write!(f, "{bytes} bytes, inode {inode}, modified {seconds}.{ns:09}")
    }
}

impl Identity {
    pub(super) fn of(about: &std::fs::Metadata) -> Identity {
        Identity {
            device: about.dev(),
            inode: about.ino(),
            bytes: about.len(),
            modified: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }
}

impl Instance {
    /// Makes or opens what is ordered. `wanted` says whether to go on.
    pub fn new(
        order: &InstanceOrder,
        scratch: &Path,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Instance, Fault> {
        match (&order.path, order.files) {
            (Some(text), _) => Instance::open(&path_from_text(text), order),
            (None, Some(files)) => {
                Instance::plant(scratch.join(format!("tree-{}", order.id)), files, order, wanted)
            }
            (None, None) => {
                Instance::make(scratch.join(format!("file-{}", order.id)), order, wanted)
            }
        }
    }

    fn make(
        path: PathBuf,
        order: &InstanceOrder,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Instance, Fault> {
        if let Some(found) = Instance::found_again(&path, order, wanted) {
            return Ok(found);
        }
        let failed = |error: &io::Error| {
            // Space is given back at once: others may need it to say why this failed.
            let _ = std::fs::remove_file(&path);
            fault(format!("make a file of {} bytes, {}", order.bytes, path_to_text(&path)), error)
        };
        write_content(&path, order, wanted).map_err(|e| failed(&e))?;
        let instance = Instance::opened(path.clone(), order, Some(order.content));
        instance.map_err(|e| failed(&e))
    }

    /// The file that an earlier run has kept, where it is still what it was, byte for byte. What is
    /// not is removed, and made anew.
    fn found_again(
        path: &Path,
        order: &InstanceOrder,
        wanted: &dyn Fn() -> bool,
    ) -> Option<Instance> {
        let key = kept::key_of_file(order)?;
        if !kept::of(path)?.take(&key, path) {
            return None;
        }
        if kept::is_intact(path, order, wanted) {
            return Instance::opened(path.to_owned(), order, Some(order.content)).ok();
        }
        kept::throw_away(path);
        None
    }

    /// What a trial is told of it.
    pub fn subject<'a>(&self, path: &'a Path) -> Subject<'a> {
        let parts = self.shared.map_or(1, |shared| shared.ranks);
        Subject::file(path, self.bytes, self.seed).of_ranks(parts)
    }

    /// A person's file: regular, on a file system that keeps files, of the size that was planned.
    fn open(path: &Path, order: &InstanceOrder) -> Result<Instance, Fault> {
        let doing = || format!("open {}", path_to_text(path));
        let refuse = |cause: String| Fault::new(doing(), cause);
        // Looked at before it is opened: opening a FIFO waits, opening a device may act.
        let about = rustix::fs::stat(path).map_err(|e| fault(doing(), &e.into()))?;
        if let Some(what) = unfit(FileType::from_raw_mode(about.st_mode)) {
            return Err(refuse(format!("it is {what}; name a regular file")));
        }
        let instance =
            Instance::opened(path.to_owned(), order, None).map_err(|e| fault(doing(), &e))?;
        let system = rustix::fs::fstatfs(&instance.file).map_err(|e| fault(doing(), &e.into()))?;
        if let Some(name) = pseudo(system.f_type as u64) {
            return Err(refuse(format!(
                "it is on {name}, whose files the kernel makes up; name a file on a disk"
            )));
        }
        if instance.bytes != order.bytes {
            return Err(refuse(format!(
                "it had {} bytes and now has {}: something writes to it; use a file that stays",
                order.bytes, instance.bytes
            )));
        }
        Ok(instance)
    }

    /// A file that is there.
    pub(super) fn opened(
        path: PathBuf,
        order: &InstanceOrder,
        content: Option<Content>,
    ) -> io::Result<Instance> {
        let file = File::from(open_for_reading(&path)?);
        let known = Identity::of(&file.metadata()?);
        let bytes = if order.files.is_some() { order.bytes } else { known.bytes };
        let ledger = ExpectedDigests::new(bytes);
        let (seed, place) = (order.seed, order.place.clone());
        let shared = order.shared;
        Ok(Instance { path, bytes, seed, shared, file, tree: None, place, content, known, ledger })
    }

    /// Whether iolab made it.
    pub fn made(&self) -> bool {
        self.content.is_some()
    }

    /// Whether it is a tree that metadata calls are made on.
    pub fn is_planted(&self) -> bool {
        self.tree.is_some()
    }

    /// The place that it is on, as written; absent: the directory under test.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// Removes what iolab made.
    pub fn remove(&self) -> io::Result<()> {
        match self.is_planted() {
            true => remove_tree(&self.path),
            false => std::fs::remove_file(&self.path),
        }
    }

    /// Lets go of the file, so that its file system can be unmounted.
    pub fn close(&mut self) -> Result<(), Fault> {
        let nothing = File::open("/dev/null");
        self.file = nothing.map_err(|e| fault("let go of a file", &e))?;
        Ok(())
    }

    /// Opens the file of the same name in `directory`, where a mount has brought it.
    pub fn reopen(&mut self, directory: &Path) -> Result<(), Fault> {
        let path = self.path.file_name().map_or(directory.to_owned(), |name| directory.join(name));
        let doing = || format!("open {} again", path_to_text(&path));
        let open = || -> io::Result<(File, Identity)> {
            let file = File::from(open_for_reading(&path)?);
            let identity = Identity::of(&file.metadata()?);
            Ok((file, identity))
        };
        let (file, known) = open().map_err(|e| fault(doing(), &e))?;
        if !self.is_planted() && known.bytes != self.bytes {
            let cause = format!("it had {} bytes and now has {}", self.bytes, known.bytes);
            return Err(Fault::new(doing(), cause));
        }
        if let Some(tree) = &mut self.tree {
            tree.root.clone_from(&path);
        }
        (self.path, self.file, self.known) = (path.clone(), file, known);
        Ok(())
    }

    /// Whether the file under this name is still the one it was, untouched.
    pub fn check(&self) -> Result<(), Fault> {
        let doing = || format!("look at {}", path_to_text(&self.path));
        let now = std::fs::metadata(&self.path).map_err(|e| fault(doing(), &e))?;
        let mut now = Identity::of(&now);
        if self.content == Some(Content::Overwritten) {
            now.modified = self.known.modified;
        }
        if self.made() {
            // Copied up, or given another owner: only a person's file must stay as it is in that, too.
            now.changed = self.known.changed;
        }
        let replaced = (now.device, now.inode) != (self.known.device, self.known.inode);
        if now == self.known || (self.is_planted() && !replaced) {
            return Ok(());
        }
        let cause = if replaced {
            "another file has taken its name during the run".to_owned()
        } else if now.bytes < self.known.bytes {
            format!("it became shorter during the run: {} → {}", self.known.bytes, now.bytes)
        } else if now.modified == self.known.modified && now.bytes == self.known.bytes {
            "its attributes, or a name of it, were changed during the run".to_owned()
        } else {
            "it was written to during the run; use a file that stays as it is".to_owned()
        };
        Err(Fault::new(doing(), cause))
    }

    /// The digest that a visit should leave; `None` where it is not worth checking this time.
    pub fn expected(&mut self, visit: &Visit) -> Result<Option<String>, Fault> {
        let (seed, content, file, path) = (self.seed, self.content, &self.file, &self.path);
        let mut source = |at: u64, buffer: &mut [u8]| match content {
            Some(content) => {
                content.fill(seed, at, buffer);
                Ok(())
            }
            // The canonical reading: not timed, by calls of one kind.
            None => file
                .read_exact_at(buffer, at)
                .map_err(|e| fault(format!("digest {}", path_to_text(path)), &e)),
        };
        let partial = self.ledger.expected(visit, &mut source)?;
        Ok(partial.and_then(|partial| partial.digest()).map(|(_, hex)| hex))
    }
}

fn write_content(path: &Path, order: &InstanceOrder, wanted: &dyn Fn() -> bool) -> io::Result<()> {
    // A restarted agent has a scratch of its own, so nothing can be there.
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlags::CLOEXEC.bits() as i32)
        .open(path)?;
    if order.content == Content::Sparse {
        return file.set_len(order.bytes);
    }
    let piece_bytes = match order.content {
        Content::Islands => ISLAND_BYTES,
        _ => PIECE_BYTES,
    };
    let mut buffer = vec![0; piece_bytes.min(order.bytes) as usize];
    let mut at = 0;
    while at < order.bytes {
        if !wanted() {
            return Err(io::Error::other("the controller has gone"));
        }
        let n = piece_bytes.min(order.bytes - at) as usize;
        if !order.content.is_hole(at) {
            order.content.fill(order.seed, at, &mut buffer[..n]);
            file.write_all_at(&buffer[..n], at)?;
        }
        at += n as u64;
    }
    if order.content == Content::Islands {
        file.set_len(order.bytes)?;
    }
    synced(&file)
}

/// Dirty pages would be written back beside the first trials; and a full disk shows here.
pub(super) fn synced(file: &File) -> io::Result<()> {
    match file.sync_data() {
        // A file system without fsync (bfs) says so by EINVAL (vfs_fsync_range, fs/sync.c).
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
            Ok(rustix::fs::syncfs(file)?)
        }
        other => other,
    }
}

fn unfit(kind: FileType) -> Option<&'static str> {
    match kind {
        FileType::RegularFile => None,
        FileType::Directory => Some("a directory"),
        FileType::Fifo => Some("a FIFO"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        FileType::Socket => Some("a socket"),
        _ => Some("no regular file"),
    }
}

/// File systems whose regular files have no stored bytes, by the magic of statfs(2).
fn pseudo(magic: u64) -> Option<&'static str> {
    Some(match magic & 0xffff_ffff {
        0x9fa0 => "procfs",
        0x6265_6572 => "sysfs",
        0x6462_6720 => "debugfs",
        0x7472_6163 => "tracefs",
        0x0027_e0eb | 0x6367_7270 => "cgroupfs",
        0x7363_6673 => "securityfs",
        0x6265_6570 => "configfs",
        0xcafe_4a11 => "bpffs",
        0xde5e_81e4 => "efivarfs",
        _ => return None,
    })
}

/// A fault of making or opening a file, with the fix.
pub fn fault(doing: impl Into<String>, error: &io::Error) -> Fault {
    Fault::of(doing, error).remedy(match error.kind() {
        io::ErrorKind::StorageFull => "free some space or inodes, or use fewer or smaller files",
        io::ErrorKind::FileTooLarge => "a limit (ulimit -f) or the file system forbids this size",
        _ => "",
    })
}
