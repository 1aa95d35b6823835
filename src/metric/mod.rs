//! What is counted beside time: one row each.
