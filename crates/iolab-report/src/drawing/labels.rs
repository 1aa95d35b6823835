//! Words of the charts: levels, settings and names that come from outside.

use iolab_model::catalog::{
    Factor, Kind, Level, Levels, Switch, Touch, WorkloadId, bytes_text, command_label, count_text,
    goes_without_saying, path_to_text, percent_text,
};
use iolab_model::result::Document;

/// Longest name that is drawn; longer ones lose their middle. The table has them whole.
const LONGEST: usize = 34;

/// A name from outside (a file, a contender) made harmless for one line of text: control and
/// direction characters become visible escapes.
pub fn clean(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if c.is_control() || steers(c) => text.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => text.push(c),
        }
    }
    text
}

/// Characters that change the direction or the joining of text around them, and the two that XML
/// cannot hold.
fn steers(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A name short enough to be drawn, its middle left out.
pub fn short(name: &str) -> String {
    let count = name.chars().count();
    if count <= LONGEST {
        return name.to_owned();
    }
    let head: String = name.chars().take(LONGEST / 2).collect();
    let tail: String = name.chars().skip(count - (LONGEST / 2 - 1)).collect();
    format!("{head}…{tail}")
}

/// A level as it stands on an axis or in a legend: `64 KiB`, `mmap`, `big.iso`.
pub fn level_text(factor: Factor, level: Option<&Level>) -> String {
    match (level, factor.kind()) {
        (None, _) if factor == Factor::Block => "no block size".to_owned(),
        (None, _) => format!("any {factor}"),
        (Some(Level::Number(n)), Kind::Bytes) => bytes_text(*n),
        (Some(Level::Number(n)), _) => count_text(*n),
        // Brackets tell a program where a layer's options end.
        (Some(Level::Word(word)), _) if matches!(factor, Factor::Place | Factor::SourcePlace) => {
            clean(word).replace(['[', ']'], "")
        }
        (Some(Level::Word(word)), _) if factor == Factor::Contender => clean(&command_label(word)),
        (Some(Level::Word(word)), _) => clean(word),
        (Some(Level::Path(path)), _) => {
            let name = path.file_name().map_or(path.as_path(), std::path::Path::new);
            clean(&path_to_text(name))
        }
    }
}

/// A level with the words that make it clear by itself: `64 KiB blocks`, `2 threads`, `warm`.
pub fn level_phrase(factor: Factor, level: Option<&Level>) -> String {
    let text = level_text(factor, level);
    let plural = |one: &str| match level {
        Some(Level::Number(1)) => one.to_owned(),
        _ => format!("{one}s"),
    };
    match factor {
        _ if level.is_none() => text,
        Factor::FileSize => format!("{text} file"),
        Factor::Files => format!("{text} {}", plural("file")),
        Factor::Block => format!("{text} blocks"),
        Factor::Threads => format!("{text} {}", plural("thread")),
        Factor::Ranks => format!("{text} {}", plural("rank")),
        Factor::IdleThreads => match level {
            Some(Level::Number(0)) => "no idle thread".to_owned(),
            _ => format!("{text} idle {}", plural("thread")),
        },
        Factor::Repeats => format!("{text} {} a file", plural("call")),
        Factor::Pass if text.parse().is_ok_and(Touch::is_one_call) => format!("{text} touch"),
        Factor::Consume
        | Factor::Memory
        | Factor::Sync
        | Factor::Direct
        | Factor::Fill
        | Factor::QueueDepth
        | Factor::BufferOffset
        | Factor::Readahead
        | Factor::Latency
        | Factor::Atime
        | Factor::Descriptors
        | Factor::Shift
        | Factor::Think
        | Factor::WithData => format!("{factor} {text}"),
        _ => text,
    }
}

/// Levels as a short list: `1 MiB file · cold`.
pub fn levels_phrase(levels: &Levels) -> String {
    let words: Vec<String> = levels.iter().map(|(f, l)| level_phrase(f, Some(l))).collect();
    words.join(" · ")
}

/// A verb for the workload, as a noun: `reading`.
pub fn workload_words(workload: &str) -> String {
    match workload.parse::<WorkloadId>() {
        Ok(known) => known.title().to_owned(),
        Err(_) => clean(workload),
    }
}

/// Words with what must not be torn from them: `2.46 ns`, a dot that parts a list.
pub fn kept_together(text: &str) -> Vec<String> {
    const UNITS: [&str; 13] =
        ["ns", "µs", "ms", "s", "min", "%", "B", "KiB", "MiB", "GiB", "TiB", "rounds", "files/s"];
    let mut kept: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', ';', ':', ')', '.']);
        let figure = |last: &str| last.ends_with(|c: char| c.is_ascii_digit());
        match kept.last_mut() {
            Some(last)
                if word == "·"
                    || (figure(last) && UNITS.contains(&bare))
                    || (matches!(last.as_str(), "run" | "Run") && figure(bare)) =>
            {
                *last = format!("{last} {word}");
            }
            _ => kept.push(word.to_owned()),
        }
    }
    kept
}

