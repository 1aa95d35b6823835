//! What a sentence names: numbers with their units, and words that stand for levels.

use iolab_model::catalog::{Factor, Kind, Level};

/// A number in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Number {
    pub value: f64,
    /// As written, in lower case; empty where there is none.
    pub unit: String,
    /// Its place among the words.
    pub at: usize,
    /// As the sentence has it, for messages.
    pub written: String,
}

/// A sentence in its parts.
pub(super) struct Sentence {
    pub words: Vec<String>,
    pub numbers: Vec<Number>,
}

/// Numbers that people write as words, with their unit where the word has one.
const SPOKEN: [(&str, f64, &str); 12] = [
    ("one", 1.0, ""),
    ("two", 2.0, ""),
    ("three", 3.0, ""),
    ("four", 4.0, ""),
    ("ten", 10.0, ""),
    ("hundred", 100.0, ""),
    ("thousand", 1000.0, ""),
    ("twice", 2.0, "times"),
    ("double", 2.0, "times"),
    ("half", 50.0, "%"),
    ("quarter", 25.0, "%"),
    ("millisecond", 1.0, "ms"),
];
const UNITS: [&str; 24] = [
    "b",
    "byte",
    "bytes",
    "kib",
    "kb",
    "mib",
    "mb",
    "gib",
    "gb",
    "%",
    "percent",
    "times",
    "×",
    "ms",
    "us",
    "µs",
    "ns",
    "s",
    "seconds",
    "worker",
    "workers",
    "thread",
    "threads",
    "processors",
];
/// Words between the numbers of a list, which have one unit together.
const BETWEEN: [&str; 5] = ["to", "or", "and", "–", "from"];

impl Sentence {
    pub fn new(text: &str) -> Sentence {
        let raw: Vec<&str> = text.split_whitespace().map(trimmed).collect();
        let words: Vec<String> = raw.iter().map(|word| plain(word)).collect();
        let mut numbers: Vec<Number> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let Some((value, unit)) = number(word) else { continue };
            let next = words.get(at + 1).map(String::as_str).unwrap_or_default();
            let apart = unit.is_empty() && UNITS.contains(&next);
            let unit = if apart { next.to_owned() } else { unit };
            let written = raw[at..=at + usize::from(apart)].join(" ");
            numbers.push(Number { value, unit, at, written });
        }
        inherit(&words, &mut numbers);
        Sentence { words, numbers }
    }

    /// Where a word of these first stands.
    pub fn place(&self, any: &[&str]) -> Option<usize> {
        self.words.iter().position(|word| any.contains(&word.as_str()))
    }
}

/// A word without the punctuation around it.
fn trimmed(word: &str) -> &str {
    let word = word.trim_matches(|c: char| ",.;:()'\"".contains(c));
    word.trim_end_matches("()")
}

/// The same in lower case.
fn plain(word: &str) -> String {
    trimmed(word).to_lowercase()
}

/// `512B`, `1.4`, `twice`: a number with what is written right behind it.
fn number(word: &str) -> Option<(f64, String)> {
    if let Some((_, value, unit)) = SPOKEN.iter().find(|(spoken, ..)| *spoken == word) {
        return Some((*value, (*unit).to_owned()));
    }
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    let known = unit.is_empty() || UNITS.contains(&unit);
    digits.parse().ok().filter(|_| known).map(|value| (value, unit.to_owned()))
}

/// `512, 1024 or 4096 bytes`: each of them is bytes.
fn inherit(words: &[String], numbers: &mut [Number]) {
    for at in (0..numbers.len().saturating_sub(1)).rev() {
        let (unit, next) = (numbers[at + 1].unit.clone(), numbers[at + 1].at);
        let between = &words[numbers[at].at + 1..next];
        let list = between.iter().all(|word| BETWEEN.contains(&word.as_str()));
        if numbers[at].unit.is_empty() && list {
            numbers[at].unit = unit;
        }
    }
}

impl Number {
    /// Whether it may mean this level: sizes by either meaning of their prefix, as the study's
    /// `MB` is often ours of 2²⁰.
    pub fn is_level(&self, factor: Factor, level: u64) -> bool {
        let unit = self.unit.as_str();
        match factor.kind() {
            Kind::Bytes => scales(unit).iter().any(|scale| self.value * scale == level as f64),
            _ => {
                let other = ["%", "percent", "times", "×", "ms", "us", "µs", "ns", "s", "seconds"];
                let size = scales(unit).len() > 1 || ["b", "byte", "bytes"].contains(&unit);
                self.value == level as f64 && !size && !other.contains(&unit)
            }
        }
    }

    /// Whether it may mean this share: `10 %`.
    pub fn is_share(&self, share: f64) -> bool {
        ["%", "percent"].contains(&self.unit.as_str()) && near(self.value / 100.0, share)
    }

    /// Whether it may mean this factor: `2 times`, `twice`.
    pub fn is_factor(&self, factor: f64) -> bool {
        ["times", "×"].contains(&self.unit.as_str()) && near(self.value, factor)
    }

