//! The title of time by block size: what the answers show of the smallest good block.

use std::collections::BTreeMap;

use super::cells::{Facets, Group, Index, Split};
use super::labels::of_conditions;
use super::plateau::Plateau;
use super::standing::{Conditions, Standing, unit_time};
use iolab_model::catalog::{Factor, bytes_text, list_text, percent_text};
use iolab_model::result::{Answer, AnswerKind};

/// Most conditions that a title tells one by one.
const MOST_TOLD: usize = 3;

/// What is shown of block sizes, as one sentence; never more than the intervals show.
pub fn title(
    index: &Index<'_>,
    plateaus: &BTreeMap<(usize, String), Plateau>,
    facets: &Facets<'_>,
) -> String {
    let found: Vec<&Plateau> = plateaus.values().collect();
    let delta = index.documents.first().map_or(0.02, |d| d.experiment.protocol.delta);
    let near = percent_text(delta);
    if index.documents.len() > 1 {
        return runs_title(index, plateaus);
    }
    match found.as_slice() {
        [] => headline(index).unwrap_or_else(|| nothing(index)),
        [only] => {
            let (smallest, best) = (bytes_text(only.smallest), bytes_text(only.best));
            let how = how(index, only, facets);
            match (only.won && smallest == best, &only.sentence) {
                (true, _) => format!("{best} blocks are the fastest{how}"),
                (false, Some(found)) => format!("{found}{how}"),
                (false, None) if only.proven => {
                    format!("{smallest} blocks are within {near} of the best{how}")
                }
                (false, None) => format!("{smallest} blocks cannot be told from the best{how}"),
            }
        }
        many => conditions_title(index, many),
    }
}

/// The smallest good block of each condition: one for all of them, or how it differs.
fn conditions_title(index: &Index<'_>, found: &[&Plateau]) -> String {
    let answers = index.documents.iter().map(|d| d.answers.len()).sum::<usize>();
    let proven = found.iter().filter(|p| p.proven).count();
    let sizes = || found.iter().map(|p| p.smallest);
    let (low, high) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let size = bytes_text(low);
    if low == high && proven == found.len() {
        return format!(
            "{size} blocks are as good as the best in {}",
            of_conditions(proven, answers)
        );
    }
    if low == high && proven == 0 {
        let of = of_conditions(found.len(), answers);
        return format!("{size} blocks cannot be told from the best in {of}");
    }
    if low == high {
        let open = found.len() - proven;
        let of = of_conditions(proven, answers);
        return format!(
            "{size} blocks are as good as the best in {of}, not told from it in {open}"
        );
    }
    if found.len() > MOST_TOLD {
        let open = match found.len() - proven {
            0 => String::new(),
            open => format!(", not told from the best in {open} of them"),
        };
        let of = of_conditions(found.len(), answers);
        return format!(
            "The smallest good block differs: {size} to {} in {of}{open}",
            bytes_text(high)
        );
    }
    let names = condition_names(index, found);
    let each = found.iter().zip(names).map(|(p, name)| {
        let words = [name.as_str(), if p.proven { "" } else { "not told apart" }];
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        format!("{} ({})", bytes_text(p.smallest), words.join(", "))
    });
    format!("The smallest good block differs: {}", each.collect::<Vec<_>>().join(", "))
}

/// What sets the condition of each plateau apart from the others: `cold`.
fn condition_names(index: &Index<'_>, found: &[&Plateau]) -> Vec<String> {
    let source = |p: &&Plateau| index.cells.iter().find(|s| s.cell.id == p.cell).copied();
    let sources: Vec<_> = found.iter().filter_map(source).collect();
    let asked = |s: &Split| {
        let ask = |f: &Factor| index.documents.iter().any(|d| d.experiment.ask.contains(f));
        matches!(s, Split::Factor(f) if ask(f))
    };
    let mut varying = index.varying(&sources, &[Factor::Block]);
    varying.retain(|s| !asked(s));
    sources.iter().map(|s| index.name(s, &varying)).collect()
}

/// The smallest good block of each run, where each has one answer about blocks.
fn runs_title(index: &Index<'_>, plateaus: &BTreeMap<(usize, String), Plateau>) -> String {
    let count = index.documents.len();
    let mut found: Vec<(usize, &Plateau)> =
        plateaus.iter().map(|((run, _), p)| (*run, p)).collect();
    found.sort_by_key(|(run, _)| *run);
    if found.len() != count || found.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return format!("Time by block size in {count} runs, each with answers of its own");
    }
    let verb = match found.iter().all(|(_, p)| p.proven) {
        true => "as good as the best",
        false => "not told from the best",
    };
    let (_, first) = found[0];
    if found.iter().all(|(_, p)| p.smallest == first.smallest) {
        return format!("{} blocks are {verb} in all {count} runs", bytes_text(first.smallest));
    }
    let each = found.iter().map(|(run, p)| {
        format!("{} in run {}", bytes_text(p.smallest), index.documents[*run].run.id)
    });
    format!("The smallest block {verb}: {}", each.collect::<Vec<_>>().join(", "))
}

