//! A profile as a screen of text: the whole, the dearest files, what to do.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::profile_rows::{NAME_COLUMNS, rows};
use super::profile_share::{added, share};
use super::terminal_io::wrap;
use iolab_model::catalog::{bytes_text, count_text, digits_text, so_many, time_text};
use iolab_report::TextStyle;
use iolab_trace::{FileRow, Finding, FindingKind, Profile, Trace, Whole};

/// Lines of a screen.
const LINES: usize = 24;
/// Files that are listed without --all.
const FILES: usize = 5;
/// Findings that are said without --all.
const FINDINGS: usize = 3;
/// From so many others of its kind on a finding is said once.
const FEWEST_ALIKE: usize = 2;
/// Lines that a command, a file's name or a list may take without --all.
const MOST_LINES: usize = 2;

/// The profile in at most 24 lines, or with `all` in as many as it takes: what share file calls have,
/// what to do about them, and then which files.
pub fn screen(trace: &Trace, profile: &Profile, style: &TextStyle, all: bool) -> String {
    let width = style.width.clamp(60, 100);
    let most = if all { usize::MAX } else { MOST_LINES };
    let mut lines = head(trace, profile, width, most);
    lines.push(String::new());
    lines.extend(said(profile, width, all));
    lines.push(String::new());
    let mut calls = broken(&kinds(profile), width, most);
    calls.extend(sizes(profile).iter().flat_map(|line| broken(line, width, most)));
    let rows = rows(&profile.files, all);
    let names = if all { usize::MAX } else { 1 };
    let listed = |files: &usize| table(profile, &rows, *files, names);
    let (above, below) = (lines.len(), 1 + calls.len());
    let fits = |files: &usize, below: usize| above + listed(files).len() + below <= LINES;
    // Files tell more than kinds of calls do.
    let files = (3..=FILES).rev().find(|files| fits(files, below));
    let files = files.or_else(|| (1..=FILES).rev().find(|files| fits(files, 0))).unwrap_or(1);
    lines.extend(listed(if all { &usize::MAX } else { &files }));
    let room = if all { usize::MAX } else { LINES.saturating_sub(lines.len()) };
    // An empty line alone parts nothing from nothing.
    if room > 1 {
        lines.push(String::new());
        lines.extend(calls.into_iter().take(room - 1));
    }
    let mut text = lines.join("\n");
    text.push('\n');
    if style.unicode { text } else { iolab_model::catalog::ascii_text(&text) }
}

/// What to do, and what starting the program took.
fn said(profile: &Profile, width: usize, all: bool) -> Vec<String> {
    let mut lines = fitting(findings(profile, width, all, false), all);
    let start = profile.findings.iter().find(|finding| finding.kind == FindingKind::Start);
    lines.extend(start.into_iter().flat_map(|finding| item(&finding.sentence, width)));
    if all {
        lines.extend(findings(profile, width, all, true).into_iter().flatten());
    }
    if lines.is_empty() {
        lines.push("nothing stands out".to_owned());
    }
    lines
}

fn head(trace: &Trace, profile: &Profile, width: usize, most: usize) -> Vec<String> {
    let whole = &profile.whole;
    let name = match profile.command.is_empty() {
        true => "a program".to_owned(),
        false => profile.command.clone(),
    };
    let traced = format!("{}{}", time_text(whole.traced_wall_ns as f64), added(whole));
    let took = match whole.wall_ns {
        Some(ns) => {
            let runs = so_many(whole.runs, "run");
            format!(
                "{} by itself (median of {runs}), under the tracer {traced}",
                time_text(ns as f64)
            )
        }
        None => format!("under the tracer it took {traced}"),
    };
    let mut lines = broken(&name, width, most);
    for text in [share(profile), took, counts(whole)] {
        lines.extend(broken(&text, width, usize::MAX));
    }
    if trace.is_cut {
        lines.push("the log ends before the program: what follows is missing".to_owned());
    }
    if trace.skipped_lines > 0 {
        let skipped = so_many(trace.skipped_lines as usize, "line");
        lines.push(format!("{skipped} of the log not understood and left out"));
    }
    lines
}

