//! Ctrl-C once: end with the round. Twice, or a request to terminate: end before the next trial.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::terminal_io::say;
use iolab_run::StopSignal;

/// What the person has signalled so far. Each signal is a byte in a pipe; nothing runs beside.
pub struct Signals {
    interrupts: OwnedFd,
    terminations: OwnedFd,
    seen: Cell<StopSignal>,
    quiet: bool,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub fn listen(quiet: bool) -> io::Result<Signals> {
        let (interrupts, terminations) = (listener(&[SIGINT])?, listener(&[SIGTERM, SIGHUP])?);
        Ok(Signals { interrupts, terminations, seen: Cell::new(StopSignal::None), quiet })
    }

    /// What the person wants now. Asked between trials.
    pub fn wanted(&self) -> StopSignal {
        for _ in 0..arrived(&self.interrupts) {
            match self.seen.get() {
                StopSignal::None => self.see(
                    StopSignal::AtRoundEnd,
                    "ending with this round; what is measured is kept (Ctrl-C again: now)",
                ),
                _ => self.see(StopSignal::Now, "ending now; what is measured is kept"),
            }
        }
        if arrived(&self.terminations) > 0 {
            self.see(StopSignal::Now, "ending now; what is measured is kept");
        }
        self.seen.get()
    }

    fn see(&self, signal: StopSignal, text: &str) {
        if self.seen.get() < signal {
            self.seen.set(signal);
            if !self.quiet {
                say(text);
            }
        }
    }
}

fn listener(signals: &[i32]) -> io::Result<OwnedFd> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, write.try_clone()?)?;
    }
    Ok(read)
}

/// How many signals came since the last look.
fn arrived(pipe: impl AsFd) -> usize {
    let mut bytes = [0; 64];
    loop {
        match rustix::io::read(&pipe, &mut bytes) {
            Ok(count) => return count,
            Err(Errno::INTR) => {}
            Err(_) => return 0,
        }
    }
}
