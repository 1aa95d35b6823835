//! The agent of this machine, started and ready for orders.

use std::path::{Path, PathBuf};

use iolab_agent::{LocalChild, Reply, Request, Transport};
use iolab_model::catalog::path_to_text;

/// The agent of this program, at work in a directory.
pub fn started_agent(program: PathBuf, directory: &Path) -> LocalChild {
    let mut agent = LocalChild::start_program(program).unwrap();
    let start = Request::Start {
        version: env!("CARGO_PKG_VERSION").into(),
        directory: path_to_text(directory),
        only_reads: false,
        cpus: Vec::new(),
    };
    assert!(matches!(agent.ask(&start), Ok(Reply::Started { .. })));
    agent
}
