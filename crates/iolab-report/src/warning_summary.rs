//! What the warnings of a run come to: each code once.

use iolab_model::catalog::Code;
use iolab_model::result::Document;

/// Of warnings of one code so many texts are told.
const MOST_ALIKE: usize = 3;

/// The gravest first, of one gravity in the order in which they came; those of one code together:
/// most answers of a run share what is wrong with the machine.
pub(super) fn warning_summary(doc: &Document) -> Vec<(Code, String)> {
    let all = doc.warnings.iter().chain(doc.answers.iter().flat_map(|a| &a.warnings));
    let mut codes: Vec<(Code, Vec<&str>)> = Vec::new();
    for warning in all {
        let text = warning.text.as_str();
        match codes.iter_mut().find(|(code, _)| *code == warning.code) {
            Some((_, texts)) if texts.contains(&text) => {}
            Some((_, texts)) => texts.push(text),
            None => codes.push((warning.code, vec![text])),
        }
    }
    codes.sort_by_key(|(code, _)| std::cmp::Reverse(code.severity()));
    codes.iter().map(|(code, texts)| (*code, alike(code.summary(), texts))).collect()
}

fn alike(summary: &str, texts: &[&str]) -> String {
    let mut told: Vec<String> =
        texts.iter().filter(|text| !text.is_empty()).map(|text| (*text).to_owned()).collect();
    let more = told.len().saturating_sub(MOST_ALIKE);
    if more > 0 {
        told.truncate(MOST_ALIKE);
        told.push(format!("and {more} more like it"));
    }
    match told.first() {
        None => summary.to_owned(),
        Some(first) if first.starts_with(summary) => told.join("; "),
        Some(_) => format!("{summary}: {}", told.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn what_is_alike_stands_together() {
        assert_eq!(alike("it is busy", &[]), "it is busy");
        assert_eq!(alike("it is busy", &[""]), "it is busy");
        assert_eq!(alike("it is busy", &["load 3"]), "it is busy: load 3");
        assert_eq!(alike("it is busy", &["it is busy on 2", "load 3"]), "it is busy on 2; load 3");
        let many = ["a", "b", "c", "d", "e"];
        assert_eq!(alike("it is busy", &many), "it is busy: a; b; c; and 2 more like it");
    }
}
