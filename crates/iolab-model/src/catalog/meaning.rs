//! What the words of an axis mean, in one line each, for the help.

use super::{
    Atime, CacheState, Consume, Descriptors, Factor, Level, Readahead, Share, Shift, Sparse,
    Switch, Target, Touch, Until, phrase,
};

/// What a word of an axis means; nothing where it is a part, which has a summary of its own.
pub fn meaning(factor: Factor, word: &str) -> Option<String> {
    let (words, meanings) = match factor {
        Factor::Cache => (CacheState::WORDS, CacheState::MEANINGS),
        Factor::Pass => (Touch::WORDS, Touch::MEANINGS),
        Factor::Target => (Target::WORDS, Target::MEANINGS),
        Factor::Until => (Until::WORDS, Until::MEANINGS),
        Factor::Consume => (Consume::WORDS, Consume::MEANINGS),
        Factor::Readahead => (Readahead::WORDS, Readahead::MEANINGS),
        Factor::Sparse => (Sparse::WORDS, Sparse::MEANINGS),
        Factor::Atime => (Atime::WORDS, Atime::MEANINGS),
        Factor::Descriptors => (Descriptors::WORDS, Descriptors::MEANINGS),
        Factor::Share => (Share::WORDS, Share::MEANINGS),
        Factor::Shift => (Shift::WORDS, Shift::MEANINGS),
        Factor::Direct | Factor::Latency | Factor::WithData => (Switch::WORDS, &SWITCHED[..]),
        Factor::Sync | Factor::Fill | Factor::Pattern => {
            let example = word.replace(":N", ":16");
            let said = phrase(factor, &Level::Word(example));
            return Some(said.replace("16", "N"));
        }
        _ => return None,
    };
    let at = words.iter().position(|known| *known == word)?;
    Some(meanings[at].trim().trim_end_matches('.').replace('`', ""))
}

const SWITCHED: [&str; 2] = ["no", "yes"];

#[cfg(test)]
mod tests {
    use super::{Factor, meaning};
    use crate::catalog::{CacheState, Fill, Pattern, Sync, Touch, Until};

    #[test]
    fn every_word_has_its_line() {
        let lists = [
            (Factor::Cache, CacheState::WORDS),
            (Factor::Sync, Sync::WORDS),
            (Factor::Sync, Sync::OF_FILES),
            (Factor::Pass, Touch::WORDS),
            (Factor::Until, Until::WORDS),
            (Factor::Fill, Fill::WORDS),
            (Factor::Pattern, Pattern::WORDS),
        ];
        for (factor, words) in lists {
            for word in words {
                let said = meaning(factor, word).unwrap();
                assert!(
                    said.len() > 3 && !said.starts_with(&format!("{factor} ")),
                    "{word}: {said}"
                );
            }
        }
        assert_eq!(meaning(Factor::Sync, "every:N").unwrap(), "fsync every N blocks");
        assert_eq!(meaning(Factor::Sync, "end").unwrap(), "one fsync at the end");
    }
}
