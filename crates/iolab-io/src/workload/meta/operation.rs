//! The operations: one row each. What a call leaves behind, and how it is undone, follows from
//! what it works on.

use super::call_schedule::CallSchedule;
use super::calls::{self, Done};
use super::prepared_targets::PreparedTargets;
use crate::method::{Stop, Unwatched, Watched};
use iolab_model::catalog::{Capability, Factor, NamedCall, Part};

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

/// A loop over files.
pub(super) type Loop<W> = fn(&PreparedTargets, &CallSchedule, &mut W) -> Result<Done, Stop>;

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// What it is.
    pub part: Part,
    /// The loop.
    pub(super) run: Loop<Unwatched>,
    /// The same with each call timed by itself.
    pub(super) watched: Loop<Watched>,
    pub(super) effect: Effect,
    pub(super) before: Before,
    /// Whole listings instead of calls on files.
    pub(super) lists: bool,
}

const fn row(
    id: &'static str,
    (run, watched): (Loop<Unwatched>, Loop<Watched>),
    effect: Effect,
    summary: &'static str,
) -> Operation {
    Operation {
        part: Part::operation(id, summary).with(&[Capability::Metadata]),
        run,
        watched,
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

    const fn on_attributes(mut self) -> Operation {
        self.part.needs = "extended attributes (user.*)";
        self.part.capabilities = &[Capability::Metadata, Capability::Attributes];
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

use Effect as E;

/// The loop as it is, and with each call timed.
macro_rules! both {
    ($loop:ident) => {
        (calls::$loop::<Unwatched>, calls::$loop::<Watched>)
    };
}

const ALL: [Operation; 23] = [
    row(
        NamedCall::Create.word(),
        both!(create),
        E::File,
        "make an empty file (O_EXCL) and close it",
    )
    .ignoring(NO_FILE),
    row(
        NamedCall::OpenClose.word(),
        both!(open_close),
        E::Nothing,
        "open a file for reading and close it",
    ),
    row(NamedCall::Stat.word(), both!(stat), E::Nothing, "attributes of a file by its name"),
    row("access", both!(access), E::Nothing, "whether a file may be read"),
    row(NamedCall::Chmod.word(), both!(chmod), E::Mode, "change the mode, back and forth"),
    row("chown", both!(chown), E::Owner, "change the owner, back and forth").needing("root"),
    row("utimens", both!(utimens), E::Time, "change the times, back and forth"),
    row("setxattr", both!(set_attribute), E::Attribute, "change an extended attribute")
        .on_attributes(),
    row("getxattr", both!(get_attribute), E::Nothing, "read an extended attribute").on_attributes(),
    row(
        NamedCall::Rename.word(),
        both!(rename),
        E::Name,
        "rename within the directory, there and back",
    ),
    row("rename-across", both!(rename_across), E::Directory, "move to another directory, and back"),
    row("link", both!(link), E::HardLink, "make a hard link").ignoring(ONCE),
    row(NamedCall::Symlink.word(), both!(symlink), E::SymbolicLink, "make a symbolic link")
        .ignoring(NO_FILE),
    row("readlink", both!(readlink), E::Nothing, "read a symbolic link")
        .ignoring(&[Factor::FileSize])
        .after(Before::SymbolicLinks),
    row("truncate", both!(truncate), E::Size, "one byte longer by truncate(2), and shorter"),
    row(NamedCall::Readdir.word(), both!(readdir), E::Nothing, "list the directory, per entry")
        .ignoring(ONCE)
        .listing(),
    row("readdir-stat", both!(readdir_stat), E::Nothing, "list it and stat each, per entry")
        .ignoring(ONCE)
        .listing(),
    row(NamedCall::Mkdir.word(), both!(mkdir), E::MadeDirectory, "make a directory")
        .ignoring(NO_FILE),
    row(NamedCall::Rmdir.word(), both!(rmdir), E::NoDirectory, "remove an empty directory")
        .ignoring(NO_FILE)
        .after(Before::Directories),
    row(NamedCall::Unlink.word(), both!(unlink), E::NoFile, "remove a file").ignoring(ONCE),
    row("first-write", both!(first_write), E::FirstByte, "open, write one byte, close"),
    row(
        NamedCall::WriteAfterChmod.word(),
        both!(first_write),
        E::ModeAndFirstByte,
        "first-write on files that were chmodded before the clock: the cost put off",
    )
    .after(Before::Chmod)
    .by_name(),
    row(
        NamedCall::ChmodWrite.word(),
        both!(chmod_write),
        E::ModeAndFirstByte,
        "chmod and first-write on each file: the sum",
    )
    .by_name(),
];

/// Every operation's description.
pub const OPERATIONS: &[Part] = &each_of!(ALL.part);

/// The operation of this name.
pub fn find(id: &str) -> Option<&'static Operation> {
    static EVERY: [Operation; ALL.len()] = ALL;
    EVERY.iter().find(|operation| operation.part.id == id)
}
