//! One value on an axis, and the set of values that makes a cell or a condition.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::factor::{Factor, Kind};

/// One value on an axis. Which variant a factor uses follows from its [`Kind`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Bytes or a count.
    Number(u64),
    /// One of a list of words.
    Word(String),
    /// A path, any bytes.
    Path(PathBuf),
}

impl Level {
    /// A word.
    pub fn word(text: impl Into<String>) -> Level {
        Level::Word(text.into())
    }

    /// Bytes or a count, where it is one.
    pub fn number(&self) -> Option<u64> {
        match self {
            Level::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// Levels by factor, in column order: a cell, a condition, the parameters of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Levels(Vec<(Factor, Level)>);

impl Levels {
    /// Factors whose level is not the same for all that have one. A command beside methods has its name.
    pub fn differing(all: &[&Levels]) -> Vec<Factor> {
        let beside = all.iter().any(|levels| levels.get(Factor::Contender).is_none());
        let differs = |factor: &Factor| {
            let named = *factor == Factor::Contender && beside;
            let mut levels = all.iter().filter_map(|levels| levels.get(*factor));
            let first = levels.next();
            levels.any(|level| Some(level) != first) || named && first.is_some()
        };
        Factor::ALL.into_iter().filter(differs).collect()
    }

    /// No levels.
    pub fn new() -> Levels {
        Levels::default()
    }

    /// Sets or replaces the level of a factor.
    pub fn set(&mut self, factor: Factor, level: Level) {
        match self.0.binary_search_by_key(&factor, |(f, _)| *f) {
            Ok(at) => self.0[at].1 = level,
            Err(at) => self.0.insert(at, (factor, level)),
        }
    }

    /// The same, for chaining.
    #[must_use]
    pub fn with(mut self, factor: Factor, level: Level) -> Levels {
        self.set(factor, level);
        self
    }

    /// The level of a factor, if the factor applies.
    pub fn get(&self, factor: Factor) -> Option<&Level> {
        self.0.binary_search_by_key(&factor, |(f, _)| *f).ok().map(|at| &self.0[at].1)
    }

    /// The level as a number (bytes or a count).
    pub fn number(&self, factor: Factor) -> Option<u64> {
        self.get(factor)?.number()
    }

    /// The level as a word.
    pub fn text(&self, factor: Factor) -> Option<&str> {
        match self.get(factor) {
            Some(Level::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// The level as a path.
    pub fn path(&self, factor: Factor) -> Option<&Path> {
        match self.get(factor) {
            Some(Level::Path(p)) => Some(p),
            _ => None,
        }
    }

    /// Factors and levels in column order.
    pub fn iter(&self) -> impl Iterator<Item = (Factor, &Level)> {
        self.0.iter().map(|(f, l)| (*f, l))
    }

    /// Only these factors.
    #[must_use]
    pub fn only(&self, keep: impl Fn(Factor) -> bool) -> Levels {
        Levels(self.0.iter().filter(|(f, _)| keep(*f)).cloned().collect())
    }

    /// True where no factor has a level.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How many times a memory limit the file is, as written: `4x`, `0.25x`. `None` where it is no such
/// ratio, or none that makes sense.
pub fn file_to_memory(text: &str) -> Option<f64> {
    let number = text.strip_suffix('x')?;
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    let ratio: f64 = number.chars().all(plain).then(|| number.parse().ok())??;
    (0.001..=1000.0).contains(&ratio).then_some(ratio)
}

/// The limit that a level of `memory` sets for a file: as written, or by its ratio to the file.
pub fn memory_limit_bytes(level: &Level, file_bytes: u64) -> Option<u64> {
    match level {
        Level::Number(bytes) => Some(*bytes),
        Level::Word(ratio) => Some((file_bytes as f64 / file_to_memory(ratio)?) as u64),
        Level::Path(_) => None,
    }
}

/// Whether a file can be warm within a memory limit: the rest, a fifth of the limit at least, is for
/// the trial itself and for pages that the kernel has not yet taken back.
pub fn is_held_warm(file_bytes: u64, limit_bytes: u64) -> bool {
    file_bytes.saturating_mul(5) <= limit_bytes.saturating_mul(4)
}

/// A path as text that JSON can carry and that parses back to the same bytes:
/// `\` becomes `\\`, control characters and bytes that are not UTF-8 become `\xNN`.
pub fn path_to_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        text.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// The inverse of [`path_to_text`]; text that it never writes is taken as it stands.
pub fn path_from_text(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let escaped = rest
            .strip_prefix(b"\\x")
            .and_then(|hex| hex.get(..2))
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = escaped {
            out.push(byte);
            at += 4;
        } else {
            out.push(rest[0]);
            at += if rest.starts_with(b"\\\\") { 2 } else { 1 };
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Number(n) => write!(f, "{n}"),
            Level::Word(w) => f.write_str(w),
            Level::Path(p) => f.write_str(&path_to_text(p)),
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Level::Number(n) => s.serialize_u64(*n),
            Level::Word(w) => s.serialize_str(w),
            Level::Path(p) => s.serialize_str(&path_to_text(p)),
        }
    }
}

impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.0.len()))?;
        for (factor, level) in &self.0 {
            map.serialize_entry(factor, level)?;
        }
        map.end()
    }
}

/// A level as it stands in JSON, before the factor's kind says what it is.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Raw {
    Number(u64),
    Text(String),
}

impl Raw {
    /// Gives the value its type by the factor's kind.
    pub(crate) fn typed(self, factor: Factor) -> Level {
        match (self, factor.kind()) {
            (Raw::Number(n), _) => Level::Number(n),
            (Raw::Text(t), Kind::Path) => Level::Path(path_from_text(&t)),
            (Raw::Text(t), _) => Level::Word(t),
        }
    }
}

impl<'de> Deserialize<'de> for Levels {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct ByFactor;
        impl<'de> Visitor<'de> for ByFactor {
            type Value = Levels;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of factor names to levels")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Levels, A::Error> {
                let mut levels = Levels::new();
                while let Some((name, raw)) = map.next_entry::<String, Raw>()? {
                    let factor: Factor = name
                        .parse()
                        .map_err(|()| de::Error::custom(format!("unknown factor {name:?}")))?;
                    levels.set(factor, raw.typed(factor));
                }
                Ok(levels)
            }
        }
        d.deserialize_map(ByFactor)
    }
}

