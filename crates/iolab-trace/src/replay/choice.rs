//! The same work done in another way: by which calls bytes are read and written.

use std::collections::{HashMap, HashSet};

use super::advice::Advice;
use super::disk::{Disk, NodeKind};
use super::step::{Act, Action, Step};
use super::syncs::When;
use crate::call::{NONE, OpenFlags};

/// By which calls bytes are read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// As recorded.
    #[default]
    Recorded,
    /// pread and pwrite, and no lseek.
    Pread,
    /// What is only read comes out of mappings.
    Mmap,
    /// As [`How::Pread`], and each read, write and sync is a request in a ring.
    Ring,
    /// As [`How::Pread`], and past the page cache where offset and length are multiples of this.
    Direct(u64),
}

/// A way to do the work of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// How bytes move.
    pub how: How,
    /// Neighbouring small reads and writes are made in blocks of this size; else as recorded.
    pub block_bytes: Option<u64>,
    /// When data are made durable.
    pub sync: When,
    /// What the kernel is told of the order of reads.
    pub readahead: Advice,
    /// Whether the program's own time passes between its calls.
    pub think: bool,
    /// Whether files can be clones of one another where it is done: a clone that was refused is then
    /// left out, for here it would be made.
    pub clones: bool,
    /// How many threads work in the place of each of the program's; 0: as recorded.
    pub threads: u32,
}

/// The acts with the calls that are chosen for bytes.
pub(super) fn with_calls(acts: Vec<Act>, how: How, disk: &Disk) -> Vec<Act> {
    match how {
        How::Recorded => acts,
        How::Pread | How::Ring | How::Direct(_) => {
            let bound = bound_slots(&acts);
            acts.into_iter().filter_map(|act| positioned(act, disk, &bound)).collect()
        }
        How::Mmap => mapped(acts, disk),
    }
}

/// A call with an offset of its own in place of one that needs the handle's.
fn positioned(mut act: Act, disk: &Disk, bound: &HashSet<u32>) -> Option<Act> {
    if bound.contains(&act.step.slot) {
        return Some(act);
    }
    let is_file = disk.is(act.inode, NodeKind::File);
    act.step.action = match act.step.action {
        Action::Read => Action::ReadAt,
        Action::Write => Action::WriteAt,
        Action::Seek if is_file => return None,
        other => other,
    };
    Some(act)
}

/// Requests in a ring in place of calls.
pub(super) fn with_ring(acts: &mut [Act]) {
    for act in acts {
        let action = match act.step.action {
            Action::ReadAt => Action::RingRead,
            Action::WriteAt => Action::RingWrite,
            Action::Sync => Action::RingSync,
            Action::DataSync => Action::RingDataSync,
            _ => continue,
        };
        act.step = Step { action, parts: 1, ..act.step.in_any_buffer() };
    }
}

/// Handles that are only read, of files whose size stays: they are mapped when they are opened.
fn mapped(acts: Vec<Act>, disk: &Disk) -> Vec<Act> {
    let changed: HashSet<u32> = acts
        .iter()
        .filter(|act| act.changes || act.step.action.writes() || act.to_inode != NONE)
        .flat_map(|act| {
            [act.to_inode, if act.changes || act.step.action.writes() { act.inode } else { NONE }]
        })
        .collect();
    let mut shared = shared_slots(&acts);
    shared.extend(bound_slots(&acts));
    let reads = acts.iter().filter(|act| act.step.action.reads()).map(|act| act.step.slot);
    let read: HashSet<u32> = reads.filter(|slot| !shared.contains(slot)).collect();
    let mut maps: HashMap<u32, u64> = HashMap::new();
    let mut all = Vec::with_capacity(acts.len());
    for mut act in acts {
        let step = act.step;
        let with = |action, asked| {
            let step = Step { asked, expected: 0, path: NONE, other: NONE, ..step };
            Act { step: Step { action, flags: 0, offset: 0, ..step }, ..act }
        };
        match step.action {
            Action::Open if step.slot != NONE && read.contains(&step.slot) => {
                all.push(act);
                let inode = disk.inode(act.inode);
                let is_file = inode.kind == NodeKind::File && inode.size > 0;
                let plain =
                    !OpenFlags(step.flags).writes() && !OpenFlags(step.flags).has(OpenFlags::PATH);
                if is_file && plain && !changed.contains(&act.inode) {
                    maps.insert(step.slot, inode.size);
                    all.push(with(Action::MapWhole, inode.size));
                }
            }
            Action::Close if maps.remove(&step.slot).is_some() => {
                all.push(with(Action::Unmap, 0));
                all.push(act);
            }
            Action::Seek if maps.contains_key(&step.slot) => (),
            action if action.reads() && maps.contains_key(&step.slot) => {
                // The end of the file is known: nobody reads there to find it.
                if step.expected > 0 {
                    let (action, asked) = (Action::ReadMapped, step.expected.unsigned_abs());
                    act.step = Step { action, asked, ..step.in_any_buffer() };
                    all.push(act);
                }
            }
            _ => all.push(act),
        }
    }
    all
}

/// Slots that the kernel copies between: those calls go by the offsets that others have left.
fn bound_slots(acts: &[Act]) -> HashSet<u32> {
    let copies = |act: &&Act| matches!(act.step.action, Action::CopyRange | Action::SendFile);
    acts.iter().filter(copies).flat_map(|act| [act.step.slot, act.step.other]).collect()
}

/// Slots that several threads use: a mapping is one thread's.
fn shared_slots(acts: &[Act]) -> HashSet<u32> {
    let mut users: HashMap<u32, u32> = HashMap::new();
    let on_slots = acts.iter().filter(|act| act.step.slot != NONE);
    let others =
        on_slots.filter(|act| *users.entry(act.step.slot).or_insert(act.thread) != act.thread);
    others.map(|act| act.step.slot).collect()
}
