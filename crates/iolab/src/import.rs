//! `iolab import FILE…`: runs of another machine and of other tools into the history; logs of strace
//! into traces.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;

use super::store_args::{StoreArgs, failure};
use super::terminal_io::{self, Ending, Failure, say};
use super::trace_file;
use super::verbosity::Talk;
use iolab_model::catalog::{path_to_text, so_many};
use iolab_model::result::Document;
use iolab_record::history::{Imported, Store};
use iolab_record::import;
use iolab_trace::{Limits, Trace, looks_like_log};

/// Take runs from files: of another machine, and of other tools
#[derive(Args, Clone, Debug)]
#[command(after_help = after_help())]
pub struct Import {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

/// What can be imported, and who writes it.
fn after_help() -> String {
    let row = |format: &import::ImportFormat| {
        format!("  iolab import FILE      of {}, from\n    {}\n", format.of, format.written_by)
    };
    let rows: String = import::FORMATS.iter().map(row).collect();
    format!(
        "Examples:\n{rows}  iolab import LOG       what a program does with files, from\n    \
         strace -f -ttt -T -yy -s 0 -o LOG COMMAND\n\nA log becomes a trace in this directory, \
         for iolab profile; its name is printed.\nA file that was imported before is not taken twice. What another tool \
         measured\nwas not interleaved and has no proof of its cache state."
    )
}

impl Import {
    /// Imports all files, or none: they are read before anything is written.
    ///
    /// # Errors
    /// A file is not what it should be, or the history cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        let (mut read, mut traces) = (Vec::new(), Vec::new());
        for path in &self.files {
            if is_log(path) {
                traces.push((path, trace(path)?));
                continue;
            }
            let documents = import::read(path).map_err(Failure::usage)?;
            read.extend(documents.into_iter().map(|document| (path, document)));
        }
        let mut printed = Vec::new();
        for (path, trace) in &traces {
            let stem = path.file_stem().map(|stem| trace_file::stem(stem.as_bytes()));
            let made = trace_file::save(trace, None, &stem.unwrap_or_default())?;
            let made = path_to_text(&made);
            if !talk.quiet {
                say(&log_sentence(&path_to_text(path), trace, &made));
            }
            printed.push(made);
        }
        if !read.is_empty() {
            self.keep_runs(&read, talk, &mut printed)?;
        }
        terminal_io::data(|out| printed.iter().try_for_each(|name| writeln!(out, "{name}")))
    }

    fn keep_runs(
        &self,
        read: &[(&PathBuf, Document)],
        talk: &Talk,
        printed: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let store = self.store.open()?;
        iolab_controller::make_room(&store)?;
        for (path, document) in read {
            let done = take(&store, document)?;
            if !talk.quiet {
                say(&sentence(&path_to_text(path), document, done));
            }
            printed.push(done.id.to_string());
        }
        Ok(())
    }
}

/// Whether it is a log of strace; what cannot be read is not, and is told by who reads it.
fn is_log(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut beginning));
    read.is_ok() && looks_like_log(&beginning)
}

fn trace(path: &Path) -> Result<Trace, Failure> {
    let name = path_to_text(path);
    let file = File::open(path).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let mut trace =
        iolab_trace::parse(file, &Limits::default()).map_err(|e| trace_file::refused(&name, &e))?;
    "strace, a log made elsewhere".clone_into(&mut trace.tracer);
    Ok(trace)
}

fn log_sentence(file: &str, trace: &Trace, made: &str) -> String {
    // As the profile counts them.
    let calls = so_many(trace.file_calls(), "call");
    let skipped = match trace.skipped_lines {
        0 => String::new(),
        lines => format!(" ({} not understood)", so_many(lines as usize, "line")),
    };
    format!("{file} is {made} now: {calls} on files{skipped}; iolab profile {made} says more")
}

fn take(store: &Store, document: &Document) -> Result<Imported, Failure> {
    store.import(document).map_err(failure)
}

fn sentence(file: &str, document: &Document, done: Imported) -> String {
    let title = document.run.title.escape_debug();
    let cells = document.cells.iter().filter(|c| c.estimate.is_some()).count();
    match done.already {
        true => format!("{file} is run {} already ({title})", done.id),
        false => {
            let cells = so_many(cells, "cell");
            format!("{file} is run {} now ({title}; {cells} with figures)", done.id)
        }
    }
}
