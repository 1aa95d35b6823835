//! Which cells belong together: what varies, panels, series, and how cells of one answer stand
//! to its leader.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::labels::{clean, level_phrase, level_text, short};
use super::model::{MOST_PANELS, MOST_SERIES};
use iolab_model::catalog::{Factor, Kind, Level, path_to_text};
use iolab_model::result::{CellRecord, Document};

/// One cell with the run it is from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Index of the run.
    pub run: usize,
    /// The run.
    pub document: &'a Document,
    /// The cell.
    pub cell: &'a CellRecord,
}

/// What sets cells apart: the run, or a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Split {
    /// Which run, where there are several.
    Run,
    /// An axis.
    Factor(Factor),
}

/// One level of a split, comparable and in the order it is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The cell has no level of it (mmap has no block).
    None,
    /// A number: by size.
    Number(u64),
    /// A word, a path, a run: by first appearance.
    Nth(usize),
}

/// Cells of one or several runs.
pub struct Index<'a> {
    /// The runs.
    pub documents: &'a [Document],
    /// All cells, in order.
    pub cells: Vec<Source<'a>>,
    words: HashMap<(Factor, &'a Level), usize>,
    /// Two files of one name lie in different directories, so names alone say too little.
    namesakes: bool,
}

/// Cells that share a coordinate system.
pub struct Group<'a> {
    /// What sets it apart; empty where it is the only one.
    pub title: String,
    /// Name of each series and its cells.
    pub series: Vec<(String, Vec<Source<'a>>)>,
}

/// How cells are laid out.
pub struct Facets<'a> {
    /// The legend.
    pub names: Vec<String>,
    /// Panels, at most [`MOST_PANELS`].
    pub groups: Vec<Group<'a>>,
    /// Panels left out.
    pub left_out: usize,
    /// What the legend shows.
    pub series: Option<Split>,
}

impl<'a> Index<'a> {
    /// All cells of the runs.
    pub fn new(documents: &'a [Document]) -> Index<'a> {
        let mut cells = Vec::new();
        let mut words = HashMap::new();
        for (run, document) in documents.iter().enumerate() {
            for cell in &document.cells {
                for (factor, level) in cell.factors.iter() {
                    let next = words.len();
                    words.entry((factor, level)).or_insert(next);
                }
                cells.push(Source { run, document, cell });
            }
        }
        let paths = || {
            words.keys().filter_map(|(_, level)| match level {
                Level::Path(path) => path.file_name(),
                _ => None,
            })
        };
        let namesakes = paths().collect::<HashSet<_>>().len() < paths().count();
        Index { documents, cells, words, namesakes }
    }

    /// The level of a split that a cell has.
    pub fn part(&self, split: Split, source: &Source<'a>) -> Part {
        match split {
            Split::Run => Part::Nth(source.run),
            Split::Factor(factor) => match source.cell.factors.get(factor) {
                None => Part::None,
                Some(Level::Number(n)) => Part::Number(*n),
                Some(level) => Part::Nth(self.words.get(&(factor, level)).copied().unwrap_or(0)),
            },
        }
    }

    /// Distinct levels of a factor among all cells, absent ones left out, in shown order.
    pub fn levels(&self, factor: Factor) -> Vec<&'a Level> {
        let found: BTreeMap<Part, &'a Level> = self
            .cells
            .iter()
            .filter_map(|s| {
                Some((self.part(Split::Factor(factor), s), s.cell.factors.get(factor)?))
            })
            .collect();
        found.into_values().collect()
    }

    /// Numbers that a factor takes, ascending.
    pub fn numbers(&self, factor: Factor) -> Vec<u64> {
        self.levels(factor).into_iter().filter_map(Level::number).collect()
    }