fn counts(whole: &Whole) -> String {
    let mut text = format!(
        "{} calls on {}: {} read in {}, {} written in {}",
        count_text(whole.calls),
        so_many(whole.files, "file"),
        rough(whole.read_bytes),
        count_text(whole.reads),
        rough(whole.written_bytes),
        count_text(whole.writes)
    );
    if whole.threads > 1 {
        let _ = write!(text, "; {}", so_many(whole.threads, "thread"));
        // Those of a shell or a shim that starts it are not the program's.
        if whole.program_threads < whole.threads {
            let name = whole.program.escape_debug();
            let _ =
                write!(text, ", {} of them of {name}", count_text(whole.program_threads as u64));
        }
    }
    text
}

fn table(
    profile: &Profile,
    files: &[Cow<'_, FileRow>],
    most: usize,
    name_lines: usize,
) -> Vec<String> {
    let row = |cells: [&str; 6]| {
        let [name, time, calls, read, written, how] = cells;
        let pad = NAME_COLUMNS.saturating_sub(name.width());
        let line = format!("{name}{:pad$} {time:>9} {calls:>9} {read:>10} {written:>10} {how}", "");
        line.trim_end().to_owned()
    };
    let mut lines = vec![row(["file", "time", "calls", "read", "written", "how"])];
    // The last line is no "1 more" where the file itself fits.
    let shown = if files.len() <= most.saturating_add(1) { files.len() } else { most };
    for file in &files[..shown] {
        let name = pieces(&file.name, name_lines);
        let (first, rest) = name.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
        lines.push(row([
            first,
            &file_time(&profile.whole, file),
            &count_text(file.calls),
            &amount(file.read_bytes),
            &amount(file.written_bytes),
            &how(file),
        ]));
        lines.extend(rest.iter().cloned());
    }
    let rest = &files[shown..];
    if !rest.is_empty() {
        let sum = |of: fn(&FileRow) -> u64| {
            rest.iter().map(|file| of(file.as_ref())).fold(0, u64::saturating_add)
        };
        lines.push(row([
            &format!("{} more", count_text(rest.len() as u64)),
            &time_text(sum(|file| file.file_ns) as f64),
            &count_text(sum(|file| file.calls)),
            &amount(sum(|file| file.read_bytes)),
            &amount(sum(|file| file.written_bytes)),
            "",
        ]));
    }
    lines
}

/// A bound where the tracer's cost is not known as well as the calls took.
fn file_time(whole: &Whole, file: &FileRow) -> String {
    let (low, high) = (whole.tracer_low_ns_per_call, whole.tracer_high_ns_per_call);
    let unsure = file.calls.saturating_mul(high.saturating_sub(low));
    if file.file_ns >= unsure {
        return time_text(file.file_ns as f64);
    }
    let below = whole.tracer_ns_per_call.saturating_sub(low);
    let most = file.file_ns.saturating_add(file.calls.saturating_mul(below));
    let most = most.min(whole.file_high_ns.unwrap_or(u64::MAX));
    format!("≤ {}", time_text(most as f64))
}

fn how(file: &FileRow) -> String {
    let pattern = file.pattern.map_or("", |pattern| pattern.word());
    match file.aligned_share {
        Some(share) if file.pattern.is_some() && share >= 0.9 => format!("{pattern}, 4K"),
        _ => pattern.to_owned(),
    }
}

fn amount(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { rough(bytes) }
}

/// Three digits: a column is no place for `2560 KiB` beside `1.2 GiB`.
fn rough(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        unit => format!("{} {}", digits_text(value), UNITS[unit]),
    }
}

fn kinds(profile: &Profile) -> String {
    let rows = profile.kinds.iter().take(5);
    let each = rows.map(|row| {
        let time = time_text(row.file_ns as f64);
        format!("{} {time} ({})", row.kind, count_text(row.calls))
    });
    format!("by kind: {}", each.collect::<Vec<_>>().join(", "))
}

/// The three sizes with the most calls, of each direction.
fn sizes(profile: &Profile) -> Vec<String> {
    let line = |direction: &str| {
        let rows = profile.sizes.iter().filter(|row| row.direction == direction);
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.calls));
        let each = rows
            .iter()
            .take(4)
            .map(|row| format!("{} of {} on", count_text(row.calls), bytes_text(row.from_bytes)));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| format!("{direction}s: {}", each.join(", ")))
    };
    ["read", "write"].iter().filter_map(|direction| line(direction)).collect()
}

