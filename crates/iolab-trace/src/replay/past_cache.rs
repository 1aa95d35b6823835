//! The same work past the page cache, where the file system can: reads and writes whose offset and
//! length are multiples of what it moves go through a second opening of their file with `O_DIRECT`;
//! all others go through the first, as recorded.

use std::collections::{HashMap, HashSet};

use super::step::{Act, Action, Step};
use crate::call::{NONE, OpenFlags};

/// The first opening has done that.
const MAKES: OpenFlags = OpenFlags::CREAT.with(OpenFlags::EXCL).with(OpenFlags::TRUNC);

/// The acts with those openings, in slots from `free` on, and the first slot that is free then.
pub(super) fn past_cache(acts: Vec<Act>, unit: u64, free: u32) -> (Vec<Act>, u32) {
    let seconds = seconds(&acts, unit, free);
    let mut all = Vec::with_capacity(acts.len() + 2 * seconds.len());
    for mut act in acts {
        let step = act.step;
        let Some(slot) = seconds.get(&step.slot).copied().filter(|_| step.slot != NONE) else {
            all.push(act);
            continue;
        };
        let second = |step| Act { step, changes: false, ..act };
        match step.action {
            Action::Open => {
                all.push(act);
                let flags = OpenFlags(step.flags).without(MAKES).with(OpenFlags::DIRECT);
                all.push(second(Step { slot, flags: flags.0, ..step }));
            }
            Action::Close => {
                all.push(second(Step { slot, ..step }));
                all.push(act);
            }
            _ => {
                if is_aligned(&step, unit) {
                    // One buffer: parts of it would have to be aligned, too.
                    act.step = Step { slot, parts: 1, ..step };
                }
                all.push(act);
            }
        }
    }
    (all, free + seconds.len() as u32)
}

/// Calls and bytes of [`past_cache`] that go past the page cache.
pub(super) fn passed(acts: &[Act], first_slot: u32) -> (u64, u64) {
    let direct = acts.iter().filter(|act| {
        act.step.slot != NONE && act.step.slot >= first_slot && act.step.action.counts_bytes()
    });
    direct.fold((0, 0), |(calls, bytes), act| (calls + 1, bytes + act.step.expected.unsigned_abs()))
}

/// The second slot of each that is opened and has something to move past the cache.
fn seconds(acts: &[Act], unit: u64, free: u32) -> HashMap<u32, u32> {
    let opens = |act: &&Act| act.step.action == Action::Open && act.step.slot != NONE;
    let plain = |act: &&Act| !OpenFlags(act.step.flags).has(OpenFlags::DIRECT);
    let opened: HashSet<u32> =
        acts.iter().filter(opens).filter(plain).map(|act| act.step.slot).collect();
    let moving = acts.iter().map(|act| &act.step).filter(|step| is_aligned(step, unit));
    let mut all = HashMap::new();
    for slot in moving.map(|step| step.slot).filter(|slot| opened.contains(slot)) {
        let next = free + all.len() as u32;
        all.entry(slot).or_insert(next);
    }
    all
}

fn is_aligned(step: &Step, unit: u64) -> bool {
    let moves = matches!(step.action, Action::ReadAt | Action::WriteAt) && step.asked > 0;
    moves && step.asked.is_multiple_of(unit) && step.offset.is_multiple_of(unit)
}
