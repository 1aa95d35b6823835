//! Which act waits for which of another thread: through files, names, open files, and the starts and
//! ends of threads. Every wait is for an act that came earlier in the trace, so that no two threads
//! ever wait for each other.

use std::collections::HashMap;

use super::disk::NodeKind;
use super::side_by_side::is_for_all;
use super::state::Sifter;
use super::step::{Act, Action};
use crate::call::NONE;
use crate::trace::Trace;

/// So far back it is asked who started whom.
const MOST_GENERATIONS: usize = 1000;

/// So many acts of a thread have been done.
pub(super) type Point = (u32, u32);

/// The acts of each thread with what each waits for.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    /// By thread.
    pub(super) acts: Vec<Vec<Act>>,
    /// By thread and act: what it waits for.
    pub(super) waits: HashMap<Point, Vec<Point>>,
    /// By thread and act, its place among all acts.
    pub(super) places: Vec<Vec<u32>>,
}

/// Something that acts of several threads meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Meeting {
    /// How large a file is, and what is durable of it.
    File(u32),
    /// Where the offset of an open file is, and whether it is open.
    Slot(u32),
    /// What is under a name.
    Name(u32),
    /// Where directories are.
    Directories,
}

/// Who changed it last, and who has looked at it since.
#[derive(Debug, Default)]
struct Last {
    change: Option<Point>,
    looks: Vec<Point>,
}

/// Orders the acts of a trace, whose threads are teams of so many.
pub(super) fn order(acts: Vec<Act>, sifter: &Sifter<'_>, team: u32) -> Ordered {
    let trace = sifter.trace;
    let mut ordered = Ordered::default();
    let mut threads = Threads::new(trace, team);
    ordered.acts.resize_with(threads.calls.len(), Vec::new);
    ordered.places.resize_with(threads.calls.len(), Vec::new);
    let alone = acts.windows(2).all(|pair| pair[0].thread == pair[1].thread);
    let parents = if alone { HashMap::new() } else { parents(sifter) };
    let mut lasts: HashMap<Meeting, Last> = HashMap::new();
    for (place, act) in acts.into_iter().enumerate() {
        let thread = act.thread;
        let Some(own) = ordered.acts.get(thread as usize) else { continue };
        let point = (thread, own.len() as u32);
        threads.begin(trace, &act);
        if act.step.action == Action::Wait {
            threads.ended(threads.recorded(thread), act.step.other, act.step.call);
            continue;
        }
        let mut waits = threads.take(thread);
        if team > 1 && is_for_all(&act, &sifter.disk) {
            waits.extend(threads.reached(threads.recorded(thread)));
        }
        if !alone {
            for (meeting, changes) in meetings(&act, sifter, &parents) {
                let last = lasts.entry(meeting).or_default();
                waits.extend(
                    last.change
                        .into_iter()
                        .chain(changes.then_some(&last.looks[..]).into_iter().flatten().copied()),
                );
                last.met((thread, point.1 + 1), changes);
            }
        }
        waits.retain(|(of, _)| *of != thread);
        // Of each thread the latest stands for those before it.
        waits.sort_unstable();
        waits.reverse();
        waits.dedup_by_key(|(of, _)| *of);
        if !waits.is_empty() {
            ordered.waits.insert(point, waits);
        }
        ordered.acts[thread as usize].push(act);
        ordered.places[thread as usize].push(place as u32);
        threads.did(&act);
    }
    ordered
}

impl Last {
    fn met(&mut self, point: Point, changes: bool) {
        if changes {
            self.change = Some(point);
            self.looks.clear();
            return;
        }
        match self.looks.iter_mut().find(|look| look.0 == point.0) {
            Some(look) => *look = point,
            None => self.looks.push(point),
        }
    }
}

/// Starts and ends of threads, each of them a team: number `team * recorded thread + member`.
struct Threads {
    team: u32,
    /// By recorded thread: what all of its team wait for from a call on, and how much of that each
    /// member has.
    owed: Vec<Vec<(u32, Point)>>,
    given: Vec<usize>,
    begun: Vec<bool>,
    /// The calls of each member's acts, the latest so far.
    calls: Vec<Vec<u32>>,
}

impl Threads {
    fn new(trace: &Trace, team: u32) -> Threads {
        let (count, all) = (trace.threads.len(), trace.threads.len() * team as usize);
        Threads {
            team,
            owed: vec![Vec::new(); count],
            given: vec![0; all],
            begun: vec![false; count],
            calls: vec![Vec::new(); all],
        }
    }

    fn recorded(&self, member: u32) -> u32 {
        member / self.team
    }

    fn members(&self, recorded: u32) -> std::ops::Range<u32> {
        recorded * self.team..(recorded + 1) * self.team
    }

