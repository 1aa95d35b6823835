//! Reach a cache state and prove it.
