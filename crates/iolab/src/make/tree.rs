//! `iolab make tree`: many files of any sizes, in directories.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueHint};

use super::{ContentArgs, Progress, refuse_without_room};
use crate::signals::Signals;
use crate::terminal_io::{self, Ending, Exit, Failure};
use crate::verbosity::Talk;
use iolab_io::place;
use iolab_io::workload::files::{Listing, MAKE_BLOCK, clear, make_directories, make_files};
use iolab_model::catalog::{
    Fill, SIZES_FORMS, Sizes, bytes_text, count_text, path_to_text, rate_text, time_text,
};
use iolab_model::result::Fault;
use iolab_model::spec::{self, choose};
use iolab_model::tree::{Body, SHAPES, Shape, Tree};
use iolab_run::StopSignal;

/// Files between two looks at the person's wish.
const PIECE: u64 = 32;
const EEXIST: i32 = 17;

/// Make a tree of files
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab make tree photos --files 400 --sizes uniform:100kB..35MB\n  iolab make tree many --files 10000 --sizes total:5GB\n  iolab make tree mail --files 50000 --sizes lognormal:8Ki:1.2 --layout tree\n\nSizes: 64Ki, total:5GB, list:4Ki+1Mi, uniform:A..B, lognormal:MEDIAN:SIGMA,\nexponential:MEAN, empty. The same seed makes the same tree."
)]
pub struct MakeTree {
    /// Its directory; nothing may have that name yet
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    path: PathBuf,
    /// How many files
    #[arg(long, value_name = "N", default_value = "1000", allow_hyphen_values = true)]
    files: String,
    /// How large they are
    #[arg(long, value_name = "RULE", default_value = "64Ki")]
    sizes: String,
    /// How they lie in directories: sharded (1000 each), shared, tree, private
    #[arg(long, value_name = "WORD", default_value = "sharded")]
    layout: String,
    #[command(flatten)]
    content: ContentArgs,
}

impl MakeTree {
    /// Makes the tree.
    ///
    /// # Errors
    /// The name is taken, or there is no room.
    pub fn run(self, talk: &Talk) -> Ending {
        let tree = self.tree()?;
        let bytes = tree.bytes();
        refuse_without_room(&self.path, bytes)?;
        refuse_without_inodes(&self.path, &tree)?;
        let signals = Signals::listen(true).map_err(Failure::internal)?;
        let began = Instant::now();
        let listing = Listing::Made(tree.clone());
        make_directories(&listing, &self.path).map_err(|fault| match fault.errno {
            Some(EEXIST) => Failure::refused(format!(
                "{} exists already; name another directory, or remove it yourself",
                path_to_text(&self.path)
            )),
            _ => self.undone(&listing, fault),
        })?;
        let mut content = tree.content(MAKE_BLOCK);
        let mut progress = Progress::new(tree.files, talk);
        let mut at = 0;
        while at < tree.files {
            progress.at(at);
            let end = (at + PIECE).min(tree.files);
            let made = make_files(&listing, &self.path, at..end, &mut content, &|| true);
            made.map_err(|fault| self.undone(&listing, fault))?;
            at = end;
            if signals.wanted() != StopSignal::None {
                clear(&listing, &self.path, &listing.whole()).map_err(Failure::internal)?;
                return Err(Failure::said(Exit::Interrupted));
            }
        }
        drop(progress);
        if self.content.sync {
            super::sync_all(&self.path)?;
        }
        self.show(&tree, bytes, began)
    }

    fn tree(&self) -> Result<Tree, Failure> {
        let files = spec::parse_count(&self.files).map_err(|e| Failure::usage(e.of("--files")))?;
        let written = self.sizes.escape_debug();
        let sizes: Sizes = self.sizes.parse().map_err(|why| {
            Failure::usage(format!("--sizes '{written}': {why}; write {SIZES_FORMS}"))
        })?;
        let shape = Shape::new(&self.layout, 1).ok_or_else(|| {
            let text = self.layout.escape_debug();
            Failure::usage(format!("--layout '{text}': {}", choose(&self.layout, &SHAPES)))
        })?;
        let body = self.content.fill.parse().ok().and_then(Body::of).ok_or_else(|| {
            let text = self.content.fill.escape_debug();
            let fix = choose(&self.content.fill, Fill::OF_FILES);
            Failure::usage(format!("--fill '{text}': {fix}"))
        })?;
        match files {
            0 => Err(Failure::usage("--files '0': a tree has a file; write 1 or more")),
            files => Ok(Tree {
                files,
                sizes,
                shape,
                body,
                seed: self.content.seed()?,
                first: 0,
                rank: 0,
            }),
        }
    }

    /// What was made is taken away again.
    fn undone(&self, listing: &Listing, fault: Fault) -> Failure {
        let said = crate::size_for_time::refusal(fault);
        match clear(listing, &self.path, &listing.whole()) {
            Ok(()) => said,
            Err(left) => Failure::refused(format!("{said}; and then: {left}")),
        }
    }

    fn show(&self, tree: &Tree, bytes: u64, began: Instant) -> Ending {
        let took = began.elapsed().as_secs_f64();
        terminal_io::data(|out| {
            writeln!(
                out,
                "{}  {} in {}  {}  {}  seed {}  {}  {}",
                path_to_text(&self.path),
                many(tree.files, "file", "files"),
                many(tree.directories(), "directory", "directories"),
                bytes_text(bytes),
                self.content.fill,
                tree.seed,
                time_text(took * 1e9),
                rate_text(bytes as f64 / took.max(1e-9))
            )
        })
    }
}

fn many(count: u64, one: &str, more: &str) -> String {
    format!("{} {}", count_text(count), if count == 1 { one } else { more })
}

fn refuse_without_inodes(path: &Path, tree: &Tree) -> Result<(), Failure> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let free = place::space(parent).map_err(Failure::usage)?.free_inodes;
    let needed = tree.files.saturating_add(tree.directories()).saturating_add(1);
    match needed > free {
        true => Err(Failure::refused(format!(
            "no inodes in {}: {needed} are needed and {free} are free; make fewer files, or name another directory",
            path_to_text(parent)
        ))),
        false => Ok(()),
    }
}
