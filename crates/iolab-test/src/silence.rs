//! A run that nobody watches.

use std::io;

use iolab_controller::Console;
use iolab_model::plan::Plan;
use iolab_model::result::Fault;
use iolab_run::{Event, Observer, StopSignal};

/// Hears nothing and ends nothing; what a person must be told is a failure of the test.
pub struct Silence;

impl Observer for Silence {
    fn on(&mut self, _: &Event<'_>) -> Result<(), Fault> {
        Ok(())
    }
}

impl Console for Silence {
    fn say(&self, line: &str) {
        panic!("{line}");
    }

    fn note(&self, _: &str) {}

    fn detail(&self, _: &str) {}

    fn announce(&self, _: &Plan) {}

    fn progress(&self) -> Box<dyn Observer + '_> {
        Box::new(Silence)
    }

    fn listen(&self) -> io::Result<Box<dyn Fn() -> StopSignal>> {
        Ok(Box::new(|| StopSignal::None))
    }
}
