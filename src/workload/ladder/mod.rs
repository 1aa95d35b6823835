//! The rungs of the system-call ladder, cheapest first.

use crate::catalog::{Capability, Factor, Part, PartKind};

const fn rung(id: &'static str, summary: &'static str, ignores: &'static [Factor]) -> Part {
    Part {
        id,
        kind: PartKind::Operation,
        summary,
        capabilities: &[Capability::Call],
        ignores,
        needs: "",
        by_name_only: false,
    }
}

const NO_BYTES: &[Factor] = &[Factor::Block];

/// Every rung.
pub const OPERATIONS: &[Part] = &[
    rung("clock", "clock_gettime, answered without entering the kernel", NO_BYTES),
    rung("getppid", "the cheapest real call: enter the kernel and return", NO_BYTES),
    rung("lseek", "look up a descriptor and set its position", NO_BYTES),
    rung("read", "read at the file position, cached", &[]),
    rung("pread", "read at an offset, cached", &[]),
    rung("write", "write at the file position, to the page cache", &[]),
    rung("pwrite", "write at an offset, to the page cache", &[]),
    rung("fstat", "attributes of a descriptor", NO_BYTES),
    rung("stat", "attributes of a path", NO_BYTES),
    rung("open-close", "open a path and close it", NO_BYTES),
    rung("fchmod", "change the mode of a descriptor", NO_BYTES),
    rung("chmod", "change the mode of a path", NO_BYTES),
];
