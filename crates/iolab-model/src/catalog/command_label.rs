//! What a command is called: one name on every screen, in sentences and for `gate --pair`.

use std::collections::BTreeSet;

use super::contender::Contender;

/// What a command is called on every screen where no other has that name: `old.sh`. What an imported
/// run was called stays as it is.
pub fn command_label(text: &str) -> String {
    Contender::of_any(text).map_or_else(|| text.to_owned(), |command| command.name())
}

/// What these commands are called: the file name of the program, and as much more as tells them
/// apart: the directories of the program, else the words that not all of one name have.
pub fn command_labels(texts: &[&str]) -> Vec<String> {
    let short: Vec<String> = texts.iter().map(|text| command_label(text)).collect();
    let label = |at: usize| {
        let same: Vec<&str> = (0..texts.len())
            .filter(|o| *o != at && short[*o] == short[at])
            .map(|o| texts[o])
            .collect();
        match same.is_empty() {
            true => short[at].clone(),
            false => told_apart(texts[at], &same),
        }
    };
    let labels: Vec<String> = (0..texts.len()).map(label).collect();
    let unlike: BTreeSet<&String> = labels.iter().collect();
    match unlike.len() == texts.len() {
        true => labels,
        false => texts.iter().map(|text| (*text).to_owned()).collect(),
    }
}

/// The name of a command among others whose programs have the same file name.
fn told_apart(text: &str, others: &[&str]) -> String {
    let words = |text: &str| {
        Contender::of_any(text).map_or_else(|| vec![text.to_owned()], |c| c.template())
    };
    let own = words(text);
    let others: Vec<Vec<String>> = others.iter().map(|other| words(other)).collect();
    let Some((program, arguments)) = own.split_first() else { return text.to_owned() };
    let ends = |path: &str, count: usize| {
        let parts: Vec<&str> = path.split('/').collect();
        parts[parts.len().saturating_sub(count)..].join("/")
    };
    let programs = || others.iter().filter_map(|other| other.first()).filter(|p| *p != program);
    let apart = |count: &usize| programs().all(|p| ends(p, *count) != ends(program, *count));
    let count = (1..=program.split('/').count()).find(apart).unwrap_or(usize::MAX);
    let shared = |word: &&String| others.iter().all(|other| other.contains(word));
    let same_program = others.iter().any(|other| other.first() == Some(program));
    let rest = arguments.iter().filter(|word| same_program && !shared(word)).cloned();
    let all: Vec<String> = std::iter::once(ends(program, count)).chain(rest).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{command_label, command_labels};

    #[test]
    fn commands_are_called_by_their_programs_and_what_tells_them_apart() {
        assert_eq!(command_labels(&["dd", "/w/old.sh {file}"]), ["dd", "old.sh"]);
        assert_eq!(command_labels(&["/w/a/x {file}", "/w/b/x {file}"]), ["a/x", "b/x"]);
        assert_eq!(command_labels(&["/w/x {file}", "/x {file}"]), ["w/x", "/x"]);
        let blocks = ["dd if={file} bs=4k", "dd if={file} bs=64k", "cat {file}"];
        assert_eq!(command_labels(&blocks), ["dd bs=4k", "dd bs=64k", "cat"]);
        assert_eq!(command_labels(&["cat {file}", "cat -u {file}"]), ["cat", "cat -u"]);
        // The same words in another order: only the whole tells them apart.
        let orders = ["x a b {file}", "x b a {file}"];
        assert_eq!(command_labels(&orders), orders);
        assert_eq!(command_label("cp-r"), "cp", "a built-in one too");
        assert_eq!(command_label("BM_Read/4096"), "BM_Read/4096", "of an imported run");
    }
}
