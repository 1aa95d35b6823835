//! What was counted beside time.

use std::fmt;
use std::ops::Index;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name::Name;

/// Values by metric id, in the order of the ids. There is one of these in each of fifty thousand
/// samples: a sorted row of pairs takes a fifth of what a map of strings does.
#[derive(Clone, Default, PartialEq)]
pub struct Metrics(Vec<(Name, f64)>);

impl Metrics {
    /// The value of a metric; absent where it was not counted.
    pub fn get(&self, id: &str) -> Option<&f64> {
        self.at(id).ok().map(|at| &self.0[at].1)
    }

    /// Whether the metric was counted.
    pub fn contains_key(&self, id: &str) -> bool {
        self.at(id).is_ok()
    }

    /// Sets a value; gives the one that it replaces.
    pub fn insert(&mut self, id: Name, value: f64) -> Option<f64> {
        match self.at(&id) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (id, value));
                None
            }
        }
    }

    /// Takes every value over from `others`, which is left empty.
    pub fn append(&mut self, others: &mut Metrics) {
        self.extend(std::mem::take(&mut others.0));
    }

    /// Every metric in the order of the ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Name, f64)> + '_ {
        self.0.iter().copied()
    }

    /// The ids, in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Name> + '_ {
        self.0.iter().map(|pair| pair.0)
    }

    /// The values, in the order of the ids.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.0.iter().map(|pair| pair.1)
    }

    /// Keeps what `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(Name, f64) -> bool) {
        self.0.retain(|pair| keep(pair.0, pair.1));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn at(&self, id: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|pair| pair.0.as_str().cmp(id))
    }
}

impl Index<&str> for Metrics {
    type Output = f64;

    /// # Panics
    /// The metric was not counted, as with a map.
    fn index(&self, id: &str) -> &f64 {
        match self.get(id) {
            Some(value) => value,
            None => panic!("no metric {id}"),
        }
    }
}

impl<N: Into<Name>> Extend<(N, f64)> for Metrics {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, pairs: I) {
        for (id, value) in pairs {
            self.insert(id.into(), value);
        }
    }
}

impl<N: Into<Name>> FromIterator<(N, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(pairs: I) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.extend(pairs);
        metrics.0.shrink_to_fit();
        metrics
    }
}

impl<N: Into<Name>, const COUNT: usize> From<[(N, f64); COUNT]> for Metrics {
    fn from(pairs: [(N, f64); COUNT]) -> Metrics {
        pairs.into_iter().collect()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Metrics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Metrics, D::Error> {
        deserializer.deserialize_map(Pairs)
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Metrics;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values by metric id")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metrics, A::Error> {
        let mut metrics = Metrics::default();
        while let Some((id, value)) = map.next_entry::<Name, f64>()? {
            metrics.insert(id, value);
        }
        metrics.0.shrink_to_fit();
        Ok(metrics)
    }
}

impl JsonSchema for Metrics {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metrics".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <std::collections::BTreeMap<String, f64>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Metrics;

    #[test]
    fn it_is_a_map_in_all_that_is_seen() {
        let pairs = [("b", 2.0), ("a", 1.0), ("c", -0.5)];
        let metrics = Metrics::from(pairs);
        let map: BTreeMap<&str, f64> = pairs.into();
        let json = serde_json::to_string(&metrics).unwrap();
        assert_eq!(json, serde_json::to_string(&map).unwrap());
        assert_eq!(serde_json::from_str::<Metrics>(&json).unwrap(), metrics);
        assert_eq!(format!("{metrics:?}"), format!("{map:?}"));
        let mut metrics = metrics;
        assert_eq!(metrics.insert("b".into(), 3.0), Some(2.0));
        assert_eq!((metrics["b"], metrics.get("d"), metrics.len()), (3.0, None, 3));
        metrics.retain(|_, value| value > 0.0);
        assert!(!metrics.contains_key("c") && metrics.contains_key("a"));
    }
}
