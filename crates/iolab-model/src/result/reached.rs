//! How a cache state was reached, as a proof tells it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name::Name;
use crate::catalog::CacheState;

/// What was done before the clock started, `evict+prime`, `remount+evict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reached {
    /// The file system was mounted anew.
    pub remounted: bool,
    /// What was done to the file; absent where a mount was all.
    pub by: Option<Step>,
}

/// What is done to a file, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Nothing: the state cannot be had, or cannot be seen.
    Nothing,
    /// It was left as it was.
    AsItWas,
    /// It is read past the page cache.
    PastTheCache,
    /// It was looked at, and its data do not matter.
    LookedAt,
    /// It was in the state already.
    Resident,
    /// Dirty pages were written back.
    WriteBack,
    /// It was evicted so many times.
    Evict(u32),
    /// It was evicted and read in again.
    EvictAndPrime,
    /// The whole machine's page cache was dropped.
    DropCaches,
    /// A word of another iolab.
    Other(Name),
}

const REMOUNT: &str = CacheState::Remount.word();
const EVICT: &str = "evict";
const WORDS: [(Step, &str); 9] = [
    (Step::Nothing, "none"),
    (Step::AsItWas, "as it was"),
    (Step::PastTheCache, "O_DIRECT"),
    (Step::LookedAt, "looked at"),
    (Step::Resident, "resident"),
    (Step::WriteBack, "write back"),
    (Step::Evict(1), EVICT),
    (Step::EvictAndPrime, "evict+prime"),
    (Step::DropCaches, "drop_caches"),
];

impl Reached {
    /// By one step.
    pub const fn by(step: Step) -> Reached {
        Reached { remounted: false, by: Some(step) }
    }

    /// By a mount, and nothing else.
    pub const REMOUNT: Reached = Reached { remounted: true, by: None };

    /// The same on a file system that was mounted anew before.
    #[must_use]
    pub const fn after_remount(self) -> Reached {
        Reached { remounted: true, ..self }
    }

    /// The dearer of two: what is said of many files that were brought there one by one.
    #[must_use]
    pub fn dearer(self, other: Reached) -> Reached {
        let remounted = self.remounted || other.remounted;
        Reached { remounted, by: self.by.max(other.by) }
    }
}

impl From<&str> for Reached {
    /// By the words of a record, of which none is lost.
    fn from(text: &str) -> Reached {
        if text == REMOUNT {
            return Reached::REMOUNT;
        }
        let after = text.strip_prefix(REMOUNT).and_then(|rest| rest.strip_prefix('+'));
        let word = after.unwrap_or(text);
        let known = WORDS.iter().find(|(_, known)| *known == word).map(|(step, _)| *step);
        // One eviction has the plain word.
        let tries = || word.strip_prefix(EVICT)?.strip_prefix('×')?.parse().ok();
        let again = || tries().filter(|n: &u32| *n > 1 && word == format!("{EVICT}×{n}"));
        let step = known
            .or_else(|| again().map(Step::Evict))
            .unwrap_or_else(|| Step::Other(Name::from(word)));
        Reached { remounted: after.is_some(), by: (!text.is_empty()).then_some(step) }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, WORDS.iter().find(|(step, _)| step == self)) {
            (_, Some((_, word))) => f.write_str(word),
            (Step::Evict(tries), _) => write!(f, "{EVICT}×{tries}"),
            (Step::Other(word), _) => f.write_str(word),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.remounted, &self.by) {
            (false, None) => Ok(()),
            (false, Some(step)) => step.fmt(f),
            (true, None) => f.write_str(REMOUNT),
            (true, Some(step)) => write!(f, "{REMOUNT}+{step}"),
        }
    }
}

impl Serialize for Reached {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Reached {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Reached, D::Error> {
        let text = Cow::<'_, str>::deserialize(deserializer)?;
        Ok(Reached::from(text.as_ref()))
    }
}

impl JsonSchema for Reached {
    fn schema_name() -> Cow<'static, str> {
        "Reached".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::{Reached, Step};

    /// The dearest of many ways was once the one with the longest name: a drop of the machine's
    /// caches, `drop_caches`, is dearer than `evict+prime`, and as long.
    #[test]
    fn many_files_are_named_by_the_dearest_step() {
        let [evict, again, prime, drop] =
            [Step::Evict(1), Step::Evict(3), Step::EvictAndPrime, Step::DropCaches]
                .map(Reached::by);
        assert_eq!(prime.dearer(drop), drop);
        assert_eq!(drop.dearer(prime), drop);
        assert_eq!(evict.dearer(again).to_string(), "evict×3");
        let looked = Reached::by(Step::LookedAt);
        assert_eq!(looked.dearer(evict), evict, "`looked at` is longer and cheaper");
        assert_eq!(Reached::REMOUNT.dearer(evict).to_string(), "remount+evict");
    }

    #[test]
    fn the_words_of_records_are_kept() {
        for word in [
            "",
            "none",
            "as it was",
            "O_DIRECT",
            "looked at",
            "resident",
            "write back",
            "evict",
            "evict×2",
            "evict×1",
            "evict+prime",
            "drop_caches",
            "remount",
            "remount+evict×4",
            "remount+none",
            "by magic",
            "remount+by magic",
            "remount+",
            "remounted",
            "evict×02",
        ] {
            let json = serde_json::to_string(word).unwrap();
            let reached: Reached = serde_json::from_str(&json).unwrap();
            assert_eq!(reached.to_string(), word);
            assert_eq!(serde_json::to_string(&reached).unwrap(), json);
            assert_eq!(reached.remounted, word.starts_with("remount") && word != "remounted");
        }
    }
}
