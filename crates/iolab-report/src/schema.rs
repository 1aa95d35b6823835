//! The published description of `iolab.run/1` (JSON Schema, draft 2020-12).

use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, generate::SchemaSettings};
use serde_json::{Value, json};

use iolab_model::catalog::Factor;
use iolab_model::result::{Document, SCHEMA};

/// The text that `iolab schema` prints. It is open: later versions may add fields, so what is
/// valid today stays valid.
pub fn text() -> String {
    // A schema is plain JSON, so this cannot fail; were it to, the text says so.
    serde_json::to_string_pretty(&value()).map_or_else(|e| e.to_string(), |t| t + "\n")
}

/// The schema as JSON.
pub fn value() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), SCHEMA.into());
    pin(&mut schema);
    schema.to_value()
}

/// The same, closed: fields that are not described are errors. For tests, which must notice a
/// field that was written and not described.
pub fn closed() -> Value {
    let mut schema = match Schema::try_from(value()) {
        Ok(schema) => schema,
        Err(e) => return json!({"not": {}, "description": e.to_string()}),
    };
    Close.transform(&mut schema);
    schema.to_value()
}

/// Says what the types cannot: the name of the format, the names of the factors.
fn pin(schema: &mut Schema) {
    let names = json!({"enum": Factor::ALL.map(Factor::name).as_slice()});
    let pins = [
        ("/properties/schema/const", SCHEMA.into()),
        ("/$defs/ExperimentRecord/properties/factors/propertyNames", names.clone()),
        (
            "/$defs/ExperimentRecord/properties/factors/additionalProperties/items/type",
            json!(["integer", "string"]),
        ),
        ("/$defs/ExperimentRecord/properties/ask/items/enum", names["enum"].clone()),
    ];
    for (pointer, value) in pins {
        set(schema, pointer, value);
    }
}

/// Sets what a JSON pointer names, making objects on the way; `true` becomes an object.
fn set(schema: &mut Schema, pointer: &str, value: Value) {
    let mut at = schema.ensure_object();
    let mut names = pointer.split('/').skip(1).peekable();
    while let Some(name) = names.next() {
        if names.peek().is_none() {
            at.insert(name.to_owned(), value);
            return;
        }
        let next = at.entry(name).or_insert_with(|| json!({}));
        if !next.is_object() {
            *next = json!({});
        }
        let Some(object) = next.as_object_mut() else { return };
        at = object;
    }
}

struct Close;

impl Transform for Close {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let open = schema.get("additionalProperties").is_none();
        if schema.get("properties").is_some() && open {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    }
}
