//! The operations: one row each. What a call leaves behind, and how it is undone, follows from
//! what it works on.

use super::calls::{self, Done};
use super::span::Span;
use super::stage::Stage;
use crate::catalog::{Capability, Factor, Part, PartKind};
use crate::method::Stop;

/// What a call leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing; whether the answers were right is seen in the loop.
    Nothing,
    /// The file's mode, owner, time, attribute, size or first byte: changed and changed back.
    Mode,
    Owner,
    Time,
    Attribute,
    Size,
    FirstByte,
    ModeAndFirstByte,
    /// It has the other name, or lies in the other directory: there and back.
    Name,
    Directory,
    /// A name is there that was not, or no longer: once a file.
    File,
    HardLink,
    SymbolicLink,
    MadeDirectory,
    NoDirectory,
    NoFile,
}

impl Effect {
    /// Whether a call uses up what it works on, so that each file sees it once.
    pub(super) fn once(self) -> bool {
        use Effect::{File, HardLink, MadeDirectory, NoDirectory, NoFile, SymbolicLink};
        matches!(self, File | HardLink | SymbolicLink | MadeDirectory | NoDirectory | NoFile)
    }
}

/// What must be there, or be done, before the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// The files as they are.
    Files,
    /// Symbolic links of the same names.
    SymbolicLinks,
    /// Directories of the same names.
    Directories,
    /// A chmod of each file, untimed: what it put off is paid in the window.
    Chmod,
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// What it is.
    pub part: Part,
    /// The loop.
    pub(super) run: fn(&Stage, &Span) -> Result<Done, Stop>,
    pub(super) effect: Effect,
    pub(super) before: Before,
    /// Whole listings instead of calls on files.
    pub(super) lists: bool,
}

const fn plain(
    id: &'static str,
    run: fn(&Stage, &Span) -> Result<Done, Stop>,
    effect: Effect,
    summary: &'static str,
) -> Operation {
    Operation {
        part: Part {
            id,
            kind: PartKind::Operation,
            summary,
            capabilities: &[Capability::Metadata],
            ignores: &[],
            needs: "",
            by_name_only: false,
        },
        run,
        effect,
        before: Before::Files,
        lists: false,
    }
}

impl Operation {
    const fn ignoring(mut self, factors: &'static [Factor]) -> Operation {
        self.part.ignores = factors;
        self
    }

    const fn after(mut self, before: Before) -> Operation {
        self.before = before;
        self
    }

    const fn needing(mut self, needs: &'static str) -> Operation {
        self.part.needs = needs;
        self
    }

    const fn listing(mut self) -> Operation {
        self.lists = true;
        self
    }

    const fn by_name(mut self) -> Operation {
        self.part.by_name_only = true;
        self
    }
}

/// It uses up what it works on.
const ONCE: &[Factor] = &[Factor::Repeats];
/// The same, and no file is involved.
const NO_FILE: &[Factor] = &[Factor::FileSize, Factor::Repeats];
const ATTRIBUTES: &str = "extended attributes (user.*)";

use Effect as E;

const ALL: [Operation; 23] = [
    plain("create", calls::create, E::File, "make an empty file (O_EXCL) and close it")
        .ignoring(NO_FILE),
    plain("open-close", calls::open_close, E::Nothing, "open a file for reading and close it"),
    plain("stat", calls::stat, E::Nothing, "attributes of a file by its name"),
    plain("access", calls::access, E::Nothing, "whether a file may be read"),
    plain("chmod", calls::chmod, E::Mode, "change the mode, back and forth"),
    plain("chown", calls::chown, E::Owner, "change the owner, back and forth").needing("root"),
    plain("utimens", calls::utimens, E::Time, "change the times, back and forth"),
    plain("setxattr", calls::set_attribute, E::Attribute, "change an extended attribute")
        .needing(ATTRIBUTES),
    plain("getxattr", calls::get_attribute, E::Nothing, "read an extended attribute")
        .needing(ATTRIBUTES),
    plain("rename", calls::rename, E::Name, "rename within the directory, there and back"),
    plain(
        "rename-across",
        calls::rename_across,
        E::Directory,
        "move to another directory, and back",
    ),
    plain("link", calls::link, E::HardLink, "make a hard link").ignoring(ONCE),
    plain("symlink", calls::symlink, E::SymbolicLink, "make a symbolic link").ignoring(NO_FILE),
    plain("readlink", calls::readlink, E::Nothing, "read a symbolic link")
        .ignoring(&[Factor::FileSize])
        .after(Before::SymbolicLinks),
    plain("truncate", calls::truncate, E::Size, "one byte longer by truncate(2), and shorter"),
    plain("readdir", calls::readdir, E::Nothing, "list the directory, per entry")
        .ignoring(ONCE)
        .listing(),
    plain("readdir-stat", calls::readdir_stat, E::Nothing, "list it and stat each, per entry")
        .ignoring(ONCE)
        .listing(),
    plain("mkdir", calls::mkdir, E::MadeDirectory, "make a directory").ignoring(NO_FILE),
    plain("rmdir", calls::rmdir, E::NoDirectory, "remove an empty directory")
        .ignoring(NO_FILE)
        .after(Before::Directories),
    plain("unlink", calls::unlink, E::NoFile, "remove a file").ignoring(ONCE),
    plain("first-write", calls::first_write, E::FirstByte, "open, write one byte, close"),
    plain(
        "write-after-chmod",
        calls::first_write,
        E::ModeAndFirstByte,
        "first-write on files that were chmodded before the clock: the cost put off",
    )
    .after(Before::Chmod)
    .by_name(),
    plain(
        "chmod-write",
        calls::chmod_write,
        E::ModeAndFirstByte,
        "chmod and first-write on each file: the sum",
    )
    .by_name(),
];

/// Every operation's description.
pub const OPERATIONS: &[Part] = &{
    let mut parts = [ALL[0].part; ALL.len()];
    let mut at = 0;
    while at < ALL.len() {
        parts[at] = ALL[at].part;
        at += 1;
    }
    parts
};

/// The operation of this name.
pub fn find(id: &str) -> Option<&'static Operation> {
    static EVERY: [Operation; ALL.len()] = ALL;
    EVERY.iter().find(|operation| operation.part.id == id)
}
