//! A table of TOML → an experiment. Every axis goes through the same reader as an option of the
//! command line, so that both know the same words and units.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::source::FileError;
use super::table::{Table, Value};
use crate::catalog::{Factor, Kind, Level, Part, WorkloadInfo, path_from_text};
use crate::spec::{Experiment, KeyForm, PROTOCOL_KEYS, Protocol, SpecError, Vocabulary, choose};

const KEYS: [&str; 9] =
    ["title", "workload", "directory", "factors", "protocol", "export", "vm", "kernel", "modules"];

/// What a file may name: the workloads and every part there is.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The workloads.
    pub workloads: &'a [WorkloadInfo],
    /// Methods, operations and other parts, of any workload.
    pub parts: &'a [&'static Part],
}

/// An experiment of a file, and what the file says beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// What is asked. Paths are as written: relative ones start where the reader stands.
    pub experiment: Experiment,
    /// True where the file names the seed.
    pub seeded: bool,
    /// Exports as on the command line: `json=run.json`.
    pub exports: Vec<String>,
    /// Whether to run in a virtual machine.
    pub vm: bool,
    /// The kernel of the virtual machine, where one is named.
    pub kernel: Option<PathBuf>,
    /// Its modules, where they are named.
    pub modules: Option<PathBuf>,
    /// Where it stands: `bench.toml, line 4`.
    pub place: String,
    /// Where its directory stands, if the file names one.
    pub directory_place: Option<String>,
    /// Where its exports stand.
    pub export_place: Option<String>,
}

/// Reads `[[experiment]]` of a table, each on top of its `[defaults]`. Other keys of the table are
/// the caller's, and so are those of an experiment that `extra` names. An experiment without a
/// seed gets `seed` plus its place in the list.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn experiments(
    root: Table<'_>,
    words: Words<'_>,
    seed: u64,
    extra: &[&str],
) -> Result<Vec<Written>, FileError> {
    let defaults = root.get("defaults").map(|value| value.table()).transpose()?;
    if let Some(defaults) = defaults {
        let known = KEYS.iter().filter(|key| **key != "title" && **key != "export");
        defaults.only(&known.copied().collect::<Vec<_>>())?;
    }
    let Some(list) = root.get("experiment") else { return Ok(Vec::new()) };
    let known: Vec<&str> = KEYS.iter().chain(extra).copied().collect();
    let mut all = Vec::new();
    for (number, table) in list.tables()?.into_iter().enumerate() {
        table.only(&known)?;
        let layers = Layers { table, defaults };
        all.push(layers.experiment(words, seed.wrapping_add(number as u64))?);
    }
    Ok(all)
}

/// An experiment on top of the defaults of its file.
#[derive(Clone, Copy)]
struct Layers<'a> {
    table: Table<'a>,
    defaults: Option<Table<'a>>,
}

/// Characters of a title: more than a path has.
const LONGEST_TITLE: usize = 5000;

impl<'a> Layers<'a> {
    /// The value of the experiment, else that of the defaults.
    fn get(&self, key: &str) -> Option<Value<'a>> {
        self.table.get(key).or_else(|| self.defaults?.get(key))
    }

    /// A table of both: the experiment's own keys win.
    fn tables(&self, key: &str) -> Result<Vec<Table<'a>>, FileError> {
        let own = self.table.get(key);
        let common = self.defaults.and_then(|defaults| defaults.get(key));
        common.into_iter().chain(own).map(|value| value.table()).collect()
    }

    fn path(&self, key: &str) -> Result<Option<PathBuf>, FileError> {
        Ok(self.get(key).map(|value| value.text()).transpose()?.map(path_from_text))
    }

    fn experiment(&self, words: Words<'_>, seed: u64) -> Result<Written, FileError> {
        let info = self.workload(words)?;
        let vocabulary = Vocabulary { info, parts: words.parts };
        let (protocol, seeded) = protocol(&self.tables("protocol")?, seed)?;
        let experiment = Experiment {
            title: self.title()?.map(str::to_owned),
            workload: info.part.id.to_owned(),
            directory: self.path("directory")?.unwrap_or_else(|| PathBuf::from(".")),
            factors: factors(&self.tables("factors")?, vocabulary)?,
            protocol,
        };
        vocabulary.check(&experiment).map_err(|error| self.locate(&error))?;
        let exports = self.get("export").map(|value| value.texts()).transpose()?;
        Ok(Written {
            experiment,
            seeded,
            exports: exports.unwrap_or_default().into_iter().map(str::to_owned).collect(),
            vm: self.get("vm").map(|value| value.flag()).transpose()?.unwrap_or(false),
            kernel: self.path("kernel")?,
            modules: self.path("modules")?,
            place: self.table.place(),
            directory_place: self.get("directory").map(|value| value.place()),
            export_place: self.get("export").map(|value| value.place()),
        })
    }

    /// It stands in lists and over charts.
    fn title(&self) -> Result<Option<&'a str>, FileError> {
        let Some(value) = self.get("title") else { return Ok(None) };
        let title = value.text()?;
        match title.chars().count() <= LONGEST_TITLE {
            true => Ok(Some(title)),
            false => Err(value.refuse(
                format!("the title has more than {LONGEST_TITLE} characters"),
                "write a line, and the rest as a # comment",
            )),
        }
    }

    fn workload<'w>(&self, words: Words<'w>) -> Result<&'w WorkloadInfo, FileError> {
        let ids: Vec<&str> = words.workloads.iter().map(|info| info.part.id).collect();
        let Some(value) = self.get("workload") else {
            let fix = format!("write workload = \"…\"; {}", choose("", &ids));
            return Err(self.table.refuse("the experiment names no workload", fix));
        };
        let id = value.text()?;
        words
            .workloads
            .iter()
            .find(|info| info.part.id == id)
            .ok_or_else(|| value.refuse("there is no such workload", choose(id, &ids)))
    }

    /// What only the whole experiment shows, at the axis that it is about.
    fn locate(&self, error: &SpecError) -> FileError {
        let named = [&error.subject, &error.written];
        let tables = self.tables("factors").unwrap_or_default();
        let table = tables.iter().rev().find(|t| named.iter().any(|name| t.get(name).is_some()));
        let name = named.iter().find(|name| table.is_some_and(|t| t.get(name).is_some()));
        match (table, name) {
            (Some(table), Some(name)) => {
                table.refuse_key(name, error.problem.clone(), error.fix.clone())
            }
            _ => self.table.refuse(error.to_string(), ""),
        }
    }
}

