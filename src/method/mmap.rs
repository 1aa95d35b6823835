//! Map, fault in on touch, unmap.

use crate::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const PART: Part = Part {
    id: "mmap",
    kind: PartKind::Method,
    summary: "map the file, touch it, unmap it",
    capabilities: &[Capability::Read],
    ignores: &[Factor::Block],
    needs: "",
    by_name_only: false,
};
