//! A cell while it is planned.

use crate::catalog::{Levels, Part};

/// What a cell's operation does with its file or tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Does {
    /// It works on one that is there.
    pub reads: bool,
    /// Each trial makes or removes one of its own.
    pub writes: bool,
}

/// A cell before it has a condition and an instance.
pub(super) struct Draft {
    /// One level of every axis.
    pub full: Levels,
    /// Only the levels that make a difference to it.
    pub levels: Levels,
    /// Its method or operation.
    pub part: Option<&'static Part>,
    /// What that does with a tree of files.
    pub does: Does,
}
