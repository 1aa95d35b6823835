//! A trace as trials work on it: what it needs, and what state its files are in.

use std::ffi::CStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::clones::are_made;
use super::os_flags::translate;
use super::root::open_root;
use iolab_model::catalog::path_to_text;
use iolab_model::result::Fault;
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
    /// But for what those that the trace names hold, where they are copied.
    pub with_data: bool,
    state: AtomicU8,
    /// Whether files can be clones where it is done, once that is known.
    clones: OnceLock<bool>,
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
    /// For a trace, with random contents. Its files are still to be made.
    pub fn new(trace: Trace, seed: u64) -> Scene {
        let replay = Replay::of(&trace);
        let programs = Mutex::default();
        let (state, clones) = (AtomicU8::new(State::Unknown as u8), OnceLock::new());
        Scene { trace, replay, seed, with_data: false, state, clones, programs }
    }

    /// Whether files can be clones of one another below this directory. Asked where it matters alone.
    ///
    /// # Errors
    /// It cannot be tried.
    pub(super) fn clones(&self, root: &Path) -> Result<bool, Fault> {
        if self.replay.refused_clones == 0 {
            return Ok(false);
        }
        if let Some(known) = self.clones.get() {
            return Ok(*known);
        }
        let doing = || format!("try to clone a file in {}", path_to_text(root));
        let tried = open_root(root).map_err(io::Error::from).and_then(|root| are_made(&root));
        let tried = tried.map_err(|error| Fault::of(doing(), &error))?;
        Ok(*self.clones.get_or_init(|| tried))
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
