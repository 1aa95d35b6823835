//! What strace adds to a call here and now: short calls with it and without it, in turn.

use std::path::Path;

use clap::Args;

use crate::terminal_io::{self, Ending, Failure};
use iolab_io::tool::record::Strace;
use iolab_io::tool::short_calls::{BYTES, short_reads, with_tracer, without_tracer};
use iolab_model::result::Fault;
use iolab_trace::{CallKind, Limits, TracerCost, Turn};

/// So often with the tracer and without: the second and the sixth of seven hold the median of ever more
/// in seven of eight cases.
const TURNS: usize = 7;
/// Calls of a turn.
const CALLS: u32 = 500;

/// Make short calls and say what one takes, in nanoseconds
#[derive(Args, Clone, Copy, Debug)]
pub struct ShortCalls {
    /// How many
    calls: u32,
}

impl ShortCalls {
    /// Makes them.
    ///
    /// # Errors
    /// The running program cannot be read.
    pub fn run(self) -> Ending {
        let each_ns = short_reads(self.calls).map_err(Failure::internal)?;
        terminal_io::data(|out| writeln!(out, "{each_ns}"))
    }
}

/// What strace adds; nothing where it cannot be measured: a profile then says how little it knows.
pub fn tracer_cost(strace: &Strace, directory: &Path) -> Option<TracerCost> {
    let turns: Vec<Turn> = (0..TURNS).map_while(|_| turn(strace, directory).ok()).collect();
    TracerCost::of_turns(&turns).filter(|_| turns.len() == TURNS)
}

fn turn(strace: &Strace, directory: &Path) -> Result<Turn, Fault> {
    let untraced_ns = without_tracer(CALLS)?;
    let (traced_wall_ns, log) = with_tracer(strace, CALLS, iolab_trace::CALLS, directory)?;
    let trace = iolab_trace::parse(log, &Limits::default());
    let trace = trace.map_err(|error| Fault::new("measure the tracer", error.to_string()))?;
    // What starting the program takes is no part of it: its loader reads more at once.
    let short = trace.calls.iter().filter(|c| c.kind == CallKind::ReadAt && c.asked == BYTES);
    let traced_ns: Vec<u64> = short.map(|call| call.took_ns).collect();
    match traced_ns.len() >= CALLS as usize {
        true => Ok(Turn { traced_ns, traced_wall_ns, untraced_ns }),
        false => Err(Fault::new("measure the tracer", "calls are missing in its log")),
    }
}
