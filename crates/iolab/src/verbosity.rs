//! How much is said beside the data, as options, and what the terminal can show of it.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};

use super::terminal_io::{dumb, unicode};
use iolab_report::TextStyle;

/// What is said beside the data.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Talk")]
pub struct Talk {
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more: every warning, every fact of the plan
    #[arg(short, long, global = true, conflicts_with = "quiet", hide_short_help = true)]
    pub verbose: bool,
    /// Colours; NO_COLOR and TERM=dumb are honoured
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub color: When,
    /// Whether several runs are made for one command, whose budgets are not the person's.
    #[arg(skip)]
    pub in_parts: bool,
    /// Whether all that is skipped was told with its reason before the start.
    #[arg(skip)]
    pub skips_told: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    // On a terminal. (A doc comment here would make every help text twice as long.)
    #[default]
    Auto,
    Always,
    Never,
}

impl Talk {
    /// The same for the parts of one command.
    pub fn of_parts(&self) -> Talk {
        Talk { in_parts: true, ..self.clone() }
    }

    /// Whether a person looks on: what happens on the way is the live line's, and stays off the screen
    /// that the report is going to fill.
    pub fn is_brief(&self) -> bool {
        !self.verbose && std::io::stderr().is_terminal() && !dumb()
    }

    /// What stdout can show. A file is not a terminal: it gets 80 columns and no colour.
    pub fn look(&self) -> TextStyle {
        let stdout = std::io::stdout();
        let terminal = stdout.is_terminal();
        let color = match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && colours_wanted(),
        };
        let width = columns(&stdout).unwrap_or(80);
        let skips_told = self.skips_told && terminal;
        TextStyle { width, color, unicode: !terminal || unicode(), details: false, skips_told }
    }
}

fn colours_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !dumb()
}

fn columns(stdout: &std::io::Stdout) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stdout).ok().map(|size| usize::from(size.ws_col));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    size.filter(|columns| *columns > 0).or_else(variable)
}
