//! `iolab fit`: the size of a file whose read or write takes a wanted time here.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use super::checksum::block;
use super::factor_args::absolute;
use super::protocol_args::drawn_seed;
use super::signals::Signals;
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_io::host;
use iolab_io::place::{self, Scratch};
use iolab_io::tool::{self, FileOrder, Interrupted, Kind, Model};
use iolab_model::catalog::{Fill, bytes_text, rate_text, time_text};
use iolab_model::spec::{self, format_bytes};
use iolab_run::StopSignal;

/// The first size that is tried.
const FIRST_BYTES: u64 = 1 << 20;
/// Doubling goes on until a pass takes this share of the shortest time that is wanted.
const SHARE: f64 = 0.25;
/// The line is corrected by what it led to at most so often.
const CORRECTIONS: usize = 4;

/// Find the file size whose read or write takes a wanted time
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab fit read --block 16\n  iolab fit write /data --block 64Ki --for 1s..3s\n\nSizes are doubled until a pass takes a quarter of the shortest time; a line\nthrough the last ones gives the size, which is then measured. Nothing stays:\nmake the file again with the command that is printed. A read is from the page\ncache, a write until it is durable."
)]
pub struct Fit {
    /// What is to take so long
    what: What,
    /// The directory to try in; what is made there is removed
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
    /// The wanted time
    #[arg(long = "for", value_name = "TIME..TIME", default_value = "5s..15s")]
    wanted: String,
    /// Bytes per call [default: 64Ki]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    block: Option<String>,
    /// Seed of the file's bytes [default: drawn, and printed]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    Read,
    Write,
}

/// The search as it stands.
struct Search<'a> {
    kind: Kind,
    block: u64,
    seed: u64,
    /// Shortest and longest time, in nanoseconds.
    wanted: (f64, f64),
    most_bytes: u64,
    path: PathBuf,
    signals: &'a Signals,
    model: Model,
}

impl Fit {
    /// Searches and prints the size.
    ///
    /// # Errors
    /// There is no room for such a file, or it cannot be made.
    pub fn run(self, talk: &Talk) -> Ending {
        let wanted = span(&self.wanted)?;
        let block = block(self.block.as_deref(), 64 << 10)?;
        let seed = match &self.seed {
            Some(text) => spec::parse_count(text).map_err(|e| Failure::usage(e.of("--seed")))?,
            None => drawn_seed(),
        };
        let directory = absolute(&self.directory)?;
        iolab_io::sys::process::report_file_limit_as_error();
        let signals = Signals::listen(true).map_err(Failure::internal)?;
        let scratch = Scratch::make(&directory).map_err(Failure::refused)?;
        let mut search = Search {
            kind: if self.what == What::Read { Kind::Read } else { Kind::Write },
            block,
            seed,
            wanted,
            most_bytes: most_bytes(&directory)?,
            path: scratch.path().join("file"),
            signals: &signals,
            model: Model::default(),
        };
        let found = search.run(talk);
        let shown = found.and_then(|found| search.show(found));
        scratch.remove().map_err(Failure::internal)?;
        shown
    }
}

/// `5s..15s` in nanoseconds.
fn span(text: &str) -> Result<(f64, f64), Failure> {
    let wrong = |fix: &str| Failure::usage(format!("--for '{}': {fix}", text.escape_debug()));
    let (least, most) = text.split_once("..").ok_or_else(|| wrong("write 5s..15s"))?;
    let one = |part| spec::parse_duration_ns(part).map_err(|e| Failure::usage(e.of("--for")));
    let (least, most) = (one(least)?, one(most)?);
    match least < most {
        true => Ok((least as f64, most as f64)),
        false => Err(wrong("the range is empty; write the shorter time first")),
    }
}

/// Half of what is free on disk and of the memory that a cached file may take.
fn most_bytes(directory: &Path) -> Result<u64, Failure> {
    let free = place::space(directory).map_err(Failure::usage)?.usable_bytes();
    Ok((free / 2).min(host::available_memory_bytes() / 2))
}

