//! One trial: the program is made from the trace, its threads are made ready, and then it is played.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU32};

use rustix::fs::{Mode, OFlags, SeekFrom, openat, seek};
use rustix::process::{Resource, Rlimit, getegid, geteuid, getrlimit, setrlimit};

use super::play::{Own, Stage, Tally, play, play_counting_calls};
use super::root::open_root;
use super::scene::Scene;
use super::settings::{choice, counts_calls_alone};
use super::walk::Walk;
use crate::method::{Buffer, MeasuredWindow, Stop, fill, run_threads};
use crate::sys::call_ring::CallRing;
use crate::sys::clock::{measure, now_ns};
use crate::sys::new_memory::NewMemory;
use crate::sys::page::page_bytes;
use crate::sys::path;
use crate::sys::process::own_descriptors;
use crate::sys::raw_call::RawMapping;
use crate::sys::usage::{Usage, usage};
use crate::workload::{Subject, Trial};
use iolab_model::catalog::{Fill, path_to_text};
use iolab_model::result::{Fault, Measurement, Metrics};
use iolab_trace::replay::{Action, Choice, How, Program, Step};
use iolab_trace::{CallKind, NONE};

/// Room for names that are listed, and for where links lead.
const LEAST_BUFFER_BYTES: u64 = 64 << 10;
/// A multiple of what a processor moves at a time, and not where pages of files begin.
const QUICK_INTO_PAGE_BYTES: usize = 1024;
const DOING: &str = "replay a trace";

/// What a trial works on.
pub(super) fn scene<'a>(trial: &Trial<'a>) -> Result<(&'a Scene, Subject<'a>), Fault> {
    let subject = trial.subject.ok_or_else(|| Fault::new(DOING, "it names no trace"))?;
    let scene = subject.replay.ok_or_else(|| Fault::new(DOING, "it names no trace"))?;
    Ok((scene, subject))
}

/// How it does the work.
pub(super) fn way(trial: &Trial<'_>, scene: &Scene, subject: Subject<'_>) -> Result<Choice, Fault> {
    let clones = scene.clones(subject.path)?;
    Ok(Choice { clones, ..choice(trial.levels, subject.path)? })
}

pub(super) fn run(
    trial: &Trial<'_>,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let (scene, subject) = scene(trial)?;
    let choice = way(trial, scene, subject)?;
    let program = scene.compile(choice);
    if program.lanes.is_empty() {
        return Err(Fault::new(DOING, "no call of it can be made again"));
    }
    let mut metrics = direct_metrics(choice.how, &program)?;
    allow_as_many_files_as_can_be();
    let doing = || format!("{DOING} in {}", path_to_text(subject.path));
    let failed = |stop: Stop| stop.fault(doing());
    let root = open_root(subject.path).map_err(|error| failed(error.into()))?;
    let slots: Vec<AtomicI32> = (0..program.slots).map(|_| AtomicI32::new(-1)).collect();
    inherit(&program, &root, &slots).map_err(failed)?;
    let events: Vec<AtomicU32> = (0..program.events).map(|_| AtomicU32::new(0)).collect();
    let into_page_bytes = into_page_bytes(&program);
    let mut content = content(&program, scene.seed, into_page_bytes).map_err(failed)?;
    let stage = Stage {
        program: &program,
        root: root.as_fd(),
        slots: &slots,
        events: &events,
        content: content.as_mut(),
        into_page_bytes,
        owner: (geteuid().as_raw(), getegid().as_raw()),
        page_bytes: page_bytes() as usize,
    };
    let clock_ns = counts_calls_alone(trial.levels).then(|| measure().1);
    let left_out = Some(program.clones_left_out).filter(|clones| *clones > 0);
    metrics.extend(left_out.map(|clones| ("clones_left_out".to_owned(), clones as f64)));
    metrics.extend(clock_ns.map(|ns| ("clock_pair_ns".to_owned(), ns)));
    let timed = played(&stage, clock_ns, window).map_err(failed)?;
    accuse(scene, &program, &timed.tallies)?;
    Ok(Measurement {
        wall_ns: timed.wall_ns,
        user_ns: timed.user_ns,
        system_ns: timed.system_ns,
        bytes: program.bytes,
        operations: program.calls,
        repetitions: 1,
        metrics,
        ..Measurement::default()
    })
}

/// How much of it goes past the page cache, where it is to: something must.
fn direct_metrics(how: How, program: &Program) -> Result<Metrics, Fault> {
    let How::Direct(unit) = how else { return Ok(Metrics::default()) };
    let (calls, bytes) = program.direct;
    if calls == 0 {
        let cause = format!(
            "no read or write of it has an offset and a length of multiples of {unit} bytes; give \
             --block {unit} or a multiple of it"
        );
        return Err(Fault::new("replay a trace past the page cache", cause));
    }
    Ok([("direct_calls", calls as f64), ("direct_bytes", bytes as f64)].into_iter().collect())
}

