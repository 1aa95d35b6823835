//! One file a subcommand: arguments in, exit code out.

use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "agent") {
        return crate::agent::serve();
    }
    ExitCode::SUCCESS
}
