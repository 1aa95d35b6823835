//! Apache Parquet: the tidy table with types, for pandas, DuckDB and whatever else reads columns.
//! The columns are those of the CSV. Environment and experiment are JSON in the file's metadata,
//! under `iolab`.

use std::io::{self, Write};
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use serde_json::json;

use super::samples::{Kind, Table, Value};
use super::{Format, TextStyle};
use iolab_model::result::Document;

pub(super) const FORMAT: Format = Format {
    id: "parquet",
    summary: "the rows of the CSV with their types, for pandas and DuckDB",
    binary: true,
    write,
};

/// Rows that are held in memory at a time: about 16 MiB of them.
const GROUP: usize = 1 << 14;

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let table = Table::of(doc);
    let columns = table.columns();
    let made = Made::default();
    let properties = Arc::new(properties(doc));
    let schema = Arc::new(schema(&columns).map_err(io::Error::other)?);
    let file = SerializedFileWriter::new(made.clone(), schema, properties);
    let mut file = file.map_err(io::Error::other)?;
    let mut rows = table.rows().peekable();
    while rows.peek().is_some() {
        let mut held: Vec<Column> = columns.iter().map(|(_, kind)| Column::of(*kind)).collect();
        for row in rows.by_ref().take(GROUP) {
            held.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        put(&mut file, &held).map_err(io::Error::other)?;
        made.hand_on(out)?;
    }
    file.close().map_err(io::Error::other)?;
    made.hand_on(out)?;
    out.flush()
}

/// What is made and not yet handed on: the library wants a writer of its own, and an error of ours
/// must come back as it was.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<Vec<u8>>>);

impl Made {
    fn hand_on(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Write for Made {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn properties(doc: &Document) -> WriterProperties {
    let about = json!({
        "schema": doc.schema, "run": doc.run, "environment": doc.environment,
        "experiment": doc.experiment,
    });
    WriterProperties::builder()
        .set_created_by(format!("iolab {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![KeyValue::new("iolab".to_owned(), about.to_string())]))
        .build()
}

fn schema(columns: &[(String, Kind)]) -> Result<Type, ParquetError> {
    let field = |(name, kind): &(String, Kind)| {
        let (physical, logical) = match kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Number => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Truth => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, ParquetError>>()?;
    Type::group_type_builder("sample").with_fields(fields).build()
}

/// The values of one column in some rows.
enum Values {
    Text(Vec<ByteArray>),
    Number(Vec<i64>),
    Real(Vec<f64>),
    Truth(Vec<bool>),
}

struct Column {
    values: Values,
    /// 1 where a row has a value, else 0.
    known: Vec<i16>,
}

impl Column {
    fn of(kind: Kind) -> Column {
        let values = match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Number => Values::Number(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Truth => Values::Truth(Vec::new()),
        };
        Column { values, known: Vec::new() }
    }

    fn push(&mut self, value: Value) {
        let known = match (&mut self.values, value) {
            (Values::Text(all), Value::Text(text)) => {
                all.push(ByteArray::from(text.into_bytes()));
                true
            }
            (Values::Number(all), Value::Number(number)) => {
                // The column is unsigned: the same bits.
                all.push(number as i64);
                true
            }
            (Values::Real(all), Value::Real(number)) => {
                all.push(number);
                true
            }
            (Values::Truth(all), Value::Truth(truth)) => {
                all.push(truth);
                true
            }
            _ => false,
        };
        self.known.push(i16::from(known));
    }
}

fn put(file: &mut SerializedFileWriter<Made>, columns: &[Column]) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for column in columns {
        put_column(&mut group, column)?;
    }
    group.close().map(drop)
}

fn put_column(
    group: &mut SerializedRowGroupWriter<'_, Made>,
    column: &Column,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    let known = Some(column.known.as_slice());
    match &column.values {
        Values::Text(all) => writer.typed::<ByteArrayType>().write_batch(all, known, None),
        Values::Number(all) => writer.typed::<Int64Type>().write_batch(all, known, None),
        Values::Real(all) => writer.typed::<DoubleType>().write_batch(all, known, None),
        Values::Truth(all) => writer.typed::<BoolType>().write_batch(all, known, None),
    }?;
    writer.close()
}
