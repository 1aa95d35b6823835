//! An option that a command does not have: which commands have it.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// More commands than these are not named: such an option is nearly everywhere.
const MOST_NAMED: usize = 6;

/// Options of dd, fio, hyperfine and others beside ours.
const ELSEWHERE: [(&[&str], &str); 10] = [
    (&["bs", "blocksize", "block-size", "bufsize", "buffer", "buffer-size"], "block"),
    (&["size", "filesize", "bytes"], "file-size"),
    (&["numjobs", "jobs", "workers", "parallel"], "threads"),
    (&["iodepth", "depth", "qd"], "queue-depth"),
    (&["ioengine", "engine", "call"], "method"),
    (&["runtime", "time", "duration", "timeout", "seconds"], "budget"),
    (&["runs", "repeat", "iterations", "loops", "count"], "rounds"),
    (&["o-direct", "odirect"], "direct"),
    (&["random", "rw", "readwrite"], "pattern"),
    (&["fs", "filesystem", "file-system", "mount", "dir", "directory"], "place"),
];

/// The error with a tip of ours where an option is not known here. The parser's own, to write
/// `-- --threads`, would make a file's name of it.
pub fn with_tip(mut error: clap::Error, whole: &Command) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    error.remove(ContextKind::Suggested);
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.clone(),
        _ => return error,
    };
    if let Some(tip) = tip(&option, whole) {
        error.remove(ContextKind::SuggestedArg);
        // It was made for the argument that is similar.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// `--threads` is an option of iolab read, files; `--bs` is `--block`.
fn tip(option: &str, whole: &Command) -> Option<String> {
    let name = option.strip_prefix("--")?;
    let name = name.split('=').next().unwrap_or(name);
    let ours = ELSEWHERE.iter().find(|(theirs, _)| theirs.contains(&name));
    if let Some((_, ours)) = ours {
        return Some(format!("the word for it here is --{ours}"));
    }
    let has = |command: &&Command| {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
    };
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.filter(has).map(Command::get_name).collect();
    let named = 1..=MOST_NAMED;
    named
        .contains(&names.len())
        .then(|| format!("--{name} is an option of iolab {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory, Parser};

    use super::{super::commands::Cli, with_tip};

    fn said(words: &[&str]) -> String {
        with_tip(Cli::try_parse_from(words).unwrap_err(), &Cli::command()).render().to_string()
    }

    /// "to pass '--threads' as a value, use '-- --threads'" once stood here.
    #[test]
    fn an_option_of_other_commands_names_them() {
        let text = said(&["iolab", "copy", "f", "--threads", "1,2"]);
        assert!(text.contains("tip: --threads is an option of iolab "), "{text}");
        assert!(text.contains("files") && !text.contains("-- --threads"), "{text}");
    }

    #[test]
    fn an_option_of_another_tool_has_our_word() {
        for (theirs, ours) in
            [("--bs", "--block"), ("--numjobs=4", "--threads"), ("--runs", "--rounds")]
        {
            let text = said(&["iolab", "read", "f", theirs]);
            assert!(text.contains(&format!("the word for it here is {ours}")), "{text}");
        }
        // Each word of ours is an option of some command.
        for (theirs, ours) in super::ELSEWHERE {
            let whole = Cli::command();
            let has = |c: &Command| c.get_arguments().any(|a| a.get_long() == Some(ours));
            assert!(whole.get_subcommands().any(has), "--{ours} for {theirs:?}");
        }
    }

    #[test]
    fn an_option_of_nobody_has_the_nearest_name_alone() {
        let text = said(&["iolab", "read", "f", "--bloc", "4Ki"]);
        assert!(text.contains("'--block'") && !text.contains("is an option of"), "{text}");
        Cli::command().debug_assert();
    }
}
