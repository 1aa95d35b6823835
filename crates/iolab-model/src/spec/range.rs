//! Lists and ranges: `4Ki,64Ki`, `1..64Ki:x2`, `4Ki..64Ki:+4Ki`, and mixtures of them.

use super::SpecError;
use super::units::parse_count;

/// More levels than this on one axis are a slip of the pen.
const MOST_LEVELS: usize = 1000;

const USUAL: &str = "a range is FIRST..LAST:xN or FIRST..LAST:+N, as in 4Ki..64Ki:x2";

/// Reads a list of numbers and ranges, each number by `one`. Each number is kept once, in the
/// order written.
///
/// # Errors
/// What is wrong, where, and what to write instead: an empty item, an empty, reversed or endless
/// range, or what `one` says.
pub fn parse_list(
    text: &str,
    one: &dyn Fn(&str) -> Result<u64, SpecError>,
) -> Result<Vec<u64>, SpecError> {
    let mut numbers = Vec::new();
    for (at, item) in items(text)? {
        let more = match item.contains("..") {
            true => parse_range(item, one),
            false => one(item).map(|n| vec![n]),
        };
        for number in more.map_err(|e| e.within(text, at))? {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    match numbers.len() > MOST_LEVELS {
        true => Err(too_many(text)),
        false => Ok(numbers),
    }
}

/// The items of a list with the byte at which each starts.
///
/// # Errors
/// Where an item is empty.
pub fn items(text: &str) -> Result<Vec<(usize, &str)>, SpecError> {
    let mut at = 0;
    let mut all = Vec::new();
    for item in text.split(',') {
        if item.is_empty() {
            let (problem, fix) = match text.is_empty() {
                true => ("nothing is written", "name at least one level"),
                false => ("a level is missing", "write one level between two commas"),
            };
            return Err(SpecError::new(text, at, problem, fix));
        }
        all.push((at, item));
        at += item.len() + 1;
    }
    Ok(all)
}

fn parse_range(
    text: &str,
    one: &dyn Fn(&str) -> Result<u64, SpecError>,
) -> Result<Vec<u64>, SpecError> {
    let (first_text, rest) = text.split_once("..").unwrap_or((text, ""));
    let rest_at = first_text.len() + 2;
    let (last_text, step_text) = match rest.split_once(':') {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    if first_text.is_empty() || last_text.is_empty() {
        let at = if first_text.is_empty() { 0 } else { rest_at };
        return Err(SpecError::new(text, at, "the range is empty: an end is missing", USUAL));
    }
    let first = one(first_text).map_err(|e| e.within(text, 0))?;
    let last = one(last_text).map_err(|e| e.within(text, rest_at))?;
    if first > last {
        return Err(SpecError::new(
            text,
            0,
            "the range runs backwards, so it is empty",
            format!("write {last_text}..{first_text}"),
        ));
    }
    let Some(step_text) = step_text else {
        return Err(SpecError::new(
            text,
            text.len(),
            "the range does not say how to step",
            format!("write {text}:x2 to double or {text}:+{first_text} to add"),
        ));
    };
    let step =
        parse_step(step_text, one).map_err(|e| e.within(text, text.len() - step_text.len()))?;
    walk(text, first, last, &step)
}

enum Step {
    Times(u64),
    Plus(u64),
}

fn parse_step(text: &str, one: &dyn Fn(&str) -> Result<u64, SpecError>) -> Result<Step, SpecError> {
    let inner = |e: SpecError| e.within(text, 1);
    if let Some(factor) = text.strip_prefix('x') {
        return match parse_count(factor).map_err(inner)? {
            0 | 1 => Err(SpecError::new(text, 0, "this step never arrives", "write x2 or more")),
            factor => Ok(Step::Times(factor)),
        };
    }
    if let Some(distance) = text.strip_prefix('+') {
        return match one(distance).map_err(inner)? {
            0 => Err(SpecError::new(text, 0, "this step never arrives", "write +1 or more")),
            distance => Ok(Step::Plus(distance)),
        };
    }
    Err(SpecError::new(text, 0, "not a step", USUAL))
}

fn walk(text: &str, first: u64, last: u64, step: &Step) -> Result<Vec<u64>, SpecError> {
    if first == 0 && matches!(step, Step::Times(_)) && last > 0 {
        return Err(SpecError::new(
            text,
            0,
            "zero times anything stays zero",
            "start at 1, or step by addition as in 0..8:+1",
        ));
    }
    let mut levels = Vec::new();
    let mut next = Some(first);
    while let Some(level) = next.filter(|n| *n <= last) {
        if levels.len() >= MOST_LEVELS {
            return Err(too_many(text));
        }
        levels.push(level);
        next = match step {
            Step::Times(factor) => level.checked_mul(*factor).filter(|n| *n > level),
            Step::Plus(distance) => level.checked_add(*distance),
        };
    }
    Ok(levels)
}

fn too_many(text: &str) -> SpecError {
    SpecError::new(
        text,
        0,
        format!("more than {MOST_LEVELS} levels"),
        "take a larger step, or several runs",
    )
}

#[cfg(test)]
mod tests {
    use super::super::units::{format_bytes, parse_bytes};
    use super::parse_list;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn lists_and_ranges() {
        let read = |text| parse_list(text, &parse_bytes).unwrap();
        assert_eq!(read("4Ki,64Ki"), [4096, 65536]);
        assert_eq!(read("1..8:x2"), [1, 2, 4, 8]);
        assert_eq!(read("1..9:x2"), [1, 2, 4, 8]);
        assert_eq!(read("4Ki..16Ki:+4Ki"), [4096, 8192, 12288, 16384]);
        assert_eq!(read("7..7:x2"), [7]);
        assert_eq!(read("64Ki,1..4:x2,2"), [65536, 1, 2, 4]);
        assert_eq!(read("1..64Ki:x2").len(), 17);
        assert_eq!(read("8191Pi..8191Pi:+1"), [8191 << 50]);
    }

    #[test]
    fn what_is_wrong_with_a_range_and_where() {
        for (text, at, word) in [
            ("64Ki..4Ki:x2", 0, "backwards"),
            ("..4Ki:x2", 0, "empty"),
            ("4Ki..:x2", 5, "empty"),
            ("1,4Ki..", 7, "empty"),
            ("1..64Ki", 7, "step"),
            ("1..64Ki:", 8, "not a step"),
            ("1..64Ki:2", 8, "not a step"),
            ("1..64Ki:x1", 8, "never arrives"),
            ("1..64Ki:+0", 8, "never arrives"),
            ("1..64Ki:x", 9, "nothing is written"),
            ("0..8:x2", 0, "zero"),
            ("1..1Gi:+1", 0, "more than 1000"),
            ("4Ki,64KB", 6, "two things"),
            ("4Ki..64KB:x2", 7, "two things"),
            ("4Ki,,8Ki", 4, "missing"),
            ("", 0, "nothing"),
        ] {
            let error = parse_list(text, &parse_bytes).unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.problem.contains(word), "{text}: {error}");
            assert_eq!(error.written, text);
        }
    }

    proptest! {
        #[test]
        fn lists_read_back(mut sizes in proptest::collection::vec(0u64..1 << 50, 1..30)) {
            let text = sizes.iter().map(|s| format_bytes(*s)).collect::<Vec<_>>().join(",");
            let mut seen = std::collections::BTreeSet::new();
            sizes.retain(|s| seen.insert(*s));
            prop_assert_eq!(parse_list(&text, &parse_bytes), Ok(sizes));
        }

        #[test]
        fn a_range_stays_between_its_ends(first in 1u64..1000, more in 0u64..1000, step in 1u64..9) {
            let last = first + more;
            let plus = parse_list(&format!("{first}..{last}:+{step}"), &parse_bytes).unwrap();
            prop_assert_eq!(plus.len() as u64, more / step + 1);
            let times = parse_list(&format!("{first}..{last}:x{}", step + 1), &parse_bytes).unwrap();
            assert!(times.iter().all(|n| (first..=last).contains(n)));
        }

        #[test]
        fn nothing_written_panics(text in any::<String>(), range in "[0-9KiBk.,:x+]{0,20}") {
            for text in [text, range] {
                if let Err(error) = parse_list(&text, &parse_bytes) {
                    assert!(error.at <= text.len(), "{error:?}");
                }
            }
        }
    }
}
