//! Neighbouring small reads and writes as one, as a buffer in the program would make them.
//!
//! A run is reads, or writes, of one thread through one handle, each where the last one ended, with
//! no other call on that file between. A block is read where its first byte is needed and written
//! where its last byte comes. What asks for a block or more by itself stays as it is.

use std::collections::HashMap;

use super::step::{Act, Action, Step};
use crate::call::{NONE, OpenFlags};

/// Under these each call has an effect of its own.
const EACH_COUNTS: OpenFlags = OpenFlags::SYNCHRONOUS.with(OpenFlags::DIRECT);

/// A run that may go on.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The last call of it.
    act: Act,
    /// Up to here the run goes, and up to here blocks have been put.
    end: u64,
    done: u64,
    /// Where the last block of a read was put.
    at: usize,
    /// A read came back with less than it asked for: the file ends there.
    met_end: bool,
}

/// Gathers into blocks of `block` bytes.
pub(super) fn gather(acts: Vec<Act>, block: u64) -> Vec<Act> {
    let mut gathered = Gathered {
        block,
        all: Vec::with_capacity(acts.len()),
        runs: HashMap::new(),
        each: HashMap::new(),
    };
    for act in acts {
        gathered.take(act);
    }
    gathered.finish_all();
    gathered.all
}

struct Gathered {
    block: u64,
    all: Vec<Act>,
    /// By file.
    runs: HashMap<u32, Run>,
    /// Slots whose calls are never gathered.
    each: HashMap<u32, bool>,
}

impl Gathered {
    fn take(&mut self, act: Act) {
        let step = &act.step;
        if step.action == Action::Open {
            let counts = OpenFlags(step.flags).has(EACH_COUNTS);
            self.each.insert(step.slot, counts);
        }
        if step.action == Action::SyncAll {
            self.finish_all();
        }
        for inode in [act.inode, act.to_inode] {
            let goes_on = inode == act.inode && self.goes_on(&act);
            if inode != NONE && !goes_on {
                self.finish(inode);
            }
        }
        if !self.is_small(step) {
            self.all.push(act);
            return;
        }
        match step.action.reads() {
            true => self.read(act),
            false => self.write(act),
        }
    }

    fn is_small(&self, step: &Step) -> bool {
        let moves =
            matches!(step.action, Action::Read | Action::ReadAt | Action::Write | Action::WriteAt);
        moves && step.asked < self.block && self.each.get(&step.slot) != Some(&true)
    }

    /// Whether it goes on with the run of its file.
    fn goes_on(&self, act: &Act) -> bool {
        let Some(run) = self.runs.get(&act.inode) else { return false };
        let (step, last) = (&act.step, &run.act.step);
        let is_next = step.offset == run.end && !(run.met_end && step.expected > 0);
        is_next
            && self.is_small(step)
            && step.action == last.action
            && step.slot == last.slot
            && act.thread == run.act.thread
    }

    fn begin(&mut self, act: Act) -> Run {
        let at = act.step.offset;
        self.runs.remove(&act.inode).unwrap_or(Run {
            act,
            end: at,
            done: at,
            at: 0,
            met_end: false,
        })
    }

    fn read(&mut self, act: Act) {
        let mut run = self.begin(act);
        run.act = act;
        run.end = act.end();
        run.met_end |= act.step.expected.unsigned_abs() < act.step.asked;
        while run.end > run.done {
            run.at = self.all.len();
            self.put(act, run.done, self.block);
            run.done = run.done.saturating_add(self.block);
        }
        // The end of the file is asked for as it was.
        if act.step.expected == 0 {
            self.trim(&mut run);
            let step = Step { asked: self.block, parts: 1, ..act.step.in_any_buffer() };
            self.all.push(Act { step, ..act });
        }
        self.runs.insert(act.inode, run);
    }

    fn write(&mut self, act: Act) {
        let mut run = self.begin(act);
        run.act = Act { changes: run.act.changes | act.changes, ..act };
        run.end = act.end();
        while run.end - run.done >= self.block {
            self.put(run.act, run.done, self.block);
            run.done += self.block;
            run.act.changes = false;
        }
        self.runs.insert(act.inode, run);
    }

    fn put(&mut self, act: Act, offset: u64, bytes: u64) {
        let (expected, parts) = (bytes as i64, 1);
        let step = Step { offset, asked: bytes, expected, parts, ..act.step.in_any_buffer() };
        self.all.push(Act { step, ..act });
    }

    /// The last block of a read brings what the run has, and asks for no more, but at the end of
    /// the file, where a buffer would.
    fn trim(&mut self, run: &mut Run) {
        if run.done > run.end
            && let Some(act) = self.all.get_mut(run.at)
        {
            let bytes = run.end - act.step.offset;
            act.step.expected = bytes as i64;
            act.step.asked = if run.met_end { self.block } else { bytes };
            run.done = run.end;
        }
    }

    fn finish(&mut self, inode: u32) {
        let Some(mut run) = self.runs.remove(&inode) else { return };
        match run.act.step.action.reads() {
            true => self.trim(&mut run),
            false if run.end > run.done => self.put(run.act, run.done, run.end - run.done),
            false => (),
        }
    }

    fn finish_all(&mut self) {
        let mut open: Vec<u32> = self.runs.keys().copied().collect();
        open.sort_unstable();
        for inode in open {
            self.finish(inode);
        }
    }
}
