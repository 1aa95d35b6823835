//! A command of the person's that runs as a cell: `dd`, `cp -R {source} {target}`. Pure: words as a
//! shell would split them, with places for what differs from cell to cell. No shell ever runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::part::Capability;

/// What a command is told in place of `{name}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The file that is read.
    File,
    /// The file or the tree that is copied, or that holds what is to be written.
    Source,
    /// What the command is to make.
    Target,
    /// An empty directory of its own.
    Dir,
    /// Bytes per call.
    Block,
    /// Bytes of the file.
    Size,
    /// Threads.
    Threads,
}

const SLOTS: [(&str, Slot); 7] = [
    ("file", Slot::File),
    ("source", Slot::Source),
    ("target", Slot::Target),
    ("dir", Slot::Dir),
    ("block", Slot::Block),
    ("size", Slot::Size),
    ("threads", Slot::Threads),
];

/// Commands with a name of their own, by what they do.
const BUILT_IN: [(&str, Capability, &str); 8] = [
    ("dd", Capability::Read, "dd if={file} of=/dev/null bs={block} status=none"),
    ("dd", Capability::Write, "dd if={source} of={target} bs={block} status=none"),
    ("dd", Capability::Copy, "dd if={source} of={target} bs={block} status=none"),
    ("cp", Capability::Copy, "cp {source} {target}"),
    ("cp", Capability::Write, "cp {source} {target}"),
    // The cache is in the state that was asked for: fio must not empty it.
    (
        "fio",
        Capability::Read,
        "fio --name=iolab --filename={file} --readonly --rw=read --bs={block} --ioengine=psync \
         --invalidate=0 --output-format=json",
    ),
    (
        "fio",
        Capability::Write,
        "fio --name=iolab --filename={target} --rw=write --bs={block} --size={size} \
         --ioengine=psync --fallocate=none --output-format=json",
    ),
    ("cp-r", Capability::Files, "cp -R {source} {target}"),
];

/// Where a program comes from in Debian.
const PACKAGES: [(&str, &str); 16] = [
    ("cat", "coreutils"),
    ("cp", "coreutils"),
    ("cpio", "cpio"),
    ("dd", "coreutils"),
    ("fio", "fio"),
    ("head", "coreutils"),
    ("mbuffer", "mbuffer"),
    ("md5sum", "coreutils"),
    ("pax", "pax"),
    ("pv", "pv"),
    ("rclone", "rclone"),
    ("rsync", "rsync"),
    ("sha256sum", "coreutils"),
    ("tar", "tar"),
    ("true", "coreutils"),
    ("wc", "coreutils"),
];

/// A command as it was written, ready to be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contender {
    words: Vec<Vec<Piece>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(Slot),
}

/// Why a text is no command, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContenderError {
    /// The byte at which the trouble starts.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
    /// What to write.
    pub fix: String,
}

fn wrong(at: usize, problem: impl Into<String>, fix: impl Into<String>) -> ContenderError {
    ContenderError { at, problem: problem.into(), fix: fix.into() }
}

/// The names that stand for whole commands in a workload of this capability.
pub fn contender_names(capability: Capability) -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().filter(move |(_, of, _)| *of == capability).map(|(name, ..)| *name)
}

impl Contender {
    /// Reads a command, or the name of a built-in one, for a workload of this capability.
    ///
    /// # Errors
    /// What is wrong and what to write instead: no words, an open quote, something only a shell
    /// understands, an unknown place, or none for the file that it is to work on.
    pub fn parse(text: &str, capability: Capability) -> Result<Contender, ContenderError> {
        let named = BUILT_IN.iter().find(|(name, of, _)| *name == text && *of == capability);
        let contender = Contender { words: split(named.map_or(text, |(.., command)| *command))? };
        contender.check(text, capability)?;
        Ok(contender)
    }

    fn check(&self, text: &str, capability: Capability) -> Result<(), ContenderError> {
        let names: Vec<&str> = contender_names(capability).collect();
        let names = match names.is_empty() {
            true => String::new(),
            false => format!(", or one of {}", names.join(", ")),
        };
        let (needed, example): (&[Slot], _) = match capability {
            Capability::Read => (&[Slot::File], "dd if={file} of=/dev/null bs={block}"),
            Capability::Write => (&[Slot::Target], "dd if={source} of={target} bs={block}"),
            Capability::Copy => (&[Slot::Source, Slot::Target], "cp {source} {target}"),
            _ => (&[Slot::Source], "cp -R {source} {target}"),
        };
        let missing = needed.iter().find(|slot| !self.uses(**slot));
        match (self.words.is_empty(), missing) {
            (true, _) => Err(wrong(0, "no command is written", format!("write '{example}'"))),
            (false, Some(_)) if capability == Capability::Files && self.uses(Slot::File) => {
                let at = text.find(&slot_text(Slot::File)).unwrap_or(text.len());
                let fix = "write {source} for the tree, as in 'tar -cf - {source}'";
                Err(wrong(at, "a tree of files has no {file}", fix))
            }
            (false, Some(slot)) => {
                let problem = format!("it does not say where {} goes", slot_text(*slot));
                Err(wrong(text.len(), problem, format!("write '{example}'{names}")))
            }
            (false, None) => Ok(()),
        }
    }

