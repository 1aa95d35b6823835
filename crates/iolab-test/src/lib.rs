//! What the tests stand on: machines, runs and scenes of our own making. No product code uses it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod arbitrary;
pub mod documents;
pub mod fakes;
pub mod far_machine;
pub mod fault_file_system;
pub mod files;
pub mod fuzz;
pub mod generated;
pub mod real_agent;
pub mod scenes;
mod scenes_beside;
pub mod silence;
pub mod virtual_machine;
