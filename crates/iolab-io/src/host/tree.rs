//! Reading /proc and /sys, of this machine or of a fixture, and the small parsers for what they say.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use iolab_model::catalog::{Fact, Family};

/// No file of /proc or /sys that is read here is longer; a fixture may try.
const LONGEST: u64 = 1 << 20;

/// The root under which `proc` and `sys` are looked for.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// This machine.
    pub fn machine() -> Tree {
        Tree { root: "/".into() }
    }

    /// Another machine, as files under a directory.
    #[cfg(test)]
    pub fn fixture(root: &Path) -> Tree {
        Tree { root: root.into() }
    }

    /// Another machine that has these files and no others.
    #[cfg(test)]
    pub fn of_files(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = Tree::fixture(dir.path());
        (dir, tree)
    }

    /// The path of a name such as `proc/meminfo`; a leading slash changes nothing.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        let name = name.as_ref();
        self.root.join(name.strip_prefix("/").unwrap_or(name))
    }

    /// The text of a file without the space around it; `None` where there is none to read.
    pub fn text(&self, name: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        let file = fs::File::open(self.path(name)).ok()?;
        file.take(LONGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A file that holds one number.
    pub fn number(&self, name: impl AsRef<Path>) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// The names in a directory, sorted.
    pub fn names(&self, name: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(name)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The last part of where a link points.
    pub fn link_name(&self, name: impl AsRef<Path>) -> Option<String> {
        let target = fs::read_link(self.path(name)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }
}

/// Facts by dotted name.
#[derive(Debug, Default)]
pub struct Facts {
    prefix: String,
    by_name: BTreeMap<String, Value>,
}

impl Facts {
    /// Records a fact that the machine has; an absent one leaves no trace.
    pub fn put<V: Into<Value>>(&mut self, fact: Fact, value: Option<V>) {
        self.put_key(fact.key(), value);
    }

    /// The same of one of several facts of a kind.
    pub fn put_named<V: Into<Value>>(&mut self, family: Family, name: &str, value: Option<V>) {
        self.put_key(&family.key(name), value);
    }

    fn put_key<V: Into<Value>>(&mut self, key: &str, value: Option<V>) {
        if let Some(value) = value {
            self.by_name.insert(format!("{}{key}", self.prefix), value.into());
        }
    }

    /// From now on names begin with this.
    pub fn prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// All of them.
    pub fn into_map(self) -> BTreeMap<String, Value> {
        self.by_name
    }
}

/// `Name: value` or `name value` lines: the value of a name, without unit.
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        let value = rest.trim_start_matches([':', '\t', ' ']);
        (rest.len() != value.len()).then(|| value.trim())
    })
}

/// A field in kB of 1024 bytes, in bytes.
pub fn field_kib(text: &str, name: &str) -> Option<u64> {
    let value = field(text, name)?.strip_suffix("kB")?.trim();
    value.parse::<u64>().ok()?.checked_mul(1024)
}

/// The choice in brackets: `always [madvise] never`; a text without brackets is the choice itself.
pub fn chosen(text: &str) -> Option<String> {
    let choice = match text.split_once('[') {
        Some((_, rest)) => rest.split_once(']')?.0,
        None => text,
    };
    (!choice.trim().is_empty()).then(|| choice.trim().to_owned())
}

/// A size as sysfs writes cache sizes: `48K`, `491520K`, `2M`.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, text.as_bytes()[text.len() - 1]),
        None => (text, b'B'),
    };
    let factor = match unit {
        b'K' => 1 << 10,
        b'M' => 1 << 20,
        b'G' => 1 << 30,
        _ => 1,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// How many numbers a list such as `0-3,8,10-11` names.
pub fn list_count(text: &str) -> Option<u64> {
    text.trim().split(',').try_fold(0_u64, |count, range| {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (low, high) = (low.trim().parse::<u64>().ok()?, high.trim().parse::<u64>().ok()?);
        count.checked_add(high.checked_sub(low)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{chosen, field, field_kib, list_count, size};

    #[test]
    fn what_the_kernel_writes_is_understood() {
        let status = "Name:\tcat\nCapEff:\t000001ff\nCpus_allowed_list:\t0-1\nVmRSS:\t  17 kB\n";
        assert_eq!(field(status, "CapEff"), Some("000001ff"));
        assert_eq!(field(status, "Cap"), None, "a name is whole");
        assert_eq!(field_kib(status, "VmRSS"), Some(17 * 1024));
        assert_eq!(field("oom_kill 3\noom 5", "oom"), Some("5"));
        assert_eq!(chosen("none [mq-deadline] kyber").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!((size("48K"), size("2M"), size("64")), (Some(49152), Some(2 << 20), Some(64)));
        assert_eq!(list_count("0-3,8,10-11"), Some(7));
    }

    proptest! {
        #[test]
        fn odd_text_never_panics(text in "\\PC{0,60}", name in "[a-z]{0,4}") {
            let _ = (field(&text, &name), field_kib(&text, &name), chosen(&text));
            let _ = (size(&text), list_count(&text));
        }

        #[test]
        fn odd_numbers_never_panic(text in "[0-9KMG,\\-\\[\\] ]{0,60}") {
            let _ = (size(&text), list_count(&text), chosen(&text));
        }
    }
}
