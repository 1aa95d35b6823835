//! The record of a running experiment: each trial is committed as it ends.

use super::error::Error;
use iolab_model::result::{Document, Fault, Warning};
use iolab_record::history::Writer;
use iolab_run::{Event, Observer};

/// Hands the events of a run to the history.
pub struct Recorder {
    writer: Writer,
    /// The document as it was opened; its experiment learns the clock when that is known.
    opening: Document,
}

impl Recorder {
    /// Records with this writer.
    pub fn new(writer: Writer, opening: Document) -> Recorder {
        Recorder { writer, opening }
    }

    /// What the person should know about where the record is kept.
    pub fn warning(&self) -> Option<Warning> {
        self.writer.warning()
    }

    /// Puts the run into the history and gives its number.
    ///
    /// # Errors
    /// The history cannot take it; the text says where the run is kept.
    pub fn finish(self, document: &Document) -> Result<u64, Error> {
        Ok(self.writer.finish(document)?)
    }

    /// Forgets the run, because nothing was measured.
    pub fn discard(self) {
        self.writer.discard();
    }
}

impl Observer for Recorder {
    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        let done = match event {
            Event::Trial { cell, twin, sample } => self.writer.trial(*cell, *twin, sample),
            Event::Eliminated { cell, why, reason, .. } => {
                self.writer.left_out(*cell, *why, reason)
            }
            Event::Calibrated { clock, .. } => {
                let protocol = &mut self.opening.experiment.protocol;
                protocol.clock_resolution_ns = clock.resolution_ns;
                protocol.clock_cost_ns = clock.pair_cost_ns;
                self.writer.experiment(&self.opening.experiment)
            }
            _ => Ok(()),
        };
        done.map_err(|error| Fault::new("record the run", error.to_string()))
    }
}