impl Search<'_> {
    /// The size and its time.
    fn run(&mut self, talk: &Talk) -> Result<(u64, u64), Failure> {
        let middle = (self.wanted.0 * self.wanted.1).sqrt();
        let mut bytes = FIRST_BYTES.min(self.most_bytes);
        let mut ns = self.time(bytes, talk)?;
        while (ns as f64) < self.wanted.0 * SHARE && bytes < self.most_bytes {
            bytes = bytes.saturating_mul(2).min(self.most_bytes);
            ns = self.time(bytes, talk)?;
        }
        for _ in 0..CORRECTIONS {
            if (self.wanted.0..=self.wanted.1).contains(&(ns as f64)) {
                return Ok((bytes, ns));
            }
            let better = self.model.bytes_for(middle).unwrap_or(bytes).min(self.most_bytes);
            if better == bytes {
                break;
            }
            bytes = better;
            ns = self.time(bytes, talk)?;
        }
        match (self.wanted.0..=self.wanted.1).contains(&(ns as f64)) {
            true => Ok((bytes, ns)),
            false => Err(self.out_of_reach(bytes, ns)),
        }
    }

    fn out_of_reach(&self, bytes: u64, ns: u64) -> Failure {
        let (size, time) = (bytes_text(bytes), time_text(ns as f64));
        Failure::refused(match bytes == self.most_bytes && (ns as f64) < self.wanted.0 {
            true => format!(
                "a file of {size} takes {time}, and half of the free space and memory is {size}: repeat the pass, take a smaller --block, or a shorter --for"
            ),
            false => format!(
                "no size was found: {size} takes {time}, and times vary too much here; give a wider --for"
            ),
        })
    }

    /// The time of one pass over a file of this size, which is there afterwards.
    fn time(&mut self, bytes: u64, talk: &Talk) -> Result<u64, Failure> {
        if self.path.exists() {
            std::fs::remove_file(&self.path).map_err(Failure::internal)?;
        }
        let order = FileOrder { bytes, fill: Fill::Random, seed: self.seed };
        if self.kind == Kind::Read {
            let mut wanted = |_| self.signals.wanted() == StopSignal::None;
            tool::make_file(&self.path, &order, &mut wanted).map_err(failure)?;
        }
        let ns = tool::timed(self.kind, &self.path, &order, self.block).map_err(refusal)?;
        if self.signals.wanted() != StopSignal::None {
            return Err(Failure::said(Exit::Interrupted));
        }
        if !talk.quiet {
            let speed = bytes as f64 * 1e9 / (ns as f64).max(1.0);
            let (size, time) = (bytes_text(bytes), time_text(ns as f64));
            say(&format!("{size} takes {time} ({})", rate_text(speed)));
        }
        self.model.add(bytes, ns);
        Ok(ns)
    }

    fn show(&self, (bytes, ns): (u64, u64)) -> Ending {
        let digests = tool::checksum(&self.path, 128 << 10, None).map_err(refusal)?;
        terminal_io::data(|out| {
            writeln!(
                out,
                "{} bytes take {} in calls of {}; xor {}  crc32c {}",
                bytes,
                time_text(ns as f64),
                bytes_text(self.block),
                digests.xor,
                digests.crc32c
            )?;
            writeln!(out, "iolab make file {} NAME --seed {}", format_bytes(bytes), self.seed)
        })
    }
}

/// What making a file met.
pub fn failure(interrupted: Interrupted) -> Failure {
    match interrupted {
        Interrupted::Unwanted => Failure::said(Exit::Interrupted),
        Interrupted::Fault(fault) => refusal(fault),
    }
}

/// No space is a refusal with its fix.
pub fn refusal(fault: iolab_model::result::Fault) -> Failure {
    const EFBIG: i32 = 27;
    const ENOSPC: i32 = 28;
    match fault.errno {
        Some(ENOSPC) => Failure::refused(format!(
            "{fault}; nothing is left of it: free some space, or name another directory"
        )),
        Some(EFBIG) => Failure::refused(format!("{fault}; raise the limit with ulimit -f")),
        _ => Failure::refused(fault),
    }
}
