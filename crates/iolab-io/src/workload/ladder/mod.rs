//! The rungs of the system-call ladder, cheapest first: one row each.

mod bench;
mod calls;

pub use bench::Bench;

use crate::method::Stop;
use iolab_model::catalog::{Capability, Factor, NamedCall, Part};

/// A rung: a description and a loop that makes the call so many times and returns the bytes moved.
#[derive(Debug)]
pub struct Rung {
    /// What it is.
    pub part: Part,
    /// Whether it changes its file or the file's times.
    pub changes: bool,
    /// The loop.
    pub run: fn(&mut Bench, u64) -> Result<u64, Stop>,
}

const fn rung(
    id: &'static str,
    run: fn(&mut Bench, u64) -> Result<u64, Stop>,
    ignores: &'static [Factor],
    summary: &'static str,
) -> Rung {
    Rung {
        part: Part::operation(id, summary).with(&[Capability::Call]).ignoring(ignores),
        changes: false,
        run,
    }
}

/// A rung that changes its file.
const fn change(rung: Rung) -> Rung {
    Rung { changes: true, ..rung }
}

const NO_BYTES: &[Factor] = &[Factor::Block];

const RUNGS: [Rung; 12] = [
    rung("clock", calls::clock, NO_BYTES, "clock_gettime, answered without entering the kernel"),
    rung(
        NamedCall::Getppid.word(),
        calls::getppid,
        NO_BYTES,
        "the cheapest real call: enter the kernel, return",
    ),
    rung(
        NamedCall::Lseek.word(),
        calls::lseek,
        NO_BYTES,
        "look up a descriptor and set its position",
    ),
    rung(NamedCall::Read.word(), calls::read, &[], "read at the file position, cached"),
    rung(NamedCall::Pread.word(), calls::pread, &[], "read at an offset, cached"),
    change(rung(
        NamedCall::Write.word(),
        calls::write,
        &[],
        "write at the file position, to the page cache",
    )),
    change(rung(
        NamedCall::Pwrite.word(),
        calls::pwrite,
        &[],
        "write at an offset, to the page cache",
    )),
    rung(NamedCall::Fstat.word(), calls::fstat, NO_BYTES, "attributes of a descriptor"),
    rung(NamedCall::Stat.word(), calls::stat, NO_BYTES, "attributes of a path"),
    rung(NamedCall::OpenClose.word(), calls::open_close, NO_BYTES, "open a path and close it"),
    change(rung(
        "fchmod",
        calls::fchmod,
        NO_BYTES,
        "change the mode of a descriptor, back and forth",
    )),
    change(rung(
        NamedCall::Chmod.word(),
        calls::chmod,
        NO_BYTES,
        "change the mode of a path, back and forth",
    )),
];

/// Every rung's description.
pub const OPERATIONS: &[Part] = &each_of!(RUNGS.part);

/// The rung of this name.
pub fn find(id: &str) -> Option<&'static Rung> {
    static ALL: [Rung; RUNGS.len()] = RUNGS;
    ALL.iter().find(|rung| rung.part.id == id)
}
