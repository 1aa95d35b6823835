//! What is said of a run beside the sentences of its answers, once for every format.

use super::{metadata_table, ranks, replayed};
use iolab_model::result::{Answer, Document};

/// What must be known before the answers are read.
pub(super) fn before(doc: &Document) -> Vec<String> {
    replayed::first(doc).into_iter().chain(ranks::first(doc)).collect()
}

/// What was found beside the answers, but for what is told before them.
pub(super) fn notes(doc: &Document) -> Vec<String> {
    let before = before(doc);
    let mut all = [replayed::notes(doc), metadata_table::notes(doc), ranks::notes(doc)].concat();
    all.retain(|note| !before.contains(note));
    all
}

/// What an answer is worth to whoever asked, where its own sentence does not say it.
pub(super) fn worth(doc: &Document, answer: &Answer) -> Option<String> {
    replayed::sentence(doc, answer)
}

#[cfg(test)]
mod tests {
    use crate::replayed::replay as replayed;
    use crate::{TextStyle, write};
    use iolab_model::catalog::Family;
    use iolab_model::result::Document;

    const LEFT_OUT: &str = "of its calls on files are not replayed";
    const WORTH: &str = "the file work takes 0.25×";

    /// A replay in two ways, with so many of a thousand calls left out.
    fn replay(lost_calls: u64) -> Document {
        let mut doc = replayed(&|levels| levels);
        let trace = serde_json::json!({
            "calls": 1000, "lost_calls": lost_calls, "bytes": 0, "lost_bytes": 0,
            "left_out": format!("p.trace: {}‰ {LEFT_OUT}", lost_calls),
        });
        doc.environment.0.insert(Family::Trace.key("p.trace"), trace);
        doc
    }

    fn text(doc: &Document, format: &str, details: bool) -> String {
        let look = TextStyle { details, ..TextStyle::default() };
        let mut out = Vec::new();
        write(format, doc, &look, &mut out).unwrap();
        // Lines are folded where the terminal ends.
        String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The page said neither what was not replayed nor what an answer is worth to the program.
    #[test]
    fn every_format_says_first_that_much_was_not_replayed() {
        for (format, details) in [
            ("table", false),
            ("table", true),
            ("markdown", false),
            ("markdown", true),
            ("asciidoc", false),
            ("asciidoc", true),
            ("html", false),
        ] {
            let much = text(&replay(30), format, details);
            let at = |words: &str| much.find(words);
            let (left_out, answer) = (at(LEFT_OUT), at("64 KiB blocks are best"));
            assert!(left_out.is_some() && left_out < answer, "{format} {details}");
            assert!(at(WORTH) > answer, "{format} {details}");
            // A page has all facts of the run besides.
            let once = much.matches(LEFT_OUT).count() == 1;
            assert!(once || format == "html", "{format} {details}");
        }
        let little = text(&replay(20), "table", false);
        assert!(!little.contains(LEFT_OUT), "2 % are for --details: {little}");
    }
}
