//! `iolab selftest`: the same thing against itself, so that a person knows what chance does here.

use std::path::{Path, PathBuf};

use clap::Args;

use super::console::argv;
use super::factor_args::absolute;
use super::output::Output;
use super::protocol_args::ProtocolArgs;
use super::reported::session;
use super::store_args::StoreArgs;
use super::terminal_io::{self, Ending, Exit, say};
use super::verbosity::Talk;
use iolab_agent::catalog;
use iolab_controller::{Placement, Prepared};
use iolab_model::catalog::{
    AxisWord, Capability, Factor, Level, NamedCall, WorkloadId, percent_text,
};
use iolab_model::result::{Document, Twin};
use iolab_model::spec::Experiment;

/// Measure the same thing twice: the noise floor of this machine today
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  iolab selftest\n  iolab selftest /data --budget 2m")]
pub struct Selftest {
    /// The directory to work under; what is made there is removed
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    protocol: ProtocolArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// What is measured against itself.
struct Test {
    title: &'static str,
    workload: WorkloadId,
    /// Its one cell.
    levels: fn() -> Vec<(Factor, Level)>,
}

const TESTS: [Test; 2] = [
    Test {
        title: "warm read of 64 KiB blocks",
        workload: WorkloadId::Read,
        levels: || {
            let method = Level::word(catalog::plain(Capability::Read));
            vec![(Factor::Method, method), (Factor::Block, Level::Number(64 << 10))]
        },
    },
    Test {
        title: "one system call",
        workload: WorkloadId::Syscall,
        levels: || vec![(Factor::Operation, NamedCall::Lseek.level())],
    },
];

/// The budget where none is given, for both tests together.
const USUAL_BUDGET_NS: u64 = 20_000_000_000;

impl Selftest {
    /// Measures and prints a line for each test.
    ///
    /// # Errors
    /// The directory cannot be used, or the record cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        let mut protocol = self.protocol.read()?;
        if !self.protocol.has_budget() {
            protocol.budget_ns = USUAL_BUDGET_NS;
        }
        protocol.budget_ns /= TESTS.len() as u64;
        let directory = absolute(Path::new(&self.directory))?;
        let output = Output::recording(self.store.clone());
        let mut lines = Vec::new();
        let mut exit = Exit::Done;
        for Test { title, workload, levels } in TESTS {
            let experiment = Experiment {
                title: Some(format!("selftest: {title}")),
                workload: workload.to_string(),
                directory: directory.clone(),
                factors: levels().into_iter().map(|(f, level)| (f, vec![level])).collect(),
                protocol: protocol.clone(),
            };
            let prepared = Prepared::of(&experiment, &Placement::default())?;
            let measured = session(&prepared, argv(), None, &output, talk)?.measure()?;
            lines.push(line(title, &measured.document));
            let interrupted = measured.is_interrupted();
            if let Some(failure) = measured.failure {
                return Err(failure.into());
            }
            if interrupted {
                exit = Exit::Interrupted;
                break;
            }
        }
        terminal_io::data(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
        if exit == Exit::Done && !talk.quiet {
            say("differences smaller than these mean nothing on this machine today");
        }
        Ok(exit)
    }
}

fn line(title: &str, document: &Document) -> String {
    let rounds = document.experiment.protocol.steady_rounds;
    let twin = document.twin.as_ref();
    let floor = twin.and_then(floor);
    let ratio = twin.and_then(|twin| twin.ratio);
    match (ratio, floor) {
        (Some(ratio), Some(floor)) => format!(
            "{title}: against itself it differed by {}; noise floor {} after {rounds} rounds",
            percent_text((ratio - 1.0).abs()),
            percent_text(floor)
        ),
        (Some(ratio), None) => format!(
            "{title}: against itself it differed by {}; {rounds} rounds are too few for a floor",
            percent_text((ratio - 1.0).abs())
        ),
        _ => format!("{title}: nothing was measured"),
    }
}

/// The farthest that the interval of the twin's ratio reaches from one.
fn floor(twin: &Twin) -> Option<f64> {
    let (low, high) = (twin.low?, twin.high?);
    Some((1.0 / low - 1.0).max(high - 1.0).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::floor;
    use iolab_model::result::Twin;

    #[test]
    fn the_floor_is_the_farther_end() {
        let twin =
            |low, high| Twin { cell: "a".into(), ratio: Some(1.0), low, high, ..Twin::default() };
        assert!((floor(&twin(Some(0.98), Some(1.01))).unwrap() - (1.0 / 0.98 - 1.0)).abs() < 1e-12);
        assert!((floor(&twin(Some(0.99), Some(1.05))).unwrap() - 0.05).abs() < 1e-12);
        assert_eq!(floor(&twin(None, Some(1.05))), None);
    }
}
