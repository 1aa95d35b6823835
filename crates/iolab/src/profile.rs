//! `iolab profile TRACE`: where a program's file time goes, on one screen.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::profile_text::screen;
use super::record::Record;
use super::terminal_io::{self, Ending, Exit, Failure};
use super::trace_file;
use super::verbosity::Talk;
use iolab_report::drawing::export::{Picture, write_all};
use iolab_report::trace_charts;
use iolab_trace::{Profile, export};

/// Show where a recorded program's file time goes, and what to do about it
#[derive(Args, Clone, Debug)]
#[command(
    name = "profile",
    after_help = "Examples:\n  iolab profile dd.trace\n  iolab profile dd.trace --all            every finding and every file\n  iolab profile dd.trace --format json    all figures; csv: a row a file\n  iolab profile dd.trace --charts charts  pictures as SVG, in that directory\n  iolab profile -- ./slow.sh              record it first\n\nTimes are those of strace less what it adds to a call, which iolab record\nmeasures first. Where that is not known well enough, bounds are told. With\n--runs 3 the share is one of the program's own time. What loaders, interpreters\nand wrappers do is one line; --all has its findings too."
)]
pub struct ProfileCommand {
    /// The trace: of iolab record, or of iolab import
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath, required_unless_present = "command")]
    trace: Option<PathBuf>,
    /// A command to record first, as iolab record does; its trace is kept
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "trace", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
    /// With a command: run it so many times more, without strace, as iolab record --runs does
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "trace")]
    runs: u32,
    /// Show every finding and every file, on more than one screen
    #[arg(long)]
    all: bool,
    /// What to write to stdout
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// Also write pictures into this directory: time by kind of call, sizes of calls, offsets over time
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    charts: Option<PathBuf>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
}

impl ProfileCommand {
    /// Prints the profile.
    ///
    /// # Errors
    /// The file is no trace.
    pub fn run(self, talk: &Talk) -> Ending {
        let (path, exit) = match self.trace {
            Some(path) => (path, Exit::Done),
            None => Record::of(self.command, self.runs).recorded(talk)?,
        };
        let trace = trace_file::load(&path)?;
        let profile = Profile::of(&trace);
        if let Some(directory) = &self.charts {
            let charts = trace_charts(&trace, &profile);
            write_all(&charts, directory, Picture::Svg).map_err(Failure::refused)?;
        }
        let format = if self.json { Format::Json } else { self.format };
        let told = match format {
            Format::Json => json(&profile),
            Format::Csv => terminal_io::data(|out| write!(out, "{}", export::csv(&profile))),
            Format::Table => {
                let text = screen(&trace, &profile, &talk.look(), self.all);
                terminal_io::data(|out| write!(out, "{text}"))
            }
        };
        told.map(|done| if exit == Exit::Done { done } else { exit })
    }
}

fn json(profile: &Profile) -> Ending {
    let mut value = serde_json::to_value(profile).map_err(Failure::internal)?;
    value["schema"] = "iolab.profile/1".into();
    terminal_io::data(|out| {
        serde_json::to_writer_pretty(&mut *out, &value)?;
        writeln!(out)
    })
}