    /// Whether it may mean this time.
    pub fn is_time(&self, ns: f64) -> bool {
        let scale = match self.unit.as_str() {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" | "seconds" => 1e9,
            _ => return false,
        };
        near(self.value * scale, ns)
    }
}

/// A number of a test that is no level, and that its sentence must name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    /// A share, by what it is called.
    Share(&'static str, f64),
    /// How many times.
    Factor(f64),
    /// Nanoseconds.
    Time(f64),
}

impl Bound {
    /// The ends of a range of factors that bound something: 1 is no factor, and an open end is none.
    pub fn factors((from, to): (f64, f64)) -> Vec<Bound> {
        let ends = [from, to].into_iter().filter(|end| end.is_finite() && *end != 1.0);
        ends.map(Bound::Factor).collect()
    }

    /// Whether a number of the sentence means it.
    pub fn is(&self, said: &Number) -> bool {
        match self {
            Bound::Share(_, share) => said.is_share(*share),
            Bound::Factor(factor) => said.is_factor(*factor),
            Bound::Time(ns) => said.is_time(*ns),
        }
    }

    /// As a message calls it.
    pub fn told(&self) -> String {
        match self {
            Bound::Share(name, share) => format!("{name} {} %", 100.0 * share),
            Bound::Factor(factor) => format!("factor {factor}"),
            Bound::Time(ns) => format!("{ns} ns"),
        }
    }
}

fn near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-9 * y.abs().max(1e-9)
}

fn scales(unit: &str) -> &'static [f64] {
    match unit {
        "" | "b" | "byte" | "bytes" => &[1.0],
        "kb" | "kib" => &[1024.0, 1e3],
        "mb" | "mib" => &[1_048_576.0, 1e6],
        "gb" | "gib" => &[1_073_741_824.0, 1e9],
        _ => &[],
    }
}

/// The words that stand for a level, in lower case. A place is called by its name without options.
pub(super) fn words_of(factor: Factor, level: &Level) -> Vec<String> {
    let written = level.to_string().to_lowercase();
    let name = match factor {
        Factor::Place => written.split(':').next().unwrap_or_default().to_owned(),
        _ => written,
    };
    let spoken: &[&str] = match (factor, name.as_str()) {
        (Factor::Cache, "cold" | "remount") => &["cold", "cleared", "emptied"],
        (Factor::Cache, "warm") => &["warm", "cached", "filled"],
        (Factor::Cache, "any") => &["left", "again"],
        (Factor::Operation, "read") => &["reads", "reading"],
        (Factor::Operation, "write") => &["writes", "writing", "written"],
        (Factor::Operation, "copy") => &["copies", "copied", "copying"],
        (Factor::Operation, "chmod") => &["chmods"],
        (Factor::Operation, "write-after-chmod") => &["later"],
        (Factor::Operation, "chmod-write") => &["both"],
        (Factor::Place, "overlay") => &["overlay", "overlays", "overlayfs"],
        (Factor::Place, "overlay+metacopy") => &["metacopy"],
        (Factor::Pass, "steady") => &["later"],
        (Factor::Contender, "cp-r") => &["cp"],
        (Factor::Consume, "none") => &["untouched"],
        (Factor::Consume, "histogram") => &["counted"],
        (Factor::Sync, "none") => &["without"],
        (Factor::Sync, "sync") => &["o_sync"],
        _ => &[],
    };
    let mut words = vec![name];
    words.extend(spoken.iter().map(|word| (*word).to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use super::{Number, Sentence};
    use iolab_model::catalog::Factor;

    fn numbers(text: &str) -> Vec<(f64, String)> {
        Sentence::new(text)
            .numbers
            .into_iter()
            .map(|Number { value, unit, .. }| (value, unit))
            .collect()
    }

    #[test]
    fn numbers_have_their_units() {
        let all = |pairs: &[(f64, &str)]| {
            pairs.iter().map(|(value, unit)| (*value, (*unit).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            numbers("with 512, 1024 or 4096 bytes it is twice as fast, or 1.5 to 2 times, by 10 %"),
            all(&[
                (512.0, "bytes"),
                (1024.0, "bytes"),
                (4096.0, "bytes"),
                (2.0, "times"),
                (1.5, "times"),
                (2.0, "times"),
                (10.0, "%")
            ])
        );
        assert_eq!(
            numbers("files of 8kB (64 KiB) by 20 workers"),
            all(&[(8.0, "kb"), (64.0, "kib"), (20.0, "workers")])
        );
        assert!(numbers("ext4 and O_SYNC").is_empty());
    }

    #[test]
    fn a_size_is_its_level_by_either_prefix() {
        let size = &Sentence::new("8MB").numbers[0];
        assert!(
            size.is_level(Factor::FileSize, 8 << 20) && size.is_level(Factor::FileSize, 8_000_000)
        );
        assert!(!size.is_level(Factor::FileSize, 8) && !size.is_level(Factor::Threads, 8));
        let workers = &Sentence::new("20 workers").numbers[0];
        assert!(workers.is_level(Factor::Threads, 20) && !workers.is_share(0.2));
    }
}
