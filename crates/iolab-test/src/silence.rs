//! A run that nobody watches.

use std::io;
use std::path::Path;

use iolab_controller::{Console, Measured, Prepared, Session};
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

/// What is prepared, measured with its history in the file `store`.
pub fn measured_in_silence(prepared: &Prepared, store: &Path) -> Measured {
    let (argv, console) = (vec!["iolab".to_owned()], &Silence);
    let session = Session { prepared, store: Some(store), argv, resumes: None, aim: None, console };
    session.measure().unwrap()
}
