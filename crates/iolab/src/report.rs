//! `iolab report RUN… --html FILE`: the pictures of recorded runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use super::output::{Output, OutputArgs};
use super::store_args::load;
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_model::catalog::path_to_text;
use iolab_model::result::Document;
use iolab_report as report;
use iolab_report::chart::charts_for;
use iolab_report::drawing::terminal;

/// Draw recorded runs: charts here, or one HTML file that loads nothing
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab report last --html report.html --open\n  iolab report 16 17 --html both.html\n  iolab report 17 --export svg=charts\n  iolab report 16 17                    two runs side by side\n  iolab report last --charts"
)]
pub struct Report {
    /// The runs' numbers, or last; several are laid over each other
    #[arg(value_name = "RUN", default_value = "last")]
    runs: Vec<String>,
    /// Write the report to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Open the written report in the browser
    #[arg(long, requires = "html")]
    open: bool,
    /// Draw the charts in the terminal
    #[arg(long, conflicts_with = "html")]
    charts: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Report {
    /// Writes the report.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        let output = self.output.read()?;
        output.only_for_several(self.runs.len())?;
        let store = output.store.open()?;
        let runs = self.runs.iter().map(|run| load(&store, run));
        let runs = runs.collect::<Result<Vec<Document>, Failure>>()?;
        let exported = output.write_files(&runs, talk);
        let shown = self.show(&output, &runs, talk);
        exported.and(shown)
    }

    fn show(&self, output: &Output, runs: &[Document], talk: &Talk) -> Ending {
        if self.charts {
            return draw(runs, talk);
        }
        let Some(path) = &self.html else {
            return match runs {
                [one] => output.print(one, talk),
                several => output.print_several(several, talk),
            };
        };
        report::export_page(path, runs).map_err(Failure::refused)?;
        if !talk.quiet {
            say(&format!("wrote {}", path_to_text(path)));
        }
        if self.open {
            open(path);
        }
        Ok(Exit::Done)
    }
}

fn draw(runs: &[Document], talk: &Talk) -> Ending {
    let look = talk.look();
    let screen = terminal::Screen { width: look.width.clamp(40, 200), ascii: !look.unicode };
    terminal_io::data(|out| {
        for chart in charts_for(runs) {
            writeln!(out, "{}", terminal::draw(&chart, screen))?;
        }
        Ok(())
    })
}

/// Asks the desktop; where there is none, the path was already told.
fn open(path: &Path) {
    let started = Command::new("xdg-open")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        say("no desktop to open it with (xdg-open is missing): open the file yourself");
    }
}
