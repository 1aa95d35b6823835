//! The patterns of `--benchmark_filter`, as Google Benchmark reads them: nothing and `all` are every
//! benchmark, a `-` in front turns a pattern round, and a name is wanted where it is found anywhere.

use regex_lite::{Regex, RegexBuilder};

use super::terminal_io::Failure;

/// A name of ours is matched in no time with far less; what a person wrote never needs it.
const MOST_BYTES: usize = 1 << 20;

/// Which benchmarks are wanted.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkFilter {
    /// Absent: every one.
    pattern: Option<Regex>,
    negated: bool,
}

impl BenchmarkFilter {
    /// Reads a filter.
    ///
    /// # Errors
    /// Where it is no regular expression, and why.
    pub fn parse(text: &str) -> Result<BenchmarkFilter, Failure> {
        if text.is_empty() || text == "all" {
            return Ok(BenchmarkFilter::default());
        }
        let (negated, body) = match text.strip_prefix('-') {
            Some(body) => (true, body),
            None => (false, text),
        };
        let pattern = RegexBuilder::new(body).size_limit(MOST_BYTES).build().map_err(|error| {
            let written = text.escape_debug();
            Failure::usage(format!(
                "--benchmark_filter={written}: no regular expression ({error}); write one as in \
                 read/.*block:4096 or ^(read|pread)$, with a \\ before a sign that means itself"
            ))
        })?;
        Ok(BenchmarkFilter { pattern: Some(pattern), negated })
    }

    /// Whether a benchmark of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name) != self.negated)
    }
}

#[cfg(test)]
mod tests {
    use super::BenchmarkFilter;
    use proptest::prelude::*;

    #[test]
    fn names_are_found_as_google_benchmark_finds_them() {
        for (pattern, text, found) in [
            ("all", "anything", true),
            (".", "x", true),
            ("", "x", true),
            ("read", "syscall/read/x", true),
            ("^read", "pread", false),
            ("^read/(pread|mmap)/", "read/mmap/block:1", true),
            ("^read/(pread|mmap)/", "read/readv/block:1", false),
            ("block:4096$", "read/block:4096", true),
            ("block:40*96", "block:496", true),
            ("block:40+96", "block:496", false),
            ("block:40{2}6", "block:4006", true),
            ("threads:[2-4]$", "threads:3", true),
            ("threads:[^2-4]$", "threads:3", false),
            ("a.c", "abc", true),
            ("a\\.c", "abc", false),
            ("(ab)+c", "ababc", true),
            ("(a?)*b", "aaab", true),
            ("\\d+", "x12", true),
            ("-read", "read", false),
            ("-read", "write", true),
            // Only a bare `all` is every benchmark; `-` alone leaves none.
            ("-all", "read", true),
            ("-", "read", false),
            ("[]]", "]", true),
        ] {
            let filter = BenchmarkFilter::parse(pattern).unwrap();
            assert_eq!(filter.wants(text), found, "{pattern} {text}");
        }
        for wrong in ["(", ")", "[a", "*", "a(b", "\\", "[z-a]"] {
            assert!(BenchmarkFilter::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_usual() {
        let said = BenchmarkFilter::parse("-read/(pread").unwrap_err().to_string();
        assert!(
            said.starts_with("--benchmark_filter=-read/(pread: no regular expression ("),
            "{said}"
        );
        assert!(said.contains("write one as in read/"), "{said}");
    }

    #[test]
    fn a_pattern_made_to_hang_ends() {
        let text = "a".repeat(60);
        assert!(!BenchmarkFilter::parse("(a|aa)+(a*)*b").unwrap().wants(&text));
        assert!(BenchmarkFilter::parse(&"(".repeat(1000)).is_err());
        assert!(BenchmarkFilter::parse("((a{99}){99}){99}").is_err());
    }

    proptest! {
        #[test]
        fn plain_words_are_found_as_they_are(word in "[a-z]{1,8}", before in "[a-z]{0,8}", any in ".{0,40}") {
            prop_assume!(word != "all");
            let text = before + &word;
            prop_assert!(BenchmarkFilter::parse(&word).unwrap().wants(&text));
            let _ = BenchmarkFilter::parse(&any).map(|filter| filter.wants("aab(c)"));
        }
    }
}
