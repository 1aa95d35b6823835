//! `read(2)` at the file position.

use crate::catalog::{Capability, Part, PartKind};

/// How it describes itself.
pub const PART: Part = Part {
    id: "read",
    kind: PartKind::Method,
    summary: "read(2) at the file position",
    capabilities: &[Capability::Read],
    ignores: &[],
    needs: "",
    by_name_only: false,
};
