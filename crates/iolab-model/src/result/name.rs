//! Words that come back in every sample: the id of a metric, the state that was asked for. A run
//! of fifty thousand samples holds each once.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalog::CacheState;

/// A text that is kept once for the life of the program. For words out of a small vocabulary:
/// nothing is ever given back, so what differs from sample to sample must be no `Name`.
/// It takes one word of memory wherever it stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Kept);

/// A thin pointer: that of a `str` would take two words.
type Kept = &'static &'static str;

static KNOWN: Mutex<BTreeMap<&'static str, Kept>> = Mutex::new(BTreeMap::new());

impl Name {
    /// The text.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        // A panic elsewhere cannot leave a set of words half changed.
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = known.get(text) {
            return Name(kept);
        }
        let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
        let kept: Kept = Box::leak(Box::new(text));
        known.insert(text, kept);
        Name(kept)
    }
}

impl From<CacheState> for Name {
    fn from(state: CacheState) -> Name {
        Name::from(state.word())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name::from(text.as_str())
    }
}

impl Default for Name {
    fn default() -> Name {
        Name(&"")
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        *self.0 == other
    }
}

impl PartialEq<String> for Name {
    fn eq(&self, other: &String) -> bool {
        *self.0 == other.as_str()
    }
}

impl PartialEq<Name> for String {
    fn eq(&self, other: &Name) -> bool {
        other == self
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        Cow::<str>::deserialize(deserializer).map(|text| Name::from(&*text))
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_word_is_kept_once() {
        let (first, second) = (Name::from("a_word_kept_once"), Name::from("a_word_kept_once"));
        assert!(std::ptr::eq(first.as_str(), second.as_str()));
        assert_eq!(first, "a_word_kept_once");
        let json = serde_json::to_string(&first).unwrap();
        assert_eq!(serde_json::from_str::<Name>(&json).unwrap(), first);
        assert_eq!(serde_json::from_str::<Name>(r#""a\u00e9""#).unwrap(), "aé");
    }
}
