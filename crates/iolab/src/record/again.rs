//! The command under strace again, for what one run does not tell.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

use super::until_asked_to_end;
use crate::signals::Signals;
use crate::terminal_io::say;
use iolab_io::tool::record::{Strace, Traced};
use iolab_model::result::Fault;
use iolab_run::StopSignal;
use iolab_trace::{Limits, Trace, learn_memory, parse, shorten_between};

/// Runs for what passes between calls.
const RUNS_BETWEEN: usize = 2;
/// Of a program that took no longer than this under strace.
const SHORT_NS: u64 = 5_000_000_000;

/// What runs again.
pub(super) struct Again<'a> {
    pub(super) strace: &'a Strace,
    pub(super) words: &'a [OsString],
    /// Where logs are kept meanwhile.
    pub(super) beside: &'a Path,
    pub(super) signals: &'a Signals,
}

impl Again<'_> {
    /// Which reads bring new memory into use. A replay without it reads into memory that is in use.
    pub(super) fn learn_memory(&self, trace: &mut Trace) {
        let learned = match self.log(self.strace.start_for_memory(self.words, self.beside)) {
            Ok(Some(log)) => {
                learn_memory(trace, log, &Limits::default()).map_err(|error| error.to_string())
            }
            Ok(None) => return,
            Err(fault) => Err(fault.to_string()),
        };
        if let Err(why) = learned {
            say(&format!("iolab: what memory its reads go to is not known: {why}"));
        }
    }

    /// What passes between calls, as it is where the tracer has no slow moment. What cannot be run again
    /// has what its one run told.
    pub(super) fn shorten_between(&self, trace: &mut Trace) {
        for _ in 0..RUNS_BETWEEN {
            if trace.wall_ns > SHORT_NS || trace.threads.len() > 1 {
                return;
            }
            let started = self.strace.start_silent(self.words, iolab_trace::CALLS, self.beside);
            match self.log(started) {
                Ok(Some(log)) => {
                    if let Ok(again) = parse(log, &Limits::default()) {
                        shorten_between(trace, &again);
                    }
                }
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// The log of a run that ended by itself.
    fn log(&self, started: Result<Traced, Fault>) -> Result<Option<File>, Fault> {
        let (_, log) = started?.wait(&mut until_asked_to_end(self.signals))?;
        Ok(Some(log).filter(|_| self.signals.wanted() == StopSignal::None))
    }
}
