//! A trace as trials work on it: what it needs, and what state its files are in.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::os_flags::translate;
use iolab_trace::Trace;
use iolab_trace::replay::{Choice, Program, Replay};

/// Where all links of a replay lead: nowhere.
pub(super) const LEADS_TO: &CStr = c"nowhere";

/// A trace and its files.
#[derive(Debug)]
pub struct Scene {
    /// What was recorded.
    pub trace: Trace,
    /// What a replay of it needs.
    pub replay: Replay,
    /// Decides what the files hold.
    pub seed: u64,
    state: AtomicU8,
    /// What was compiled before, the last one at the end: a trial is a process of its own, and takes
    /// it as it is.
    programs: Mutex<Vec<(Choice, Arc<Program>)>>,
}

/// So many steps are kept compiled, at most: 48 bytes each.
const MOST_STEPS: usize = 8 << 20;

/// What state its files are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// As before the first call.
    First,
    /// As after the last.
    Foreseen,
    /// Nobody knows.
    Unknown,
}

impl Scene {
    /// For a trace. Its files are still to be made.
    pub fn new(trace: Trace, seed: u64) -> Scene {
        let replay = Replay::of(&trace);
        let programs = Mutex::default();
        Scene { trace, replay, seed, state: AtomicU8::new(State::Unknown as u8), programs }
    }

    /// The steps of a way to do it.
    pub(super) fn compile(&self, choice: Choice) -> Arc<Program> {
        let mut all = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = all.iter().find(|(known, _)| *known == choice) {
            return Arc::clone(program);
        }
        let mut program = Program::of(&self.trace, choice);
        translate(&mut program);
        let program = Arc::new(program);
        let steps = |program: &Program| program.lanes.iter().map(Vec::len).sum::<usize>();
        while all.iter().map(|(_, program)| steps(program)).sum::<usize>() + steps(&program)
            > MOST_STEPS
            && !all.is_empty()
        {
            all.remove(0);
        }
        all.push((choice, Arc::clone(&program)));
        program
    }

    pub(super) fn state(&self) -> State {
        match self.state.load(Ordering::Relaxed) {
            0 => State::First,
            1 => State::Foreseen,
            _ => State::Unknown,
        }
    }

    pub(super) fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Relaxed);
    }
}