fn nothing(index: &Index<'_>) -> String {
    let measured = index.cells.iter().any(|s| unit_time(s.cell).is_some());
    let early = index.documents.iter().any(|d| !d.run.complete);
    match (measured, early) {
        (false, _) => "Time by block size: nothing was measured".to_owned(),
        (true, true) => "Time by block size: no answer, the run was stopped early".to_owned(),
        (true, false) => "Time by block size: no answer".to_owned(),
    }
}

/// `, with pread` or `, on ext4`: the series that the flagged cell is in, and its panel where there
/// are several.
fn how(index: &Index<'_>, plateau: &Plateau, facets: &Facets<'_>) -> String {
    let Some(source) = index.cells.iter().find(|s| s.cell.id == plateau.cell) else {
        return String::new();
    };
    let series = match facets.series {
        Some(split @ Split::Factor(factor)) => {
            let link = if factor == Factor::Place { "on" } else { "with" };
            format!(", {link} {}", index.split_text(split, source, true))
        }
        _ => String::new(),
    };
    let inside = |g: &&Group<'_>| {
        g.series.iter().flat_map(|(_, cells)| cells).any(|s| s.cell.id == plateau.cell)
    };
    match facets.groups.iter().find(inside) {
        Some(group) if !group.title.is_empty() => format!("{series} ({})", group.title),
        _ => series,
    }
}

/// The sentence of a run's only answer, or of its fastest cell where no block is in it.
fn headline(index: &Index<'_>) -> Option<String> {
    let [document] = index.documents else { return None };
    let answers: Vec<&Answer> = document.answers.iter().collect();
    match answers.as_slice() {
        [only] if only.kind == AnswerKind::Invalid => {
            Some("No answer: the measurement is not sound".to_owned())
        }
        [only] => {
            let conditions = Conditions::of(document);
            let leader = Standing::of(document, &conditions.cells(only), only)?.leader;
            let method = leader.factors.text(Factor::Method)?;
            let mut methods: Vec<&str> = only
                .best
                .iter()
                .filter_map(|id| {
                    document.cells.iter().find(|c| c.id == *id)?.factors.text(Factor::Method)
                })
                .collect();
            methods.dedup();
            match only.kind {
                AnswerKind::Winner => Some(format!("{method} is faster than every block size")),
                AnswerKind::Tie => {
                    Some(format!("No difference shown among {}", list_text(&methods)))
                }
                _ => Some(format!("Which of {} is best is open", list_text(&methods))),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::chart::charts_for;
    use iolab_model::catalog::{Factor, Level};
    use iolab_test::fakes::{Fake, document, fake, levels, number};

    fn title(cells: Vec<Fake>) -> String {
        let ask = [Factor::Method, Factor::Block];
        let charts = charts_for(&[document(5, "read", &ask, 24, cells)]);
        charts.into_iter().find(|c| c.slug == "time-by-block").unwrap().title
    }

    /// Blocks of 4, 64 and 256 KiB in both cache states, each with its time in ms and its noise.
    fn blocks(cold: [f64; 3], warm: [f64; 3], noise: f64) -> Vec<Fake> {
        let sizes = [4, 64, 256].map(|kib| kib << 10);
        let of = |cache: &'static str, times: [f64; 3]| {
            sizes.into_iter().zip(times).map(move |(block, ms)| {
                let at = [
                    (Factor::Method, Level::word("pread")),
                    (Factor::Block, number(block)),
                    (Factor::Cache, Level::word(cache)),
                ];
                let mut cell = fake(levels(&at), ms * 1e6, 1 << 24);
                cell.noise = if cache == "cold" { noise } else { 0.003 };
                cell
            })
        };
        of("cold", cold).chain(of("warm", warm)).collect()
    }

    /// A run was once summed up as "From 4 KiB to 64 KiB: as good as the best in all 2 conditions",
    /// where 4 KiB was proven slower warm and nothing was told apart cold.
    #[test]
    fn blocks_that_differ_are_told_by_condition() {
        let differ = title(blocks([50.0, 50.0, 50.0], [9.0, 4.0, 8.0], 0.3));
        assert_eq!(
            differ,
            "The smallest good block differs: 4 KiB (cold, not told apart), 64 KiB (warm)"
        );
        let open = title(blocks([50.0, 42.0, 60.0], [9.0, 4.0, 8.0], 0.004));
        assert_eq!(open, "64 KiB blocks are as good as the best in both conditions");
    }

    #[test]
    fn what_is_not_told_apart_is_not_called_as_good() {
        let mut cells = blocks([50.0; 3], [9.0; 3], 0.3);
        cells.iter_mut().for_each(|cell| cell.noise = 0.3);
        let open = title(cells);
        assert_eq!(open, "4 KiB blocks cannot be told from the best in both conditions");
    }

    #[test]
    fn one_answer_of_several_names_its_panel() {
        let mut cells = blocks([50.0, 42.0, 60.0], [9.0, 4.0, 8.0], 0.004);
        cells.truncate(3);
        let at = [(Factor::Method, Level::word("mmap")), (Factor::Cache, Level::word("warm"))];
        cells.push(fake(levels(&at), 1e6, 1 << 24));
        let one = title(cells);
        assert!(one.starts_with("64 KiB blocks are the fastest") && one.contains("cold"), "{one}");
    }
}
