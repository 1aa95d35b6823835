//! Numbers that are none. Google Benchmark writes `NaN` and `Infinity`, older fio `-nan` and `inf`,
//! where a ratio has no value: no JSON, and no reason to refuse the rest of the file.

use serde::{Deserialize, Deserializer};

/// The words, without their sign; the longer of two that begin alike first.
const WORDS: [&str; 5] = ["Infinity", "NaN", "infinity", "nan", "inf"];

/// The text with `null` for each number that is none; nothing where there is none of them.
/// Strings are left as they are.
pub(super) fn with_null(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len());
    let (mut rest, mut found) = (json, false);
    let mut in_string = false;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || (!in_string && starts(c))) {
        let (before, here) = rest.split_at(at);
        out.push_str(before);
        let word = if in_string { None } else { word(here) };
        let taken = match here.as_bytes()[0] {
            b'"' => {
                in_string = !in_string;
                1
            }
            // What is escaped ends no string.
            b'\\' => 1 + here[1..].chars().next().map_or(0, char::len_utf8),
            _ => word.unwrap_or(1),
        };
        match word {
            Some(_) => out.push_str("null"),
            None => out.push_str(&here[..taken]),
        }
        found |= word.is_some();
        rest = &here[taken..];
    }
    out.push_str(rest);
    found.then_some(out)
}

fn starts(c: char) -> bool {
    matches!(c, '-' | 'N' | 'n' | 'I' | 'i')
}

/// The length of the word that the text begins with, with its sign.
fn word(text: &str) -> Option<usize> {
    let bare = text.strip_prefix('-').unwrap_or(text);
    let word = WORDS.iter().find(|word| bare.starts_with(**word))?;
    let ends = !bare[word.len()..].starts_with(|c: char| c.is_ascii_alphanumeric());
    ends.then(|| text.len() - bare.len() + word.len())
}

/// A number, 0 where it is none.
pub(super) fn or_zero<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::with_null;

    #[test]
    fn what_is_no_number_becomes_null_and_text_stays() {
        let text = r#"{"a": NaN, "b": [-nan, inf, -Infinity, 1], "NaN": "a \" NaN é", "c": null}"#;
        let wanted = r#"{"a": null, "b": [null, null, null, 1], "NaN": "a \" NaN é", "c": null}"#;
        assert_eq!(with_null(text).as_deref(), Some(wanted));
        for text in ["", "{}", "{\"a\": \"NaN\", \"b\": -1, \"c\": null}", "\\", "\"\\", "nano"] {
            assert_eq!(with_null(text), None, "{text}");
        }
    }
}
