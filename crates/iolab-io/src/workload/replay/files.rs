//! The files of a replay: made below a directory that is held open, and brought back to that state
//! after a trial.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, statat, symlinkat};
use rustix::io::Errno;

use super::aside;
use super::originals;
use super::root::open_root;
use super::scene::{LEADS_TO, Scene, State};
use crate::method::fill;
use crate::sys::remove::{Whose, remove_contents, remove_entry, remove_tree};
use iolab_model::catalog::{Fill, path_to_text};
use iolab_model::result::Fault;
use iolab_trace::replay::{Node, NodeKind};

/// Bytes of one write, and of the pool that all contents are taken from.
const POOL_BYTES: usize = 1 << 20;
/// Where in the pool one file begins after another.
const STEP_BYTES: usize = 4096 + 64;

/// Makes all of them in a directory that is made too. `wanted` says whether to go on.
///
/// # Errors
/// The first that cannot be made.
pub fn make(scene: &Scene, root: &Path, wanted: &dyn Fn() -> bool) -> Result<(), Fault> {
    let failed = |error: &io::Error| {
        let doing = format!("make the files of a trace in {}", path_to_text(root));
        Fault::of(doing, error).remedy(match error.kind() {
            io::ErrorKind::StorageFull => "free some space or inodes, or name a larger place",
            _ => "",
        })
    };
    aside::make(root, scene.replay.made_files()).map_err(|error| failed(&error))?;
    let made = open_root(root).map_err(io::Error::from).and_then(|root| {
        make_nodes(scene, &root, &scene.replay.files, wanted)?;
        Ok(rustix::fs::syncfs(&root)?)
    });
    made.map_err(|error| failed(&error))?;
    scene.set(State::First);
    Ok(())
}

fn make_nodes(
    scene: &Scene,
    root: &OwnedFd,
    nodes: &[Node],
    wanted: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut contents = Contents::of(scene);
    for (number, node) in nodes.iter().enumerate() {
        if !wanted() {
            return Err(io::Error::other("the controller has gone"));
        }
        match node.kind {
            NodeKind::Directory => mkdirat(root, &*node.path, Mode::RWXU)?,
            NodeKind::Link => symlinkat(LEADS_TO, root, &*node.path)?,
            NodeKind::File => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let mode = Mode::RUSR | Mode::WUSR;
                let file = File::from(openat(root, &*node.path, flags | OFlags::NOFOLLOW, mode)?);
                contents.write(&file, node, number, wanted)?;
            }
        }
    }
    Ok(())
}

/// Where what is in the files comes from.
struct Contents<'a> {
    scene: &'a Scene,
    /// Of the seed; empty until it is needed.
    pool: Vec<u8>,
    /// What of an original is under way.
    piece: Vec<u8>,
}

impl Contents<'_> {
    fn of(scene: &Scene) -> Contents<'_> {
        Contents { scene, pool: Vec::new(), piece: Vec::new() }
    }

    /// What the original holds, where that is wanted and there; else what the seed says.
    fn write(
        &mut self,
        file: &File,
        node: &Node,
        number: usize,
        wanted: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut at = 0;
        if self.scene.with_data && node.bytes > 0 {
            self.piece.resize(POOL_BYTES, 0);
            if let Ok(original) = originals::of(&self.scene.trace, node) {
                at = originals::copy(&original, file, node.bytes, &mut self.piece, wanted)?;
            }
        }
        if self.pool.is_empty() && at < node.bytes {
            self.pool = vec![0; POOL_BYTES];
            fill(Fill::Random, self.scene.seed, &mut self.pool);
        }
        let mut from = number.wrapping_mul(STEP_BYTES) % POOL_BYTES;
        while at < node.bytes {
            let piece = (node.bytes - at).min((POOL_BYTES - from) as u64) as usize;
            file.write_all_at(&self.pool[from..from + piece], at)?;
            at += piece as u64;
            from = 0;
            if !wanted() {
                return Err(io::Error::other("the controller has gone"));
            }
        }
        Ok(())
    }
}

