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
use iolab_controller::disk_table::{self, DiskFigure};
use iolab_controller::quick::{Planned, QuickOrder, Survey};
use iolab_model::catalog::{Fact, bytes_text, path_to_text, rough_time_text};
use iolab_model::result::Environment;
use iolab_report::{DiskFigures, TextStyle, survey};

/// Survey a directory in about a minute: how to read, write and copy files here
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab quick                  this directory, one minute\n  iolab quick /data            another one\n  iolab quick --budget 20s     rougher, sooner\n  iolab quick --table          as disk benchmarks show it: MB/s, IOPS and µs\n  iolab quick --plan           what it would do and write; nothing is done"
)]
pub struct Quick {
    /// The directory to survey; what is made there is removed
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Instead of the survey the table of disk benchmarks: SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1,
    /// RND4K Q1T1, read and written, past the page cache
    #[arg(long)]
    table: bool,
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
        let talk = &talk.of_parts();
        let order = QuickOrder {
            directory: &directory,
            protocol: &protocol,
            store,
            argv: argv(),
            console: talk,
        };
        if self.table {
            return self.table(&order, talk);
        }
        let mut survey = Survey::begin(order);
        let plans = survey.plans()?;
        let written = plans.iter().map(|(_, prepared)| prepared.plan.cost.bytes_written).sum();
        let promise = promise(&directory, written, protocol.budget_ns);
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

impl Quick {
    /// Measures and prints the table of disk benchmarks.
    fn table(&self, order: &QuickOrder<'_>, talk: &Talk) -> Ending {
        let greatest = order.greatest_file_bytes()?;
        let plans = disk_table::plans(order, greatest)?;
        let written = plans.iter().map(|prepared| prepared.plan.cost.bytes_written).sum();
        let promise = promise(order.directory, written, order.protocol.budget_ns);
        if self.protocol.plan {
            return output::text(&format!("{promise}\n"));
        }
        if !talk.quiet {
            say(&promise);
        }
        let table = disk_table::measure(order, &plans, greatest)?;
        let figures = |figure: Option<DiskFigure>| {
            figure.map(|f| (f.bytes_per_second, f.operations_per_second, f.request_ns, f.spread))
        };
        let rows: Vec<(&str, DiskFigures, DiskFigures)> = table
            .rows
            .iter()
            .map(|row| (row.name, figures(row.read), figures(row.write)))
            .collect();
        let look = talk.look();
        let mut text = format!(
            "{}, a file of {}, O_DIRECT; medians\n± is how far they may be off (95 %); MB are \
             10^6 bytes, µs of one request;\nwrites overwrite, without an fsync at the end\n\n{}",
            path_to_text(order.directory),
            bytes_text(table.file_bytes),
            iolab_report::disk_table(&rows, &look)
        );
        let nothing = table.rows.iter().all(|row| row.read.is_none() && row.write.is_none());
        let lacks = table.rows.iter().any(|row| row.read.is_none() || row.write.is_none());
        if lacks && table.missing.is_empty() {
            text += "not measured: the budget ended before; give a larger --budget\n";
        }
        for why in &table.missing {
            text += &format!("not measured: {why}\n");
        }
        if let Some(last) = table.runs.last() {
            text += &format!("\nRuns {} · iolab show {last}\n", numbers(&table.runs));
        }
        output::text(&text)?;
        Ok(match () {
            () if table.interrupted => Exit::Interrupted,
            () if nothing && !table.missing.is_empty() => Exit::Lacking,
            () => Exit::Done,
        })
    }
}

fn numbers(runs: &[u64]) -> String {
    runs.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn screen(survey: &Survey<'_>, look: &TextStyle) -> String {
    let environment = &survey.runs[0].1.environment;
    let heading = heading(survey.order.directory, environment, survey.elapsed_ns());
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
fn promise(directory: &Path, written: u64, budget_ns: u64) -> String {
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