    /// The program that is run.
    pub fn program(&self) -> String {
        let words = self.words.first().map_or(&[][..], Vec::as_slice);
        words.iter().map(Piece::text).collect()
    }

    /// A short name for lists: `dd`, `rsync`.
    pub fn name(&self) -> String {
        let program = self.program();
        program.rsplit('/').next().unwrap_or(&program).to_owned()
    }

    /// A command whatever it is for; nothing where it is no words, or is told nothing.
    pub(super) fn of_any(text: &str) -> Option<Contender> {
        let named = BUILT_IN.iter().find(|(name, ..)| *name == text);
        let command = Contender { words: split(named.map_or(text, |(.., whole)| *whole)).ok()? };
        let told = |piece: &Piece| matches!(piece, Piece::Slot(_));
        command.words.iter().flatten().any(told).then_some(command)
    }

    /// The program as it is written, where that is a path and the same for every cell.
    pub fn program_path(&self) -> Option<String> {
        let whole = |word: &&Vec<Piece>| word.iter().all(|piece| matches!(piece, Piece::Text(_)));
        self.words.first().filter(whole).map(|_| self.program()).filter(|name| name.contains('/'))
    }

    /// The package that has the program, where it is known.
    pub fn package(&self) -> Option<&'static str> {
        package_of(&self.name())
    }

    /// Whether the command is told this.
    pub fn uses(&self, slot: Slot) -> bool {
        self.words.iter().flatten().any(|piece| *piece == Piece::Slot(slot))
    }

    /// Whether it makes files.
    pub fn writes(&self) -> bool {
        self.uses(Slot::Target) || self.uses(Slot::Dir)
    }

    /// Whether what it prints is fio's report of itself.
    pub fn prints_fio_json(&self) -> bool {
        let json = |word: &String| word.starts_with("--output-format=json");
        self.name() == "fio" && self.template().iter().any(json)
    }

    /// The words, with the places as they are written.
    pub fn template(&self) -> Vec<String> {
        self.words.iter().map(|word| word.iter().map(Piece::text).collect()).collect()
    }

    /// The words that are run.
    pub fn argv(&self, value: &dyn Fn(Slot) -> OsString) -> Vec<OsString> {
        let fio = self.name() == "fio";
        let word = |pieces: &Vec<Piece>| {
            let names = |text: &String| FIO_NAMES.iter().any(|option| text.starts_with(option));
            let listed = fio && matches!(pieces.first(), Some(Piece::Text(text)) if names(text));
            let mut word = OsString::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => word.push(text),
                    Piece::Slot(slot) if listed => word.push(one_of_a_list(&value(*slot))),
                    Piece::Slot(slot) => word.push(value(*slot)),
                }
            }
            word
        };
        self.words.iter().map(word).collect()
    }
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Piece::Text(text) => text.clone(),
            Piece::Slot(slot) => slot_text(*slot),
        }
    }
}

/// Options of fio whose names are a list.
const FIO_NAMES: [&str; 2] = ["--filename=", "--directory="];

/// One name in a list that is split at colons.
fn one_of_a_list(name: &OsStr) -> OsString {
    let mut one = Vec::with_capacity(name.len());
    for byte in name.as_bytes() {
        if matches!(byte, b':' | b'\\') {
            one.push(b'\\');
        }
        one.push(*byte);
    }
    OsString::from_vec(one)
}

