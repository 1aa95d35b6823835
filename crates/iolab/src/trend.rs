//! `iolab trend RUN`: one experiment over its recorded runs.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use super::output;
use super::store_args::{StoreArgs, failure, number};
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_model::catalog::path_to_text;
use iolab_model::result::Document;
use iolab_record::history::{Filter, Store};
use iolab_report::chart::history;
use iolab_report::drawing::terminal;
use iolab_report::{Trend as Found, export_charts, trend, trend_json, trend_table};

/// How a trend is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    Table,
    Json,
}

/// Show an experiment over its recorded runs, and where it changed
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab trend                        the newest run's experiment\n  iolab trend 17 --export svg=charts\n  iolab trend --charts\n\nRuns of the same workload and title are one experiment: the same command,\nrepeated. A dozen of them can show a change."
)]
pub struct Trend {
    /// A run of the experiment: its number, its name, or last
    #[arg(value_name = "RUN", default_value = "last")]
    run: String,
    /// At most so many, the newest
    #[arg(long, value_name = "N", default_value = "200")]
    limit: u64,
    /// Draw the chart in the terminal
    #[arg(long, conflicts_with = "format")]
    charts: bool,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Shape,
    /// Write the chart too: svg=DIR or png=DIR; may be repeated
    #[arg(long = "export", value_name = "FORMAT=DIR")]
    exports: Vec<OsString>,
    #[command(flatten)]
    store: StoreArgs,
}

impl Trend {
    /// Prints the trend.
    ///
    /// # Errors
    /// There is no such run, or it is the only one of its experiment.
    pub fn run(self, talk: &Talk) -> Ending {
        let exports = self.exports.iter().map(|text| output::export(text));
        let exports = exports.collect::<Result<Vec<_>, Failure>>()?;
        let store = self.store.open()?;
        let runs = self.runs(&store)?;
        let found = trend(&runs);
        let chart = history::of_trend(&found);
        if chart.is_none() && (self.charts || !exports.is_empty()) {
            return Err(Failure::usage(format!(
                "a chart of {:?} takes three runs of it that measured something; there are {}",
                found.title,
                found.runs.len()
            )));
        }
        for (format, path) in &exports {
            let charts = chart.as_slice();
            export_charts(format, path, charts).map_err(Failure::refused)?;
            if !talk.quiet {
                say(&format!("wrote {}", path_to_text(path)));
            }
        }
        match chart.filter(|_| self.charts) {
            Some(chart) => {
                let look = talk.look();
                let screen =
                    terminal::Screen { width: look.width.clamp(40, 200), ascii: !look.unicode };
                terminal_io::data(|out| writeln!(out, "{}", terminal::draw(&chart, screen)))
            }
            None => self.write(&found, talk),
        }
    }

    fn write(&self, found: &Found, talk: &Talk) -> Ending {
        terminal_io::data(|out| match self.format {
            Shape::Table => trend_table(found, &talk.look(), out),
            Shape::Json => trend_json(found, out),
        })?;
        Ok(Exit::Done)
    }

    /// The runs of the experiment, oldest first.
    fn runs(&self, store: &Store) -> Result<Vec<Document>, Failure> {
        let one = store.figures(number(store, &self.run)?).map_err(failure)?;
        let filter = Filter {
            limit: Some(self.limit.max(2)),
            workload: Some(one.experiment.workload.clone()),
            experiment: Some(one.run.title.clone()),
            ..Filter::default()
        };
        let runs = store.list(&filter).map_err(failure)?;
        if runs.len() < 2 {
            return Err(Failure::usage(format!(
                "run {} is the only one of its experiment ({}): run the same command again later",
                one.run.id,
                one.run.title.escape_debug()
            )));
        }
        runs.iter().rev().map(|run| store.figures(run.id).map_err(failure)).collect()
    }
}
