//! Which cells a claim or a table is about.

use std::collections::BTreeMap;
use std::fmt;

use iolab_model::catalog::{Factor, Kind, Level, Levels, bytes_text};
use iolab_model::result::{CellRecord, Document};

/// Levels by factor: a cell is meant that has one of the levels on each of the factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection(BTreeMap<Factor, Vec<Level>>);

impl Selection {
    /// Of these levels.
    pub fn new(levels: BTreeMap<Factor, Vec<Level>>) -> Selection {
        Selection(levels)
    }

    /// With what another asks for too; where both name a factor, the other has the word.
    #[must_use]
    pub fn and(&self, other: &Selection) -> Selection {
        let mut all = self.0.clone();
        all.extend(other.0.iter().map(|(factor, levels)| (*factor, levels.clone())));
        Selection(all)
    }

    /// With one more factor fixed.
    #[must_use]
    pub fn at(&self, factor: Factor, level: Level) -> Selection {
        let mut all = self.0.clone();
        all.insert(factor, vec![level]);
        Selection(all)
    }

    /// Factors with the levels that are meant.
    pub fn iter(&self) -> impl Iterator<Item = (Factor, &[Level])> {
        self.0.iter().map(|(factor, levels)| (*factor, &levels[..]))
    }

    /// Whether a cell is meant.
    pub fn takes(&self, levels: &Levels) -> bool {
        self.0.iter().all(|(factor, wanted)| {
            let has = levels.get(*factor);
            has.is_some_and(|has| wanted.iter().any(|wanted| same(*factor, wanted, has)))
        })
    }

    /// The cells of a run that are meant.
    pub fn cells<'a>(&self, document: &'a Document) -> Vec<&'a CellRecord> {
        document.cells.iter().filter(|cell| self.takes(&cell.factors)).collect()
    }
}

/// Whether a level is the one that is named. A place is named without its options:
/// `ext4` means `ext4:size=1Gi` too.
fn same(factor: Factor, named: &Level, has: &Level) -> bool {
    match (factor, named, has) {
        (Factor::Place, Level::Word(named), Level::Word(has)) => {
            let rest = has.strip_prefix(named.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        }
        _ => named == has,
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (factor, levels)) in self.0.iter().enumerate() {
            let levels: Vec<String> = levels.iter().map(|l| text(*factor, l)).collect();
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{factor} {}", levels.join(" or "))?;
        }
        Ok(())
    }
}

/// A level as people write it.
pub(super) fn text(factor: Factor, level: &Level) -> String {
    match (factor.kind(), level) {
        (Kind::Bytes, Level::Number(bytes)) => size_text(*bytes),
        _ => level.to_string(),
    }
}

/// A size as it was meant: in powers of 1000 where it is a whole number of them, `100 kB`.
fn size_text(bytes: u64) -> String {
    let scales = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    let whole = scales.iter().find(|(scale, _)| bytes > 0 && bytes.is_multiple_of(*scale));
    match whole {
        Some((scale, unit)) if !bytes.is_multiple_of(1024) => format!("{} {unit}", bytes / scale),
        _ => bytes_text(bytes),
    }
}

/// A level as a legend has it: a place without its options.
pub(super) fn short_text(factor: Factor, level: &Level) -> String {
    let text = text(factor, level);
    match factor {
        Factor::Place => text.split(':').next().unwrap_or_default().to_owned(),
        _ => text,
    }
}