/// The same command with another program, which is its first word.
pub fn with_program(text: &str, program: &str) -> String {
    let mut reader = Reader { text, at: 0, words: Vec::new(), word: None };
    while reader.words.is_empty() {
        // Where the word ends, what ends it was taken too.
        match reader.next() {
            Some(c) if c.is_whitespace() => reader.end_word(),
            Some('\\') => reader.next().into_iter().for_each(|c| reader.push(c)),
            Some(c @ ('\'' | '"')) if reader.quoted(c).is_err() => break,
            Some('\'' | '"') => {}
            Some(c) => reader.push(c),
            None => break,
        }
    }
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+%@".contains(c);
    let mut whole = String::with_capacity(text.len() + program.len());
    for c in program.chars() {
        if !plain(c) {
            whole.push('\\');
        }
        whole.push(c);
    }
    match reader.words.is_empty() {
        true => whole,
        false => format!("{whole} {}", text[reader.at..].trim_start()),
    }
}

/// The package that has a program of this name, where it is known.
pub fn package_of(program: &str) -> Option<&'static str> {
    PACKAGES.iter().find(|(known, _)| *known == program).map(|(_, package)| *package)
}

fn slot_text(slot: Slot) -> String {
    let name = SLOTS.iter().find(|(_, known)| *known == slot).map_or("", |(name, _)| *name);
    format!("{{{name}}}")
}

