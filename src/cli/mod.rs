//! One file a subcommand: arguments in, exit code out.

use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
