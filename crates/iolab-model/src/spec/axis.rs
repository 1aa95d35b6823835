//! The levels of one axis, read and checked against what the workload knows.

use std::path::PathBuf;

use super::range::{items, parse_list};
use super::units::{parse_bytes, parse_count};
use super::{Experiment, SpecError};
use crate::catalog::{
    Capability, Contender, Factor, FactorUse, Kind, Level, NoSizes, Part, PartKind, PlaceError,
    SIZES_FORMS, Sizes, WorkloadInfo, contender_names, file_to_memory, parse_place, parse_places,
};

/// Linux moves at most this many bytes in one call (MAX_RW_COUNT of 4 KiB pages).
const GREATEST_BLOCK: u64 = 0x7fff_f000;
/// Into a page of 4 KiB: beyond its last byte it begins anew.
const GREATEST_OFFSET: u64 = 4095;

/// More threads or files in one trial than any machine here can hold.
const GREATEST_COUNT: u64 = 1 << 32;

/// A workload and every part there is: what levels are checked against.
#[derive(Clone, Copy)]
pub struct Vocabulary<'a> {
    /// The workload.
    pub info: &'a WorkloadInfo,
    /// Methods, operations and other parts, of any workload.
    pub parts: &'a [&'static Part],
}

impl Vocabulary<'_> {
    /// The axis, where the workload has it.
    ///
    /// # Errors
    /// The axes that the workload has.
    pub fn axis(&self, factor: Factor) -> Result<&FactorUse, SpecError> {
        self.info.factors.iter().find(|axis| axis.factor == factor).ok_or_else(|| {
            let names: Vec<&str> = self.info.factors.iter().map(|a| a.factor.name()).collect();
            let problem = format!("{} has no such axis", self.info.part.id);
            SpecError::new(factor.name(), 0, problem, choose(factor.name(), &names))
        })
    }

    /// The parts that are levels of the factor: the methods or operations of this workload.
    pub fn parts_of(&self, factor: Factor) -> impl Iterator<Item = &'static Part> {
        let kind = match factor {
            Factor::Method => Some(PartKind::Method),
            Factor::Operation => Some(PartKind::Operation),
            Factor::Place | Factor::SourcePlace => Some(PartKind::Place),
            _ => None,
        };
        // A source is only read.
        let capability = match factor {
            Factor::SourcePlace => Capability::Read,
            _ => self.info.capability,
        };
        self.parts
            .iter()
            .copied()
            .filter(move |part| Some(part.kind) == kind && part.can(capability))
    }

    /// The words that may be written for a factor of words.
    pub fn words(&self, factor: Factor) -> Vec<&'static str> {
        if factor == Factor::Contender {
            return contender_names(self.info.capability).collect();
        }
        let listed =
            self.info.factors.iter().find(|a| a.factor == factor).map_or(&[][..], |a| a.words);
        match listed.is_empty() {
            true => self.parts_of(factor).map(|part| part.id).collect(),
            false => listed.to_vec(),
        }
    }

    /// Reads the levels of an axis as written: a list, with ranges where it is of numbers. A path
    /// is one level, whatever it contains.
    ///
    /// # Errors
    /// What is wrong, where, and what to write instead.
    pub fn levels(&self, factor: Factor, text: &str) -> Result<Vec<Level>, SpecError> {
        self.axis(factor)?;
        match factor.kind() {
            Kind::Path => Ok(vec![Level::Path(PathBuf::from(text))]),
            Kind::Word if is_place(factor) => self.places(factor, text),
            Kind::Word if factor == Factor::Contender => {
                self.contender(text).map(|()| vec![Level::word(text.trim())])
            }
            Kind::Word => self.words_of_list(factor, text),
            Kind::Bytes | Kind::Count
                if factor == Factor::Memory || !self.words(factor).is_empty() =>
            {
                self.numbers_or_words(factor, text)
            }
            Kind::Bytes | Kind::Count => {
                let numbers = parse_list(text, &|one| self.number(factor, one))?;
                Ok(numbers.into_iter().map(Level::Number).collect())
            }
        }
    }

    /// Numbers, or ratios of the file to the memory, or words that the axis has beside numbers.
    fn numbers_or_words(&self, factor: Factor, text: &str) -> Result<Vec<Level>, SpecError> {
        let mut levels: Vec<Level> = Vec::new();
        for (at, item) in items(text)? {
            let read = match self.is_word_of_numbers(factor, item) {
                true => vec![Level::word(item)],
                false => parse_list(item, &|one| self.number(factor, one))
                    .map_err(|e| e.within(text, at))?
                    .into_iter()
                    .map(Level::Number)
                    .collect(),
            };
            levels.extend(
                read.into_iter().filter(|level| !levels.contains(level)).collect::<Vec<_>>(),
            );
        }
        Ok(levels)
    }

    fn is_word_of_numbers(&self, factor: Factor, word: &str) -> bool {
        let is_ratio = factor == Factor::Memory && file_to_memory(word).is_some();
        is_ratio || self.words(factor).contains(&word)
    }

    /// Places have options of their own, and commas between them.
    fn places(&self, factor: Factor, text: &str) -> Result<Vec<Level>, SpecError> {
        let places = parse_places(text, &self.words(factor));
        let places = places.map_err(|error| self.no_place(factor, text, &error))?;
        Ok(places.iter().map(|place| Level::word(place.to_string())).collect())
    }

    fn no_place(&self, factor: Factor, text: &str, error: &PlaceError) -> SpecError {
        let words = self.words(factor);
        let at = text.find(&error.part).unwrap_or(0);
        let near = |remedy: String| match error.problem == PlaceError::UNKNOWN {
            true => choose(&error.part, &words),
            false => remedy,
        };
        SpecError::new(text, at, error.problem.clone(), near(error.remedy.clone()))
    }

    /// A command is one level, whatever commas it has.
    fn contender(&self, text: &str) -> Result<(), SpecError> {
        let parsed = Contender::parse(text.trim(), self.info.capability);
        let at = |at: usize| at + (text.len() - text.trim_start().len());
        parsed
            .map(drop)
            .map_err(|error| SpecError::new(text, at(error.at), error.problem, error.fix))
    }

    fn words_of_list(&self, factor: Factor, text: &str) -> Result<Vec<Level>, SpecError> {
        let mut levels = Vec::new();
        for (at, item) in items(text)? {
            self.word(factor, item).map_err(|e| e.within(text, at))?;
            let level = Level::word(item);
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        Ok(levels)
    }

    fn word(&self, factor: Factor, text: &str) -> Result<(), SpecError> {
        let words = self.words(factor);
        if is_place(factor) {
            let place = parse_place(text, &words);
            return place.map(drop).map_err(|error| self.no_place(factor, text, &error));
        }
        if factor == Factor::Contender {
            return self.contender(text);
        }
        if factor == Factor::Method && text == NO_METHOD && self.axis(Factor::Contender).is_ok() {
            return Ok(());
        }
        if factor == Factor::Sizes {
            let fix = || format!("write {SIZES_FORMS}");
            let no_sizes = |why: NoSizes| SpecError::new(text, 0, why.to_string(), fix());
            return text.parse::<Sizes>().map(drop).map_err(no_sizes);
        }
        // Machines are named by whoever has them.
        if factor == Factor::Host {
            return Ok(());
        }
        for word in &words {
            // `stride:N` stands for `stride:` and any positive number.
            if let Some(stem) = word.strip_suffix('N').filter(|stem| stem.ends_with(':')) {
                if let Some(count) = text.strip_prefix(stem) {
                    return positive(count, parse_count(count))
                        .map(drop)
                        .map_err(|e| e.within(text, stem.len()));
                }
            } else if *word == text {
                return Ok(());
            }
        }
        let problem = format!("{} has no such {factor}", self.info.part.id);
        Err(SpecError::new(text, 0, problem, choose(text, &words)))
    }

    /// One number of an axis, by what the axis can have. Metadata calls work on empty files too.
    fn number(&self, factor: Factor, text: &str) -> Result<u64, SpecError> {
        let parsed = match factor.kind() {
            Kind::Bytes => parse_bytes(text),
            _ => parse_count(text),
        };
        let metadata = self.info.capability == Capability::Metadata;
        let number = match factor {
            Factor::IdleThreads | Factor::BufferOffset => parsed?,
            Factor::FileSize if metadata => parsed?,
            _ => positive(text, parsed)?,
        };
        let most = match (factor, factor.kind()) {
            (Factor::Block, _) => GREATEST_BLOCK,
            (Factor::BufferOffset, _) => GREATEST_OFFSET,
            (_, Kind::Count) => GREATEST_COUNT,
            _ => u64::MAX,
        };
        match number > most {
            true => {
                let fix = format!("the greatest {factor} is {most}");
                Err(SpecError::new(text, 0, "too large", fix))
            }
            false => Ok(number),
        }
    }

    /// Checks an experiment that was not read by [`Vocabulary::levels`], or was put together.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self, experiment: &Experiment) -> Result<(), SpecError> {
        for (factor, levels) in &experiment.factors {
            self.axis(*factor)?;
            for level in levels {
                self.check_level(*factor, level).map_err(|e| e.of(factor.name()))?;
            }
        }
        check_no_method(experiment)?;
        if self.info.capability == Capability::Replay
            && !experiment.factors.contains_key(&Factor::Trace)
        {
            let fix = "name the file of one; iolab record -- COMMAND makes it";
            return Err(SpecError::new("trace", 0, "a replay needs a trace", fix));
        }
        for factor in experiment.protocol.ask.iter().flatten() {
            self.axis(*factor).map_err(|e| e.of("--ask"))?;
        }
        // A copy of it can be elsewhere.
        let fixed = match self.info.capability {
            Capability::Copy => Factor::SourcePlace,
            _ => Factor::Place,
        };
        if experiment.factors.contains_key(&Factor::File) && experiment.factors.contains_key(&fixed)
        {
            let (problem, fix) = match self.info.capability {
                Capability::Files => (
                    "a tree of yours is where it is",
                    "give --files to have one made on each place",
                ),
                _ => (
                    "a file of yours is where it is",
                    "give --file-size to have one made on each place",
                ),
            };
            return Err(SpecError::new(fixed.name(), 0, problem, fix));
        }
        check_sizes(experiment)?;
        if experiment.factors.contains_key(&Factor::File)
            && experiment.factors.contains_key(&Factor::FileSize)
        {
            return Err(SpecError::new(
                "file-size",
                0,
                "a file of yours has its size already",
                "name files, or give --file-size to have one made",
            ));
        }
        Ok(())
    }

    fn check_level(&self, factor: Factor, level: &Level) -> Result<(), SpecError> {
        match (level, factor.kind()) {
            (Level::Word(word), Kind::Word) => self.word(factor, word),
            (Level::Number(n), Kind::Bytes | Kind::Count) => {
                self.number(factor, &n.to_string()).map(drop)
            }
            (Level::Path(_), Kind::Path) => Ok(()),
            (Level::Word(word), Kind::Bytes | Kind::Count)
                if self.is_word_of_numbers(factor, word) =>
            {
                Ok(())
            }
            _ => {
                let fix = "write the level as the axis has it; see iolab list";
                Err(SpecError::new(&level.to_string(), 0, "not a level of this axis", fix))
            }
        }
    }
}