/// A shell command line is shown with this: `'a b'`.
pub fn shell_text(words: &[OsString]) -> String {
    let one = |word: &OsString| {
        let text = super::path_to_text(std::path::Path::new(word));
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_=./:,+%@".contains(b);
        match !word.is_empty() && OsStr::as_bytes(word).iter().all(plain) {
            true => text,
            false => format!("'{text}'"),
        }
    };
    words.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Splits as a shell does: white space, quotes, backslashes. What only a shell understands is
/// refused, for here it would be a word like any other.
fn split(text: &str) -> Result<Vec<Vec<Piece>>, ContenderError> {
    let mut reader = Reader { text, at: 0, words: Vec::new(), word: None };
    while let Some(c) = reader.next() {
        match c {
            c if c.is_whitespace() => reader.end_word(),
            '\'' => reader.quoted('\'')?,
            '"' => reader.quoted('"')?,
            '\\' => match reader.next() {
                Some(c) => reader.push(c),
                None => return Err(wrong(reader.at - 1, "nothing follows the \\", "take it away")),
            },
            '|' | '<' | '>' | ';' | '&' | '`' | '$' => {
                let problem = format!("'{c}' means something to a shell, and none is run");
                let fix = format!("quote it, or write sh -c '…'; no shell reads '{c}' here");
                return Err(wrong(reader.at - 1, problem, fix));
            }
            '{' => reader.slot()?,
            c => reader.push(c),
        }
    }
    reader.end_word();
    Ok(reader.words)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    words: Vec<Vec<Piece>>,
    word: Option<Vec<Piece>>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.text[self.at..].chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn push(&mut self, c: char) {
        let word = self.word.get_or_insert_default();
        match word.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => word.push(Piece::Text(c.to_string())),
        }
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn quoted(&mut self, quote: char) -> Result<(), ContenderError> {
        let start = self.at - 1;
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                None => return Err(wrong(start, format!("no {quote} ends this"), "close it")),
                Some(c) if c == quote => return Ok(()),
                // Within double quotes a backslash escapes what is special there.
                Some('\\') if quote == '"' => match self.next() {
                    Some(c @ ('"' | '\\' | '$' | '`' | '{')) => self.push(c),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                    None => {}
                },
                Some('{') => self.slot()?,
                Some(c) => self.push(c),
            }
        }
    }

    /// `{name}`; `{{` is a brace, and so is one that names nothing.
    fn slot(&mut self) -> Result<(), ContenderError> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with('{') {
            self.at += 1;
            self.push('{');
            return Ok(());
        }
        let name: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        if name.is_empty() || !rest[name.len()..].starts_with('}') {
            self.push('{');
            return Ok(());
        }
        let Some((_, slot)) = SLOTS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<String> = SLOTS.iter().map(|(_, slot)| slot_text(*slot)).collect();
            let fix = format!("there are {}; write {{{{ for a brace", known.join(", "));
            return Err(wrong(start - 1, format!("{{{name}}} is not known"), fix));
        };
        self.at += name.len() + 1;
        self.word.get_or_insert_default().push(Piece::Slot(*slot));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use proptest::prelude::*;

    use super::{Contender, Slot, contender_names, shell_text, split, with_program};
    use crate::catalog::Capability;

    fn words(text: &str) -> Vec<String> {
        let told = |slot: Slot| OsString::from(format!("<{slot:?}>"));
        let all = Contender { words: split(text).unwrap() }.argv(&told);
        all.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_program_is_put_in_the_place_of_the_first_word() {
        let there = |text: &str| with_program(text, "/a b/x{size}");
        let command = Contender { words: split(&there("./x  '{file}' a")).unwrap() };
        assert_eq!(command.template(), ["/a b/x{size}", "{file}", "a"]);
        assert!(command.program_path().is_some_and(|path| path == "/a b/x{size}"));
        assert_eq!(split(&there("'./x y' {file}")).unwrap().len(), 2);
        assert_eq!(split(&there(r"./x\ y")).unwrap().len(), 1);
        let path = |text| Contender { words: split(text).unwrap() }.program_path();
        assert_eq!((path("dd {file}"), path("{dir}/x {file}")), (None, None));
    }

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, wanted) in [
            ("dd if={file} bs={block}", &["dd", "if=<File>", "bs=<Block>"][..]),
            ("  a\tb\n c  ", &["a", "b", "c"]),
            ("a 'b c'd \"e f\"", &["a", "b cd", "e f"]),
            ("a '' \"\"", &["a", "", ""]),
            (r#"a\ b "\"\\\$x" '\n'"#, &["a b", "\"\\$x", "\\n"]),
            ("sh -c 'cat {file} | wc -c > {dir}/n'", &["sh", "-c", "cat <File> | wc -c > <Dir>/n"]),
            ("awk '{{print}' {x", &["awk", "{print}", "{x"]),
            ("{target}{size}", &["<Target><Size>"]),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_command_is_refused_with_the_fix() {
        for (text, capability, word) in [
            ("", Capability::Read, "no command"),
            ("  ", Capability::Read, "no command"),
            ("dd if=x", Capability::Read, "{file}"),
            ("cat {fil}", Capability::Read, "{fil} is not known"),
            ("cat {file} | wc", Capability::Read, "shell"),
            ("cat {file} > x", Capability::Read, "sh -c"),
            ("cat '{file}", Capability::Read, "no ' ends"),
            ("cat {file}\\", Capability::Read, "nothing follows"),
            ("cp {file} x", Capability::Copy, "{source}"),
            ("fio", Capability::Copy, "one of dd, cp"),
            ("cp-r", Capability::Read, "one of dd, fio"),
        ] {
            let error = Contender::parse(text, capability).unwrap_err();
            let said = format!("{}; {}", error.problem, error.fix);
            assert!(said.contains(word), "{text}: {said}");
            assert!(error.at <= text.len());
        }
    }

    #[test]
    fn built_in_names_are_whole_commands() {
        let all = [Capability::Read, Capability::Write, Capability::Copy, Capability::Files];
        for capability in all {
            for name in contender_names(capability) {
                let contender = Contender::parse(name, capability).unwrap();
                assert!(contender.package().is_some() && contender.template().len() > 2);
                assert_eq!(contender.writes(), capability != Capability::Read);
            }
        }
        let fio = Contender::parse("fio", Capability::Read).unwrap();
        assert!(fio.prints_fio_json() && fio.uses(Slot::Block) && !fio.uses(Slot::Size));
        let path = Contender::parse("/opt/x/rsync -a {source} {target}", Capability::Copy).unwrap();
        assert_eq!((path.name().as_str(), path.package()), ("rsync", Some("rsync")));
    }

    /// fio takes several names there: a directory with a colon in its name was two of them.
    #[test]
    fn a_colon_splits_no_name_of_fio() {
        let value = |slot| if slot == Slot::File { r"/a:b\c" } else { "4096" }.into();
        let words = |text| Contender::parse(text, Capability::Read).unwrap().argv(&value);
        assert_eq!(words("fio")[2], r"--filename=/a\:b\\c");
        assert_eq!(words("fio --filename {file}")[2], r"/a:b\c");
        assert_eq!(words("cat --filename={file}")[1], r"--filename=/a:b\c");
    }

    #[test]
    fn a_command_is_shown_as_one_line() {
        let words = ["dd", "if=/a b\n", ""].map(OsString::from);
        assert_eq!(shell_text(&words), "dd 'if=/a b\\x0a' ''");
    }

    proptest! {
        #[test]
        fn nothing_written_panics(text in "\\PC{0,40}|[a-z{}'\"\\\\ |]{0,30}") {
            for capability in [Capability::Read, Capability::Copy] {
                if let Err(error) = Contender::parse(&text, capability) {
                    prop_assert!(text.is_char_boundary(error.at));
                }
            }
        }

        #[test]
        fn quoted_words_come_back(all in proptest::collection::vec("[a-z '|$]{0,8}", 1..5)) {
            let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
            let text: Vec<String> = all.iter().map(quote).collect();
            prop_assert_eq!(words(&text.join(" ")), all);
        }
    }
}