/// A trace may have many files open at a time.
fn allow_as_many_files_as_can_be() {
    let limit = getrlimit(Resource::Nofile);
    // Where it may not be raised, an opening that fails says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Opens what the program had open when it began.
fn inherit(program: &Program, root: &OwnedFd, slots: &[AtomicI32]) -> Result<(), Stop> {
    for one in &program.inherited {
        let (Some(path), Some(slot)) =
            (program.paths.get(one.path as usize), slots.get(one.slot as usize))
        else {
            continue;
        };
        let access = if one.writes { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = access | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = openat(root, &**path, flags, Mode::empty())?;
        if one.offset > 0 {
            seek(&opened, SeekFrom::Start(one.offset))?;
        }
        // The process that it belongs to ends with the trial.
        let number = std::os::fd::IntoRawFd::into_raw_fd(opened);
        slot.store(number, std::sync::atomic::Ordering::Relaxed);
    }
    Ok(())
}

/// Where in a page its buffers begin. Where the trace does not tell where those of the program lay: by that
/// alone a cached read of 4 KiB took 535 ns, 572 ns in the first byte of a page, and 850 ns at odd
/// multiples of 16 bytes (a processor of AMD; docs/performance.md, Replays). They are where calls are quick;
/// what goes past the page cache must be at the first byte.
fn into_page_bytes(program: &Program) -> usize {
    let past_cache = |step: &Step| {
        matches!(step.action, Action::Open | Action::Flags)
            && OFlags::from_bits_retain(step.flags).contains(OFlags::DIRECT)
    };
    if program.lanes.iter().flatten().any(past_cache) { 0 } else { QUICK_INTO_PAGE_BYTES }
}

fn content(program: &Program, seed: u64, into_page_bytes: usize) -> Result<Buffer, Stop> {
    let writes = program.lanes.iter().flatten().filter(|step| step.action.writes());
    let most = writes.map(|step| step.asked).max().unwrap_or(0);
    let mut content = Buffer::into_page(most, into_page_bytes)?;
    fill(Fill::Random, seed, content.as_mut());
    Ok(content)
}

struct Timed {
    wall_ns: u64,
    user_ns: u64,
    system_ns: u64,
    /// By thread.
    tallies: Vec<Tally>,
}

/// A thread of the replay, ready to begin.
struct Ready<'a> {
    steps: &'a [Step],
    buffer: Buffer,
    new_memory: Option<NewMemory>,
    maps: Vec<RawMapping>,
    made: Vec<RawMapping>,
    ring: Option<CallRing>,
}

impl Ready<'_> {
    fn new<'a>(stage: &Stage<'_>, steps: &'a [Step]) -> Result<Ready<'a>, Stop> {
        let slots = stage.slots.len();
        if stage.program.own_descriptors {
            own_descriptors()?;
        }
        if steps.iter().any(names_by_directory) {
            path::enter(stage.root)?;
        }
        let reads = steps
            .iter()
            .filter(|step| step.action.reads() && !step.reads_new())
            .map(|step| step.asked);
        let of = |action| steps.iter().filter(move |step| step.action == action).count();
        let lists = of(Action::List) + of(Action::ReadLink) > 0;
        let least = if lists { LEAST_BUFFER_BYTES } else { 0 };
        let maps = if of(Action::MapWhole) > 0 { slots } else { 0 };
        Ok(Ready {
            steps,
            // Wherever in its first page it begins.
            buffer: Buffer::new(reads.max().unwrap_or(0).max(least) + stage.page_bytes as u64)?,
            new_memory: new_memory(steps, stage)?,
            maps: vec![RawMapping::default(); maps],
            made: Vec::with_capacity(of(Action::Map)),
            ring: steps
                .iter()
                .any(|step| step.action.is_of_ring())
                .then(CallRing::new)
                .transpose()?,
        })
    }
}

/// Memory for the reads that brought new pages into use, where there are any.
fn new_memory(steps: &[Step], stage: &Stage<'_>) -> Result<Option<NewMemory>, Stop> {
    let new = || steps.iter().filter(|step| step.reads_new());
    let Some(most) = new().map(|step| step.asked as usize).max() else { return Ok(None) };
    let pages = |step: &Step| step.new_pages(stage.page_bytes as u64) as usize;
    let touched = |step: &Step| (step.asked as usize / stage.page_bytes + 2) - pages(step);
    let most_touched = new().map(touched).max().unwrap_or(0);
    Ok(Some(NewMemory::new(most, most_touched, new().map(pages).sum())?))
}

