//! `iolab import FILE…`: runs of another machine and of other tools into the history.

use std::path::PathBuf;

use clap::Args;

use super::store_args::{StoreArgs, failure};
use super::terminal_io::{self, Ending, Failure, say};
use super::verbosity::Talk;
use iolab_model::catalog::{path_to_text, so_many};
use iolab_model::result::Document;
use iolab_record::history::{Imported, Store};
use iolab_record::import;

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
        "Examples:\n{rows}\nA file that was imported before is not taken twice. What another tool \
         measured\nwas not interleaved and has no proof of its cache state."
    )
}

impl Import {
    /// Imports all files, or none: they are read before anything is written.
    ///
    /// # Errors
    /// A file is not what it should be, or the history cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        let mut read = Vec::new();
        for path in &self.files {
            let documents = import::read(path).map_err(Failure::usage)?;
            read.extend(documents.into_iter().map(|document| (path, document)));
        }
        let store = self.store.open()?;
        iolab_controller::make_room(&store)?;
        let mut numbers = Vec::new();
        for (path, document) in &read {
            let done = take(&store, document)?;
            if !talk.quiet {
                say(&sentence(&path_to_text(path), document, done));
            }
            numbers.push(done.id);
        }
        terminal_io::data(|out| numbers.iter().try_for_each(|id| writeln!(out, "{id}")))
    }
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