/// `both conditions`, `all 4 conditions`, `3 of 4 conditions`, `the only condition`.
pub fn of_conditions(some: usize, all: usize) -> String {
    match (some, all) {
        (1, 1) => "the only condition".to_owned(),
        (2, 2) => "both conditions".to_owned(),
        _ if some == all => format!("all {all} conditions"),
        _ => format!("{some} of {all} conditions"),
    }
}

/// What all cells share that have such a level at all (mmap has no block), as the subtitle says it;
/// cache state included.
pub fn setting(document: &Document, shown: &[Factor]) -> Vec<String> {
    let mut words = vec![workload_words(&document.experiment.workload)];
    for factor in Factor::ALL.into_iter().filter(|f| !shown.contains(f)) {
        let mut levels = document.cells.iter().filter_map(|c| c.factors.get(factor));
        let first = levels.next();
        // What is off, or as it always is, goes without saying.
        let plain = first.is_some_and(|level| {
            goes_without_saying(factor, level)
                || factor == Factor::Direct && *level == Level::word(Switch::Off.word())
        });
        if first.is_some() && !plain && levels.all(|l| Some(l) == first) {
            words.push(match factor {
                Factor::Cache => format!("{} cache", level_text(factor, first)),
                _ => level_phrase(factor, first),
            });
        }
    }
    words
}

/// `median of 20 rounds, 95 % interval`, from the n of the estimates and the error of the run.
pub fn interval_words(counts: impl Iterator<Item = u32>, alpha: f64) -> String {
    let level = percent_text(1.0 - alpha);
    let span = counts.filter(|n| *n > 0).fold(None, |span: Option<(u32, u32)>, n| {
        Some(span.map_or((n, n), |(low, high)| (low.min(n), high.max(n))))
    });
    match span {
        None => "no steady round yet".to_owned(),
        Some((_, 1)) => "one round, too few for an interval".to_owned(),
        Some((_, high)) if high < 6 => format!("median of {high} rounds, too few for an interval"),
        Some((low, high)) if low == high => format!("median of {low} rounds, {level} interval"),
        Some((low, high)) => format!("median of {low}–{high} rounds, {level} interval"),
    }
}

#[cfg(test)]
mod tests {
    use super::{clean, kept_together, level_phrase, short};
    use iolab_model::catalog::{Factor, Level};

    #[test]
    fn hostile_names_become_one_harmless_line() {
        assert_eq!(clean("a\nb\u{202e}c\0"), "a\\u{a}b\\u{202e}c\\u{0}");
        assert_eq!(short(&"x".repeat(100)).chars().count(), 34);
        assert_eq!(short("plain"), "plain");
    }

    #[test]
    fn figures_keep_their_units_and_dots_follow_what_they_part() {
        assert_eq!(kept_together("a · 2.46 ns) (x"), ["a ·", "2.46 ns)", "(x"]);
        let text = "reading · 64 KiB, 5 of 10 rounds · ";
        assert_eq!(kept_together(text).join(" "), text);
    }

    #[test]
    fn phrases_are_clear_by_themselves() {
        let phrase = |f, n| level_phrase(f, Some(&Level::Number(n)));
        assert_eq!(phrase(Factor::Block, 65536), "64 KiB blocks");
        assert_eq!(phrase(Factor::Threads, 1), "1 thread");
        assert_eq!(phrase(Factor::IdleThreads, 0), "no idle thread");
        assert_eq!(phrase(Factor::FileSize, 1 << 20), "1 MiB file");
    }
}
