//! What a study file says that cannot be right although it can be read: a sentence and a test that
//! part, figures that contradict each other. Each finding has its line and column.

use super::claim::Claim;
use super::keys::{list, must};
use super::quantity::{Quantity, digits};
use super::table::Table;
use super::{Study, lint_claim, read};
use iolab_model::spec::file::{self, FileError, Source, Words};

type Toml<'a> = file::Table<'a>;

/// A study with what is wrong in it, and what it does not say.
#[derive(Debug)]
pub struct Checked {
    /// The study.
    pub study: Study,
    /// What is wrong.
    pub wrong: Vec<FileError>,
    /// What a reader of its page will miss: where a figure stands, how often it was measured.
    pub missing: Vec<FileError>,
}

/// Reads a study and looks for what is wrong in it.
///
/// # Errors
/// It cannot be read at all: the first thing that is wrong, with its line.
pub fn check(
    name: &str,
    source: &Source<'_>,
    words: Words<'_>,
    seed: u64,
) -> Result<Checked, FileError> {
    let study = read(name, source, words, seed)?;
    let parsed = file::parse(source)?;
    let root = parsed.table();
    let mut found = Found { wrong: Vec::new(), missing: Vec::new() };
    for (written, table) in list(root, "table")?.into_iter().zip(&study.tables) {
        found.table(written, table)?;
    }
    for (written, fact) in list(root, "fact")?.into_iter().zip(&study.facts) {
        if let Some(why) = fact.contradicted() {
            found.wrong.push(written.refuse_key("value", why, "correct one of them"));
        }
    }
    for (written, claim) in list(root, "claim")?.into_iter().zip(&study.claims) {
        found.claim(written, claim, &study)?;
    }
    Ok(Checked { study, wrong: found.wrong, missing: found.missing })
}

struct Found {
    wrong: Vec<FileError>,
    missing: Vec<FileError>,
}

/// Speeds and seconds of one table may part by rounding.
const ROUNDING: f64 = 0.012;

impl Found {
    fn table(&mut self, written: Toml<'_>, table: &Table) -> Result<(), FileError> {
        for key in ["where", "repetitions"] {
            if written.get(key).is_none() {
                let fix = "write where = \"section, table\" and repetitions = \"one run\"";
                let problem = format!("the table does not say its {key}");
                self.missing.push(written.refuse_key("title", problem, fix));
            }
        }
        let lines = must(written, "values")?.items();
        for (at, line) in lines.iter().enumerate() {
            let items = line.items();
            for (column, problem) in contradictions(table, at) {
                let noted = table.slips.iter().any(|slip| slip.row == at);
                if let (Some(item), false) = (items.get(column), noted) {
                    let fix = "correct the figure, or note it as a slip of the study";
                    self.wrong.push(item.refuse(problem, fix));
                }
            }
        }
        Ok(())
    }

    fn claim(&mut self, written: Toml<'_>, claim: &Claim, study: &Study) -> Result<(), FileError> {
        let says = must(written, "says")?;
        for problem in lint_claim::parts(claim, study) {
            self.wrong.push(says.refuse(problem, "change the sentence or the test"));
        }
        if claim.place.is_none() && claim.ours != super::terms::Ours::All {
            let problem = "the claim does not say where it stands in the study";
            let fix = "write where = \"…\", or ours = true";
            self.missing.push(written.refuse_key("id", problem, fix));
        }
        let (Some(value), Some(figures)) = (written.get("published"), &claim.published) else {
            return Ok(());
        };
        if let (Some(ratio), Some(derived), None) =
            (figures.ratio, figures.derived(), &figures.slip)
            && (ratio - derived).abs() > ROUNDING * derived
        {
            let problem = format!("the figures beside it give {}", digits(derived));
            let fix = "correct one of them, or write slip = \"what the study got wrong\"";
            self.wrong.push(value.table()?.refuse_key("ratio", problem, fix));
        }
        for (key, figure) in [("a", figures.a), ("b", figures.b)] {
            let Some(figure) = figure else { continue };
            let stands = study.tables.iter().flat_map(|t| t.values.iter().flatten());
            let known = study.facts.iter().filter_map(|fact| fact.value);
            if !study.tables.is_empty() && !stands.copied().chain(known).any(|v| v == figure) {
                let problem = format!("{figure} stands in no table and no fact of this file");
                let fix = "correct it, or add the table or the fact that it is from";
                self.wrong.push(value.table()?.refuse_key(key, problem, fix));
            }
        }
        Ok(())
    }
}

/// Figures of a row that contradict each other: speed against bytes and seconds, total CPU time
/// against its two parts.
fn contradictions(table: &Table, row: usize) -> Vec<(usize, String)> {
    let axis = &table.rows[row];
    let find = |wanted: Quantity| {
        let at = table.columns.iter().position(|c| table.quantity(axis, c) == Some(wanted))?;
        let value = table.values[row][at];
        value.is_finite().then_some((at, value))
    };
    let mut found = Vec::new();
    let apart = |x: f64, y: f64| (x - y).abs() > ROUNDING * y.abs();
    if let (Some(bytes), Some((_, seconds)), Some((at, speed))) =
        (table.bytes, find(Quantity::ElapsedS), find(Quantity::MibPerS))
    {
        let derived = bytes as f64 / f64::from(1 << 20) / seconds;
        if apart(speed, derived) {
            found.push((
                at,
                format!("{} bytes in {seconds} s are {} MiB/s", bytes, digits(derived)),
            ));
        }
    }
    if let (Some((at, cpu)), Some((_, user)), Some((_, system))) =
        (find(Quantity::CpuS), find(Quantity::UserS), find(Quantity::SystemS))
        && apart(cpu, user + system)
    {
        found.push((at, format!("user and system time are {} s", digits(user + system))));
    }
    found
}
