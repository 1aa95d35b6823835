//! A command in place of a method: started without a shell, timed from before its start until its
//! end, with what a process costs that does nothing beside it. What it makes is checked outside of
//! the clock, in a directory of its own, and what it leaves running is ended.

mod fio;
mod order;
mod verify;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use crate::method::MeasuredWindow;
use crate::method::sync::fsync;
use crate::sys::clock::now_ns;
use crate::sys::command::{self, Group, Status};
use crate::sys::process::signal_name;
use crate::sys::usage::Usage;
use iolab_model::catalog::{
    Capability, Contender, Factor, FileOperation, Levels, Until, WorkloadId, shell_text,
};
use iolab_model::result::{Fault, Measurement, Metrics};

use super::{Extent, SetupTeardown, Trial, Workload, copy, files, read, write};
use order::CommandOrder;

/// Runs of a process that does nothing, of which the median counts.
const START_UPS: usize = 3;

/// The workload that a command takes the place of; `None`: none takes its place there.
pub fn find(id: &str) -> Option<&'static Workload> {
    match id.parse().ok()? {
        WorkloadId::Read => Some(&READ),
        WorkloadId::Write => Some(&WRITE),
        WorkloadId::Copy => Some(&COPY),
        WorkloadId::Files => Some(&FILES),
        WorkloadId::Syscall | WorkloadId::Meta | WorkloadId::Replay => None,
    }
}

const READ: Workload = Workload {
    info: read::WORKLOAD.info,
    run: |trial, window| run(Capability::Read, trial, window),
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: |trial| order::prepare(Capability::Read, trial),
        verify: |trial, _| order::unharmed(trial),
        clear: order::clear,
        ..SetupTeardown::NOTHING
    },
    impossible: |_| None,
};

const WRITE: Workload = Workload {
    info: write::WORKLOAD.info,
    run: |trial, window| run(Capability::Write, trial, window),
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: |trial| order::prepare(Capability::Write, trial),
        verify: |trial, measurement| verify::file(Capability::Write, trial, measurement),
        clear: order::clear,
        ..SetupTeardown::NOTHING
    },
    impossible: |_| None,
};

const COPY: Workload = Workload {
    info: copy::WORKLOAD.info,
    run: |trial, window| run(Capability::Copy, trial, window),
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: |trial| order::prepare(Capability::Copy, trial),
        verify: |trial, measurement| verify::file(Capability::Copy, trial, measurement),
        clear: order::clear,
        ..SetupTeardown::NOTHING
    },
    impossible: |_| None,
};

const FILES: Workload = Workload {
    info: files::WORKLOAD.info,
    run: |trial, window| run(Capability::Files, trial, window),
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: |trial| order::prepare(Capability::Files, trial),
        verify: |trial, _| verify::tree(trial),
        clear: order::clear,
        ..SetupTeardown::NOTHING
    },
    impossible: |_| None,
};

fn run(
    capability: Capability,
    trial: &Trial<'_>,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let order = CommandOrder::new(capability, trial)?;
    let passes = match trial.extent {
        Extent::Passes(0) => return Err(Fault::new("run a command", "it asks for no pass")),
        Extent::Passes(passes) => passes,
        // A command cannot be told to do a part.
        Extent::Part { .. } => 1,
    };
    // Should this process be killed, the command and what it started go with it.
    let group = Group::lead().map_err(|error| failed(&order, &error))?;
    let measured = measure(&order, passes, window);
    group.dismiss();
    measured
}

fn measure(
    order: &CommandOrder,
    passes: u64,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let mut command = order.command()?;
    let mut usage = Usage::default();
    let mut ended = Ok((Status::Exit(0), Usage::default()));
    window.open();
    let begin_ns = now_ns();
    for _ in 0..passes {
        ended = command::run(&mut command);
        let Ok((Status::Exit(0), used)) = &ended else { break };
        add(&mut usage, used);
    }
    let durable = order.until.map_or(Ok(()), |until| make_durable(order, until));
    let wall_ns = now_ns() - begin_ns;
    window.close();
    judge(order, ended)?;
    durable.map_err(|error| failed(order, &error))?;
    let mut metrics = start_up(order);
    metrics.extend(counted(&usage));
    metrics.extend(fio::own_figure(order).map(|speed| ("own_bytes_per_second", speed)));
    Ok(Measurement {
        wall_ns,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        bytes: order.bytes.saturating_mul(passes),
        operations: order.files.saturating_mul(passes),
        repetitions: passes,
        metrics,
        ..Measurement::default()
    })
}

