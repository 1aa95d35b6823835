//! The process of MPI: `mpirun -np N iolab read … --mpi` becomes one of these at each rank.

mod deadline;
mod mpi_group;

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deadline::{ends_after, leaves_after};
use iolab_mpi::{AgentChild, Controller, Relay, launcher, wire};
use mpi::Threading;
use mpi::topology::Communicator;
use mpi_group::MpiGroup;
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, kill_process};

/// Joining the job takes no longer where the launcher is the library's own.
const JOINING_S: u64 = 120;
/// Nor does the end of a process that has closed its streams.
const ENDING_S: u64 = 30;
/// Nor leaving the job, where all have met for the last time.
const LEAVING_S: u64 = 5;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next().map(PathBuf::from).filter(|path| path.is_absolute()) else {
        eprintln!("iolab-mpi: iolab starts it: mpirun -np 4 iolab write DIR --mpi");
        return ExitCode::from(2);
    };
    match joined(&program, words.collect()) {
        Ok(code) => code,
        Err(why) => {
            if launcher::is_first() {
                eprintln!("iolab: --mpi: {why}");
            }
            ExitCode::from(2)
        }
    }
}

/// Joins the job, serves, and leaves it.
fn joined(program: &Path, words: Vec<OsString>) -> Result<ExitCode, String> {
    let guard = ends_after(JOINING_S, "the MPI job cannot be joined");
    let joined = mpi::initialize_with_threading(Threading::Funneled);
    let (universe, _) = joined.ok_or("MPI cannot be initialised")?;
    guard.fetch_add(1, Ordering::Relaxed);
    let mut group = MpiGroup::of(universe.world());
    let library = mpi_group::library();
    let (rank, size) = (universe.world().rank(), universe.world().size());
    launcher::fits(size, &library)?;
    let failed = |doing: &str, error: std::io::Error| format!("{doing}: {error}");
    let of = [OsString::from("agent"), "0".into(), rank.to_string().into()];
    let agent = AgentChild::start(program.to_owned(), of.to_vec());
    let agent = agent.map_err(|error| failed("start the agent", error))?;
    let first = (rank == 0).then(|| start_controller(program, &words));
    let first = first.transpose().map_err(|error| failed("start the controller", error))?;
    let (mut child, streams) = first.unzip();
    let signals = signals().map_err(|error| failed("listen to signals", error))?;
    let pid = child.as_ref().map(Child::id);
    let between = || forward(&signals, pid);
    let served = Relay::new(&mut group, agent, streams, &between).serve(&about(program, &library));
    if let Err(lost) = served {
        mpi_group::give_up(&universe.world(), &lost);
    }
    let guard = ends_after(ENDING_S, "the controller has closed its stream and does not end");
    let ended = child.as_mut().map(Child::wait).and_then(Result::ok);
    guard.fetch_add(1, Ordering::Relaxed);
    let code = ended.map_or(Some(0), |status| status.code()).unwrap_or(1);
    let code = u8::try_from(code).unwrap_or(1);
    // All have met for the last time; over TCP, MPICH's way out at times never ends.
    leaves_after(LEAVING_S, code);
    drop(universe);
    Ok(ExitCode::from(code))
}

/// Starts the controller, in a group of processes of its own: a signal to the job is brought to it,
/// and a launcher that kills its ranks leaves it the time to close the record.
fn start_controller(program: &Path, words: &[OsString]) -> std::io::Result<(Child, Controller)> {
    let (orders, theirs_out) = std::io::pipe()?;
    let (theirs_in, answers) = std::io::pipe()?;
    rustix::io::fcntl_setfd(&theirs_in, FdFlags::empty())?;
    rustix::io::fcntl_setfd(&theirs_out, FdFlags::empty())?;
    let streams = format!("{},{}", theirs_in.as_raw_fd(), theirs_out.as_raw_fd());
    let mut command = Command::new(program);
    // Open MPI gives it a terminal, whatever its own output is.
    command.arg0("iolab").args(words).env(wire::STREAMS, streams).env("NO_COLOR", "1");
    let child = command.process_group(0).spawn()?;
    let file = |fd: std::os::fd::OwnedFd| File::from(fd);
    Ok((child, Controller { orders: file(orders.into()), answers: file(answers.into()) }))
}

/// What is to be known of a rank: its machine, that machine's start, the program, the library.
fn about(program: &Path, library: &str) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let bytes = std::fs::metadata(program).map_or(0, |about| about.len());
    let version = env!("CARGO_PKG_VERSION");
    format!("{}\n{}\n{version}, {bytes} bytes\n{library}", mpi_group::host(), boot.trim())
}

/// Counts of what was sent to this process.
fn signals() -> std::io::Result<Vec<(Signal, Arc<AtomicUsize>)>> {
    let listen = |signal: Signal| {
        let seen = Arc::new(AtomicUsize::new(0));
        signal_hook::flag::register_usize(signal.as_raw(), Arc::clone(&seen), 1)?;
        Ok((signal, seen))
    };
    [Signal::INT, Signal::TERM].into_iter().map(listen).collect()
}

/// The controller hears what the job was sent, and ends the run as it would anywhere.
fn forward(signals: &[(Signal, Arc<AtomicUsize>)], controller: Option<u32>) {
    let controller = controller.and_then(|pid| Pid::from_raw(pid as i32));
    for (signal, seen) in signals {
        if seen.swap(0, Ordering::Relaxed) > 0
            && let Some(pid) = controller
        {
            let _ = kill_process(pid, *signal);
        }
    }
}
