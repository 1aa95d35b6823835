//! `iolab diff A B`: whether two files or two trees hold the same.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueHint};

use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_io::tool::{self, Allocation, Walk};
use iolab_model::catalog::{bytes_text, count_text, path_to_text, rate_text};

/// Compare two files byte for byte, or two trees name for name
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab diff big.iso copy.iso\n  iolab diff tree copy-of-tree\n\nEach difference is a line on stdout. Exit status: 0 the same, 3 different.\nLinks are compared by where they lead, never followed; owners, modes and times\nare not compared."
)]
pub struct Diff {
    /// A file or a directory; never written to
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    a: PathBuf,
    /// Another one
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    b: PathBuf,
}

impl Diff {
    /// Prints what differs.
    ///
    /// # Errors
    /// One does not exist, or cannot be compared with the other.
    pub fn run(self, talk: &Talk) -> Ending {
        let (about, other) = (look(&self.a)?, look(&self.b)?);
        match (about.is_dir(), other.is_dir()) {
            (true, true) => self.trees(talk),
            (false, false) => self.files((&about, &other), talk),
            _ => {
                let (a, b) = (path_to_text(&self.a), path_to_text(&self.b));
                let (directory, file) = if about.is_dir() { (a, b) } else { (b, a) };
                Err(Failure::usage(format!(
                    "{directory} is a directory and {file} is not; name two files or two directories"
                )))
            }
        }
    }

    fn files(&self, (about, other): (&Metadata, &Metadata), talk: &Talk) -> Ending {
        let began = Instant::now();
        let found = tool::compare_files(&self.a, &self.b).map_err(Failure::usage)?;
        match found {
            Some(difference) => {
                terminal_io::data(|out| writeln!(out, "{difference}"))?;
                Ok(Exit::Different)
            }
            None => {
                let takes = (tool::allocation(about), tool::allocation(other));
                summary(talk, "the same", about.len(), began);
                takes_differ(talk, takes);
                Ok(Exit::Done)
            }
        }
    }

    fn trees(&self, talk: &Talk) -> Ending {
        let began = Instant::now();
        let mut result = Ok(Exit::Done);
        let mut tell = |line: &str| {
            if result.is_ok() {
                result = terminal_io::data(|out| writeln!(out, "{line}"));
            }
        };
        let mut walk = Walk::new(&mut tell);
        tool::compare_trees(&self.a, &self.b, &mut walk);
        let Walk { files, bytes, differences, takes, .. } = walk;
        result?;
        let found = match differences {
            0 => "no difference".to_owned(),
            1 => "1 difference".to_owned(),
            more => format!("{} differences", count_text(more)),
        };
        summary(talk, &format!("{} files compared, {found}", count_text(files)), bytes, began);
        takes_differ(talk, takes);
        Ok(if differences == 0 { Exit::Done } else { Exit::Different })
    }
}

fn look(path: &Path) -> Result<Metadata, Failure> {
    fs::metadata(path).map_err(|error| {
        let name = path_to_text(path);
        Failure::usage(format!("{name}: {error}; name a file or a directory that is there"))
    })
}

fn summary(talk: &Talk, what: &str, bytes: u64, began: Instant) {
    if !talk.quiet {
        let speed = bytes as f64 / began.elapsed().as_secs_f64().max(1e-9);
        say(&format!("{what}; {} alike, {}", bytes_text(bytes), rate_text(speed)));
    }
}

/// Equal bytes may take unequal space, which confuses whoever looks at `du`.
fn takes_differ(talk: &Talk, (one, two): (Allocation, Allocation)) {
    if talk.quiet || one.allocated_bytes == two.allocated_bytes {
        return;
    }
    let text = |takes: Allocation| {
        let sparse = match takes.allocated_bytes < takes.apparent_bytes {
            true => " (holes, or compressed)",
            false => "",
        };
        format!(
            "{} of {} on disk{sparse}",
            bytes_text(takes.allocated_bytes),
            bytes_text(takes.apparent_bytes)
        )
    };
    say(&format!("they hold the same and take different space: A {}, B {}", text(one), text(two)));
}
