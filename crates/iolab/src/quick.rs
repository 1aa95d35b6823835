//! `iolab quick`: a survey of a directory in about a minute, on one screen.

use std::path::{Path, PathBuf};

use clap::Args;

use super::console::argv;
use super::factor_args::absolute;
use super::output;
use super::protocol_args::ProtocolArgs;
use super::store_args::StoreArgs;
use super::terminal_io::{Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_controller::quick::{Planned, Survey};
use iolab_model::catalog::{Fact, bytes_text, path_to_text, rough_time_text};
use iolab_model::result::Environment;
use iolab_report::{TextStyle, survey};

/// Survey a directory in about a minute: how to read, write and copy files here
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab quick                  this directory, one minute\n  iolab quick /data            another one\n  iolab quick --budget 20s     rougher, sooner\n  iolab quick --plan           what it would do and write; nothing is done"
)]
pub struct Quick {
    /// The directory to survey; what is made there is removed
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    protocol: ProtocolArgs,
    #[command(flatten)]
    store: StoreArgs,
}

impl Quick {
    /// Measures and prints the screen.
    ///
    /// # Errors
    /// The directory cannot be used, or nothing could be measured there.
    pub fn run(self, talk: &Talk) -> Ending {
        let protocol = self.protocol.read()?;
        let directory = absolute(&self.directory)?;
        let store = self.store.store.as_deref();
        let mut survey = Survey::begin(&directory, &protocol, store, argv(), talk);
        let plans = survey.plans()?;
        let promise = promise(&directory, &plans, protocol.budget_ns);
        if self.protocol.plan {
            return output::text(&format!("{promise}\n{}", outline(&plans)));
        }
        if !talk.quiet {
            say(&promise);
        }
        survey.measure(plans)?;
        if survey.runs.is_empty() {
            return Err(Failure::refused("nothing could be measured here; try iolab doctor"));
        }
        output::text(&screen(&survey, &talk.look()))?;
        Ok(if survey.interrupted { Exit::Interrupted } else { Exit::Done })
    }
}

fn screen(survey: &Survey<'_>, look: &TextStyle) -> String {
    let environment = &survey.runs[0].1.environment;
    let heading = heading(survey.directory, environment, survey.elapsed_ns());
    let mut ids: Vec<u64> = survey.runs.iter().map(|(_, d)| d.run.id).collect();
    ids.sort_unstable();
    let next = match ids.as_slice() {
        [one] => format!("Run {one} recorded · iolab show {one}"),
        [first, .., last] => format!("Runs {first}–{last} recorded · iolab show {last}"),
        [] => String::new(),
    };
    survey::screen(&heading, &survey.runs, &next, look)
}

/// What will be done to the directory, said before it is done.
fn promise(directory: &Path, plans: &[Planned], budget_ns: u64) -> String {
    let written: u64 = plans.iter().map(|(_, prepared)| prepared.plan.cost.bytes_written).sum();
    format!(
        "surveys {} in {}: writes {} there in all and removes it",
        path_to_text(directory),
        rough_time_text(budget_ns as f64),
        bytes_text(written)
    )
}

fn outline(plans: &[Planned]) -> String {
    let line = |(part, prepared): &Planned| {
        let plan = &prepared.plan;
        let cells = plan.cells.iter().filter(|cell| cell.skip.is_none()).count();
        let time = rough_time_text(plan.protocol.budget_ns as f64);
        format!("  {:<32} {cells} cells, about {time}\n", part.title)
    };
    plans.iter().map(line).collect()
}

/// Where this was, in one line.
fn heading(directory: &Path, environment: &Environment, elapsed_ns: f64) -> String {
    let text = |fact| environment.text(fact).map(str::to_owned);
    let place = match (text(Fact::MountFsType), text(Fact::DeviceName)) {
        (Some(fs), Some(device)) => Some(format!("{fs} on {device}")),
        (fs, _) => fs,
    };
    let machine =
        match (environment.number(Fact::CpuCount), environment.number(Fact::MemoryTotalBytes)) {
            (Some(cpus), Some(memory)) => {
                Some(format!("{cpus} cores, {} GiB", (memory as f64 / (1u64 << 30) as f64).round()))
            }
            _ => None,
        };
    let parts = [
        Some(path_to_text(directory)),
        place,
        text(Fact::KernelRelease).map(|release| format!("Linux {release}")),
        machine,
        Some(rough_time_text(elapsed_ns)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
