//! The workload `syscall`: the price of one call, rung by rung.

use crate::method::{MeasuredWindow, StartBarrier, Stop};
use crate::sys::clock::now_ns;
use crate::sys::usage::usage;
use iolab_model::catalog::{
    Capability, Factor, FactorUse, NamedCall, Part, WorkloadId, WorkloadInfo,
};
use iolab_model::result::{Fault, Measurement};

use super::ladder::{Bench, find};
use super::{Extent, SetupTeardown, Trial, Workload};

/// The workload.
pub const WORKLOAD: Workload = Workload {
    info: INFO,
    run,
    visits: |_| Ok(None),
    around: SetupTeardown::NOTHING,
    impossible: |_| None,
};

/// Idle threads, at most.
const MOST_IDLE: u64 = 4096;

/// Calls before the clock starts: a child that was just forked has its first faults then.
const MOMENT_CALLS: u64 = 1000;

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Syscall.word(),
        "the price of one call: clock, getppid, lseek, read, … chmod",
    ),
    factors: &[
        FactorUse::new(Factor::Operation, ""),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::Block, "1"),
        FactorUse::new(Factor::IdleThreads, "0"),
    ],
    capability: Capability::Call,
    sweep: true,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("syscall", "the whole ladder, one byte a call"),
    ("syscall --operation lseek,read --idle-threads 0,1", "does a second thread cost"),
    ("syscall --operation read,pread --block 1,4Ki --rounds 50", "exactly 50 rounds"),
];

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    const DOING: &str = "prepare a system-call trial";
    let id = trial.levels.text(Factor::Operation).unwrap_or(NamedCall::Getppid.word());
    let rung = find(id).ok_or_else(|| {
        Fault::new(DOING, format!("no operation {id:?}; `iolab list operations`"))
    })?;
    let block = trial.levels.number(Factor::Block).unwrap_or(1);
    let idle = trial.levels.number(Factor::IdleThreads).unwrap_or(0);
    if idle > MOST_IDLE {
        return Err(Fault::new(DOING, format!("{idle} idle threads are more than {MOST_IDLE}")));
    }
    let calls = match trial.extent {
        Extent::Passes(calls) | Extent::Part { operations: calls, .. } => calls,
    };
    let stopped = |stop: Stop| stop.fault(format!("call {id} {calls} times"));
    let mut bench = Bench::prepare(trial.scratch, block, rung).map_err(stopped)?;
    let mut measure = || timed(rung.run, &mut bench, calls, window);
    let measured = if idle == 0 { measure() } else { beside_idle(idle as usize, measure) };
    let mut measured = measured.map_err(stopped)?;
    if matches!(trial.extent, Extent::Part { .. }) {
        measured.repetitions = 1;
    }
    Ok(measured)
}

fn timed(
    call: fn(&mut Bench, u64) -> Result<u64, Stop>,
    bench: &mut Bench,
    calls: u64,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Stop> {
    call(bench, calls.min(MOMENT_CALLS))?;
    window.open();
    let before = usage();
    let start_ns = now_ns();
    let result = call(bench, calls);
    let end_ns = now_ns();
    let after = usage();
    window.close();
    Ok(Measurement {
        wall_ns: end_ns.saturating_sub(start_ns).max(1),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        bytes: result?,
        operations: calls,
        repetitions: calls,
        ..Measurement::default()
    })
}

/// The same with threads asleep beside it: they share the descriptor table, and that alone makes
/// every look-up atomic (fdget in the kernel's fs/file.c).
fn beside_idle<T>(idle: usize, work: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    let gate = StartBarrier::default();
    std::thread::scope(|scope| {
        let mut started = Ok(());
        for _ in 0..idle {
            let thread = std::thread::Builder::new().stack_size(64 << 10);
            let sleeper = thread.spawn_scoped(scope, || {
                gate.wait();
            });
            if let Err(error) = sleeper {
                let cause = format!("start an idle thread: {error}");
                started = Err(Stop { cause, errno: error.raw_os_error() });
                break;
            }
        }
        let result = started.and_then(|()| {
            gate.until_ready(idle);
            work()
        });
        gate.release(true);
        result
    })
}
