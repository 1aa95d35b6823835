//! Text in columns of the terminal.

/// Width on the screen; wide characters of names are counted as one.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Right-aligned; of what is too long the middle is left out.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let (long, head) = (columns(text), width / 2);
    let text = match long > width && width > 2 {
        false => text.chars().take(width).collect(),
        true => {
            let tail = text.chars().skip(long - (width - head - 1));
            text.chars().take(head).chain(['…']).chain(tail).collect::<String>()
        }
    };
    format!("{}{text}", " ".repeat(width - columns(&text)))
}

/// Left-aligned.
pub(crate) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}
