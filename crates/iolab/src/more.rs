//! `iolab more RUN [TIME]`: goes on with a run that left something open.

use clap::Args;

use super::consent_args::ConsentArgs;
use super::output::OutputArgs;
use super::resume::{GoOn, go_on};
use super::store_args::load;
use super::terminal_io::{Ending, Failure};
use super::verbosity::Talk;
use iolab_model::spec;

/// Measure more of a run: the same plan, the next rounds, one answer from all of them
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab more last         a minute more for the run that was just made\n  iolab more 24 5m        for run 24, five minutes more\n\nThat is sound: every claim of a run holds whenever it is looked at. Refused\nwhere the machine, the kernel or a file is not what was measured.\n\nExit status: 0 done, also where nothing is decided; 12 it cannot be gone on\nwith here; 21 something asked for by name was not measured; 130 interrupted."
)]
pub struct More {
    /// Its number, the name it is pinned by, or last
    #[arg(value_name = "RUN")]
    run: String,
    /// How much longer: 30s, 5m
    #[arg(value_name = "TIME", default_value = "60s")]
    time: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

impl More {
    /// Goes on with it.
    ///
    /// # Errors
    /// There is no such run, or it cannot be gone on with here.
    pub fn run(self, talk: &Talk) -> Ending {
        let more_ns = spec::parse_duration_ns(&self.time)
            .map_err(|error| Failure::usage(error.of("TIME")))?;
        // The run goes on in its own directory.
        let output = self.output.started_here()?;
        let document = load(&output.store.open()?, &self.run)?;
        let how = GoOn {
            output: Some(&output),
            store: &output.store,
            consent: &self.consent,
            more_ns: Some(more_ns),
        };
        go_on(document, &how, talk)
    }
}