/// Whether its name is one below the working directory: the kernel has no other form.
fn names_by_directory(step: &Step) -> bool {
    let by_either = [Action::Truncate, Action::FileSystem, Action::Attribute];
    by_either.contains(&step.action) && step.path != NONE
}

/// What a thread has done: when, with what results, and how long it was in its calls where that is
/// what counts.
struct Done {
    begin_ns: u64,
    end_ns: u64,
    in_calls_ns: u64,
    tally: Tally,
}

/// Where calls alone count, with what a pair of clock readings takes: that much is not theirs.
fn played(
    stage: &Stage<'_>,
    clock_ns: Option<f64>,
    window: &mut dyn MeasuredWindow,
) -> Result<Timed, Stop> {
    let lanes: Vec<&[Step]> = stage.program.lanes.iter().map(Vec::as_slice).collect();
    let threads = lanes.len();
    let ready = |steps| {
        let walk = clock_ns.is_some().then(|| Walk::new(threads));
        Ok((Ready::new(stage, steps)?, walk))
    };
    let work = |(ready, walk): (Ready<'_>, Option<Walk>)| {
        let Ready { steps, mut buffer, new_memory, maps, made, ring } = ready;
        let buffer = buffer.as_mut();
        let mut own = Own { buffer, new_memory, maps, made, ring, tally: Tally::default() };
        let (begin_ns, mut in_calls_ns) = (now_ns(), 0);
        match walk {
            Some(mut walk) => in_calls_ns = play_counting_calls(stage, steps, &mut own, &mut walk),
            None => play(stage, steps, &mut own),
        }
        Ok(Done { begin_ns, end_ns: now_ns(), in_calls_ns, tally: own.tally })
    };
    let (done, before) = run_threads(&lanes, window, |lane| ready(lane), work)?;
    let after = usage();
    window.close();
    let done = done.into_iter().collect::<Result<Vec<Done>, Stop>>()?;
    Ok(timed(done, &before, &after, clock_ns.map(|ns| ns * stage.program.made_calls() as f64)))
}

fn timed(done: Vec<Done>, before: &Usage, after: &Usage, clock_ns: Option<f64>) -> Timed {
    let begin = done.iter().map(|lane| lane.begin_ns).min().unwrap_or(0);
    let end = done.iter().map(|lane| lane.end_ns).max().unwrap_or(0);
    let in_calls: u64 = done.iter().map(|lane| lane.in_calls_ns).sum();
    let user_ns = after.user_ns.saturating_sub(before.user_ns);
    let (wall_ns, user_ns) = match clock_ns {
        // Its own code is the walk, which is not counted.
        Some(clock_ns) => (in_calls.saturating_sub(clock_ns as u64), 0),
        None => (end.saturating_sub(begin), user_ns),
    };
    Timed {
        wall_ns: wall_ns.max(1),
        user_ns,
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        tallies: done.into_iter().map(|lane| lane.tally).collect(),
    }
}

/// The first call that came back otherwise than recorded, with its file and offset.
fn accuse(scene: &Scene, program: &Program, tallies: &[Tally]) -> Result<(), Fault> {
    let otherwise: u64 = tallies.iter().map(|tally| tally.otherwise).sum();
    let first = program.lanes.iter().zip(tallies).filter_map(|(steps, tally)| {
        let (number, result) = tally.first?;
        Some((steps.get(number)?, result))
    });
    let Some((step, result)) = first.min_by_key(|(step, _)| step.call) else { return Ok(()) };
    let call = scene.trace.calls.get(step.call as usize);
    let file = call.map_or(NONE, |call| call.file);
    let name = scene.trace.file(file).map(|file| String::from_utf8_lossy(&file.name).into_owned());
    let name =
        name.map_or(String::new(), |name| format!(" of the copy of {}", name.escape_debug()));
    let at = match call.map(|call| call.kind) {
        Some(CallKind::Open | CallKind::Stat) | None => String::new(),
        Some(_) => format!(" at byte {}", step.offset),
    };
    let said = |result: i64| match result {
        error if error < 0 => std::io::Error::from_raw_os_error(-error as i32).to_string(),
        count => count.to_string(),
    };
    let cause = format!(
        "it came back with {} and was recorded with {}; {otherwise} calls did so",
        said(result),
        said(step.expected)
    );
    let errno = (result < 0).then(|| -result as i32);
    Err(Fault::new(format!("replay {}{name}{at}", step.action.kind().word()), cause).errno(errno))
}
