//! A study file → a [`Study`]; what is wrong in it, with its line.

use std::collections::BTreeMap;

use super::keys::{duration, facts, list, must, name, text};
use super::select::Selection;
use super::{Study, Trial, fact};
use iolab_model::catalog::{Factor, Kind as LevelKind, Level, WorkloadInfo, path_from_text};
use iolab_model::spec::file::{self, FileError, Source, Value, Words};
use iolab_model::spec::{Vocabulary, choose};

type Toml<'a> = file::Table<'a>;

const KEYS: [&str; 10] = [
    "title",
    "summary",
    "source",
    "budget",
    "defaults",
    "experiment",
    "fact",
    "table",
    "plot",
    "claim",
];

/// Reads a study. `name` is what it is called on the command line, `seed` that of experiments
/// which name none.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn read(
    name: &str,
    source: &Source<'_>,
    words: Words<'_>,
    seed: u64,
) -> Result<Study, FileError> {
    let parsed = file::parse(source)?;
    let root = parsed.table();
    root.only(&KEYS)?;
    let experiments = experiments(root, words, seed)?;
    let reader = Reader { words, experiments: &experiments };
    let tables =
        list(root, "table")?.into_iter().map(|t| reader.table(t)).collect::<Result<_, _>>()?;
    let plots =
        list(root, "plot")?.into_iter().map(|t| reader.plot(t)).collect::<Result<_, _>>()?;
    let known = list(root, "fact")?.into_iter().map(fact::read).collect::<Result<_, _>>()?;
    let claims =
        list(root, "claim")?.into_iter().map(|t| reader.claim(t)).collect::<Result<_, _>>()?;
    Ok(Study {
        name: name.to_owned(),
        title: text(root, "title")?,
        summary: text(root, "summary")?,
        source: facts(root)?,
        budget_ns: duration(root, "budget")?,
        facts: known,
        tables,
        plots,
        claims,
        experiments,
    })
}

fn experiments(root: Toml<'_>, words: Words<'_>, seed: u64) -> Result<Vec<Trial>, FileError> {
    let written = file::experiments(root, words, seed, &["name", "share", "full"])?;
    if written.is_empty() {
        return Err(root.refuse("the study has no experiment", "write [[experiment]]"));
    }
    let tables = list(root, "experiment")?;
    let mut all: Vec<Trial> = Vec::new();
    for (written, table) in written.into_iter().zip(tables) {
        let name = name(table, "name")?;
        if all.iter().any(|other| other.name == name) {
            return Err(table.refuse_key(
                "name",
                "two experiments have this name",
                "give each its own",
            ));
        }
        let share = table.get("share").map(|value| value.float()).transpose()?.unwrap_or(1.0);
        if !(share > 0.0 && share.is_finite()) {
            return Err(table.refuse_key("share", "a share is more than 0", "write share = 1.0"));
        }
        let full = table.get("full").map(|value| value.flag()).transpose()?.unwrap_or(false);
        all.push(Trial { name, written, share, full });
    }
    Ok(all)
}

/// What a file may name, and the experiments that claims and tables are about.
pub(super) struct Reader<'a> {
    words: Words<'a>,
    experiments: &'a [Trial],
}

impl Reader<'_> {
    /// The experiments that are named, the one that is preferred first.
    pub(super) fn experiments(&self, table: Toml<'_>) -> Result<Vec<&Trial>, FileError> {
        let value = must(table, "experiment")?;
        let names: Vec<&str> = self.experiments.iter().map(|e| e.name.as_str()).collect();
        let one = |value: Value<'_>| {
            let name = value.text()?;
            let found = self.experiments.iter().find(|e| e.name == name);
            found.ok_or_else(|| value.refuse("there is no such experiment", choose(name, &names)))
        };
        let all: Vec<&Trial> = value.items().into_iter().map(one).collect::<Result<_, _>>()?;
        match all.is_empty() {
            true => Err(value.refuse("the list is empty", choose("", &names))),
            false => Ok(all),
        }
    }

    fn info(&self, trial: &Trial) -> Option<&WorkloadInfo> {
        let id = &trial.written.experiment.workload;
        self.words.workloads.iter().find(|info| info.part.id == *id)
    }

    /// Levels by factor, of those that the experiments have.
    pub(super) fn selection(
        &self,
        trials: &[&Trial],
        table: Toml<'_>,
        key: &str,
    ) -> Result<Selection, FileError> {
        match table.get(key) {
            Some(value) => self.chosen(trials, value),
            None => Ok(Selection::default()),
        }
    }

    /// The same, of a value; each experiment must have the levels.
    pub(super) fn chosen(
        &self,
        trials: &[&Trial],
        value: Value<'_>,
    ) -> Result<Selection, FileError> {
        let mut chosen = Selection::default();
        for trial in trials {
            chosen = self.of_one(trial, value)?;
        }
        Ok(chosen)
    }

    fn of_one(&self, trial: &Trial, value: Value<'_>) -> Result<Selection, FileError> {
        let mut all = BTreeMap::new();
        for (name, value) in value.table()?.entries() {
            let factor = self.factor(trial, name, value)?;
            let mut levels = Vec::new();
            for item in value.items() {
                levels.extend(self.levels(trial, factor, item)?);
            }
            all.insert(factor, levels);
        }
        Ok(Selection::new(all))
    }

    pub(super) fn factor(
        &self,
        trial: &Trial,
        name: &str,
        at: Value<'_>,
    ) -> Result<Factor, FileError> {
        let names: Vec<&str> = self
            .info(trial)
            .map_or(Vec::new(), |info| info.factors.iter().map(|f| f.factor.name()).collect());
        name.parse::<Factor>().ok().filter(|_| names.contains(&name)).ok_or_else(|| {
            let workload = &trial.written.experiment.workload;
            let problem = format!("{workload} has no axis '{}'", name.escape_debug());
            at.refuse(problem, choose(name, &names))
        })
    }

    pub(super) fn levels(
        &self,
        trial: &Trial,
        factor: Factor,
        item: Value<'_>,
    ) -> Result<Vec<Level>, FileError> {
        let written = match item.text() {
            Ok(text) => text.to_owned(),
            Err(_) => item.number()?.to_string(),
        };
        if factor.kind() == LevelKind::Path {
            return Ok(vec![Level::Path(path_from_text(&written))]);
        }
        let Some(info) = self.info(trial) else { return Ok(Vec::new()) };
        let vocabulary = Vocabulary { info, parts: self.words.parts };
        let levels =
            vocabulary.levels(factor, &written).map_err(|error| item.refuse_spec(&error))?;
        let Some(measured) = trial.written.experiment.factors.get(&factor) else {
            return Ok(levels);
        };
        let one = |level: Level| Selection::new(BTreeMap::from([(factor, vec![level])]));
        for level in &levels {
            let there = measured.iter().any(|measured| {
                let levels = iolab_model::catalog::Levels::new().with(factor, measured.clone());
                one(level.clone()).takes(&levels)
            });
            if !there {
                let texts: Vec<String> = measured.iter().map(ToString::to_string).collect();
                let problem =
                    format!("the experiment {} has no cell with this {factor}", trial.name);
                return Err(item.refuse(problem, format!("it has {}", texts.join(", "))));
            }
        }
        Ok(levels)
    }
}
