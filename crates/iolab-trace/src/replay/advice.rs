//! The same work with other advice on read-ahead.

use std::collections::HashSet;

use super::step::{Act, Action, Step};

/// What the kernel is told of the order of reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Advice {
    /// As recorded.
    #[default]
    Recorded,
    /// Nothing.
    Normal,
    /// That each file is read from its beginning to its end.
    Sequential,
    /// That each file is read here and there.
    Random,
}

/// `POSIX_FADV_NORMAL`, `_RANDOM` and `_SEQUENTIAL` are the numbers up to this one; those beyond are
/// about single pages.
const LAST_OF_ORDER: u32 = 2;

impl Advice {
    /// The number of posix_fadvise(2); nothing where nothing is told.
    const fn number(self) -> Option<u32> {
        match self {
            Advice::Recorded | Advice::Normal => None,
            Advice::Random => Some(1),
            Advice::Sequential => Some(2),
        }
    }
}

/// The acts with that advice for each open file that is read, before it is.
pub(super) fn with_advice(acts: Vec<Act>, advice: Advice) -> Vec<Act> {
    if advice == Advice::Recorded {
        return acts;
    }
    let mut untold: HashSet<u32> =
        acts.iter().filter(|act| reads_ahead(act.step.action)).map(|act| act.step.slot).collect();
    let mut all = Vec::with_capacity(acts.len() + untold.len());
    for act in acts {
        let step = act.step;
        if step.action == Action::Advise && step.flags <= LAST_OF_ORDER {
            continue;
        }
        let told = advice.number().filter(|_| untold.remove(&step.slot)).map(|flags| {
            let step = Step { slot: step.slot, flags, ..Step::new(Action::Advise, step.call) };
            Act { inode: act.inode, ..Act::new(step, act.thread) }
        });
        // What was inherited is open already.
        let opens = step.action == Action::Open;
        let (before, after) = if opens { (None, told) } else { (told, None) };
        all.extend([before, Some(act), after].into_iter().flatten());
    }
    all
}

/// Whether the kernel reads ahead of it.
const fn reads_ahead(action: Action) -> bool {
    action.reads() || matches!(action, Action::Map | Action::CopyRange | Action::SendFile)
}
