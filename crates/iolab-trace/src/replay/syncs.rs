//! The same work with other syncs: which files are made durable, and when.

use std::collections::{BTreeMap, HashSet};

use super::disk::Disk;
use super::step::{Act, Action, Step, map_is_written};
use crate::call::{NONE, OpenFlags};

/// When data are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// As recorded.
    #[default]
    Recorded,
    /// Never.
    Never,
    /// Each file that is written to, before it is closed for the last time.
    AtClose,
    /// Once at the end, each file that was.
    AtEnd,
}

/// The acts with the syncs that are chosen. `slots` is the first free one.
pub(super) fn with_syncs(acts: Vec<Act>, when: When, disk: &Disk, slots: u32) -> (Vec<Act>, u32) {
    if when == When::Recorded {
        return (acts, slots);
    }
    let last = acts.last().map(|act| (act.thread, act.step.call));
    let (acts, synced) = without_syncs(acts);
    let (mut acts, due) = match when {
        When::Recorded | When::Never => (acts, Vec::new()),
        When::AtClose => at_close(acts),
        When::AtEnd => (acts, synced),
    };
    let slots_after = slots + due.len() as u32;
    for (slot, inode) in (slots..).zip(due) {
        let sync = last.and_then(|(thread, call)| at_end(disk, inode, thread, call, slot));
        acts.extend(sync.into_iter().flatten());
    }
    (acts, slots_after)
}

/// The acts without their syncs, and the files that were synced, by a call or with each write.
fn without_syncs(acts: Vec<Act>) -> (Vec<Act>, Vec<u32>) {
    let mut synced: Vec<u32> = Vec::new();
    let mut seen: HashSet<u32> = HashSet::new();
    let mut synchronous: HashSet<u32> = HashSet::new();
    let mut all = Vec::with_capacity(acts.len());
    for mut act in acts {
        let step = &mut act.step;
        let flags = OpenFlags(step.flags);
        if step.action == Action::Open && flags.has(OpenFlags::SYNCHRONOUS) {
            synchronous.insert(step.slot);
            step.flags = flags.without(OpenFlags::SYNCHRONOUS).0;
        }
        let made_durable =
            step.action.syncs() || step.action.writes() && synchronous.contains(&step.slot);
        if made_durable && seen.insert(act.inode) {
            synced.push(act.inode);
        }
        if !step.action.syncs() && step.action != Action::SyncAll {
            all.push(act);
        }
    }
    (all, synced)
}

/// The acts with a sync before the last closing of each file that was written to, and the files that
/// the program left open.
fn at_close(acts: Vec<Act>) -> (Vec<Act>, Vec<u32>) {
    // Where each is closed after it was written to, the last time so far.
    let mut closes: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    for (at, act) in acts.iter().enumerate() {
        if let Some(inode) = written(act) {
            closes.insert(inode, None);
        }
        if act.step.action == Action::Close
            && let Some(close) = closes.get_mut(&act.inode)
        {
            *close = Some(at);
        }
    }
    let left_open = closes.iter().filter(|(_, close)| close.is_none()).map(|(inode, _)| *inode);
    let left_open = left_open.collect();
    let last: HashSet<usize> = closes.into_values().flatten().collect();
    let mut all = Vec::with_capacity(acts.len() + last.len());
    for (at, act) in acts.into_iter().enumerate() {
        if last.contains(&at) {
            let step = Step { slot: act.step.slot, ..Step::new(Action::Sync, act.step.call) };
            all.push(Act { step, changes: true, ..act });
        }
        all.push(act);
    }
    (all, left_open)
}

/// The file that an act writes to.
fn written(act: &Act) -> Option<u32> {
    let step = &act.step;
    let writes = step.action.writes()
        || matches!(step.action, Action::Truncate | Action::Allocate)
        || step.action == Action::Map && map_is_written(step.flags);
    match act.to_inode {
        NONE => writes.then_some(act.inode),
        to => Some(to),
    }
}

/// Opens a file once more, where it still has a name, and makes it durable.
fn at_end(disk: &Disk, inode: u32, thread: u32, call: u32, slot: u32) -> Option<[Act; 3]> {
    let path = disk.inode(inode).path;
    if path == NONE {
        return None;
    }
    let step = |action| Step { slot, ..Step::new(action, call) };
    let act = |step| Act { inode, changes: true, ..Act::new(step, thread) };
    let open = Step { path, ..step(Action::Open) };
    Some([act(open), act(step(Action::Sync)), act(step(Action::Close))])
}
