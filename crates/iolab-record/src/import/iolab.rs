//! iolab's own JSON, from another machine or another time.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ImportError;
use iolab_model::result::{Document, SCHEMA};

/// The run, checked for what the rest of the program relies on.
pub(super) fn read(json: &str, schema: &Value, name: &str) -> Result<Vec<Document>, ImportError> {
    let found = schema.as_str().unwrap_or_default();
    if found != SCHEMA {
        let file = name.to_owned();
        return Err(match found.strip_prefix("iolab.run/") {
            Some(_) => ImportError::Newer { file, found: found.to_owned(), known: SCHEMA },
            None => ImportError::Unknown { file },
        });
    }
    let bad = |what: String| ImportError::Bad { file: name.to_owned(), what };
    let document: Document = serde_json::from_str(json).map_err(|e| bad(e.to_string()))?;
    let mut ids = BTreeSet::new();
    if let Some(twice) = document.cells.iter().find(|c| !ids.insert(c.id.as_str())) {
        return Err(bad(format!("two cells are called {:?}", twice.id)));
    }
    let named = document.answers.iter().flat_map(|a| {
        let best = a.best.iter().map(String::as_str);
        best.chain(a.comparisons.iter().flat_map(|c| [c.a.as_str(), c.b.as_str()]))
    });
    let mut named =
        named.chain(document.twin.iter().flat_map(|t| t.trials().map(|(cell, _)| cell)));
    let stranger = named.find(|id| !ids.contains(id));
    if let Some(stranger) = stranger {
        return Err(bad(format!("an answer names the cell {stranger:?}, which is not there")));
    }
    drop(named);
    Ok(vec![document])
}
