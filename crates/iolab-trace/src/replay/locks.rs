//! Who has locked what, as far as calls have got: a lock is made again where nobody is in its way.

use std::collections::{HashMap, HashSet};

use crate::control::Lock;

/// A lock of an open file, of bytes from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    handle: u32,
    lock: Lock,
    start: u64,
    end: u64,
}

impl Held {
    /// Of so many bytes from an offset on; 0: of all that follow.
    pub(super) fn new(handle: u32, lock: Lock, offset: u64, bytes: u64) -> Held {
        let end = if bytes == 0 { u64::MAX } else { offset.saturating_add(bytes) };
        Held { handle, lock, start: offset, end }
    }

    fn is_in_the_way_of(&self, other: &Held) -> bool {
        let alone = [self.lock, other.lock].contains(&Lock::Exclusive);
        let overlaps = self.start < other.end && other.start < self.end;
        alone && overlaps && self.handle != other.handle
    }

    /// What is left of it beside a range.
    fn without(self, range: &Held) -> impl Iterator<Item = Held> {
        let before = Held { end: self.end.min(range.start), ..self };
        let after = Held { start: self.start.max(range.end), ..self };
        [before, after].into_iter().filter(|held| held.start < held.end)
    }
}

/// By inode: what is locked of it.
#[derive(Debug, Default)]
struct Table(HashMap<u32, Vec<Held>>);

impl Table {
    /// Whether nobody is in the way; then it is held, in place of what its handle held of that range.
    fn take(&mut self, inode: u32, wanted: Held) -> bool {
        let all = self.0.entry(inode).or_default();
        if wanted.lock != Lock::Nothing && all.iter().any(|held| held.is_in_the_way_of(&wanted)) {
            return false;
        }
        let (own, others): (Vec<Held>, Vec<Held>) =
            all.iter().partition(|held| held.handle == wanted.handle);
        *all = others;
        all.extend(own.into_iter().flat_map(|held| held.without(&wanted)));
        all.extend((wanted.lock != Lock::Nothing).then_some(wanted));
        true
    }

    /// Whether there was one of that handle.
    fn release(&mut self, handle: u32, inode: u32) -> bool {
        let Some(all) = self.0.get_mut(&inode) else { return false };
        let before = all.len();
        all.retain(|held| held.handle != handle);
        all.len() < before
    }
}

/// All locks.
#[derive(Debug, Default)]
pub(super) struct Locks {
    whole: Table,
    ranges: Table,
    /// Files of which processes have locked ranges: those are in the way of open files.
    of_processes: HashSet<u32>,
}

impl Locks {
    /// flock.
    pub(super) fn of_whole(&mut self, inode: u32, wanted: Held) -> bool {
        self.whole.take(inode, wanted)
    }

    /// A range, for an open file.
    pub(super) fn of_open_file(&mut self, inode: u32, wanted: Held) -> bool {
        !self.of_processes.contains(&inode) && self.ranges.take(inode, wanted)
    }

    /// A range, for a process.
    pub(super) fn of_process(&mut self, inode: u32) -> bool {
        self.of_processes.insert(inode);
        self.ranges.0.get(&inode).is_none_or(Vec::is_empty)
    }

    /// Gives back what a handle that is closed has locked; whether it had.
    pub(super) fn release(&mut self, handle: u32, inode: u32) -> bool {
        let (whole, ranges) =
            (self.whole.release(handle, inode), self.ranges.release(handle, inode));
        whole || ranges
    }
}
