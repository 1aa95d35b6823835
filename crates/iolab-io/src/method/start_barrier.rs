//! A gate that threads wait behind until all of them are ready.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many are ready, and the word once it is given.
#[derive(Debug, Default)]
struct State {
    ready: usize,
    go: Option<bool>,
}

/// Opened once.
#[derive(Debug, Default)]
pub struct StartBarrier {
    state: Mutex<State>,
    changed: Condvar,
}

impl StartBarrier {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this thread is ready and waits. True: work; false: go home.
    pub fn wait(&self) -> bool {
        let mut state = self.lock();
        state.ready += 1;
        self.changed.notify_all();
        loop {
            if let Some(go) = state.go {
                return go;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until this many threads wait.
    pub fn until_ready(&self, threads: usize) {
        let mut state = self.lock();
        while state.ready < threads {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives the word.
    pub fn release(&self, go: bool) {
        self.lock().go = Some(go);
        self.changed.notify_all();
    }
}