    /// What varies among these cells, a missing level not counted as one.
    pub fn varying(&self, cells: &[Source<'a>], except: &[Factor]) -> Vec<Split> {
        let splits = Factor::ALL.into_iter().filter(|f| !except.contains(f)).map(Split::Factor);
        std::iter::once(Split::Run)
            .chain(splits)
            .filter(|split| {
                let mut parts =
                    cells.iter().map(|s| self.part(*split, s)).filter(|p| *p != Part::None);
                let first = parts.next();
                first.is_some_and(|first| parts.any(|p| p != first))
            })
            .collect()
    }

    /// The words of a split's level: `alone` where nothing beside says which factor it is.
    pub fn split_text(&self, split: Split, source: &Source<'a>, alone: bool) -> String {
        match split {
            Split::Run => run_name(source.document),
            Split::Factor(factor) => match source.cell.factors.get(factor) {
                Some(Level::Path(path)) if self.namesakes => short(&clean(&path_to_text(path))),
                level if alone => level_phrase(factor, level),
                level => level_text(factor, level),
            },
        }
    }

    /// A cell's name among `cells`: the levels that set it apart from them, or its id.
    pub fn name(&self, source: &Source<'a>, varying: &[Split]) -> String {
        let known = varying.iter().filter(|s| self.part(**s, source) != Part::None);
        // A bare count says nothing: `5 threads`, but `64 KiB`.
        let count = |s: &Split| matches!(s, Split::Factor(f) if f.kind() == Kind::Count);
        let words: Vec<String> = known.map(|s| self.split_text(*s, source, count(s))).collect();
        match words.is_empty() {
            true => clean(&source.cell.id),
            false => words.join(" · "),
        }
    }

    /// Lays cells out as panels of at most six series over the axis `x`.
    pub fn facets(&self, cells: &[Source<'a>], x: &[Factor]) -> Facets<'a> {
        self.facets_apart(cells, x, &[])
    }

    /// The same, with panels of their own for the levels of `apart`.
    pub fn facets_apart(&self, cells: &[Source<'a>], x: &[Factor], apart: &[Factor]) -> Facets<'a> {
        let mut varying = self.varying(cells, x);
        let may = |split: &&Split| !apart.iter().any(|f| **split == Split::Factor(*f));
        let free: Vec<Split> = varying.iter().filter(may).copied().collect();
        let series = self.choose_series(cells, &free);
        varying.retain(|split| Some(*split) != series);
        let mut names: Vec<(Part, String)> = Vec::new();
        let mut panels: BTreeMap<Vec<Part>, Vec<Source<'a>>> = BTreeMap::new();
        for source in cells {
            panels
                .entry(varying.iter().map(|v| self.part(*v, source)).collect())
                .or_default()
                .push(*source);
            if let Some(split) = series {
                let part = self.part(split, source);
                if names.iter().all(|(known, _)| *known != part) {
                    names.push((part, self.split_text(split, source, true)));
                }
            }
        }
        names.sort();
        let left_out = panels.len().saturating_sub(MOST_PANELS);
        let groups = panels.into_values().take(MOST_PANELS).map(|sources| {
            let words =
                varying.iter().filter_map(|v| Some(self.split_text(*v, sources.first()?, true)));
            let title = words.collect::<Vec<_>>().join(" · ");
            let of = |part: &Part| {
                sources
                    .iter()
                    .filter(|s| series.is_none_or(|v| self.part(v, s) == *part))
                    .copied()
                    .collect()
            };
            let series = match series {
                None => vec![(String::new(), sources.clone())],
                Some(_) => names.iter().map(|(part, name)| (name.clone(), of(part))).collect(),
            };
            Group { title, series }
        });
        let groups = groups.collect();
        Facets {
            names: names.into_iter().map(|(_, name)| name).collect(),
            groups,
            left_out,
            series,
        }
    }

    /// The split whose levels become the legend: what people compare first, at most six levels.
    fn choose_series(&self, cells: &[Source<'a>], varying: &[Split]) -> Option<Split> {
        const FIRST: [Split; 8] = [
            Split::Run,
            Split::Factor(Factor::Method),
            Split::Factor(Factor::Contender),
            Split::Factor(Factor::Place),
            Split::Factor(Factor::Operation),
            Split::Factor(Factor::IdleThreads),
            Split::Factor(Factor::Cache),
            Split::Factor(Factor::Threads),
        ];
        let few = |split: &&Split| {
            let mut parts: Vec<Part> = cells.iter().map(|s| self.part(**split, s)).collect();
            parts.sort();
            parts.dedup();
            parts.len() <= MOST_SERIES
        };
        let preferred = FIRST.iter().filter(|s| varying.contains(s)).find(few);
        preferred.or_else(|| varying.iter().find(few)).copied()
    }
}

/// How a run is named beside others.
pub fn run_name(document: &Document) -> String {
    let day = document.run.started.get(..10).unwrap_or("");
    clean(format!("run {} {day}", document.run.id).trim_end())
}
