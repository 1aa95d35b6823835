//! The claims against what they promise: errors, coverage, power, and choices that must not work.
#![allow(missing_docs)]

mod common;
mod error;
mod forecast;
mod memory;
mod mutation;
mod power;
mod properties;
