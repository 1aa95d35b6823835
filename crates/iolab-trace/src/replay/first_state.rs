//! Which files were there before the program began.

use std::collections::HashSet;

use super::disk::{Disk, ENOENT, ENOTDIR, Inode, NodeKind};
use super::names::Names;
use crate::call::{Call, CallKind, NONE, OpenFlags, Result as Outcome};
use crate::trace::{FileKind, Trace};

/// All that must be there for the calls of a trace to come out as they did, as far as it says.
pub(super) fn first_state(trace: &Trace, names: &Names) -> Disk {
    let used = used_first(trace);
    let exists = |at: usize| trace.files[at].existed.unwrap_or(used[at]);
    let of_system = |at: &usize| trace.files[*at].kind.is_of_file_system();
    let named: Vec<(usize, &[u32])> = (0..trace.files.len())
        .filter(of_system)
        .filter_map(|at| Some((at, names.components[at].as_deref()?)))
        .collect();
    let absent: HashSet<&[u32]> =
        named.iter().filter(|(at, _)| !exists(*at)).map(|(_, name)| *name).collect();
    let parents: HashSet<&[u32]> =
        named.iter().flat_map(|(_, name)| (1..name.len()).map(|length| &name[..length])).collect();
    let mut disk = Disk::new();
    for (at, name) in &named {
        let above = |length: usize| &name[..length];
        if (1..name.len()).any(|length| absent.contains(above(length))) {
            continue;
        }
        let file = &trace.files[*at];
        let kind = match file.kind {
            FileKind::Directory => NodeKind::Directory,
            FileKind::Link => NodeKind::Link,
            _ if parents.contains(name) => NodeKind::Directory,
            _ => NodeKind::File,
        };
        let size = if kind == NodeKind::File { file.size_bytes.unwrap_or(0) } else { 0 };
        let inode = Inode::new(kind, size, *at as u32);
        // What is there already is a directory that another name needed.
        let _ = match exists(*at) {
            true => disk.make_with_parents(name, inode),
            // Its directory is there all the same.
            false if name.len() < 2 => continue,
            false => disk
                .make_with_parents(above(name.len() - 1), Inode::new(NodeKind::Directory, 0, NONE)),
        };
    }
    disk
}

/// Of each file, whether the first call on it found it.
fn used_first(trace: &Trace) -> Vec<bool> {
    let mut used: Vec<Option<bool>> = vec![None; trace.files.len()];
    for call in &trace.calls {
        let mut see = |file: u32, found: bool| {
            if let Some(used) = used.get_mut(file as usize) {
                used.get_or_insert(found);
            }
        };
        see(call.file, finds(call));
        if matches!(call.kind, CallKind::Rename | CallKind::Link) {
            see(call.other, false);
        }
    }
    used.into_iter().map(|used| used.unwrap_or(false)).collect()
}

/// Whether a call shows that the file it names was there: it came back, or failed for what it found.
fn finds(call: &Call) -> bool {
    match call.outcome() {
        Outcome::Done(_) => !makes(call),
        Outcome::Failed(errno) => ![ENOENT, ENOTDIR].contains(&i64::from(errno)),
        Outcome::Unknown => false,
    }
}

/// Whether a call that came back makes the file that it names.
fn makes(call: &Call) -> bool {
    match call.kind {
        CallKind::Open => OpenFlags(call.detail).has(OpenFlags::CREAT),
        CallKind::MakeDirectory | CallKind::Symlink => true,
        _ => false,
    }
}
