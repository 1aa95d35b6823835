//! A published fact that stands in no table: a figure in the text, on a screenshot, in a plot.

use super::keys::{bytes, optional, text};
use super::quantity::digits;
use iolab_model::spec::file::{self, FileError, Value};

/// A fact.
#[derive(Clone, Debug)]
pub struct Fact {
    /// What it is about, in a line.
    pub says: String,
    /// The figure; absent where the fact is words.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: Option<String>,
    /// How often it was measured, as the study says.
    pub repetitions: Option<String>,
    /// Where it stands in the study.
    pub place: Option<String>,
    /// What a reader should know: a slip of the study, what it was derived from.
    pub note: Option<String>,
    /// What the study's own figures make of it.
    pub from: Option<f64>,
}

/// Figures that a fact follows from.
const FROM_KEYS: [&str; 7] = ["bytes", "seconds", "better", "than", "mean", "product", "ratio"];

pub(super) fn read(table: file::Table<'_>) -> Result<Fact, FileError> {
    table.only(&["says", "value", "unit", "repetitions", "where", "note", "from"])?;
    let unit = optional(table, "unit")?;
    let value = table.get("value").map(|value| value.float()).transpose()?;
    if let (Some(_), None) = (value, &unit) {
        return Err(table.refuse_key(
            "value",
            "the figure has no unit",
            "write unit = \"s\" beside it",
        ));
    }
    let from = table.get("from").map(|from| derived(from, unit.as_deref())).transpose()?;
    Ok(Fact {
        says: text(table, "says")?,
        value,
        repetitions: optional(table, "repetitions")?,
        place: optional(table, "where")?,
        note: optional(table, "note")?,
        from,
        unit,
    })
}

/// The figure that follows from others: a speed from bytes and seconds, a gain in percent, a mean,
/// a product, a ratio.
fn derived(value: Value<'_>, unit: Option<&str>) -> Result<f64, FileError> {
    let from = value.table()?;
    from.only(&FROM_KEYS)?;
    let float = |key: &str| from.get(key).map(|value| value.float()).transpose();
    let floats = |key: &str| -> Result<Option<Vec<f64>>, FileError> {
        let Some(value) = from.get(key) else { return Ok(None) };
        value.items().iter().map(Value::float).collect::<Result<Vec<f64>, _>>().map(Some)
    };
    let scale = match unit {
        Some("MB/s") => 1e6,
        Some("GB/s") => 1e9,
        _ => f64::from(1 << 20),
    };
    if let (Some(bytes), Some(seconds)) = (bytes(from, "bytes")?, float("seconds")?) {
        return Ok(bytes as f64 / seconds / scale);
    }
    if let (Some(better), Some(than)) = (float("better")?, float("than")?) {
        return Ok(100.0 * (1.0 - better / than));
    }
    if let Some(all) = floats("mean")? {
        return Ok(all.iter().sum::<f64>() / all.len() as f64);
    }
    if let Some(all) = floats("product")? {
        return Ok(all.iter().product());
    }
    match floats("ratio")?.as_deref() {
        Some([one, other]) => Ok(other / one),
        _ => Err(value.refuse(
            "nothing follows from this",
            "write bytes and seconds, better and than, mean, product, or ratio = [of, to]",
        )),
    }
}

impl Fact {
    /// How far the figure is from what the study's others make of it, where that is more than
    /// rounding: half a unit of the last digit that is written, or half a percent.
    pub(super) fn contradicted(&self) -> Option<String> {
        let (value, from) = (self.value?, self.from?);
        let apart = (value - from).abs() > 0.006 * from.abs();
        apart.then(|| format!("{} follows from the figures beside it", digits(from)))
    }

    /// The fact in a line of Markdown.
    pub(super) fn line(&self) -> String {
        let figure = self.value.map(|value| {
            let unit = self.unit.as_deref().unwrap_or_default();
            format!(": **{value} {unit}**")
        });
        let mut beside: Vec<String> = self.place.iter().cloned().collect();
        beside.extend(self.repetitions.clone());
        let beside = match beside.is_empty() {
            true => String::new(),
            false => format!(" ({})", beside.join("; ")),
        };
        let note = self.note.as_ref().map_or(String::new(), |note| format!(". {}", note.trim()));
        format!("{}{}{beside}{note}", self.says, figure.unwrap_or_default())
    }
}
