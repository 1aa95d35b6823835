//! A whole file with the files that it includes.

use std::path::PathBuf;

use super::experiment::{Words, Written, experiments};
use super::source::{FileError, Source};
use super::table::{Table, Value, parse};

/// A larger file was not written by a person.
pub const MOST_BYTES: usize = 1 << 20;
/// Files that include each other deeper than this are a slip of the pen.
const MOST_DEEP: usize = 16;

const KEYS: [&str; 3] = ["include", "defaults", "experiment"];

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The file as a person knows it.
    pub name: String,
    /// One path for each file, whatever it was called by.
    pub identity: PathBuf,
    /// All of it.
    pub text: String,
}

/// Gives the file that `include` of this file names, or says why not.
type Load<'a> = dyn FnMut(&Loaded, &str) -> Result<Loaded, String> + 'a;

/// Reads a file: the experiments of the files it includes, in the order named, then its own.
/// Defaults hold in their own file only.
///
/// # Errors
/// The first thing that is wrong, with file and line: also a file that includes itself, and one
/// that is included twice.
pub fn read(
    file: &Loaded,
    words: Words<'_>,
    seed: u64,
    load: &mut Load<'_>,
) -> Result<Vec<Written>, FileError> {
    let mut reader = Reader { words, seed, load, open: Vec::new(), done: Vec::new() };
    let all = reader.file(file)?;
    match all.is_empty() {
        true => Err(FileError::whole(
            file.name.clone(),
            "there is no experiment in it",
            "begin one with [[experiment]]; see iolab run --example",
        )),
        false => Ok(all),
    }
}

struct Reader<'a, 'l> {
    words: Words<'a>,
    seed: u64,
    load: &'a mut Load<'l>,
    /// Those that are being read, the first one first.
    open: Vec<PathBuf>,
    done: Vec<PathBuf>,
}

impl Reader<'_, '_> {
    fn file(&mut self, file: &Loaded) -> Result<Vec<Written>, FileError> {
        if file.text.len() > MOST_BYTES {
            let problem =
                format!("it has {} bytes, at most {MOST_BYTES} are read", file.text.len());
            return Err(FileError::whole(file.name.clone(), problem, "make several files of it"));
        }
        let source = Source { name: &file.name, text: &file.text };
        let parsed = parse(&source)?;
        let root = parsed.table();
        root.only(&KEYS)?;
        self.open.push(file.identity.clone());
        let mut all = self.included(file, root)?;
        let seed = self.seed.wrapping_add(all.len() as u64);
        all.extend(experiments(root, self.words, seed, &[])?);
        self.open.pop();
        self.done.push(file.identity.clone());
        Ok(all)
    }

    fn included(&mut self, file: &Loaded, root: Table<'_>) -> Result<Vec<Written>, FileError> {
        let mut all = Vec::new();
        for value in root.get("include").map(|list| list.items()).unwrap_or_default() {
            let name = value.text()?;
            let loaded = (self.load)(file, name);
            let loaded = loaded.map_err(|why| value.refuse(why, "name a file that is there"))?;
            self.refuse_again(&loaded, value)?;
            let before = self.seed;
            self.seed = before.wrapping_add(all.len() as u64);
            all.extend(self.file(&loaded)?);
            self.seed = before;
        }
        Ok(all)
    }

    fn refuse_again(&self, loaded: &Loaded, value: Value<'_>) -> Result<(), FileError> {
        let problem = if self.open.contains(&loaded.identity) {
            "the file includes itself, by this line and those that led here"
        } else if self.done.contains(&loaded.identity) {
            "the file is included already"
        } else if self.open.len() >= MOST_DEEP {
            "the files include each other too deep"
        } else {
            return Ok(());
        };
        Err(value.refuse(problem, "take this one away"))
    }
}
