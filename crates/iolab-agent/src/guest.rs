//! The agent inside a virtual machine: its first process, and its only one beside the trials.

use std::process::ExitCode;

use super::serve::serve_streams;
use iolab_io::place::vm;

/// Whether this process was booted as the first one of a guest.
pub fn is_guest() -> bool {
    std::process::id() == 1 && std::env::args_os().any(|word| word == "--guest")
}

/// Serves through the port until the controller says `End` or closes it, and powers off.
pub fn serve_guest() -> ExitCode {
    let served = vm::become_init()
        .and_then(|port| Ok((port.file.try_clone()?, port.file)))
        .and_then(|(input, output)| serve_streams(input, output, None, None));
    if let Err(error) = served {
        eprintln!("iolab guest: {error}");
    }
    vm::end()
}
