//! The plain place: a directory of the person's, used as it is.

use crate::catalog::{Capability, Part, PartKind};

/// What it is.
pub const PART: Part = Part {
    id: "directory",
    kind: PartKind::Place,
    summary: "a directory as it is, on whatever file system it is on",
    capabilities: &[Capability::Read, Capability::Write, Capability::Copy, Capability::Call],
    ignores: &[],
    needs: "",
    by_name_only: false,
};
