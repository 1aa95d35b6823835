//! `iolab doctor --install`: what to install on this machine, which has the tools for its guests, too.

use super::terminal_io::{self, Ending};
use iolab_io::place;

/// Data is what can be pasted into a shell; that nothing is missing is said.
///
/// # Errors
/// What stdout met.
pub fn install() -> Ending {
    let commands = place::install_commands();
    if commands.is_empty() {
        terminal_io::say("every tool that places and guests need is installed");
    }
    terminal_io::data(|out| {
        commands.iter().try_for_each(|(who, line)| writeln!(out, "# {who}\n{line}"))
    })
}
