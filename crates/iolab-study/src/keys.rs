//! Keys of a study file that claims and tables have in common.

use super::figures::Figures;
use super::quantity::{QUANTITIES, Quantity};
use super::terms::{Measure, Per};
use iolab_model::spec::file::{self, FileError, Value};
use iolab_model::spec::{choose, parse_bytes, parse_duration_ns, parse_percent};

type Toml<'a> = file::Table<'a>;

pub(super) fn list<'a>(table: Toml<'a>, key: &str) -> Result<Vec<Toml<'a>>, FileError> {
    table.get(key).map_or(Ok(Vec::new()), |value| value.tables())
}

/// A key that must be there.
pub(super) fn must<'a>(table: Toml<'a>, key: &str) -> Result<Value<'a>, FileError> {
    let missing = || table.refuse(format!("'{key}' is missing"), format!("write {key} = …"));
    table.get(key).ok_or_else(missing)
}

pub(super) fn text(table: Toml<'_>, key: &str) -> Result<String, FileError> {
    must(table, key)?.text().map(str::to_owned)
}

/// A word that files are called by.
pub(super) fn name(table: Toml<'_>, key: &str) -> Result<String, FileError> {
    let name = text(table, key)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fine = name.chars().all(plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    match fine && name.len() <= 100 {
        true => Ok(name),
        false => Err(table.refuse_key(
            key,
            "files are called by it, and it leads elsewhere",
            "write letters, digits, - _ and . only, a letter or a digit first",
        )),
    }
}

pub(super) fn optional(table: Toml<'_>, key: &str) -> Result<Option<String>, FileError> {
    table.get(key).map(|value| value.text().map(str::to_owned)).transpose()
}

pub(super) fn whole(table: Toml<'_>, key: &str) -> Result<Option<u64>, FileError> {
    table.get(key).map(|value| value.number()).transpose()
}

pub(super) fn bytes(table: Toml<'_>, key: &str) -> Result<Option<u64>, FileError> {
    let Some(value) = table.get(key) else { return Ok(None) };
    parse_bytes(value.text()?).map(Some).map_err(|error| value.refuse_spec(&error))
}

/// A length of time that a figure may have, in nanoseconds.
pub(super) fn time(table: Toml<'_>, key: &str) -> Result<f64, FileError> {
    duration(table, key).map(|ns| ns as f64)
}

pub(super) fn duration(table: Toml<'_>, key: &str) -> Result<u64, FileError> {
    let value = must(table, key)?;
    parse_duration_ns(value.text()?).map_err(|error| value.refuse_spec(&error))
}

pub(super) fn facts(root: Toml<'_>) -> Result<Vec<(String, String)>, FileError> {
    let Some(source) = root.get("source") else { return Ok(Vec::new()) };
    let entries = source.table()?.entries().into_iter();
    entries.map(|(name, value)| Ok((name.to_owned(), value.text()?.to_owned()))).collect()
}

/// A share as text: `10%`.
pub(super) fn share(table: Toml<'_>, key: &str) -> Result<Option<f64>, FileError> {
    let Some(value) = table.get(key) else { return Ok(None) };
    parse_percent(value.text()?).map(Some).map_err(|error| value.refuse_spec(&error))
}

pub(super) const MEASURES: [(&str, Measure); 4] = [
    ("elapsed", Measure::Elapsed),
    ("user", Measure::User),
    ("system", Measure::System),
    ("cpu", Measure::Cpu),
];
pub(super) const PERS: [(&str, Per); 3] =
    [("work", Per::Work), ("operation", Per::Operation), ("pass", Per::Pass)];

pub(super) fn word<T: Copy>(
    table: Toml<'_>,
    key: &str,
    known: &[(&str, T)],
) -> Result<Option<T>, FileError> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let text = value.text()?;
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let found = known.iter().find(|(name, _)| *name == text).map(|(_, word)| Some(*word));
    found.ok_or_else(|| value.refuse(format!("there is no such {key}"), choose(text, &names)))
}

pub(super) fn quantity(table: Toml<'_>) -> Result<Option<Quantity>, FileError> {
    word(table, "quantity", &QUANTITIES)
}

pub(super) fn falling(table: Toml<'_>) -> Result<bool, FileError> {
    let words = [("falling", true), ("rising", false)];
    word(table, "direction", &words)?.ok_or_else(|| {
        table.refuse(
            "'direction' is missing",
            "write direction = \"falling\" (time gets less) or \"rising\"",
        )
    })
}

/// A factor, from it on; or a range of factors.
pub(super) fn range(table: Toml<'_>) -> Result<Option<(f64, f64)>, FileError> {
    let Some(value) = table.get("by") else { return Ok(None) };
    let items = value.items().iter().map(Value::float).collect::<Result<Vec<f64>, _>>()?;
    match items[..] {
        [from] if from >= 1.0 => Ok(Some((from, f64::INFINITY))),
        [from, to] if from > 0.0 && from <= to => Ok(Some((from, to))),
        _ => Err(value.refuse("this is no range of factors", "write by = 1.5 or by = [1.1, 1.3]")),
    }
}

const FIGURE_KEYS: [&str; 7] = ["a", "b", "sd", "n", "unit", "ratio", "slip"];

pub(super) fn figures(table: Toml<'_>) -> Result<Option<Figures>, FileError> {
    let Some(value) = table.get("published") else { return Ok(None) };
    let published = value.table()?;
    published.only(&FIGURE_KEYS)?;
    let float = |key| published.get(key).map(|value: Value<'_>| value.float()).transpose();
    let (a, b, unit) = (float("a")?, float("b")?, optional(published, "unit")?);
    if (a.is_some() || b.is_some()) && unit.is_none() {
        return Err(value.refuse("the figures have no unit", "write unit = \"ms\" beside them"));
    }
    Ok(Some(Figures {
        a,
        b,
        sd: published.get("sd").map(two).transpose()?,
        n: whole(published, "n")?,
        ratio: float("ratio")?,
        unit,
        slip: optional(published, "slip")?,
    }))
}

fn two(value: Value<'_>) -> Result<(f64, f64), FileError> {
    match value.items().iter().map(Value::float).collect::<Result<Vec<_>, _>>()?[..] {
        [a, b] => Ok((a, b)),
        _ => Err(value.refuse("two standard deviations are wanted", "write sd = [of a, of b]")),
    }
}
