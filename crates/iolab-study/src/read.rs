//! A study file → a [`Study`]; what is wrong in it, with its line.

use std::collections::BTreeMap;

use super::claim::{Claim, Kind};
use super::keys::{
    MEASURES, PERS, duration, facts, falling, figures, list, must, quantity, range, share, text,
    word,
};
use super::quantity::QUANTITIES;
use super::select::Selection;
use super::table::{Axis, Table};
use super::{Study, Trial};
use iolab_model::catalog::{Factor, Kind as LevelKind, Level, WorkloadInfo, path_from_text};
use iolab_model::spec::file::{self, FileError, Source, Value, Words};
use iolab_model::spec::{Vocabulary, choose, parse_bytes};

type Toml<'a> = file::Table<'a>;

const KEYS: [&str; 8] =
    ["title", "summary", "source", "budget", "defaults", "experiment", "table", "claim"];
const CLAIM_KEYS: [&str; 20] = [
    "id",
    "says",
    "experiment",
    "of",
    "kind",
    "measure",
    "per",
    "published",
    "note",
    "a",
    "b",
    "by",
    "axis",
    "direction",
    "from",
    "to",
    "tolerance",
    "near",
    "within",
    "share",
];
const KINDS: [&str; 9] = [
    "faster",
    "fastest",
    "ordered",
    "plateau",
    "crossover",
    "equivalent",
    "negligible",
    "same-value",
    "scales",
];
/// Differences that a claim of "no difference" allows where it says nothing.
const TOLERANCE: f64 = 0.1;

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
    let claims: Vec<Claim> =
        list(root, "claim")?.into_iter().map(|t| reader.claim(t)).collect::<Result<_, _>>()?;
    Ok(Study {
        name: name.to_owned(),
        title: text(root, "title")?,
        summary: text(root, "summary")?,
        source: facts(root)?,
        budget_ns: duration(root, "budget")?,
        tables,
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
        let name = text(table, "name")?;
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
struct Reader<'a> {
    words: Words<'a>,
    experiments: &'a [Trial],
}

impl Reader<'_> {
    fn experiment(&self, table: Toml<'_>) -> Result<&Trial, FileError> {
        let value = must(table, "experiment")?;
        let name = value.text()?;
        let names: Vec<&str> = self.experiments.iter().map(|e| e.name.as_str()).collect();
        let found = self.experiments.iter().find(|e| e.name == name);
        found.ok_or_else(|| value.refuse("there is no such experiment", choose(name, &names)))
    }

    fn info(&self, trial: &Trial) -> Option<&WorkloadInfo> {
        let id = &trial.written.experiment.workload;
        self.words.workloads.iter().find(|info| info.part.id == *id)
    }

    /// Levels by factor, of those that the experiment has.
    fn selection(&self, trial: &Trial, table: Toml<'_>, key: &str) -> Result<Selection, FileError> {
        let Some(value) = table.get(key) else { return Ok(Selection::default()) };
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

    fn factor(&self, trial: &Trial, name: &str, at: Value<'_>) -> Result<Factor, FileError> {
        let names: Vec<&str> = self
            .info(trial)
            .map_or(Vec::new(), |info| info.factors.iter().map(|f| f.factor.name()).collect());
        name.parse::<Factor>().ok().filter(|_| names.contains(&name)).ok_or_else(|| {
            let workload = &trial.written.experiment.workload;
            let problem = format!("{workload} has no axis '{}'", name.escape_debug());
            at.refuse(problem, choose(name, &names))
        })
    }

    fn levels(
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

    fn claim(&self, table: Toml<'_>) -> Result<Claim, FileError> {
        table.only(&CLAIM_KEYS)?;
        let trial = self.experiment(table)?;
        Ok(Claim {
            id: text(table, "id")?,
            says: text(table, "says")?,
            experiment: trial.name.clone(),
            of: self.selection(trial, table, "of")?,
            kind: self.kind(trial, table)?,
            measure: word(table, "measure", &MEASURES)?.unwrap_or_default(),
            per: word(table, "per", &PERS)?.unwrap_or_default(),
            published: figures(table)?,
            note: table.get("note").map(|v| v.text().map(str::to_owned)).transpose()?,
        })
    }

    fn kind(&self, trial: &Trial, table: Toml<'_>) -> Result<Kind, FileError> {
        let side = |key| {
            must(table, key)?;
            self.selection(trial, table, key)
        };
        let axis = || {
            let value = must(table, "axis")?;
            self.factor(trial, value.text()?, value)
        };
        let level = |key: &str, axis| self.number(trial, axis, must(table, key)?);
        let tolerance = || Ok::<f64, FileError>(share(table, "tolerance")?.unwrap_or(TOLERANCE));
        let kind = must(table, "kind")?;
        Ok(match kind.text()? {
            "faster" => Kind::Faster { a: side("a")?, b: side("b")?, by: range(table)? },
            "fastest" => Kind::Fastest { a: side("a")? },
            "ordered" => Kind::Ordered { axis: axis()?, falling: falling(table)? },
            "plateau" => {
                let axis = axis()?;
                Kind::Plateau { axis, from: level("from", axis)?, tolerance: tolerance()? }
            }
            "crossover" => {
                let axis = axis()?;
                let within = table.get("within").map(|v| v.float()).transpose()?.unwrap_or(4.0);
                let near = self.place(axis, must(table, "near")?)?;
                Kind::Crossover { axis, a: side("a")?, b: side("b")?, near, within }
            }
            "equivalent" => {
                Kind::Equivalent { a: side("a")?, b: side("b")?, tolerance: tolerance()? }
            }
            "negligible" => Kind::Negligible { share: share(table, "share")?.unwrap_or(0.05) },
            "same-value" => Kind::SameValue,
            "scales" => {
                let axis = axis()?;
                let by = range(table)?.map_or(1.0, |(from, _)| from);
                Kind::Scales { axis, from: level("from", axis)?, to: level("to", axis)?, by }
            }
            other => {
                return Err(kind.refuse("there is no such kind of claim", choose(other, &KINDS)));
            }
        })
    }

    fn number(&self, trial: &Trial, axis: Factor, value: Value<'_>) -> Result<u64, FileError> {
        match self.levels(trial, axis, value)?.first() {
            Some(Level::Number(number)) => Ok(*number),
            _ => {
                Err(value
                    .refuse(format!("{axis} has no numbers"), "name an axis of sizes or counts"))
            }
        }
    }

    /// A place on an axis, which need not be a level.
    fn place(&self, axis: Factor, value: Value<'_>) -> Result<u64, FileError> {
        match (value.text(), axis.kind()) {
            (Ok(text), LevelKind::Bytes) => {
                parse_bytes(text).map_err(|error| value.refuse_spec(&error))
            }
            _ => value.number(),
        }
    }

    fn table(&self, table: Toml<'_>) -> Result<Table, FileError> {
        table.only(&[
            "id",
            "title",
            "experiment",
            "of",
            "corner",
            "quantity",
            "columns",
            "rows",
            "values",
        ])?;
        let trial = self.experiment(table)?;
        let axes = |key: &str| -> Result<Vec<Axis>, FileError> {
            must(table, key)?.tables()?.into_iter().map(|axis| self.axis(trial, axis)).collect()
        };
        let (columns, rows) = (axes("columns")?, axes("rows")?);
        let value = must(table, "values")?;
        let lines = value.items();
        let mut values = Vec::new();
        for line in &lines {
            let items = line.items();
            if items.len() != columns.len() {
                let problem = format!("{} figures for {} columns", items.len(), columns.len());
                return Err(
                    line.refuse(problem, "write one figure a column; nan where there is none")
                );
            }
            values.push(items.iter().map(Value::float).collect::<Result<Vec<f64>, _>>()?);
        }
        if lines.len() != rows.len() {
            let problem = format!("{} lines of figures for {} rows", lines.len(), rows.len());
            return Err(value.refuse(problem, "write one list a row"));
        }
        let quantity = quantity(table)?;
        let without = rows.iter().any(|row| {
            columns.iter().any(|column| row.quantity.or(column.quantity).or(quantity).is_none())
        });
        if without {
            let names = QUANTITIES.map(|(name, _)| name).join(", ");
            return Err(table
                .refuse("its figures have no unit", format!("write quantity = one of {names}")));
        }
        Ok(Table {
            id: text(table, "id")?,
            title: text(table, "title")?,
            experiment: trial.name.clone(),
            of: self.selection(trial, table, "of")?,
            corner: table.get("corner").map_or(Ok(""), |v| v.text())?.to_owned(),
            columns,
            rows,
            values,
            quantity,
        })
    }

    fn axis(&self, trial: &Trial, table: Toml<'_>) -> Result<Axis, FileError> {
        table.only(&["label", "of", "quantity"])?;
        Ok(Axis {
            label: text(table, "label")?,
            of: self.selection(trial, table, "of")?,
            quantity: quantity(table)?,
        })
    }
}
