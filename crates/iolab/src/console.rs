//! The person at the terminal, as a run sees them.

use std::io;

use super::plan_text;
use super::progress::Progress;
use super::signals::Signals;
use super::terminal_io::{dumb, say, unicode};
use super::verbosity::Talk;
use iolab_controller::Console;
use iolab_model::catalog::path_to_text;
use iolab_model::plan::Plan;
use iolab_run::{Observer, StopSignal};

impl Console for Talk {
    fn say(&self, line: &str) {
        say(line);
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            say(line);
        }
    }

    fn detail(&self, line: &str) {
        if self.verbose {
            say(line);
        }
    }

    fn announce(&self, plan: &Plan) {
        plan_text::before_start(plan, self);
    }

    fn progress(&self) -> Box<dyn Observer + '_> {
        let terminal = io::IsTerminal::is_terminal(&io::stderr()) && !dumb();
        Box::new(Progress::new(self, terminal, unicode()))
    }

    fn listen(&self) -> io::Result<Box<dyn Fn() -> StopSignal>> {
        let signals = Signals::listen(self.quiet)?;
        Ok(Box::new(move || signals.wanted()))
    }
}

/// The command line of this process, lossless.
pub fn argv() -> Vec<String> {
    std::env::args_os().map(|argument| path_to_text(argument.as_ref())).collect()
}
