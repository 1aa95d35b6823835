//! What can be had and proven where the agent is, whatever is going to be measured.

use std::collections::BTreeMap;

use super::messages::{InspectOrder, Inspection, Objection, Subject};
use iolab_io::host;
use iolab_io::place::{PLACES, kind_named};
use iolab_model::catalog::path_from_text;

/// Tries it.
///
/// # Errors
/// The directory is none.
pub fn inspect(order: &InspectOrder) -> Result<Inspection, Objection> {
    let state = order.state.as_deref().map(path_from_text);
    let probes = match &order.directory {
        None => Vec::new(),
        Some(name) => {
            let directory = path_from_text(name);
            if !directory.is_dir() {
                let cause = format!("{name} is not a directory; name one");
                return Err(Objection::wrong(Subject::Directory, cause));
            }
            host::probes(&directory, state.as_deref())
        }
    };
    Ok(Inspection { probes, missing_places: missing_places() })
}

fn missing_places() -> BTreeMap<String, String> {
    let why = |id: &str| kind_named(id)?.available().err();
    let missing = PLACES.iter().filter_map(|part| Some((part.id, why(part.id)?)));
    missing.map(|(id, missing)| (id.to_owned(), missing.to_string())).collect()
}
