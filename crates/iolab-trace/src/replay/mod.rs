//! The file work of a trace done again, without the program: which calls can be made again on files
//! of our own, in which order, and the same work done in another way. Pure: what makes the calls is
//! the workload `replay`.
//!
//! A name of a trace is a number here (`names.rs`); what is not certain to come out as recorded is
//! left out and counted (`sift.rs`), so that a replay whose calls come back otherwise is a fault.

mod advice;
mod by_name;
mod choice;
mod control;
#[cfg(test)]
mod control_tests;
mod disk;
mod files;
mod first_state;
mod gather;
mod lanes;
mod left_out;
mod locks;
#[cfg(test)]
mod logs;
mod memory;
mod names;
#[cfg(test)]
mod names_tests;
mod on_handle;
mod order;
mod past_cache;
mod side_by_side;
mod sift;
mod state;
mod step;
mod syncs;
mod tables;
#[cfg(test)]
mod tests;
mod think;
#[cfg(test)]
mod ways_tests;

pub use advice::Advice;
pub use choice::{Choice, How};
pub use disk::NodeKind;
pub use files::{Change, Node};
pub use left_out::{Coverage, Reason};
pub use state::Inherited;
pub use step::{Action, Step};
pub use syncs::When;

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use crate::call::NONE;
use crate::trace::Trace;
use state::Sifter;
use step::Act;

/// What a replay of a trace needs, however it is done: its files, and what they become.
#[derive(Debug)]
pub struct Replay {
    /// The files that it begins with, directories before what they hold.
    pub files: Vec<Node>,
    /// What it leaves otherwise.
    pub changes: Vec<Change>,
    /// Bytes that all files take at most, those that it makes among them.
    pub space_bytes: u64,
    /// Different bytes that it reads of files that it leaves as they are: a device must deliver at
    /// least these where nothing is cached.
    pub read_bytes: u64,
    /// Bytes that its calls write.
    pub written_bytes: u64,
    /// What of the trace it is.
    pub coverage: Coverage,
    /// Clones that were refused: they are made again where they are refused, too.
    pub refused_clones: u64,
}

/// The steps of a replay done in one way.
#[derive(Debug)]
pub struct Program {
    /// By thread.
    pub lanes: Vec<Vec<Step>>,
    /// Names, by the number that steps have; empty where no step names it.
    pub paths: Vec<CString>,
    /// Files that are open before it begins.
    pub inherited: Vec<Inherited>,
    /// Places for open files.
    pub slots: u32,
    /// Events that threads tell one another.
    pub events: u32,
    /// Bytes that the recorded calls moved that are replayed, and how many calls they were.
    pub bytes: u64,
    /// Recorded calls that are replayed.
    pub calls: u64,
    /// Clones that were refused and would be made here, so that they are left out.
    pub clones_left_out: u64,
    /// Calls that go past the page cache where [`How::Direct`] asks for it, and their bytes.
    pub direct: (u64, u64),
    /// Whether each thread may have a table of descriptors of its own, as processes have.
    pub own_descriptors: bool,
}

impl Replay {
    /// What a trace needs.
    pub fn of(trace: &Trace) -> Replay {
        let mut sifter = Sifter::sift(trace);
        files::fill(&mut sifter);
        let peaks = sifter.disk.inodes.iter().map(|inode| inode.peak);
        let writes = |act: &&Act| act.step.action.writes() || act.to_inode != NONE;
        let written = sifter.acts.iter().filter(writes);
        let written = written.map(|act| act.step.expected.unsigned_abs());
        Replay {
            files: files::nodes(&sifter.first, &sifter.names),
            changes: files::changes(&sifter.first, &sifter.disk, &sifter.names),
            space_bytes: peaks.fold(0, u64::saturating_add),
            read_bytes: read_bytes(&sifter.acts),
            written_bytes: written.fold(0, u64::saturating_add),
            refused_clones: sifter.acts.iter().filter(|act| is_refused_clone(act)).count() as u64,
            coverage: sifter.coverage,
        }
    }

    /// Files that it begins with, and that it makes.
    pub fn made_files(&self) -> u64 {
        let begun = self.files.iter().filter(|node| node.kind == NodeKind::File).count();
        let made = self.changes.iter().map(|change| change.files.len());
        (begun + made.sum::<usize>()) as u64
    }

    /// Bytes of the files that it begins with.
    pub fn file_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, node| sum.saturating_add(node.bytes))
    }
}

