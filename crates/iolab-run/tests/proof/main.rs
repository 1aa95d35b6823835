//! The protocol proven on a virtual machine with a virtual clock.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aimed;
mod answers;
mod coverage;
mod decisions;
mod defects;
mod document;
mod drive;
mod faults;
mod going_on;
mod guarantee;
mod leaving;
mod load;
mod mutations;
mod places;
mod promises;
mod resume;
mod scene;
