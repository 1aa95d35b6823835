//! Where the program meets the outside: exit codes, what is said on stderr, data on stdout.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::process::ExitCode;

use iolab_controller::{Blame, Error};
use iolab_model::catalog::{ascii_text, harmless_lines};
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthStr;

/// How the program ends. The numbers are part of the interface (docs/questions.md, "Exit status").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Something that should not happen.
    Internal = 1,
    /// Asked wrongly.
    Usage = 2,
    /// What was compared differs.
    Different = 3,
    /// Something is clearly slower than allowed.
    Regression = 10,
    /// Neither shown nor ruled out, where that was asked for.
    Undecided = 11,
    /// The runs cannot be compared.
    Incomparable = 12,
    /// Refused as unsafe, or no space.
    Refused = 20,
    /// Something that was asked for by name was not measured, or nothing was.
    Lacking = 21,
    /// Ended by the person.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a subcommand could not do its work: one line with the fix, and the status to end with.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    text: String,
}

impl Failure {
    /// Asked wrongly.
    pub fn usage(text: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Usage, text: text.to_string() }
    }

    /// Refused as unsafe, or no space.
    pub fn refused(text: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Refused, text: text.to_string() }
    }

    /// The runs cannot be compared, or not gone on with.
    pub fn incomparable(text: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Incomparable, text: text.to_string() }
    }

    /// Failed for a reason that is neither.
    pub fn internal(text: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Internal, text: text.to_string() }
    }

    /// The same, of what stands there: `bench.toml, line 4`.
    #[must_use]
    pub fn at(self, place: &str) -> Failure {
        let text = match self.text.is_empty() {
            true => self.text,
            false => format!("{place}: {}", self.text),
        };
        Failure { text, ..self }
    }

    /// The status to end with.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// Says it, where there is something to say.
    pub fn tell(&self) {
        if !self.text.is_empty() {
            say(&format!("iolab: {}", self.text));
        }
    }

    /// Ends so, and all has been said.
    pub fn said(exit: Exit) -> Failure {
        Failure { exit, text: String::new() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What writing data to stdout met.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            // The reader of stdout has gone, which is its right.
            io::ErrorKind::BrokenPipe => Failure::said(Exit::Done),
            _ => Failure::internal(format!("writing to stdout: {error}")),
        }
    }
}

/// Whose matter it is decides the status.
impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let exit = match error.blame() {
            Blame::Request => Exit::Usage,
            Blame::Refusal => Exit::Refused,
            Blame::Incomparable => Exit::Incomparable,
            Blame::Defect => Exit::Internal,
        };
        Failure { exit, text: error.to_string() }
    }
}

/// What a subcommand gives.
pub type Ending = Result<Exit, Failure>;

/// Runs the program and turns whatever happens into an exit code: a panic is told in one line.
pub fn guard(program: impl FnOnce() -> Ending + panic::UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
        let what = info.payload_as_str().unwrap_or("panic").replace('\n', " ");
        say(&format!(
            "iolab: internal error: {what}{}; this is a defect, please report it with the command",
            place.unwrap_or_default()
        ));
    }));
    match panic::catch_unwind(program) {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(failure)) => {
            failure.tell();
            failure.exit.into()
        }
        Err(_) => Exit::Internal.into(),
    }
}

/// Talk, on stderr. Nothing is done where it cannot be heard. Whatever names and files of others have
/// put into it is seen, and moves no cursor.
pub fn say(line: &str) {
    let line = &harmless_lines(line);
    let mut stderr = io::stderr().lock();
    let _ = match stderr.is_terminal() {
        true => {
            let line = if unicode() { line.to_owned() } else { ascii_text(line) };
            let size = rustix::termios::tcgetwinsize(&stderr).ok();
            let width = size.map(|size| usize::from(size.ws_col)).filter(|width| *width > 0);
            writeln!(stderr, "{}", wrapped(&line, width.unwrap_or(80)))
        }
        false => writeln!(stderr, "{line}"),
    };
}

/// A terminal that cannot redraw a line.
pub fn dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Whether the locale has more than ASCII: the first of these variables that is set decides.
pub fn unicode() -> bool {
    let set = |name: &&str| std::env::var_os(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// One line with breaks between its words, so that each fits; what comes after a break stands as far
/// in as the line begins. Text of several lines stays as it is: its columns mean something.
pub fn wrapped(line: &str, width: usize) -> String {
    let text = line.trim_start_matches(' ');
    let indent = " ".repeat(line.len() - text.len());
    if line.contains('\n') || line.width() <= width || indent.len() * 2 > width {
        return line.to_owned();
    }
    textwrap::fill(text, breaking(width).initial_indent(&indent).subsequent_indent(&indent))
}

/// A text in lines of at most `width` columns; a longer word stands alone.
pub fn wrap(text: &str, width: usize) -> String {
    textwrap::fill(text, breaking(width))
}

/// The same behind what stands before its first line; the others stand under the text.
pub fn hanging(head: &str, text: &str, width: usize) -> String {
    let spaces = " ".repeat(head.width());
    let options = breaking(width.max(20)).initial_indent(head).subsequent_indent(&spaces);
    format!("{}\n", textwrap::fill(text, options).trim_end())
}

/// Between words and nowhere else: an option or a path that was broken cannot be copied.
fn breaking<'a>(width: usize) -> Options<'a> {
    Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
}

/// Data, on stdout.
///
/// # Errors
/// What stdout met; a closed pipe ends the program quietly.
pub fn data(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Ending {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)?;
    out.flush()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::{hanging, wrapped};

    /// Lines of a study once ran to 200 columns, cut by the terminal in the middle of words.
    #[test]
    fn text_stands_under_itself_behind_its_word() {
        let text = hanging("  replicated    ", "reads of 64 KiB are faster than of 1 KiB", 40);
        let there = "  replicated    reads of 64 KiB are\n                faster than of 1 KiB\n";
        assert_eq!(text, there);
        assert_eq!(hanging("", "t: 1 of 1", 80), "t: 1 of 1\n");
    }

    #[test]
    fn a_long_line_breaks_between_words_and_under_itself() {
        assert_eq!(wrapped("  makes a tree of files", 14), "  makes a tree\n  of files");
        assert_eq!(wrapped("  makes a tree of files", 80), "  makes a tree of files");
        assert_eq!(wrapped("a/long/name that is", 6), "a/long/name\nthat\nis");
        assert_eq!(wrapped("line 1 of it\n    ^^^", 5), "line 1 of it\n    ^^^");
    }
}
