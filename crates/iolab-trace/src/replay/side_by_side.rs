//! Files that a thread of the program works on one after the other, worked on side by side by a team
//! of threads in its place.
//!
//! What is open at the same time stays together, with what is done to those files by name right after.
//! Directories are listed, made and removed by the first of the team, in the recorded order, and what
//! came after that in the program comes after it here: it may be how the program found its files.

use std::collections::HashSet;

use super::disk::{Disk, ENOENT, NodeKind};
use super::step::{Act, Action};
use crate::call::NONE;
use crate::trace::Trace;

/// The acts, each by a thread of a team: number `team * recorded thread + member`.
pub(super) fn side_by_side(acts: Vec<Act>, team: u32, trace: &Trace, disk: &Disk) -> Vec<Act> {
    let one = || Split { loads_ns: vec![0; team as usize], ..Split::default() };
    let mut splits: Vec<Split> = trace.threads.iter().map(|_| one()).collect();
    let mut all: Vec<Act> = Vec::with_capacity(acts.len());
    for act in acts {
        let Some(split) = splits.get_mut(act.thread as usize) else { continue };
        // The program's own time goes with what it led to.
        if act.step.action == Action::Think {
            split.thinks.push(act);
            continue;
        }
        let (member, leads) = split.member(&act, disk);
        let took_ns = trace.calls.get(act.step.call as usize).map_or(0, |call| call.took_ns);
        let own_ns = split.thinks.iter().fold(took_ns, |sum, think| sum + think.step.asked);
        split.loads_ns[member as usize] += own_ns.max(1);
        let thread = act.thread * team + member;
        all.extend(split.thinks.drain(..).map(|think| Act { thread, ..think }));
        all.push(Act { thread, leads, ..act });
    }
    all
}

/// Whether all of a team must have come so far: what it does, or that it fails, is about more than one
/// name.
pub(super) fn is_for_all(act: &Act, disk: &Disk) -> bool {
    let fails = act.step.expected < 0 && act.step.expected != -ENOENT;
    let is_directory = disk.is(act.inode, NodeKind::Directory);
    fails || act.step.action == Action::SyncAll || act.step.action.syncs() && is_directory
}

/// How the work of one thread is split.
#[derive(Debug, Default)]
struct Split {
    /// Who works on the files at hand.
    member: u32,
    /// Those that are open, by their slots; all, by inodes and names.
    open: HashSet<u32>,
    files: HashSet<u32>,
    names: HashSet<u32>,
    /// By member: what its calls took in the program.
    loads_ns: Vec<u64>,
    thinks: Vec<Act>,
}

impl Split {
    /// Who makes this call, and whether others may go by it.
    fn member(&mut self, act: &Act, disk: &Disk) -> (u32, bool) {
        let step = &act.step;
        let goes_on = !self.open.is_empty()
            || self.files.contains(&act.inode)
            || [step.path, step.other].iter().any(|name| self.names.contains(name));
        if step.action == Action::Wait || !goes_on && is_of_first(act, disk) {
            return (0, true);
        }
        if !goes_on {
            self.begin();
        }
        let is_file = disk.is(act.inode, NodeKind::File);
        match step.action {
            Action::Open if is_file && step.slot != NONE => drop(self.open.insert(step.slot)),
            Action::Close => drop(self.open.remove(&step.slot)),
            _ => (),
        }
        if is_file {
            self.files.insert(act.inode);
            self.names.extend([step.path].iter().filter(|name| **name != NONE));
        }
        (self.member, false)
    }

    /// Other files: whoever has had the least takes them.
    fn begin(&mut self) {
        let least = self.loads_ns.iter().enumerate().min_by_key(|(_, load)| **load);
        self.member = least.map_or(0, |(member, _)| member as u32);
        self.files.clear();
        self.names.clear();
    }
}

/// Whether it is about directories, or an open file that is nobody's alone.
fn is_of_first(act: &Act, disk: &Disk) -> bool {
    let step = &act.step;
    let is_directory = disk.is(act.inode, NodeKind::Directory);
    let is_on_slot = step.action != Action::Open && step.slot != NONE;
    is_directory || is_on_slot || step.action == Action::MakeDirectory || is_for_all(act, disk)
}
