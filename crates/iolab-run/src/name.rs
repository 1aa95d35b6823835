//! What a cell is called in a sentence: the levels that tell it from its rivals.

use std::fmt;

use iolab_model::catalog::{Factor, Levels, host_text, is_plural, phrase};
use iolab_model::plan::{Condition, Plan};

/// A cell in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellName {
    pub(super) text: String,
    /// Whether it wants "are" and "take": `2 threads`, `new files`.
    pub(super) plural: bool,
}

impl fmt::Display for CellName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl AsRef<str> for CellName {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl CellName {
    /// The verb that fits it: `is` or `are`, `takes` or `take`.
    pub(super) fn verb(&self, of_one: &'static str, of_several: &'static str) -> &'static str {
        if self.plural { of_several } else { of_one }
    }

    fn of(levels: &Levels, factors: &[Factor]) -> CellName {
        let has = factors.iter().filter_map(|factor| Some((*factor, levels.get(*factor)?)));
        // "The page cache" is the one switch whose name is another than its phrase, and is one.
        CellName { text: name(levels, factors), plural: is_plural(has) }
    }
}

/// A name for each cell of an answer, in its order.
pub(super) fn names_of(plan: &Plan, condition: &Condition) -> Vec<CellName> {
    let cells: Vec<&Levels> = condition.cells.iter().map(|c| &plan.cells[*c].levels).collect();
    let mut names: Vec<CellName> = match varying(&cells) {
        factors if factors.is_empty() => condition
            .cells
            .iter()
            .map(|c| {
                let factors = [Factor::Method, Factor::Operation, Factor::Block];
                CellName::of(&plan.cells[*c].levels, &factors)
            })
            .collect(),
        factors => cells.iter().map(|levels| CellName::of(levels, &factors)).collect(),
    };
    // Two commands may have one name; their ids tell them apart.
    let has_command = |cell: &&Levels| cell.get(Factor::Contender).is_some();
    let commands = names.iter().zip(&cells).filter(|(_, cell)| has_command(cell));
    let texts: Vec<String> = commands.map(|(name, _)| name.text.clone()).collect();
    let again = |text: &String| texts.iter().filter(|other| *other == text).count() > 1;
    for (name, cell) in names.iter_mut().zip(&condition.cells) {
        if name.text.is_empty() || again(&name.text) {
            name.text.clone_from(&plan.cells[*cell].id);
        }
    }
    names
}

/// Whether the cells differ in the call that they make and in nothing else: what is asked for then is
/// a list of prices, and the least of them wins no race.
pub(super) fn are_calls(plan: &Plan, condition: &Condition) -> bool {
    let cells: Vec<&Levels> = condition.cells.iter().map(|c| &plan.cells[*c].levels).collect();
    varying(&cells) == [Factor::Operation]
}

/// Factors whose level is not the same for all that have one; where there is none, those that some
/// cells lack.
fn varying(cells: &[&Levels]) -> Vec<Factor> {
    let lacks = |f: &Factor| cells.windows(2).any(|w| w[0].get(*f) != w[1].get(*f));
    let factors = Levels::differing(cells);
    match factors.is_empty() {
        true => Factor::ALL.into_iter().filter(lacks).collect(),
        false => factors,
    }
}

/// `pread with 64 KiB blocks and 4 threads`.
fn name(levels: &Levels, factors: &[Factor]) -> String {
    let mut heads = Vec::new();
    let mut tails = Vec::new();
    let mut after = String::new();
    for (factor, level) in factors.iter().filter_map(|f| Some((*f, levels.get(*f)?))) {
        match factor {
            Factor::Method | Factor::Operation | Factor::Contender | Factor::File => {
                heads.push(phrase(factor, level));
            }
            // Where machines or places alone are compared, each has its bare name.
            Factor::Host if factors.len() == 1 => {
                heads.push(host_text(&level.to_string()).to_owned())
            }
            Factor::Place if factors.len() == 1 => heads.push(level.to_string()),
            Factor::Host | Factor::Place => heads.push(phrase(factor, level)),
            // "Which of through the page cache and O_DIRECT is best" is nobody's question.
            Factor::Direct if factors.len() == 1 && !levels.is_on(Factor::Direct) => {
                heads.push("the page cache".to_owned());
            }
            Factor::Direct if !levels.is_on(Factor::Direct) => {
                after = format!(" {}", phrase(factor, level));
            }
            _ => tails.push(phrase(factor, level)),
        }
    }
    let head = heads.join(" ");
    let tail = tails.join(" and ");
    let name = match (head.is_empty(), tail.is_empty()) {
        (_, true) => head,
        (true, false) => tail,
        (false, false) => format!("{head} with {tail}"),
    };
    format!("{name}{after}").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{CellName, name};
    use iolab_model::catalog::{Factor, Level, Levels};

    #[test]
    fn names_read_as_a_person_would_say_them() {
        let levels = Levels::new()
            .with(Factor::Method, Level::word("pread"))
            .with(Factor::Block, Level::Number(65536))
            .with(Factor::Threads, Level::Number(4))
            .with(Factor::File, Level::Path("a\nb".into()));
        assert_eq!(name(&levels, &[Factor::Method]), "pread");
        assert_eq!(name(&levels, &[Factor::Block]), "64 KiB blocks");
        let all = [Factor::Method, Factor::Block, Factor::Threads];
        assert_eq!(name(&levels, &all), "pread with 64 KiB blocks and 4 threads");
        assert_eq!(name(&levels, &[Factor::File]), "a\\x0ab");
        // A mapping has no block.
        let mapped = Levels::new().with(Factor::Method, Level::word("mmap"));
        assert_eq!(name(&mapped, &all), "mmap");
        let plural = |factors: &[Factor]| CellName::of(&levels, factors).plural;
        assert!(plural(&[Factor::Block]) && !plural(&[Factor::Method, Factor::Block]));
        assert!(plural(&[Factor::Threads]) && !plural(&all));
    }

    /// "4 KiB blocks and direct off", "which of on overlay and on ext4 is best".
    #[test]
    fn switches_and_places_are_said_in_words() {
        let direct = |word: &'static str| {
            let block = Levels::new().with(Factor::Block, Level::Number(4096));
            name(&block.with(Factor::Direct, Level::word(word)), &[Factor::Block, Factor::Direct])
        };
        assert_eq!(direct("off"), "4 KiB blocks through the page cache");
        assert_eq!(direct("on"), "4 KiB blocks and O_DIRECT");
        let alone = Levels::new().with(Factor::Direct, Level::word("off"));
        assert_eq!(name(&alone, &[Factor::Direct]), "the page cache");
        let place = Levels::new().with(Factor::Place, Level::word("ext4"));
        let place = place.with(Factor::Threads, Level::Number(2));
        assert_eq!(name(&place, &[Factor::Place]), "ext4");
        assert_eq!(name(&place, &[Factor::Place, Factor::Threads]), "on ext4 with 2 threads");
    }
}
