//! The protocol proven on a virtual machine with a virtual clock.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod document;
mod drive;
mod faults;
mod guarantee;
mod power;