/// Instead of a method: the commands of the person alone.
pub const NO_METHOD: &str = "none";

fn is_place(factor: Factor) -> bool {
    matches!(factor, Factor::Place | Factor::SourcePlace)
}

/// Without methods there must be commands, and nothing stands beside no method.
fn check_no_method(experiment: &Experiment) -> Result<(), SpecError> {
    let methods = experiment.factors.get(&Factor::Method).map_or(&[][..], Vec::as_slice);
    if !methods.contains(&Level::word(NO_METHOD)) {
        return Ok(());
    }
    let (problem, fix) = match experiment.factors.contains_key(&Factor::Contender) {
        true if methods.len() == 1 => return Ok(()),
        true => ("none is no method beside others", "write none alone, or leave it out"),
        false => ("without a method a command is measured", "name one with --contender"),
    };
    Err(SpecError::new(NO_METHOD, 0, problem, fix).of(Factor::Method.name()))
}

/// One rule says how large files are, and a tree that is there has its own.
fn check_sizes(experiment: &Experiment) -> Result<(), SpecError> {
    let has = |factor| experiment.factors.contains_key(&factor);
    let of_a_tree = [Factor::Files, Factor::Sizes, Factor::Layout, Factor::Fill];
    match of_a_tree.into_iter().find(|factor| has(*factor)) {
        Some(factor) if has(Factor::File) => Err(SpecError::new(
            factor.name(),
            0,
            "a tree of yours is as it is",
            format!("name the tree, or give --{factor} to have one made"),
        )),
        _ if has(Factor::Sizes) && has(Factor::FileSize) => Err(SpecError::new(
            "sizes",
            0,
            "file-size gives the files their size already",
            "give one of --sizes and --file-size",
        )),
        _ => Ok(()),
    }
}

