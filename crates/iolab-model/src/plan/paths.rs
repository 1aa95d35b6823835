//! Maps by path, as JSON: the keys are lossless text, whatever bytes a name has.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalog::{path_from_text, path_to_text};

/// Writes the map.
pub fn serialize<S: Serializer, T: Serialize>(
    map: &BTreeMap<PathBuf, T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(path, value)| (path_to_text(path), value)))
}

/// Reads it back.
pub fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<PathBuf, T>, D::Error> {
    let texts = BTreeMap::<String, T>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|(text, value)| (path_from_text(&text), value)).collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    use crate::plan::Facts;

    /// JSON has no bytes: a file of an odd name once could not be told of at all.
    #[test]
    fn a_file_of_any_name_is_told_of() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/data/\xff\n\\x41"));
        let mut facts = Facts::default();
        facts.files.insert(odd.clone(), Ok(7));
        facts.files.insert("/data/b".into(), Err("b is a FIFO: name a file".into()));
        let text = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), facts);
    }
}
