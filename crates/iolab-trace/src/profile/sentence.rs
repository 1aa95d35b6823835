//! Pieces of sentences: short names, counts, calls of so many bytes.

use iolab_model::catalog::{bytes_text, count_text};

use super::sum::Sum;

/// Columns of a name within a sentence.
const NAME_COLUMNS: usize = 32;

/// The end of a name, which tells most; escaped, so that none can write to a terminal.
pub(super) fn short_name(name: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(name).escape_debug().to_string();
    let count = text.chars().count();
    if count <= NAME_COLUMNS {
        return text;
    }
    let last: String = text.chars().skip(count - NAME_COLUMNS + 1).collect();
    // Whole parts of a path, where one fits.
    match last.find('/') {
        Some(at) => format!("…{}", &last[at..]),
        None => format!("…{last}"),
    }
}

/// `412 000 reads of 1 byte`, `1 000 writes of 120 bytes on average`.
pub(super) fn calls_of(sum: &Sum, verb: &str) -> String {
    let each = sum.bytes / sum.calls.max(1);
    let average = if each * sum.calls == sum.bytes { "" } else { " on average" };
    let size = match each {
        1 => "1 byte".to_owned(),
        each if each < 1024 => format!("{each} bytes"),
        each => bytes_text(each),
    };
    format!("{} {verb}s of {size}{average}", count_text(sum.calls))
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn names_are_short_and_say_nothing_to_a_terminal() {
        assert_eq!(short_name(b"/tmp/a\x1b[31m\xff"), "/tmp/a\\u{1b}[31m\u{fffd}");
        let long = short_name(b"/usr/lib/python3/dist-packages/something/module.py");
        assert_eq!(long, "…/something/module.py");
        assert_eq!(short_name(&[b'x'; 100]).chars().count(), 32);
    }
}
