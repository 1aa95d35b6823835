//! The loop without I/O.

use crate::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const PART: Part = Part {
    id: "null",
    kind: PartKind::Method,
    summary: "the loop without I/O: the floor of iolab itself",
    capabilities: &[Capability::Read],
    ignores: &[Factor::Cache],
    needs: "",
    by_name_only: true,
};