/// Brings the files back to their first state: what the trial has changed as foreseen is made anew,
/// and where that is not known, all of it.
pub(super) fn restore(scene: &Scene, root: &Path) -> Result<(), Fault> {
    let failed = |error: io::Error| {
        Fault::of(format!("make the files of a trace anew in {}", path_to_text(root)), &error)
    };
    let again = || -> io::Result<()> {
        let (root, path) = (open_root(root)?, root);
        match scene.state() {
            State::First => return Ok(()),
            State::Foreseen => undo(scene, &root, path)?,
            State::Unknown => {
                remove_contents(&root, None, Whose::Anyones)?;
                make_nodes(scene, &root, &scene.replay.files, &|| true)?;
            }
        }
        Ok(())
    };
    again().map_err(failed)?;
    scene.set(State::First);
    Ok(())
}

fn undo(scene: &Scene, root: &OwnedFd, path: &Path) -> io::Result<()> {
    let made = || scene.replay.changes.iter().filter(|change| change.after.is_some());
    let files: Vec<&CStr> = made().flat_map(|change| &change.files).map(|f| &**f).collect();
    let whole = made().map(|change| &*change.path);
    if !aside::take((root, path), whole, &files)? {
        for change in made() {
            let (above, name) = parent_and_name(root, &change.path)?;
            remove_entry(&above, &name)?;
        }
    }
    let mut all = scene.replay.changes.iter();
    all.try_for_each(|change| make_nodes(scene, root, &change.before, &|| true))
}

/// Takes all of them away, or aside: those of another trace may be made beside them at once.
///
/// # Errors
/// They cannot be taken.
pub fn remove(scene: &Scene, path: &Path) -> io::Result<()> {
    let root = open_root(path)?;
    let nodes = || scene.replay.files.iter();
    let files: Vec<&CStr> =
        nodes().filter(|node| node.kind == NodeKind::File).map(|node| &*node.path).collect();
    let top = nodes().map(|node| &*node.path).filter(|path| !path.to_bytes().contains(&b'/'));
    if scene.state() == State::First {
        aside::take((&root, path), top, &files)?;
    }
    remove_tree(path)
}

/// The directory that a path is in, opened, and the rest.
fn parent_and_name(root: &OwnedFd, path: &CStr) -> io::Result<(OwnedFd, std::ffi::CString)> {
    let bytes = path.to_bytes();
    let (above, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (&b"."[..], bytes),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok((openat(root, above, flags, Mode::empty())?, std::ffi::CString::new(name)?))
}

/// Whether the files are what the trace leaves: names, kinds and sizes of all that it changes.
pub(super) fn check(scene: &Scene, root: &Path) -> Result<(), Fault> {
    let doing = "look at what a replay has left";
    let opened = open_root(root).map_err(|error| Fault::of(doing, &error.into()))?;
    for change in &scene.replay.changes {
        let there = match statat(opened.as_fd(), &*change.path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Some(about),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(Fault::of(doing, &error.into())),
        };
        let is_as_foreseen = match (&there, &change.after) {
            (None, None) => true,
            (Some(about), Some(node)) => {
                let kind = FileType::from_raw_mode(about.st_mode);
                match node.kind {
                    NodeKind::File => {
                        kind == FileType::RegularFile && about.st_size as u64 == node.bytes
                    }
                    NodeKind::Directory => kind == FileType::Directory,
                    NodeKind::Link => kind == FileType::Symlink,
                }
            }
            _ => false,
        };
        if !is_as_foreseen {
            let name = change.path.to_string_lossy();
            let size =
                there.map_or("nothing".to_owned(), |about| format!("{} bytes", about.st_size));
            let cause = format!("{name} is {size}, and not what the recorded calls leave");
            return Err(Fault::new(doing, cause));
        }
    }
    scene.set(State::Foreseen);
    Ok(())
}
