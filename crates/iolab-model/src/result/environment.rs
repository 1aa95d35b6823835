//! Facts of the machine that a run was made on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::catalog::{Fact, Family, of_host};

/// Facts of the machine, dotted names → values: `kernel.release`, `device.read_ahead_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Environment(pub BTreeMap<String, Value>);

impl Environment {
    /// A fact; absent where it is not known, also where a file says `null`.
    pub fn get(&self, fact: Fact) -> Option<&Value> {
        self.0.get(fact.key()).filter(|value| !value.is_null())
    }

    /// A fact that is a text.
    pub fn text(&self, fact: Fact) -> Option<&str> {
        self.get(fact)?.as_str()
    }

    /// A fact that is a whole number: bytes, a count.
    pub fn number(&self, fact: Fact) -> Option<u64> {
        self.get(fact)?.as_u64()
    }

    /// A fact that is a number with a fraction: a share, a load.
    pub fn real(&self, fact: Fact) -> Option<f64> {
        self.get(fact)?.as_f64()
    }

    /// A fact that is so or not.
    pub fn flag(&self, fact: Fact) -> Option<bool> {
        self.get(fact)?.as_bool()
    }

    /// A text or a number, as people read it; nothing for an empty one.
    pub fn shown(&self, fact: Fact) -> Option<String> {
        match self.get(fact)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Records a fact.
    pub fn put(&mut self, fact: Fact, value: impl Into<Value>) {
        self.0.insert(fact.key().to_owned(), value.into());
    }

    /// Records one of several facts of a kind.
    pub fn put_named(&mut self, family: Family, name: &str, value: impl Into<Value>) {
        self.0.insert(family.key(name), value.into());
    }

    /// What is known of several machines that are compared, each by its name: a fact that all share
    /// stands for all of them, any other one with each.
    pub fn of_hosts(all: &[(String, Environment)]) -> Environment {
        let mut whole = Environment::default();
        for (host, facts) in all {
            for (key, value) in &facts.0 {
                match all.iter().all(|(_, other)| other.0.get(key) == Some(value)) {
                    true => whole.0.insert(key.clone(), value.clone()),
                    false => {
                        whole.0.insert(Family::Host.key(&format!("{host}/{key}")), value.clone())
                    }
                };
            }
        }
        whole
    }

    /// The machines that are compared; empty where it is one.
    pub fn hosts(&self) -> Vec<&str> {
        let names: Vec<&str> = self.text(Fact::RunHost).unwrap_or_default().split(',').collect();
        if names.len() > 1 { names } else { Vec::new() }
    }

    /// What is known of one of the machines that are compared.
    #[must_use]
    pub fn of_host(&self, host: &str) -> Environment {
        let fact = |(key, value): (&String, &Value)| match of_host(key) {
            Some((of, key)) => (of == host).then(|| (key.to_owned(), value.clone())),
            None => Some((key.clone(), value.clone())),
        };
        Environment(self.0.iter().filter_map(fact).collect())
    }

    /// Takes a fact out.
    pub fn remove(&mut self, fact: Fact) -> Option<Value> {
        self.0.remove(fact.key())
    }
}

impl<'de> Deserialize<'de> for Environment {
    /// Keys of older records are read as those of today.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Environment, D::Error> {
        let facts = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let today = |key: String| match key.parse::<Fact>() {
            Ok(fact) => fact.key().to_owned(),
            Err(()) => key,
        };
        Ok(Environment(facts.into_iter().map(|(key, value)| (today(key), value)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use crate::catalog::{Fact, Family};

    /// Records of before the guest had a prefix of its own: their facts of it are found, those of
    /// the kernel stay, and what this iolab does not know is kept.
    #[test]
    fn the_guest_of_an_old_record_is_found() {
        let old = r#"{"vm.accelerator":"kvm","vm.swappiness":60,"x.y":null,"libc":"glibc"}"#;
        let facts: Environment = serde_json::from_str(old).unwrap();
        assert_eq!(facts.text(Fact::GuestAccelerator), Some("kvm"));
        assert_eq!(facts.number(Fact::VmSwappiness), Some(60));
        assert_eq!(facts.shown(Fact::Libc).as_deref(), Some("glibc"));
        let now = serde_json::to_string(&facts).unwrap();
        assert!(now.contains(r#""guest.accelerator":"kvm""#) && now.contains("x.y"), "{now}");
        assert_eq!(serde_json::from_str::<Environment>(&now).unwrap(), facts);
    }

    /// A machine's name has dots as keys have, and a file's name has slashes.
    #[test]
    fn what_several_machines_share_is_kept_once_and_each_is_found_whole() {
        let mut one = Environment::default();
        one.put(Fact::KernelRelease, "6.1");
        one.put(Fact::CpuCount, 8);
        one.put_named(Family::File, "/data/f", "1 bytes, inode 2");
        let mut other = one.clone();
        other.put(Fact::KernelRelease, "6.12");
        other.put(Fact::DeviceName, "sda");
        other.put_named(Family::File, "/data/f", "1 bytes, inode 7");
        let all = [("a".to_owned(), one.clone()), ("nas.lan".to_owned(), other.clone())];
        let mut whole = Environment::of_hosts(&all);
        assert_eq!(whole.number(Fact::CpuCount), Some(8));
        assert_eq!(whole.0["on.nas.lan/kernel.release"], "6.12");
        assert_eq!((whole.of_host("a"), whole.of_host("nas.lan")), (one, other));
        whole.put(Fact::RunHost, "a,nas.lan");
        assert_eq!(whole.hosts(), ["a", "nas.lan"]);
        assert_eq!(whole.of_host("a").text(Fact::KernelRelease), Some("6.1"));
        whole.put(Fact::RunHost, "a");
        assert!(whole.hosts().is_empty(), "one machine is not compared");
    }
}
