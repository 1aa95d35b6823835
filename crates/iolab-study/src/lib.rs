//! Published results as experiments with their figures and claims, and how a claim is judged.
//!
//! A study is a TOML file: where it comes from, experiments as `iolab run` knows them (each with a
//! name), what was published as tables with units, and claims. A claim is judged by the product's
//! own statistics on the runs of its experiment; what could not be run is *not tested*, with the
//! reason. Pure: documents in, rulings and pages out.

mod along;
mod claim;
mod evidence;
mod judge;
mod keys;
mod page;
mod quantity;
mod read;
mod sample;
mod select;
mod shipped;
mod table;

pub use claim::{Claim, Figures, Kind, Measure, Per};
pub use evidence::{Evidence, Ratio};
pub use judge::{Ruling, Verdict, judge};
pub use page::{Page, page, summary};
pub use quantity::Quantity;
pub use read::read;
pub use sample::{LeftOut, resample, sample};
pub use select::Selection;
pub use shipped::SHIPPED;
pub use table::{Axis, Table, csv, markdown};

use iolab_model::spec::file::Written;

/// A published experiment.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name on the command line.
    pub name: String,
    /// One line.
    pub title: String,
    /// What it asked and how, in a few sentences.
    pub summary: String,
    /// Facts of the source, as far as it gives them: machine, kernel, date.
    pub source: Vec<(String, String)>,
    /// Time for all experiments where the person names none.
    pub budget_ns: u64,
    /// What is run.
    pub experiments: Vec<Trial>,
    /// What was published.
    pub tables: Vec<Table>,
    /// What was claimed.
    pub claims: Vec<Claim>,
}

/// One experiment of a study.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its name within the study.
    pub name: String,
    /// What is run at the full setting.
    pub written: Written,
    /// Its part of the budget, against that of the others.
    pub share: f64,
    /// True where it belongs to the full setting alone.
    pub full: bool,
}