fn factors(
    tables: &[Table<'_>],
    vocabulary: Vocabulary<'_>,
) -> Result<BTreeMap<Factor, Vec<Level>>, FileError> {
    let names: Vec<&str> = vocabulary.info.factors.iter().map(|a| a.factor.name()).collect();
    let mut factors = BTreeMap::new();
    for table in tables {
        for (name, value) in table.entries() {
            let known = name.parse::<Factor>().ok().filter(|_| names.contains(&name));
            let Some(factor) = known else {
                let id = vocabulary.info.part.id;
                let problem = format!("{id} has no axis '{}'", name.escape_debug());
                return Err(table.refuse_key(name, problem, choose(name, &names)));
            };
            factors.insert(factor, levels(factor, value, vocabulary)?);
        }
    }
    Ok(factors)
}

/// One level, text with a list or a range, or a list of either.
fn levels(
    factor: Factor,
    value: Value<'_>,
    vocabulary: Vocabulary<'_>,
) -> Result<Vec<Level>, FileError> {
    let items = value.items();
    let mut all: Vec<Level> = Vec::new();
    for item in &items {
        let text = match factor.kind() {
            Kind::Bytes | Kind::Count => item.number_or_text()?,
            Kind::Word if item.flag().is_ok() => {
                let fix =
                    format!("write a word in quotes; {}", choose("", &vocabulary.words(factor)));
                return Err(item.refuse("this is true or false, and a word is wanted", fix));
            }
            Kind::Word | Kind::Path => item.text()?.to_owned(),
        };
        let levels = match factor.kind() {
            Kind::Path => Ok(vec![Level::Path(path_from_text(&text))]),
            _ => vocabulary.levels(factor, &text),
        };
        for level in levels.map_err(|error| item.refuse_spec(&error))? {
            if !all.contains(&level) {
                all.push(level);
            }
        }
    }
    if all.is_empty() {
        return Err(value.refuse("the list is empty", "name a level, or take the line away"));
    }
    if factor == Factor::Place && items.len() > 1 {
        let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        let together = vocabulary.levels(factor, &texts.join(","));
        together.map_err(|error| value.refuse(error.problem, error.fix))?;
    }
    Ok(all)
}

/// The protocol, and whether a seed was named.
fn protocol(tables: &[Table<'_>], seed: u64) -> Result<(Protocol, bool), FileError> {
    let mut protocol = Protocol::new(seed);
    let mut seeded = false;
    for table in tables {
        table.only(&PROTOCOL_KEYS.each_ref().map(|key| key.name))?;
        for (key, value) in table.entries() {
            seeded |= key == "seed";
            set(&mut protocol, key, value)?;
        }
    }
    Ok((protocol, seeded))
}

fn set(protocol: &mut Protocol, name: &str, value: Value<'_>) -> Result<(), FileError> {
    let Some(key) = PROTOCOL_KEYS.iter().find(|key| key.name == name) else { return Ok(()) };
    let text = match key.form {
        KeyForm::List => joined(value)?,
        KeyForm::Time => unit_text(value)?,
        KeyForm::Count | KeyForm::Space => value.number_or_text()?,
        KeyForm::Share => value.text()?.to_owned(),
        KeyForm::Flag => value.flag()?.to_string(),
    };
    (key.set)(protocol, &text).map_err(|error| value.refuse_spec(&error))
}

/// A length of time; a bare number is told that its unit is missing.
fn unit_text(value: Value<'_>) -> Result<String, FileError> {
    match value.is_number() {
        true => value.number_or_text(),
        false => value.text().map(str::to_owned),
    }
}

/// A list as the command line has it: `0,2-3`.
fn joined(value: Value<'_>) -> Result<String, FileError> {
    let items: Vec<String> =
        value.items().iter().map(Value::number_or_text).collect::<Result<_, _>>()?;
    Ok(items.join(","))
}
