//! A recorded command as it can be pasted.

/// The command as a shell takes it.
pub(crate) fn command(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    let quote = |word: &String| match word.chars().all(plain) && !word.is_empty() {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    argv.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn commands_can_be_pasted() {
        let argv = ["iolab", "read", "big file's.iso", "--budget", "30s", ""].map(str::to_owned);
        assert_eq!(command(&argv), r"iolab read 'big file'\''s.iso' --budget 30s ''");
    }
}
