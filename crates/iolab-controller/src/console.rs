//! Who sees what happens beside the measurement, and may end it.

use std::io;

use iolab_model::plan::Plan;
use iolab_run::{Observer, StopSignal};

/// Asked between trials: whether the person wants the run to end.
pub type Stop = Box<dyn Fn() -> StopSignal>;

/// The person's side of a run: the command line, or a test.
pub trait Console {
    /// Says a line that must be heard.
    fn say(&self, line: &str);

    /// Says a line that a person who wants quiet can do without.
    fn note(&self, line: &str);

    /// Says a line for who wants every fact.
    fn detail(&self, line: &str);

    /// Before anything is done: what is going to be written, removed and left out.
    fn announce(&self, plan: &Plan);

    /// Who follows the run from event to event.
    fn progress(&self) -> Box<dyn Observer + '_>;

    /// Listens to the person from now on.
    ///
    /// # Errors
    /// Nothing can be heard.
    fn listen(&self) -> io::Result<Stop>;
}
