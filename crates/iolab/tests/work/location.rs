//! A way to an agent that no code knows, and a whole run through it.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::rc::Rc;

use iolab_agent::{Location, PlaceTerms, Reply, Request, Transport, read_frame, write_frame};
use iolab_controller::{Prepared, plan_at};
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::Fault;
use iolab_model::spec::{Experiment, Protocol};

use iolab_test::silence::measured_in_silence;

use crate::cli_support::{Home, IOLAB};

/// An agent at the other end of a socket, as a remote shell would have it.
#[derive(Debug, Default)]
struct Wire {
    connected: Rc<Cell<u32>>,
}

impl Location for Wire {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        self.connected.set(self.connected.get() + 1);
        let line = Line::open().map_err(|error| Fault::of("open a line", &error))?;
        Ok(Box::new(line))
    }
}

struct Line {
    stream: UnixStream,
    agent: Child,
}

impl Line {
    fn open() -> io::Result<Line> {
        let (stream, theirs) = UnixStream::pair()?;
        let (input, output) = (OwnedFd::from(theirs.try_clone()?), OwnedFd::from(theirs));
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec \"$0\" agent", IOLAB]).stdin(input).stdout(output);
        Ok(Line { stream, agent: command.spawn()? })
    }
}

impl Transport for Line {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        write_frame(&mut self.stream, request)?;
        read_frame(&mut self.stream)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn restart(&mut self) -> io::Result<()> {
        *self = Line::open()?;
        Ok(())
    }

    fn ending(&mut self) -> Option<String> {
        self.agent.try_wait().ok().flatten().map(|status| status.to_string())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.agent.wait();
    }
}

#[test]
fn a_plan_runs_through_a_transport_that_no_code_knows() {
    let home = Home::new();
    let wire = Wire::default();
    let connected = Rc::clone(&wire.connected);
    let experiment = Experiment {
        title: None,
        workload: "read".to_owned(),
        directory: home.path(""),
        factors: [
            (Factor::File, vec![Level::Path(home.file("data", 1 << 20))]),
            (Factor::Method, ["read", "pread"].map(Level::word).to_vec()),
            (Factor::Block, vec![Level::Number(65536)]),
        ]
        .into(),
        protocol: Protocol { rounds: Some(4), ..Protocol::new(1) },
    };
    let plan = plan_at(&wire, &experiment).unwrap();
    let prepared = Prepared {
        plan,
        location: Box::new(wire),
        places: PlaceTerms::default(),
        named: Default::default(),
    };
    let store = home.path("history.db");
    let measured = measured_in_silence(&prepared, &store);
    assert!(measured.failure.is_none() && measured.document.run.complete);
    assert!(measured.document.cells.iter().all(|cell| cell.estimate.is_some()));
    assert!(measured.document.environment.0.contains_key("kernel.release"));
    assert_eq!(connected.get(), 2, "once for the plan, once for the run");
    assert_eq!(home.names(), ["data", "history.db"], "nothing is left in the directory");
}
