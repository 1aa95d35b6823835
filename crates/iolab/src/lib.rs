//! One file a subcommand: arguments in, exit code out.

mod benchmark_filter;
mod cached;
mod checksum;
mod clean;
mod commands;
mod compare;
mod completions;
mod consent_args;
mod console;
mod contender_args;
mod diff;
mod doctor;
mod explain;
mod factor_args;
mod gate;
mod google_benchmark_flags;
mod history;
mod import;
mod lacking;
mod list;
mod make;
mod man;
mod measure;
mod more;
mod output;
mod packages;
mod pin_prune;
mod place_args;
mod plan_files;
mod plan_text;
mod presets;
mod profile;
mod profile_rows;
mod profile_share;
mod profile_text;
mod progress;
mod protocol_args;
mod quick;
mod ranks;
mod record;
mod report;
mod reported;
mod rerun;
mod resume;
mod run;
mod schema;
mod selftest;
mod show;
mod signals;
mod size_for_time;
mod store_args;
mod study;
mod terminal_io;
mod toml_text;
mod trace_export;
mod trace_file;
mod trend;
mod unknown_option;
mod verbosity;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

pub use commands::command;

/// The whole program.
pub fn main() -> ExitCode {
    // The agent is started by us and is nobody's subcommand: nothing of the controller, not even
    // the reading of arguments, happens in that process.
    if std::env::args_os().nth(1).is_some_and(|word| word == "agent") {
        return iolab_agent::serve();
    }
    if let Some(relay) = ranks::wanted() {
        return terminal_io::guard(|| ranks::become_relay(&relay));
    }
    if google_benchmark_flags::wanted() {
        return terminal_io::guard(google_benchmark_flags::run);
    }
    terminal_io::guard(|| {
        match Cli::try_parse_from(factor_args::with_levels_attached(std::env::args_os())) {
            Ok(cli) => cli.command.run(&cli.talk),
            Err(error) => commands::parse_failure(error),
        }
    })
}
