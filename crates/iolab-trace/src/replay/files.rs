//! The files that a replay begins with, and what of them it leaves otherwise.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;

use super::disk::{Disk, Inode, NodeKind};
use super::names::Names;
use super::state::Sifter;
use crate::call::NONE;

/// A file, directory or link, by its path below the directory of all copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where.
    pub path: CString,
    /// What.
    pub kind: NodeKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// Which of the trace's files it is a copy of; none of what only fills a directory.
    pub original: Option<u32>,
}

/// What the calls of a trace leave otherwise than it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: CString,
    /// What is there before, with all that is in it; nothing where nothing is.
    pub before: Vec<Node>,
    /// What is there afterwards, itself alone.
    pub after: Option<Node>,
    /// The files that it is afterwards, or that are in it.
    pub files: Vec<CString>,
}

/// Files that a directory is filled up with, at most, in all.
const MOST_FILLERS: u64 = 1_000_000;

/// Fills directories that were listed up to as many names as they had.
pub(super) fn fill(sifter: &mut Sifter<'_>) {
    let mut listed: Vec<(u32, u64)> = sifter.listed.iter().map(|(a, b)| (*a, *b)).collect();
    listed.sort_unstable();
    let entries = sifter.disk.inodes.iter().flat_map(|inode| inode.entries.values().copied());
    let named: HashSet<u32> = entries.chain([0]).collect();
    let mut left = MOST_FILLERS;
    for (inode, names) in listed {
        // Made by the program, or gone in the end: what it held is known.
        let there = sifter.first.inodes.get(inode as usize).map(|inode| inode.entries.len());
        let Some(known) = there else { continue };
        let missing = names.saturating_sub(2).saturating_sub(known as u64).min(left);
        if missing == 0 || !named.contains(&inode) {
            continue;
        }
        left -= missing;
        for _ in 0..missing {
            let name = sifter.names.filler(12);
            for disk in [&mut sifter.first, &mut sifter.disk] {
                let number = disk.inodes.len() as u32;
                disk.inodes.push(Inode::new(NodeKind::File, 0, NONE));
                disk.inode_mut(inode).entries.insert(name, number);
            }
        }
    }
}

/// All that is below a directory, directories before what they hold.
pub(super) fn nodes(disk: &Disk, names: &Names) -> Vec<Node> {
    let mut all = Vec::new();
    below(disk, names, 0, &[], &mut all);
    all
}

fn below(disk: &Disk, names: &Names, at: u32, path: &[u32], all: &mut Vec<Node>) {
    // A directory that is within itself there is none: names are never longer than a path may be.
    let mut open: Vec<(u32, Vec<u32>)> = vec![(at, path.to_vec())];
    while let Some((inode, path)) = open.pop() {
        for (part, child) in &disk.inode(inode).entries {
            let mut path = path.clone();
            path.push(*part);
            all.push(node(disk, names, *child, &path));
            if disk.inode(*child).kind == NodeKind::Directory {
                open.push((*child, path));
            }
        }
    }
}

fn node(disk: &Disk, names: &Names, inode: u32, path: &[u32]) -> Node {
    let inode = disk.inode(inode);
    let bytes = if inode.kind == NodeKind::File { inode.size } else { 0 };
    let original = Some(inode.path).filter(|path| *path != NONE);
    Node { path: names.path(path), kind: inode.kind, bytes, original }
}

/// What differs between two states.
pub(super) fn changes(first: &Disk, last: &Disk, names: &Names) -> Vec<Change> {
    let mut all = Vec::new();
    let mut open = vec![(0, 0, Vec::new())];
    while let Some((before, after, path)) = open.pop() {
        let (old, new) = (&first.inode(before).entries, &last.inode(after).entries);
        let both: BTreeMap<&u32, (Option<&u32>, Option<&u32>)> =
            old.keys().chain(new.keys()).map(|key| (key, (old.get(key), new.get(key)))).collect();
        for (part, pair) in both {
            let mut path = path.clone();
            path.push(*part);
            match pair {
                (Some(a), Some(b)) if both_directories(first, *a, last, *b) => {
                    open.push((*a, *b, path));
                }
                (Some(a), Some(b)) if is_same(first.inode(*a), last.inode(*b)) => (),
                (before, after) => {
                    let change = change(first, before, last, after, names, &path);
                    all.push(change);
                }
            }
        }
    }
    all
}

fn both_directories(first: &Disk, a: u32, last: &Disk, b: u32) -> bool {
    let is = |disk: &Disk, inode| disk.inode(inode).kind == NodeKind::Directory;
    is(first, a) && is(last, b)
}

/// Whether one may stand for the other: as large, and all of it stored.
fn is_same(a: &Inode, b: &Inode) -> bool {
    a.kind == b.kind && a.size == b.size && !b.has_holes
}

fn change(
    first: &Disk,
    before: Option<&u32>,
    last: &Disk,
    after: Option<&u32>,
    names: &Names,
    path: &[u32],
) -> Change {
    let mut all = Vec::new();
    if let Some(inode) = before {
        all.push(node(first, names, *inode, path));
        if first.inode(*inode).kind == NodeKind::Directory {
            below(first, names, *inode, path, &mut all);
        }
    }
    let mut left = Vec::new();
    if let Some(inode) = after {
        left.push(node(last, names, *inode, path));
        if last.inode(*inode).kind == NodeKind::Directory {
            below(last, names, *inode, path, &mut left);
        }
    }
    let files = left.iter().filter(|node| node.kind == NodeKind::File);
    let files = files.map(|node| node.path.clone()).collect();
    Change { path: names.path(path), before: all, after: left.into_iter().next(), files }
}
