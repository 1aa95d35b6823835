//! A trace as trials work on it: what it needs, and what state its files are in.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, Ordering};

use iolab_trace::Trace;
use iolab_trace::replay::Replay;

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
}

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
        Scene { trace, replay, seed, state: AtomicU8::new(State::Unknown as u8) }
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