    /// How far those of a team have come that have begun.
    fn reached(&self, recorded: u32) -> impl Iterator<Item = Point> + '_ {
        let done = |member: u32| (member, self.calls[member as usize].len() as u32);
        self.members(recorded).map(done).filter(|(_, done)| *done > 0)
    }

    fn begin(&mut self, trace: &Trace, act: &Act) {
        let recorded = self.recorded(act.thread);
        if !std::mem::replace(&mut self.begun[recorded as usize], true) {
            let waits = self.start_of(trace, recorded, act.step.call);
            self.owed[recorded as usize].extend(waits.into_iter().map(|point| (0, point)));
        }
    }

    /// What a member waits for before its next act, beside what that act does.
    fn take(&mut self, member: u32) -> Vec<Point> {
        let owed = &self.owed[self.recorded(member) as usize];
        let given = std::mem::replace(&mut self.given[member as usize], owed.len());
        owed[given..].iter().map(|(_, point)| *point).collect()
    }

    /// The acts of its parent that came before it was started, or of whoever started that one; and
    /// what the parent itself had waited for and done nothing since.
    fn start_of(&self, trace: &Trace, recorded: u32, call: u32) -> Vec<Point> {
        let mut thread = recorded;
        for _ in 0..MOST_GENERATIONS {
            let started_by = trace.threads.get(thread as usize).map_or(NONE, |one| one.started_by);
            let Some(start) = trace.calls.get(started_by as usize) else { break };
            let parent = start.thread;
            let before = |member: u32| {
                let calls = self.calls.get(member as usize)?;
                let done = calls.partition_point(|one| *one <= started_by.min(call));
                (done > 0).then_some((member, done as u32))
            };
            let done: Vec<Point> = self.members(parent).filter_map(before).collect();
            if !done.is_empty() {
                return done.into_iter().chain(self.waiting(parent, started_by)).collect();
            }
            thread = parent;
        }
        Vec::new()
    }

    /// What the first of a team had to wait for by a call, and has not yet.
    fn waiting(&self, recorded: u32, call: u32) -> impl Iterator<Item = Point> + '_ {
        let first = self.members(recorded).start as usize;
        let given = self.given.get(first).copied().unwrap_or(0);
        let owed =
            self.owed.get(recorded as usize).into_iter().flat_map(move |owed| &owed[given..]);
        owed.filter(move |(by, _)| *by <= call).map(|(_, point)| *point)
    }

    fn ended(&mut self, waiting: u32, ended: u32, call: u32) {
        if waiting == ended || ended as usize >= self.owed.len() {
            return;
        }
        let all: Vec<Point> = self.reached(ended).chain(self.waiting(ended, call)).collect();
        self.owed[waiting as usize].extend(all.into_iter().map(|point| (call, point)));
    }

    fn did(&mut self, act: &Act) {
        let recorded = self.recorded(act.thread);
        let calls = &mut self.calls[act.thread as usize];
        let latest = calls.last().copied().unwrap_or(0).max(act.step.call);
        calls.push(latest);
        let done = calls.len() as u32;
        if act.leads {
            self.owed[recorded as usize].push((act.step.call, (act.thread, done)));
        }
    }
}

/// The name that the directory of each name has, where it is one of the trace.
fn parents(sifter: &Sifter<'_>) -> HashMap<u32, u32> {
    let named = |at: usize| sifter.names.components[at].as_deref().filter(|name| !name.is_empty());
    let all = 0..sifter.names.components.len();
    let by_name: HashMap<&[u32], u32> =
        all.clone().filter_map(|at| Some((named(at)?, at as u32))).collect();
    all.filter_map(|at| {
        let name = named(at)?;
        Some((at as u32, *by_name.get(&name[..name.len() - 1])?))
    })
    .collect()
}

/// What an act looks at, and what it changes.
fn meetings(act: &Act, sifter: &Sifter<'_>, parents: &HashMap<u32, u32>) -> Vec<(Meeting, bool)> {
    let (step, mut all) = (&act.step, Vec::with_capacity(6));
    let disk = &sifter.disk;
    let needs_size = step.action.counts_bytes() || step.action == Action::Map;
    if disk.is(act.inode, NodeKind::File) && (act.changes || needs_size) {
        all.push((Meeting::File(act.inode), act.changes));
    }
    if act.to_inode != NONE {
        all.push((Meeting::File(act.to_inode), true));
    }
    let slots = if step.path == NONE { [step.slot, step.other] } else { [step.slot, NONE] };
    for slot in slots.into_iter().filter(|slot| *slot != NONE) {
        all.push((Meeting::Slot(slot), moves_offset(step.action)));
    }
    if step.path == NONE {
        return all;
    }
    if step.action.is_below() && step.other != NONE {
        all.push((Meeting::Slot(step.other), false));
    }
    let renames = matches!(step.action, Action::Rename | Action::Link);
    let names = [step.path, if renames { step.other } else { NONE }];
    let changes = act.changes && changes_names(step.action) || opens_new(act);
    for name in names.into_iter().filter(|name| *name != NONE) {
        all.push((Meeting::Name(name), changes));
        all.extend(parents.get(&name).map(|parent| (Meeting::Name(*parent), false)));
    }
    let moves_tree = step.action == Action::Rename && disk.is(act.inode, NodeKind::Directory);
    all.push((Meeting::Directories, moves_tree));
    all
}

/// Whether what others do through the same open file comes before it or after it.
fn moves_offset(action: Action) -> bool {
    matches!(
        action,
        Action::Open
            | Action::Close
            | Action::Read
            | Action::Write
            | Action::Seek
            | Action::List
            | Action::CopyRange
            | Action::SendFile
            | Action::MapWhole
            | Action::Unmap
            | Action::Flags
            // It is told before anything is read.
            | Action::Advise
    )
}

fn changes_names(action: Action) -> bool {
    matches!(
        action,
        Action::Rename
            | Action::Unlink
            | Action::MakeDirectory
            | Action::RemoveDirectory
            | Action::Link
            | Action::Symlink
    )
}

/// Whether an opening makes its file, or empties it.
fn opens_new(act: &Act) -> bool {
    act.step.action == Action::Open && act.changes
}
