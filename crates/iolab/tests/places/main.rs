//! Where files are: made, measured in, and gone afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod cli_support;

mod files_places;
mod meta_places;
mod mixed_kill;
mod places_kill;
mod places_make;
mod places_memory;
mod places_run;
mod places_vm;
mod replay_places;
