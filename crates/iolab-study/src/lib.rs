//! Published results as experiments with their figures and claims, and how a claim is judged.
//!
//! A study is a TOML file: where it comes from, experiments as `iolab run` knows them (each with a
//! name), what was published as tables with units, and claims. A claim is judged by the product's
//! own statistics on the runs of its experiment; what could not be run is *not tested*, with the
//! reason. Pure: documents in, rulings and pages out.

mod along;
mod bench;
mod beside;
mod best_of;
mod claim;
mod claim_keys;
mod derived;
mod draw;
mod evidence;
mod fact;
mod figures;
mod form;
mod here;
mod judge;
mod keys;
mod lint;
mod lint_claim;
mod needs;
mod opening;
mod outcome;
mod page;
mod plot;
mod quantity;
mod read;
mod read_claim;
mod read_table;
mod ruling;
mod sample;
mod saying;
mod select;
mod shipped;
mod shown;
mod stretch;
mod table;
mod terms;
mod words;

pub use beside::{Side, beside};
pub use claim::Claim;
pub use derived::tested;
pub use draw::svg;
pub use evidence::{Evidence, Ratio};
pub use fact::Fact;
pub use figures::Figures;
pub use judge::{judge, open_cells};
pub use lint::{Checked, check};
pub use needs::Needs;
pub use outcome::Page;
pub use page::{index, page, summary};
pub use plot::{Plot, plot_csv};
pub use quantity::Quantity;
pub use read::read;
pub use ruling::{Ruling, Verdict};
pub use sample::{LeftOut, resample, sample};
pub use select::Selection;
pub use shipped::SHIPPED;
pub use table::{Axis, Slip, Table, csv, markdown};
pub use terms::{Choice, Measure, Ours, Per, Spread};

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
    /// What was published in the text alone.
    pub facts: Vec<Fact>,
    /// What was published as tables.
    pub tables: Vec<Table>,
    /// What was published as pictures.
    pub plots: Vec<Plot>,
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
