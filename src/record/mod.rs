//! The history on disk.
