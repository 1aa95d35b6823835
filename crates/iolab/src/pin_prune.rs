//! `iolab pin` and `iolab prune`: what stays in the history.

use clap::Args;

use super::store_args::{StoreArgs, failure, number};
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_controller::{now_seconds, now_text};
use iolab_model::catalog::{so_many, utc_text};
use iolab_model::spec;
use iolab_record::history::Retention;

/// Keep a recorded run whatever is pruned, under a name of your own
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab pin last --name before-upgrade\n  iolab compare before-upgrade last\n  iolab pin 17 --remove"
)]
pub struct Pin {
    /// The run's number, its name, or last
    #[arg(value_name = "RUN", default_value = "last")]
    run: String,
    /// A name that can stand for the number everywhere
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Let go of it again
    #[arg(long, conflicts_with = "name")]
    remove: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl Pin {
    /// Pins the run.
    ///
    /// # Errors
    /// There is no such run, the name cannot be used, or the history cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        let store = self.store.open()?;
        let id = number(&store, &self.run)?;
        let said = if self.remove {
            match store.unpin(id).map_err(failure)? {
                true => format!("run {id} is no longer pinned"),
                false => format!("run {id} was not pinned"),
            }
        } else {
            self.name.as_deref().map(usable).transpose()?;
            store.pin(id, self.name.as_deref(), &now_text()).map_err(failure)?;
            match &self.name {
                Some(name) => format!("run {id} is pinned as {name}"),
                None => format!("run {id} is pinned"),
            }
        };
        if !talk.quiet {
            say(&said);
        }
        Ok(Exit::Done)
    }
}

/// A name that can be no number, no `last`, no list and no file elsewhere.
fn usable(name: &str) -> Result<(), Failure> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.chars().next().is_some_and(char::is_alphabetic);
    match begins && name.len() <= 60 && name != "last" && name.chars().all(word) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "--name '{}': a name begins with a letter and has letters, digits, '-', '_' and '.', at most 60; it is not 'last'",
            name.escape_debug()
        ))),
    }
}

/// Remove old runs from the history; pinned ones stay
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab prune --keep 20 --dry-run         what would go\n  iolab prune --older-than 90d --keep 5   old ones, but five of each experiment\n  iolab prune --partial"
)]
pub struct Prune {
    /// Of each experiment keep the newest N
    #[arg(long, value_name = "N")]
    keep: Option<u64>,
    /// Only runs older than this: 90d, 12h
    #[arg(long, value_name = "TIME")]
    older_than: Option<String>,
    /// Only runs that were interrupted
    #[arg(long)]
    partial: bool,
    /// Only say which
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl Prune {
    /// Removes the runs and prints their numbers.
    ///
    /// # Errors
    /// Nothing was asked for, or the history cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        if self.keep.is_none() && self.older_than.is_none() && !self.partial {
            return Err(Failure::usage(
                "name what may go: --keep N, --older-than 90d or --partial; see iolab prune --help",
            ));
        }
        let before = self.older_than.as_deref().map(moment).transpose()?;
        let retention = Retention { keep: self.keep, before, partial: self.partial };
        let store = self.store.open()?;
        let gone = match self.dry_run {
            true => store.expired(&retention),
            false => store.prune(&retention),
        };
        let gone = gone.map_err(failure)?;
        if !talk.quiet {
            let verb = if self.dry_run { "would be removed" } else { "removed" };
            say(&format!("{} {verb}", so_many(gone.len(), "run")));
        }
        terminal_io::data(|out| gone.iter().try_for_each(|run| writeln!(out, "{}", run.id)))
    }
}

/// So long ago.
fn moment(text: &str) -> Result<String, Failure> {
    const DAY_NS: u64 = 86_400_000_000_000;
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u64>().ok());
    let ago_ns = match days {
        Some(days) => days.saturating_mul(DAY_NS),
        None => spec::parse_duration_ns(text).map_err(|e| Failure::usage(e.of("--older-than")))?,
    };
    Ok(utc_text(now_seconds().saturating_sub(ago_ns / 1_000_000_000)))
}