fn positive(text: &str, parsed: Result<u64, SpecError>) -> Result<u64, SpecError> {
    match parsed? {
        0 => Err(SpecError::new(text, 0, "zero makes no sense here", "write 1 or more")),
        number => Ok(number),
    }
}

/// No word is this long, nor what was meant by one.
const MOST_COMPARED: usize = 64;

/// The word that was probably meant, if one is near.
pub fn nearest<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let near = |(distance, word): &(usize, &str)| {
        *distance <= 1 + word.chars().count() / 3 || (text.len() > 1 && word.starts_with(text))
    };
    // The time is that of both lengths multiplied: a megabyte took minutes.
    if text.len() > MOST_COMPARED {
        return None;
    }
    let distances = words.iter().map(|word| (strsim::damerau_levenshtein(text, word), *word));
    distances.filter(near).min().map(|(_, word)| word)
}

/// What to write instead: the nearest word, if one is near, and all of them.
pub fn choose(text: &str, words: &[&str]) -> String {
    let list = words.join(", ");
    match (words.is_empty(), nearest(text, words)) {
        (true, _) => "there is nothing to choose from here".to_owned(),
        (_, Some(word)) => format!("did you mean {word}? There are {list}"),
        (_, None) => format!("choose from {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::vocabulary;
    use super::{Experiment, Factor, Level};
    use crate::spec::Protocol;
    use proptest::prelude::{any, prop_assert, proptest};
    use std::collections::BTreeMap;

    /// A word of a megabyte was held against each known one, letter by letter, for minutes.
    #[test]
    fn a_word_without_end_is_near_no_other() {
        let long = "pread".repeat(2_000_000);
        assert_eq!(super::nearest(&long, &["pread", "read"]), None);
        assert_eq!(super::nearest("raed", &["pread", "read"]), Some("read"));
    }

    #[test]
    fn an_unknown_level_names_the_valid_ones_and_the_nearest() {
        let error = vocabulary().levels(Factor::Method, "pread,raed").unwrap_err();
        assert_eq!(error.at, 6);
        let line = error.to_string();
        assert!(line.contains("did you mean read? There are read, pread, mmap, null"), "{line}");
        let line = vocabulary().levels(Factor::Cache, "lukewarm").unwrap_err().to_string();
        assert!(line.contains("cold, warm, any"), "{line}");
        let line = vocabulary().levels(Factor::Sync, "none").unwrap_err().to_string();
        assert!(line.contains("has no such axis"), "{line}");
    }

    #[test]
    fn levels_have_the_kind_of_their_axis() {
        let read = |factor, text| vocabulary().levels(factor, text).unwrap();
        assert_eq!(read(Factor::Block, "4Ki"), [Level::Number(4096)]);
        assert_eq!(read(Factor::Threads, "1..4:x2").len(), 3);
        assert_eq!(read(Factor::Method, "read,read"), [Level::word("read")]);
        assert_eq!(read(Factor::Pattern, "stride:4"), [Level::word("stride:4")]);
        assert_eq!(read(Factor::File, "a,b"), [Level::Path("a,b".into())]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (factor, text) in [
            (Factor::Block, "0"),
            (Factor::Block, "-1"),
            (Factor::Block, "3Gi"),
            (Factor::Block, "0..8:+1"),
            (Factor::Threads, "0"),
            (Factor::Threads, "4Ki"),
            (Factor::FileSize, "0"),
            (Factor::Pattern, "stride:0"),
            (Factor::Pattern, "stride:"),
            (Factor::Pattern, "stride:N"),
            (Factor::Method, ""),
            (Factor::Method, "read,"),
            (Factor::Method, "Read"),
        ] {
            assert!(vocabulary().levels(factor, text).is_err(), "{factor} {text}");
        }
    }

    #[test]
    fn an_experiment_put_together_is_checked_too() {
        let make = |factor, level| Experiment {
            title: None,
            workload: "read".into(),
            directory: ".".into(),
            factors: BTreeMap::from([(factor, vec![level])]),
            protocol: Protocol::new(1),
        };
        let check = |experiment: &Experiment| vocabulary().check(experiment);
        assert!(check(&make(Factor::Method, Level::word("pread"))).is_ok());
        assert!(check(&make(Factor::Method, Level::word("dd"))).is_err());
        assert!(check(&make(Factor::Method, Level::Number(1))).is_err());
        assert!(check(&make(Factor::Sync, Level::word("none"))).is_err());
        let mut both = make(Factor::File, Level::Path("a".into()));
        both.factors.insert(Factor::FileSize, vec![Level::Number(4096)]);
        assert!(check(&both).unwrap_err().to_string().contains("has its size already"));
        let mut ask = make(Factor::Method, Level::word("read"));
        ask.protocol.ask = Some(vec![Factor::Sync]);
        assert!(check(&ask).is_err());
    }

    proptest! {
        #[test]
        fn nothing_written_panics(text in any::<String>(), at in 0usize..20) {
            let factor = Factor::ALL[at];
            if let Err(error) = vocabulary().levels(factor, &text) {
                prop_assert!(error.at <= error.written.len());
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
