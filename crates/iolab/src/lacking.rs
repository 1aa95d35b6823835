//! What was asked for by name and was not measured: no success, whatever else was.

use std::collections::BTreeMap;

use iolab_model::catalog::{Factor, Level};
use iolab_model::plan::level_text;
use iolab_model::result::{CellRecord, CellStatus, Document};

/// What is lacking, in words; nothing where all that was named has figures. A level of which no cell
/// was made lacks nothing: it makes no difference there.
pub fn lacking(document: &Document, named: &BTreeMap<Factor, Vec<Level>>) -> Option<String> {
    let could_not = |cell: &CellRecord| {
        cell.estimate.is_none() && matches!(cell.status, CellStatus::Skipped | CellStatus::Failed)
    };
    if !document.cells.is_empty() && document.cells.iter().all(could_not) {
        return Some("nothing was measured".to_owned());
    }
    let lacks = |factor: Factor, level: &Level| {
        let mut cells =
            document.cells.iter().filter(|cell| cell.factors.get(factor) == Some(level)).peekable();
        cells.peek().is_some() && cells.all(could_not)
    };
    let levels = named.iter().flat_map(|(factor, levels)| levels.iter().map(|l| (*factor, l)));
    let lost = levels.filter(|(factor, level)| lacks(*factor, level));
    let texts: Vec<String> =
        lost.map(|(factor, level)| format!("{factor} {}", level_text(factor, level))).collect();
    (!texts.is_empty()).then(|| format!("asked for and not measured: {}", texts.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Factor, Level, lacking};
    use iolab_test::documents;

    #[test]
    fn a_level_that_was_named_and_has_no_figure_is_told() {
        let run = documents::winner();
        let named = |words: &[&str]| {
            BTreeMap::from([(Factor::Method, words.iter().copied().map(Level::word).collect())])
        };
        assert_eq!(lacking(&run, &BTreeMap::new()), None);
        assert_eq!(lacking(&run, &named(&["pread", "mmap"])), None);
        let told = lacking(&run, &named(&["pread", "mmap-populate"])).unwrap();
        assert_eq!(told, "asked for and not measured: method mmap-populate");
        // Of what has no cell nothing is missing.
        assert_eq!(lacking(&run, &named(&["vmsplice"])), None);
        let skipped = documents::all().into_iter().find(|(name, _)| *name == "skipped only");
        let told = lacking(&skipped.unwrap().1, &BTreeMap::new()).unwrap();
        assert_eq!(told, "nothing was measured");
    }
}