/// A write is timed until its data are as safe as those of the other cells.
fn make_durable(order: &CommandOrder, until: Until) -> io::Result<()> {
    if until >= Until::Durable {
        match File::open(&order.target) {
            Ok(target) => fsync(target.as_fd())?,
            // That nothing was made is said where it is looked for.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    if until >= Until::Namespace {
        fsync(File::open(&order.directory)?.as_fd())?;
    }
    Ok(())
}

fn add(sum: &mut Usage, used: &Usage) {
    sum.user_ns += used.user_ns;
    sum.system_ns += used.system_ns;
    sum.minor_faults += used.minor_faults;
    sum.major_faults += used.major_faults;
    sum.voluntary_switches += used.voluntary_switches;
    sum.involuntary_switches += used.involuntary_switches;
}

/// What the command used itself, in place of what was counted for the process that started it.
fn counted(usage: &Usage) -> [(&'static str, f64); 4] {
    [
        ("minor_faults", usage.minor_faults as f64),
        ("major_faults", usage.major_faults as f64),
        ("voluntary_switches", usage.voluntary_switches as f64),
        ("involuntary_switches", usage.involuntary_switches as f64),
    ]
}

/// The time of a process that does nothing, started in the same way just afterwards.
fn start_up(order: &CommandOrder) -> Metrics {
    let Some(mut nothing) = order.nothing() else { return Metrics::default() };
    let one = |_| {
        let begin_ns = now_ns();
        let ended = command::run(&mut nothing).ok()?;
        matches!(ended.0, Status::Exit(0)).then(|| now_ns() - begin_ns)
    };
    let mut all: Vec<u64> = (0..START_UPS).filter_map(one).collect();
    all.sort_unstable();
    let middle = all.get(all.len() / 2).map(|ns| ("startup_ns", *ns as f64));
    middle.into_iter().collect()
}

fn judge(order: &CommandOrder, ended: io::Result<(Status, Usage)>) -> Result<(), Fault> {
    let status = ended.map_err(|error| failed(order, &error))?.0;
    let cause = match status {
        Status::Exit(0) => return Ok(()),
        Status::Exit(status) => format!("it ended with exit status {status}"),
        Status::Signal(signal) => format!("it was ended by {}", signal_name(signal)),
    };
    let cause = match order.last_words() {
        Some(words) => format!("{cause}: {words}"),
        None => cause,
    };
    let signal = if let Status::Signal(signal) = status { Some(signal) } else { None };
    Err(Fault::new(doing(order), cause).signal(signal))
}

fn failed(order: &CommandOrder, error: &io::Error) -> Fault {
    Fault::of(doing(order), error)
}

fn doing(order: &CommandOrder) -> String {
    format!("run {}", shell_text(&order.argv))
}

/// Of the operations on many files a command can do two.
fn no_part(name: &str, operation: FileOperation) -> Option<String> {
    let writes = Contender::parse(name, Capability::Files).is_ok_and(|command| command.writes());
    match (operation, writes) {
        (FileOperation::Copy, true) | (FileOperation::Read, false) => None,
        (FileOperation::Copy, false) => Some(format!("{name}: a copy needs {{target}}")),
        (FileOperation::Read, true) => Some(format!("{name}: it writes; take iolab files copy")),
        _ => Some(format!("{name}: a command takes part in iolab files read and copy")),
    }
}

/// Why a command cannot take part at these levels, and what to do instead.
pub fn impossible(id: &str, levels: &Levels) -> Option<String> {
    let name = levels.text(Factor::Contender)?;
    match find(id) {
        Some(_) if id == FILES.info.part.id => no_part(name, levels.word()?),
        Some(_) => None,
        None => Some(format!("{name}: a command takes part in read, write, copy and files")),
    }
}
