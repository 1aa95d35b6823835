//! The names that Google Benchmark gives, back to levels where they are iolab's own.

use iolab_model::catalog::{Factor, Kind, Level, Levels, path_from_text};

/// What a name says.
#[derive(Debug, PartialEq)]
pub(super) struct Named {
    /// The workload; absent where the name is not one of iolab's.
    pub(super) workload: Option<String>,
    pub(super) levels: Levels,
}

/// Parts that say how it was timed, not what.
const TIMING: &[&str] = &[
    "real_time",
    "process_time",
    "manual_time",
    "iterations:",
    "repeats:",
    "min_time:",
    "min_warmup_time:",
];

/// Reads `read/pread/block:4096/real_time/threads:2` back; any other name becomes a contender.
pub(super) fn parse(run_name: &str) -> Named {
    ours(run_name).unwrap_or_else(|| foreign(run_name))
}

fn is_timing(part: &str) -> bool {
    TIMING.iter().any(|t| part == *t || (t.ends_with(':') && part.starts_with(t)))
}

fn ours(run_name: &str) -> Option<Named> {
    // A file's path has slashes of its own: it ends where the next axis begins.
    let mut parts: Vec<String> = Vec::new();
    for part in run_name.split('/') {
        let goes_on = parts.last().is_some_and(|p| p.starts_with("file:")) && !begins(part);
        match parts.last_mut().filter(|_| goes_on) {
            Some(last) => *last = format!("{last}/{part}"),
            None => parts.push(part.to_owned()),
        }
    }
    let mut parts = parts.into_iter();
    let workload = parts.next()?;
    let mut levels = Levels::new();
    let mut axes = 0;
    for part in parts.filter(|p| !is_timing(p)) {
        match axis(&part) {
            Some((factor, level)) => {
                levels.set(factor, level);
                axes += usize::from(factor != Factor::Threads);
            }
            None if axes == 0 && levels.is_empty() && !part.is_empty() => {
                levels.set(Factor::Method, Level::word(part));
            }
            None => return None,
        }
    }
    let word = !workload.is_empty() && workload.bytes().all(|b| b.is_ascii_lowercase());
    (axes > 0 && word).then_some(Named { workload: Some(workload), levels })
}

fn begins(part: &str) -> bool {
    is_timing(part) || axis(part).is_some()
}

/// `block:4096`.
fn axis(part: &str) -> Option<(Factor, Level)> {
    let (name, value) = part.split_once(':')?;
    let factor: Factor = name.parse().ok()?;
    let level = match factor.kind() {
        Kind::Bytes | Kind::Count => Level::Number(value.parse().ok()?),
        Kind::Word => Level::word(value),
        Kind::Path => Level::Path(path_from_text(value)),
    };
    Some((factor, level))
}

fn foreign(run_name: &str) -> Named {
    let mut levels = Levels::new();
    let mut kept = Vec::new();
    for part in run_name.split('/').filter(|p| !is_timing(p)) {
        match part.strip_prefix("threads:").and_then(|n| n.parse().ok()) {
            Some(threads) => levels.set(Factor::Threads, Level::Number(threads)),
            None => kept.push(part),
        }
    }
    levels.set(Factor::Contender, Level::word(kept.join("/")));
    Named { workload: None, levels }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use iolab_model::catalog::{Factor, Level, Levels};
    use proptest::prelude::*;

    #[test]
    fn our_names_come_back_and_others_are_contenders() {
        let named = parse("read/pread/file:/a/b:c/d.iso/block:4096/cache:warm/real_time/threads:2");
        assert_eq!(named.workload.as_deref(), Some("read"));
        let levels = Levels::new()
            .with(Factor::File, Level::Path("/a/b:c/d.iso".into()))
            .with(Factor::Method, Level::word("pread"))
            .with(Factor::Block, Level::Number(4096))
            .with(Factor::Cache, Level::word("warm"))
            .with(Factor::Threads, Level::Number(2));
        assert_eq!(named.levels, levels);
        let named = parse("BM_Read/4096/min_time:0.500/real_time/threads:4");
        assert_eq!(named.workload, None);
        assert_eq!(named.levels.text(Factor::Contender), Some("BM_Read/4096"));
        assert_eq!(named.levels.number(Factor::Threads), Some(4));
    }

    proptest! {
        #[test]
        fn any_name_is_something(name in ".{0,60}") {
            prop_assert!(!parse(&name).levels.is_empty());
        }
    }
}
