//! `pread(2)` at an offset.

use crate::catalog::{Capability, Part, PartKind};

/// How it describes itself.
pub const PART: Part = Part {
    id: "pread",
    kind: PartKind::Method,
    summary: "pread(2) at an offset; the file position is not used",
    capabilities: &[Capability::Read],
    ignores: &[],
    needs: "",
    by_name_only: false,
};