/// The findings in lines, each for itself; what holds of many files is said of the dearest of them,
/// and with --all of each.
fn findings(profile: &Profile, width: usize, all: bool, of_start: bool) -> Vec<Vec<String>> {
    let asked =
        |finding: &&Finding| finding.of_start == of_start && finding.kind != FindingKind::Start;
    let found: Vec<&Finding> = profile.findings.iter().filter(asked).collect();
    let sentence = |(at, finding): (usize, &&Finding)| {
        let is_like = |(_, other): &(usize, &&Finding)| other.kind == finding.kind;
        let alike = found.iter().enumerate().filter(is_like);
        let others: Vec<(usize, &&Finding)> = alike.filter(|(other, _)| *other != at).collect();
        if all || others.len() < FEWEST_ALIKE {
            return Some(finding.sentence.clone());
        }
        let is_first = others.iter().all(|(other, _)| *other > at);
        let ns = others.iter().map(|(_, other)| other.file_ns).fold(0, u64::saturating_add);
        is_first.then(|| {
            let files: usize = others.iter().map(|(_, other)| other.files).sum();
            let more = so_many(files, "more file");
            format!("{}; the same for {more} ({})", finding.sentence, time_text(ns as f64))
        })
    };
    let sentences = found.iter().enumerate().filter_map(sentence);
    sentences.map(|sentence| item(&sentence, width)).collect()
}

/// A sentence as one of a list.
fn item(sentence: &str, width: usize) -> Vec<String> {
    let lines = broken(sentence, width.saturating_sub(2), usize::MAX);
    let head = |at: usize| if at == 0 { "- " } else { "  " };
    lines.iter().enumerate().map(|(at, line)| format!("{}{line}", head(at))).collect()
}

/// The first three of them, and how many more there are.
fn fitting(findings: Vec<Vec<String>>, all: bool) -> Vec<String> {
    let most = if all { usize::MAX } else { FINDINGS };
    let left = findings.len().saturating_sub(most);
    let mut lines: Vec<String> = findings.into_iter().take(most).flatten().collect();
    if left > 0 {
        lines.push(format!("  {} more: --all", so_many(left, "finding")));
    }
    lines
}

/// A name in pieces of its column, whole parts of the path where they fit; where it needs more than so
/// many, its end, which tells most. Nothing in it moves a terminal's cursor.
fn pieces(name: &str, most: usize) -> Vec<String> {
    let whole: Vec<char> = name.escape_debug().collect();
    let all = at_slashes(&whole, NAME_COLUMNS);
    if all.len() <= most {
        return all;
    }
    let end = |kept: usize| {
        let end = ['…'].iter().chain(&whole[kept..]).copied().collect::<Vec<char>>();
        at_slashes(&end, NAME_COLUMNS)
    };
    let from = whole.len().saturating_sub(most * NAME_COLUMNS);
    let parts = (from..whole.len()).filter(|at| whole[*at] == '/');
    let mut ends = parts.chain(from..=whole.len()).map(end);
    ends.find(|pieces| pieces.len() <= most).unwrap_or_default()
}

/// A word in pieces of at most so many columns, broken before a slash where there is one.
fn at_slashes(word: &[char], width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word {
        let piece = pieces.last().map_or("", String::as_str);
        if piece.width() + c.width().unwrap_or(0) > width {
            let slash = piece.rfind('/').filter(|at| *at > 0);
            let rest = slash.map_or_else(String::new, |at| piece[at..].to_owned());
            if let (Some(at), Some(piece)) = (slash, pieces.last_mut()) {
                piece.truncate(at);
            }
            pieces.push(rest);
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(*c);
        }
    }
    pieces
}

/// A line broken between its words, and within a word that is longer than a line, before a slash where
/// it has one; without --all in at most so many lines.
fn broken(line: &str, width: usize, most: usize) -> Vec<String> {
    let pieces = |line: &str| match line.width() > width {
        true => at_slashes(&line.chars().collect::<Vec<char>>(), width),
        false => vec![line.to_owned()],
    };
    let mut lines: Vec<String> = wrap(line, width).lines().flat_map(pieces).collect();
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while last.width() + 2 > width {
                last.pop();
            }
            last.push_str(" …");
        }
    }
    lines
}

#[cfg(test)]
#[path = "profile_text_tests.rs"]
mod tests;