impl Program {
    /// The steps of a trace, done in this way.
    pub fn of(trace: &Trace, choice: Choice) -> Program {
        let mut sifter = Sifter::sift(trace);
        let acts = memory::with_memory(std::mem::take(&mut sifter.acts), trace);
        let acts = if choice.think { think::with_think(acts, trace) } else { acts };
        let made = acts.len();
        let acts: Vec<Act> =
            acts.into_iter().filter(|act| !(choice.clones && is_refused_clone(act))).collect();
        let clones_left_out = (made - acts.len()) as u64;
        let team = choice.threads.max(1);
        let acts = match team {
            1 => acts,
            _ => side_by_side::side_by_side(from_top(acts), team, trace, &sifter.disk),
        };
        let (lost_calls, lost_bytes) = sifter.coverage.lost();
        let (calls, bytes) =
            (sifter.coverage.calls - lost_calls, sifter.coverage.bytes - lost_bytes);
        let (acts, slots) =
            syncs::with_syncs(acts, choice.sync, &sifter.disk, trace.handles.len() as u32);
        let acts = advice::with_advice(acts, choice.readahead);
        let acts = choice::with_calls(acts, choice.how, &sifter.disk);
        let mut acts = match choice.block_bytes {
            Some(block) => gather::gather(acts, block.max(1)),
            None => acts,
        };
        let (mut slots, mut direct) = (slots, (0, 0));
        match choice.how {
            How::Direct(unit) => {
                let first = slots;
                (acts, slots) = past_cache::past_cache(acts, unit.max(1), first);
                direct = past_cache::passed(&acts, first);
            }
            How::Ring => choice::with_ring(&mut acts),
            How::Recorded | How::Pread | How::Mmap => (),
        }
        let mut paths = paths(&acts, &sifter);
        let (lanes, events) = lanes::lanes(order::order(acts, &sifter, team), team);
        let mut lanes: Vec<Vec<Step>> = lanes.into_iter().map(think::joined).collect();
        shorten(&mut lanes, &mut paths, &sifter);
        Program {
            own_descriptors: team == 1 && tables::are_apart(&lanes, trace),
            lanes,
            paths,
            inherited: sifter.inherited,
            slots,
            events,
            bytes,
            calls: calls - clones_left_out,
            direct,
            clones_left_out,
        }
    }

    /// Calls that are made.
    pub fn made_calls(&self) -> u64 {
        let calls = |lane: &Vec<Step>| lane.iter().filter(|step| step.action.is_call()).count();
        self.lanes.iter().map(calls).sum::<usize>() as u64
    }
}

fn is_refused_clone(act: &Act) -> bool {
    act.step.action == Action::Clone && act.step.expected < 0
}

/// Different bytes of files that no act writes to.
fn read_bytes(acts: &[Act]) -> u64 {
    let writes = |act: &&Act| act.changes || act.step.action.writes();
    let written: HashSet<u32> = acts
        .iter()
        .filter(writes)
        .map(|act| act.inode)
        .chain(acts.iter().map(|act| act.to_inode))
        .collect();
    let mut ranges: Vec<(u32, u64, u64)> = acts
        .iter()
        .filter(|act| act.step.action.counts_bytes() && !written.contains(&act.inode))
        .map(|act| (act.inode, act.step.offset, act.end()))
        .collect();
    ranges.sort_unstable();
    let (mut sum, mut file, mut reached) = (0_u64, NONE, 0);
    for (inode, start, end) in ranges {
        if inode != file {
            (file, reached) = (inode, 0);
        }
        sum = sum.saturating_add(end.saturating_sub(start.max(reached)));
        reached = reached.max(end);
    }
    sum
}

fn paths(acts: &[Act], sifter: &Sifter<'_>) -> Vec<CString> {
    let mut paths = vec![CString::default(); sifter.names.components.len()];
    let inherited = sifter.inherited.iter().map(|one| one.path);
    let renamed = |act: &&Act| matches!(act.step.action, Action::Rename | Action::Link);
    let others = acts.iter().filter(renamed).map(|act| act.step.other);
    let used = acts.iter().map(|act| act.step.path).chain(others).chain(inherited);
    for name in used.filter(|name| *name != NONE) {
        if let (Some(path), Some(Some(components))) =
            (paths.get_mut(name as usize), sifter.names.components.get(name as usize))
            && path.is_empty()
        {
            *path = sifter.names.path(components);
        }
    }
    paths
}

/// The same with all names from the top: whose directory another of a team opens is not waited for.
fn from_top(mut acts: Vec<Act>) -> Vec<Act> {
    for act in acts.iter_mut().filter(|act| act.step.action.is_below()) {
        act.step.other = NONE;
    }
    acts
}

/// Names below open directories become what is left of them there.
fn shorten(lanes: &mut [Vec<Step>], paths: &mut Vec<CString>, sifter: &Sifter<'_>) {
    let below =
        |step: &&mut Step| step.action.is_below() && step.other != NONE && step.path != NONE;
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    for step in lanes.iter_mut().flatten().filter(below) {
        let directory = sifter.trace.file_of_handle(step.other).unwrap_or(NONE);
        let next = paths.len() as u32;
        let number = *known.entry((step.path, directory)).or_insert(next);
        if number == next {
            let names = (sifter.name(step.path), sifter.name(directory));
            let rest = match names {
                (Ok(name), Ok(directory)) => name.get(directory.len()..).unwrap_or_default(),
                _ => &[],
            };
            paths.push(sifter.names.path(rest));
        }
        step.path = number;
    }
}
