//! `mpirun -np N iolab … --mpi`: each of the N becomes a relay, and the relay of rank 0 starts the
//! controller, which reads the command line.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::terminal_io::{Ending, Failure};
use iolab_agent::is_controller;
use iolab_mpi::launcher;

const OPTION: &str = "--mpi";
/// The relay: a program of its own, for it alone is built with a library of MPI.
const RELAY: &str = "iolab-mpi";

/// The relay to become, where that is asked for and this process is not started by one.
pub fn wanted() -> Option<PathBuf> {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    let option = words.find_map(|word| {
        let text = word.to_str()?.strip_prefix(OPTION)?;
        match text.strip_prefix('=') {
            Some(path) => Some(PathBuf::from(path)),
            None => text.is_empty().then(beside),
        }
    });
    option.filter(|_| !is_controller())
}

/// Where it is installed: beside this program, or wherever programs are.
fn beside() -> PathBuf {
    let own = std::env::current_exe().map(|own| own.with_file_name(RELAY));
    own.ok().filter(|path| path.exists()).unwrap_or_else(|| RELAY.into())
}

/// Becomes the relay.
///
/// # Errors
/// There is none: how one is built.
pub fn become_relay(relay: &PathBuf) -> Ending {
    let own = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let error = Command::new(relay).arg(own).args(words).exec();
    if !launcher::is_first() {
        return Err(Failure::said(super::terminal_io::Exit::Usage));
    }
    Err(Failure::usage(format!(
        "{OPTION}: {}: {error}; iolab is built without MPI, and its relay beside it: cargo build --release \
         -p {RELAY} --features mpi, where mpicc is that of your MPI (docs/many.md); {OPTION}=PATH names it",
        relay.display()
    )))
}
