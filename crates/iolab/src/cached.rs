//! `iolab cached FILE…|DIR`: what share of each file is in the page cache now.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_io::cache::{CacheChange, CachedFile, Unseen, survey};
use iolab_model::catalog::{bytes_text, count_text, path_to_text};
use iolab_report::{CachedRow, cached_table};

/// Files that are listed without --all: a screen.
const LISTED: usize = 16;

/// Show what share of files is in the page cache, and bring them in or out
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab cached big.iso          was my run cached?\n  iolab cached ~/data           a directory, files with the most pages first\n  iolab cached --evict big.iso  the next read is cold\n  iolab cached --load big.iso   the next read is warm\n\nLooking reads no page. Links are not followed, other file systems not entered.\n--evict and --load change the page cache alone, of files that belong to you,\nnever of a device; --evict writes back what is dirty first."
)]
pub struct Cached {
    /// Files, or directories whose files are meant
    #[arg(value_name = "FILE", default_value = ".", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Take the files out of the page cache, then look (files of yours only)
    #[arg(long, conflicts_with = "load")]
    evict: bool,
    /// Read the files into the page cache, then look (files of yours only)
    #[arg(long)]
    load: bool,
    /// List every file, not only those with the most pages
    #[arg(long)]
    all: bool,
    /// What to write to stdout
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

impl Cached {
    /// Prints a row for each file, and the total.
    ///
    /// # Errors
    /// A file could not be looked at or changed; the others were.
    pub fn run(self, talk: &Talk) -> Ending {
        let change = match (self.evict, self.load) {
            (true, _) => CacheChange::Evict,
            (_, true) => CacheChange::Load,
            _ => CacheChange::Nothing,
        };
        let (mut seen, mut unseen) = (Vec::new(), Vec::new());
        for path in &self.paths {
            survey(path, change, &mut |found| match found {
                Ok(file) => seen.push(file),
                Err(why) => unseen.push(why),
            });
        }
        for Unseen { path, why } in &unseen {
            say(&format!("iolab: {}: {why}", path_to_text(path)));
        }
        let seen_none = seen.is_empty();
        match self.format {
            Format::Json => json(&seen, &unseen)?,
            Format::Table if seen.is_empty() && !unseen.is_empty() => Exit::Done,
            Format::Table => self.table(seen, talk)?,
        };
        match unseen.is_empty() {
            true => Ok(Exit::Done),
            // A name that is none is asked wrongly, as it is everywhere.
            false if seen_none && unseen.iter().all(|unseen| !unseen.path.exists()) => {
                Err(Failure::said(Exit::Usage))
            }
            false => Err(Failure::said(Exit::Refused)),
        }
    }

    /// Those with the most pages first, the rest and the total in a line each.
    fn table(&self, mut files: Vec<CachedFile>, talk: &Talk) -> Ending {
        files.sort_by(|a, b| {
            let most = b.seen.resident_bytes.cmp(&a.seen.resident_bytes);
            most.then_with(|| a.path.cmp(&b.path))
        });
        let listed = match self.all || files.len() <= LISTED + 1 {
            true => files.len(),
            false => LISTED,
        };
        let (first, rest) = files.split_at(listed);
        let mut rows: Vec<CachedRow> = first
            .iter()
            .map(|file| row(path_to_text(&file.path), std::slice::from_ref(file)))
            .collect();
        if !rest.is_empty() {
            rows.push(row(format!("{} more", count_text(rest.len() as u64)), rest));
        }
        if files.len() != 1 {
            rows.push(row(format!("all {} files", count_text(files.len() as u64)), &files));
        }
        terminal_io::data(|out| cached_table(&rows, &talk.look(), out))
    }
}

fn sum(files: &[CachedFile], of: impl Fn(&CachedFile) -> u64) -> u64 {
    files.iter().fold(0, |sum: u64, file| sum.saturating_add(of(file)))
}

/// Dirty bytes are known where every probe counted them.
fn dirty(files: &[CachedFile]) -> Option<u64> {
    files.iter().map(|file| file.seen.dirty_bytes).sum()
}

fn row(name: String, files: &[CachedFile]) -> CachedRow {
    let total_bytes = sum(files, |file| file.seen.total_bytes);
    let resident_bytes = sum(files, |file| file.seen.resident_bytes);
    CachedRow {
        name,
        resident: bytes_text(resident_bytes),
        total: bytes_text(total_bytes),
        // Of nothing nothing is missing, and nothing is there.
        share: (total_bytes > 0).then(|| resident_bytes as f64 / total_bytes as f64),
        dirty: dirty(files).filter(|bytes| *bytes > 0).map(bytes_text).unwrap_or_default(),
    }
}

fn json(seen: &[CachedFile], unseen: &[Unseen]) -> Ending {
    let counts = |files: &[CachedFile]| {
        serde_json::json!({
            "total_bytes": sum(files, |file| file.seen.total_bytes),
            "resident_bytes": sum(files, |file| file.seen.resident_bytes),
            "dirty_bytes": dirty(files),
        })
    };
    let file = |file: &CachedFile| {
        let mut counts = counts(std::slice::from_ref(file));
        counts["path"] = path_to_text(&file.path).into();
        counts["probe"] = file.seen.probe.as_str().into();
        counts
    };
    let value = serde_json::json!({
        "schema": "iolab.cached/1",
        "files": seen.iter().map(file).collect::<Vec<_>>(),
        "unreadable": unseen
            .iter()
            .map(|one| serde_json::json!({"path": path_to_text(&one.path), "reason": one.why}))
            .collect::<Vec<_>>(),
        "all": counts(seen),
    });
    terminal_io::data(|out| {
        serde_json::to_writer_pretty(&mut *out, &value)?;
        writeln!(out)
    })
}
