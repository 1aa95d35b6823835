//! The program as people call it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../support/mod.rs"]
mod cli_support;

mod book;
mod cached;
mod cli_file;
mod cli_input;
mod cli_run;
mod cli_talk;
mod compare;
mod compare_goal;
mod exports;
mod gate_guide;
mod google_benchmark;
mod guide;
mod more;
mod one_screen;
mod packages;
mod quick;
mod readme;
mod record_faults;
mod replay;
mod replay_data;
mod replay_faults;
mod replay_memory;
mod replay_tables;
mod rerun;
mod studies;
mod study_files;
mod tools;
mod trace_exports;
mod trend;
mod your_program;
mod your_program_guide;
