//! How it is done: one file each.
