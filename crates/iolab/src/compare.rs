//! `iolab compare A B`: recorded runs against each other, cell by cell.

use std::ops::RangeInclusive;
use std::path::Path;

use clap::{Args, ValueEnum};

use super::store_args::{StoreArgs, load};
use super::terminal_io::{self, Ending, Failure};
use super::verbosity::Talk;
use iolab_model::result::Document;
use iolab_model::spec;
use iolab_record::history::Store;
use iolab_record::import;
use iolab_report::compare::{
    Compared, Incomparable, Terms, compare, compared_json, compared_markdown, compared_table,
};

/// How a comparison is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    #[default]
    Table,
    Markdown,
    Json,
}

impl Shape {
    /// Writes it to stdout.
    ///
    /// # Errors
    /// What stdout met.
    pub fn write(self, compared: &Compared, talk: &Talk) -> Ending {
        terminal_io::data(|out| match self {
            Shape::Table => compared_table(compared, &talk.look(), out),
            Shape::Markdown => compared_markdown(compared, out),
            Shape::Json => compared_json(compared, out),
        })
    }
}

/// Compare recorded runs cell by cell
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab compare 16 17\n  iolab compare 14..18 19..23         repeated runs on each side\n  iolab rerun 16 17                   makes them, in turn, and compares\n  iolab compare main.json last         a file beside a recorded run\n  iolab compare 16 17 --format markdown\n\nRuns share no rounds, so what the machine does between them counts: with one\nrun a side it is allowed for, with several it is measured.\n\nExit status: 0 whatever is found (iolab gate has a status for it), 12 the runs\ncannot be compared."
)]
pub struct Compare {
    /// Baseline: a number, a pinned name, last, a file; several with commas, or 3..7
    #[arg(value_name = "BEFORE")]
    first: String,
    /// What is compared with it
    #[arg(value_name = "AFTER", default_value = "last")]
    second: String,
    #[command(flatten)]
    terms: TermArgs,
    /// How to write it
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Shape,
    #[command(flatten)]
    store: StoreArgs,
}

/// What decides.
#[derive(Args, Clone, Debug)]
pub struct TermArgs {
    /// Differences smaller than this do not matter [default: 2%]
    #[arg(long, value_name = "PCT", allow_hyphen_values = true)]
    delta: Option<String>,
    /// Compare although the machines differ; nothing is called clear then
    #[arg(long)]
    pub anyway: bool,
}

impl TermArgs {
    fn read(&self) -> Result<Terms, Failure> {
        let delta = match &self.delta {
            Some(text) => spec::parse_percent(text).map_err(|e| Failure::usage(e.of("--delta")))?,
            None => 0.02,
        };
        Ok(Terms { alpha: 0.05, delta, anyway: self.anyway })
    }
}

impl Compare {
    /// Prints the comparison.
    ///
    /// # Errors
    /// There is no such run, or the runs cannot be compared.
    pub fn run(self, talk: &Talk) -> Ending {
        let terms = self.terms.read()?;
        let store = self.store.open()?;
        let first = side(&store, &self.first)?;
        let second = side(&store, &self.second)?;
        let compared = compare(&first, &second, &terms).map_err(failure)?;
        self.format.write(&compared, talk)
    }
}

/// The runs of one side: numbers, names, `last` or files, joined by commas.
///
/// # Errors
/// One of them is not there.
pub fn side(store: &Store, text: &str) -> Result<Vec<Document>, Failure> {
    // A file may have a comma in its name.
    if is_file(text) {
        return Ok(vec![file(text)?]);
    }
    let one = |name: &str| match (is_file(name), range(name)) {
        (true, _) => Ok(vec![file(name)?]),
        (false, Some(ids)) => ids?.map(|id| load(store, &id.to_string())).collect(),
        (false, None) => Ok(vec![load(store, name)?]),
    };
    let sides: Result<Vec<Vec<Document>>, Failure> = text.split(',').map(one).collect();
    Ok(sides?.concat())
}

/// More runs than these are no side.
const MOST_RUNS: u64 = 1000;

/// `3..7`: from the one to the other, both taken.
fn range(text: &str) -> Option<Result<RangeInclusive<u64>, Failure>> {
    let (first, last) = text.split_once("..")?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    Some(match first <= last && last - first < MOST_RUNS {
        true => Ok(first..=last),
        false => Err(Failure::usage(format!("'{text}': write runs as 3..7, the earlier first"))),
    })
}

fn is_file(text: &str) -> bool {
    // A number is a run, even where a file is called so: `./17` names the file.
    text.parse::<u64>().is_err() && Path::new(text).is_file()
}

fn file(text: &str) -> Result<Document, Failure> {
    import::read_one(Path::new(text)).map_err(Failure::usage)
}

/// The failure that a comparison gives.
pub fn failure(error: Incomparable) -> Failure {
    match error {
        Incomparable::NoCell(_) => Failure::usage(error),
        _ => Failure::incomparable(error),
    }
}
