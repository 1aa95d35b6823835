//! Map with `MAP_POPULATE`, touch, unmap.

use crate::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const PART: Part = Part {
    id: "mmap-populate",
    kind: PartKind::Method,
    summary: "map with MAP_POPULATE: faults are taken inside mmap",
    capabilities: &[Capability::Read],
    ignores: &[Factor::Block],
    needs: "",
    by_name_only: false,
};
