//! What is kept, exported and read again.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod cli_support;

mod fuzz;
mod import;
mod parquet;
mod record_copies;
mod record_crash;
mod record_keep;
mod record_load;
mod record_old;
mod record_store;
mod report_data;
mod report_html;
mod report_look;
mod report_runs;
mod study_bounds;
mod study_claims;
mod study_scene;
mod study_verdicts;
