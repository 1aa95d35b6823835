//! `iolab clean [DIR]`: removes what killed runs left behind, and what others have kept (`--keep`).
//! Killed runs whose history is gone are found wherever they are.

use std::path::PathBuf;

use clap::Args;

use super::terminal_io::{self, Ending, Failure};
use super::verbosity::Talk;
use iolab_io::place;
use iolab_model::catalog::{bytes_text, path_to_text, so_many};
use iolab_record::history::{Lost, sweep_lost};

/// Remove scratch files that a killed run left in a directory, and files kept with --keep
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  iolab clean\n  iolab clean /data --dry-run")]
pub struct Clean {
    /// Where to look; only what iolab marked as its own is touched
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

impl Clean {
    /// Finds and removes; prints a line for each.
    ///
    /// # Errors
    /// The directory cannot be read, or something of ours cannot be removed.
    pub fn run(self, talk: &Talk) -> Ending {
        let mut found = place::clean(&self.directory, self.dry_run).map_err(Failure::usage)?;
        found.extend(place::clean_kept(&self.directory, self.dry_run).map_err(Failure::usage)?);
        let freed = if self.dry_run { Vec::new() } else { freed() };
        for path in &freed {
            terminal_io::say(&format!("{}  freed", path_to_text(path)));
        }
        let lost = sweep_lost(self.dry_run);
        for run in &lost {
            terminal_io::say(&lost_line(run));
        }
        if found.is_empty() && freed.is_empty() && lost.is_empty() && !talk.quiet {
            terminal_io::say(&format!("nothing was left in {}", path_to_text(&self.directory)));
        }
        terminal_io::data(|out| {
            found.iter().try_for_each(|one| writeln!(out, "{}", line(one, self.dry_run)))
        })?;
        match found.iter().any(|one| one.failed.is_some()) {
            true => {
                Err(Failure::refused("something could not be removed; see above for the reason"))
            }
            false => Ok(terminal_io::Exit::Done),
        }
    }
}

/// Loop devices and memory limits of killed runs, wherever these were.
fn freed() -> Vec<PathBuf> {
    place::sweep_loops().into_iter().chain(place::memory::sweep_groups()).collect()
}

/// A killed run that no history takes over any more.
fn lost_line(run: &Lost) -> String {
    format!(
        "{}  {}: {} of a run whose history was below {}, which is gone",
        path_to_text(&run.spool),
        if run.removed { "removed" } else { "would be removed" },
        so_many(run.trials as usize, "trial"),
        path_to_text(&run.directory)
    )
}

fn line(found: &place::Found, dry_run: bool) -> String {
    let what = match (&found.owner, &found.failed) {
        (place::Owner::Alive(why), _) => format!("left alone: {why}"),
        (_, Some(why)) => format!("not removed: {why}"),
        _ if dry_run => "would be removed".to_owned(),
        _ => "removed".to_owned(),
    };
    format!("{}  {}  {what}", path_to_text(&found.path), bytes_text(found.bytes))
}