impl schemars::JsonSchema for Levels {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Levels".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "description": "factor name → level: bytes and counts are integers, words and paths text",
            "propertyNames": {"enum": Factor::ALL.map(Factor::name).as_slice()},
            "additionalProperties": {"type": ["integer", "string"]}
        })
    }
}

impl From<&OsStr> for Level {
    fn from(path: &OsStr) -> Level {
        Level::Path(PathBuf::from(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_path_survives_text(bytes in proptest::collection::vec(1u8..=255, 0..40)) {
            let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
            let text = path_to_text(&path);
            prop_assert!(!text.chars().any(char::is_control));
            prop_assert_eq!(path_from_text(&text), path);
        }
    }

    #[test]
    fn ratios_of_file_to_memory() {
        assert_eq!(file_to_memory("4x"), Some(4.0));
        assert_eq!(file_to_memory("0.25x"), Some(0.25));
        for text in ["", "x", "4", "-1x", "0x", "1e3x", "infx", "nanx", "4xx", "9999x", "1.2.3x"] {
            assert_eq!(file_to_memory(text), None, "{text}");
        }
    }

    #[test]
    fn levels_survive_json_with_their_kinds() {
        let levels = Levels::new()
            .with(Factor::Block, Level::Number(4096))
            .with(Factor::Method, Level::word("pread"))
            .with(Factor::File, Level::Path("a\nb".into()));
        let json = serde_json::to_string(&levels).unwrap();
        assert_eq!(json, r#"{"file":"a\\x0ab","method":"pread","block":4096}"#);
        assert_eq!(serde_json::from_str::<Levels>(&json).unwrap(), levels);
    }
}
