//! Tables and plots of a study file.

use super::Trial;
use super::keys::{bytes, must, name, optional, quantity, text, whole};
use super::plot::Plot;
use super::quantity::{QUANTITIES, Quantity};
use super::read::Reader;
use super::table::{Axis, Slip, Table};
use iolab_model::spec::choose;
use iolab_model::spec::file::{self, FileError, Value};

type Toml<'a> = file::Table<'a>;

const TABLE_KEYS: [&str; 14] = [
    "id",
    "title",
    "experiment",
    "of",
    "corner",
    "quantity",
    "columns",
    "rows",
    "values",
    "where",
    "repetitions",
    "note",
    "bytes",
    "slip",
];
const PLOT_KEYS: [&str; 12] = [
    "id",
    "title",
    "experiment",
    "of",
    "quantity",
    "along",
    "lines",
    "where",
    "repetitions",
    "note",
    "ours",
    "scatter",
];

impl Reader<'_> {
    pub(super) fn table(&self, table: Toml<'_>) -> Result<Table, FileError> {
        table.only(&TABLE_KEYS)?;
        let trials = self.experiments(table)?;
        let axes = |key: &str| -> Result<Vec<Axis>, FileError> {
            must(table, key)?.tables()?.into_iter().map(|axis| self.axis(&trials, axis)).collect()
        };
        let (columns, rows) = (axes("columns")?, axes("rows")?);
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
            id: name(table, "id")?,
            title: text(table, "title")?,
            experiments: trials.iter().map(|trial| trial.name.clone()).collect(),
            of: self.selection(&trials, table, "of")?,
            corner: optional(table, "corner")?.unwrap_or_default(),
            values: values(must(table, "values")?, columns.len(), rows.len())?,
            slips: slips(table, &rows, &columns)?,
            columns,
            rows,
            quantity,
            place: optional(table, "where")?,
            repetitions: optional(table, "repetitions")?,
            note: optional(table, "note")?,
            bytes: bytes(table, "bytes")?,
        })
    }

    fn axis(&self, trials: &[&Trial], table: Toml<'_>) -> Result<Axis, FileError> {
        table.only(&["label", "of", "quantity", "operations"])?;
        Ok(Axis {
            label: text(table, "label")?,
            of: self.selection(trials, table, "of")?,
            quantity: quantity(table)?,
            operations: whole(table, "operations")?,
        })
    }

    pub(super) fn plot(&self, table: Toml<'_>) -> Result<Plot, FileError> {
        table.only(&PLOT_KEYS)?;
        let trials = self.experiments(table)?;
        let factor = |value: Value<'_>| {
            let mut factor = Err(value.refuse("no experiment", ""));
            for trial in &trials {
                factor = Ok(self.factor(trial, value.text()?, value)?);
            }
            factor
        };
        let quantities = must(table, "quantity")?;
        let flag = |key: &str| -> Result<bool, FileError> {
            Ok(table.get(key).map(|v| v.flag()).transpose()?.unwrap_or(false))
        };
        Ok(Plot {
            id: name(table, "id")?,
            title: text(table, "title")?,
            experiments: trials.iter().map(|trial| trial.name.clone()).collect(),
            of: self.selection(&trials, table, "of")?,
            along: factor(must(table, "along")?)?,
            lines: match table.get("lines") {
                Some(lines) => lines.items().into_iter().map(factor).collect::<Result<_, _>>()?,
                None => Vec::new(),
            },
            quantities: quantities.items().iter().map(named).collect::<Result<_, _>>()?,
            place: text(table, "where")?,
            repetitions: optional(table, "repetitions")?,
            note: optional(table, "note")?,
            ours: flag("ours")?,
            scatter: flag("scatter")?,
        })
    }
}

fn named(value: &Value<'_>) -> Result<Quantity, FileError> {
    let text = value.text()?;
    let names = QUANTITIES.map(|(name, _)| name);
    text.parse().map_err(|()| value.refuse("there is no such quantity", choose(text, &names)))
}

/// One list of figures a row, each with a figure a column.
fn values(value: Value<'_>, columns: usize, rows: usize) -> Result<Vec<Vec<f64>>, FileError> {
    let lines = value.items();
    let mut values = Vec::new();
    for line in &lines {
        let items = line.items();
        if items.len() != columns {
            let problem = format!("{} figures for {columns} columns", items.len());
            return Err(line.refuse(problem, "write one figure a column; nan where there is none"));
        }
        values.push(items.iter().map(Value::float).collect::<Result<Vec<f64>, _>>()?);
    }
    match lines.len() == rows {
        true => Ok(values),
        false => {
            let problem = format!("{} lines of figures for {rows} rows", lines.len());
            Err(value.refuse(problem, "write one list a row"))
        }
    }
}

fn slips(table: Toml<'_>, rows: &[Axis], columns: &[Axis]) -> Result<Vec<Slip>, FileError> {
    let Some(value) = table.get("slip") else { return Ok(Vec::new()) };
    let label = |slip: Toml<'_>, key: &str, axes: &[Axis]| {
        let value = must(slip, key)?;
        let text = value.text()?;
        let labels: Vec<&str> = axes.iter().map(|axis| axis.label.as_str()).collect();
        match labels.iter().position(|label| *label == text) {
            Some(at) => Ok(at),
            None => {
                Err(value.refuse(format!("the table has no such {key}"), choose(text, &labels)))
            }
        }
    };
    let one = |slip: Toml<'_>| {
        slip.only(&["row", "column", "note"])?;
        Ok(Slip {
            row: label(slip, "row", rows)?,
            column: label(slip, "column", columns)?,
            note: text(slip, "note")?,
        })
    };
    value.tables()?.into_iter().map(one).collect()
}
