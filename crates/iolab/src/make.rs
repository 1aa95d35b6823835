//! `iolab make file` and `iolab make tree`: something to measure.

mod tree;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand, ValueHint};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::protocol_args::drawn_seed;
use super::signals::Signals;
use super::size_for_time::failure;
use super::terminal_io::dumb;
use super::terminal_io::{self, Ending, Failure};
use super::verbosity::Talk;
use iolab_io::place;
use iolab_io::tool::{self, FileOrder};
use iolab_model::catalog::{Fill, bytes_text, path_to_text, rate_text, time_text};
use iolab_model::spec;
use iolab_run::StopSignal;

/// Pictures a second.
const BETWEEN_DRAWINGS: Duration = Duration::from_millis(200);

/// Make a file or a tree of files, never over an existing one
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab make file 1Gi big.bin\n  iolab make tree --help               trees by number, size and layout"
)]
pub struct Make {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Clone, Debug)]
enum What {
    File(MakeFile),
    Tree(tree::MakeTree),
}

impl Make {
    /// Makes it.
    ///
    /// # Errors
    /// It exists, or there is no room.
    pub fn run(self, talk: &Talk) -> Ending {
        iolab_io::sys::process::report_file_limit_as_error();
        match self.what {
            What::File(file) => file.run(talk),
            What::Tree(tree) => tree.run(talk),
        }
    }
}

/// Make one file
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab make file 1Gi big.bin\n  iolab make file 100MB words.txt --fill text --seed 7\n\nThe same seed makes the same bytes. What stopped half-way (Ctrl-C, a full disk)\nis removed."
)]
struct MakeFile {
    /// Its size: 512, 64Ki, 100MB, 1Gi
    #[arg(value_name = "SIZE", allow_hyphen_values = true)]
    size: String,
    /// Its name; nothing may have it yet
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    path: PathBuf,
    #[command(flatten)]
    content: ContentArgs,
}

/// What files hold.
#[derive(Args, Clone, Debug)]
struct ContentArgs {
    /// What the bytes look like: random, text, zero
    #[arg(long, value_name = "WORD", default_value = Fill::USUAL)]
    fill: String,
    /// Seed of everything random [default: drawn, and printed]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Wait until the data are on the device
    #[arg(long)]
    sync: bool,
}

impl ContentArgs {
    fn fill(&self) -> Result<Fill, Failure> {
        self.fill.parse().map_err(|error| Failure::usage(format!("--fill: {error}")))
    }

    fn seed(&self) -> Result<u64, Failure> {
        match &self.seed {
            Some(text) => spec::parse_count(text).map_err(|e| Failure::usage(e.of("--seed"))),
            None => Ok(drawn_seed()),
        }
    }
}

impl MakeFile {
    fn run(self, talk: &Talk) -> Ending {
        let bytes = spec::parse_bytes(&self.size).map_err(|e| Failure::usage(e.of("SIZE")))?;
        let order = FileOrder { bytes, fill: self.content.fill()?, seed: self.content.seed()? };
        refuse_without_room(&self.path, bytes)?;
        let signals = Signals::listen(true).map_err(Failure::internal)?;
        let mut progress = Progress::new(bytes, talk);
        let began = Instant::now();
        let mut wanted = |written| {
            progress.at(written);
            signals.wanted() == StopSignal::None
        };
        tool::make_file(&self.path, &order, &mut wanted).map_err(failure)?;
        drop(progress);
        if self.content.sync {
            sync(&self.path)?;
        }
        let took = began.elapsed().as_secs_f64();
        terminal_io::data(|out| {
            writeln!(
                out,
                "{}  {}  {}  seed {}  {}  {}",
                path_to_text(&self.path),
                bytes_text(bytes),
                order.fill,
                order.seed,
                time_text(took * 1e9),
                rate_text(bytes as f64 / took.max(1e-9))
            )
        })
    }
}

fn sync(path: &Path) -> Result<(), Failure> {
    synced(path, File::sync_all)
}

/// Everything on the file system of a tree.
fn sync_all(path: &Path) -> Result<(), Failure> {
    synced(path, |root| Ok(rustix::fs::syncfs(root)?))
}

fn synced(path: &Path, how: fn(&File) -> io::Result<()>) -> Result<(), Failure> {
    let done = File::open(path).and_then(|file| how(&file));
    done.map_err(|error| Failure::refused(format!("sync {}: {error}", path_to_text(path))))
}

/// Told before anything is written where it cannot end well.
fn refuse_without_room(path: &Path, bytes: u64) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let space = place::space(parent).map_err(Failure::usage)?;
    match bytes > space.usable_bytes() {
        true => Err(Failure::refused(format!(
            "no space in {}: {} are needed and {} free (a reserve taken off); free some, or name another directory",
            path_to_text(parent),
            bytes_text(bytes),
            bytes_text(space.usable_bytes())
        ))),
        false => Ok(()),
    }
}

/// How far it is, on a terminal.
struct Progress {
    bar: Option<ProgressBar>,
    drawn: Instant,
}

impl Progress {
    fn new(all: u64, talk: &Talk) -> Progress {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr()) && !dumb();
        let bar = (terminal && !talk.quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:16} {percent} %");
            bar.set_style(style.unwrap_or(ProgressStyle::default_bar()));
            bar
        });
        Progress { bar, drawn: Instant::now() }
    }

    fn at(&mut self, written: u64) {
        if let Some(bar) = &self.bar
            && self.drawn.elapsed() > BETWEEN_DRAWINGS
        {
            bar.set_position(written);
            self.drawn = Instant::now();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
