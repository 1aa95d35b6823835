//! One trial: reach the cache state, fork, measure in the child, conclude and check outside.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use super::counted::Counted;
use super::instance::{Instance, fault};
use super::messages::TrialRequest;
use super::rank::{ABANDONED, NOT_STARTED, Rank, RankTimes, WAITING};
use super::space_watch::SpaceWatch;
use super::tree_instance::TreeInstance;
use super::{copy_up, limited};
use iolab_io::cache::{self, Prober};
use iolab_io::place::memory::Limit;
use iolab_io::sys::command::Reaper;
use iolab_io::sys::fork::{End, Watch, run_watched};
use iolab_io::sys::process::{OUT_OF_TIME, signal_name};
use iolab_io::workload::files::{self, Listing, segments};
use iolab_io::workload::{self, Trial, Visit, Workload};
use iolab_model::catalog::{
    AxisWord, CacheState, Code, Factor, FileOperation, UnknownWord, WorkloadId,
};
use iolab_model::result::{CacheProof, CopyRoute, Fault, Measurement, Metrics};

/// How a trial ended for the agent.
pub enum Ended {
    /// With a measurement or a fault of its own.
    Here(Result<Box<Measurement>, Fault>),
    /// The controller went away meanwhile.
    Deserted,
}

/// What a trial needs of the agent.
pub struct Setting<'a> {
    /// The directory that it may write to.
    pub scratch: &'a Path,
    /// The probes that passed.
    pub prober: &'a Prober,
    /// Closed by the controller when it ends.
    pub watch: BorrowedFd<'a>,
    /// Of an MPI job: trials start together with those of the other ranks.
    pub rank: Option<&'a Rank>,
    /// Longest wait for dirty pages.
    pub drain_limit: Duration,
    /// The tree that it works on.
    pub tree: Option<&'a TreeInstance>,
    /// The state of that tree, where it was reached before its place was mounted again.
    pub reached: Option<CacheProof>,
    /// The memory that it may use.
    pub limit: Option<&'a Limit>,
    /// The upper layer that this trial alone writes to, where its place is an overlay.
    pub upper: Option<&'a Path>,
    /// Whether that layer's place syncs what it copies up even where no data are copied.
    pub copy_up_syncs: bool,
}

/// Measures one trial.
pub fn run(
    request: &TrialRequest,
    instance: Option<&mut Instance>,
    setting: &Setting<'_>,
) -> Ended {
    match attempt(request, instance, setting) {
        Ok(ended) => ended,
        Err(fault) => Ended::Here(Err(fault)),
    }
}

fn attempt(
    request: &TrialRequest,
    mut instance: Option<&mut Instance>,
    setting: &Setting<'_>,
) -> Result<Ended, Fault> {
    let is_command = request.levels.get(Factor::Contender).is_some();
    let found = match is_command {
        true => workload::contender::find(&request.workload),
        false => workload::find(&request.workload),
    };
    let workload = found.ok_or_else(|| {
        let doing = format!("run a trial of {:?}", request.workload);
        Fault::new(doing, "there is no such workload; `iolab list`")
    })?;
    if let Some(instance) = instance.as_deref() {
        instance.check()?;
    }
    if let Some(rank) = setting.rank {
        rank.count();
    }
    let number = setting.rank.map_or(0, Rank::number);
    let path = instance.as_deref().map(|i| i.path.clone());
    let subject = match (&path, instance.as_deref()) {
        (Some(path), Some(i)) => Some(i.subject(path)),
        _ => setting.tree.map(TreeInstance::subject),
    };
    let subject = subject.map(|subject| subject.at_rank(number));
    let (levels, extent, scratch) = (&request.levels, request.extent, setting.scratch);
    let trial = Trial { levels, extent, subject, scratch };
    let mut again = 0;
    loop {
        let (ended, is_spoilt) = once(request, workload, &trial, instance.as_deref_mut(), setting)?;
        match ended {
            Ended::Here(Ok(_)) if is_spoilt && again < MOST_AGAIN => again += 1,
            Ended::Here(Ok(mut measurement)) if again > 0 => {
                measurement.metrics.insert("made_again".into(), f64::from(again));
                return Ok(Ended::Here(Ok(measurement)));
            }
            other => return Ok(other),
        }
    }
}

/// A trial that its file system spoilt is made so many times more at most.
const MOST_AGAIN: u32 = 4;

/// Makes ready, measures, and takes away what was made; also whether its file system spoilt it.
fn once(
    request: &TrialRequest,
    workload: &Workload,
    trial: &Trial<'_>,
    mut instance: Option<&mut Instance>,
    setting: &Setting<'_>,
) -> Result<(Ended, bool), Fault> {
    let around = &workload.around;
    let prepared = (around.prepare)(trial);
    // A command may start processes that outlive it: they must not work on while others measure.
    let is_command = request.levels.get(Factor::Contender).is_some();
    let reaper = if is_command { Reaper::begin().ok() } else { None };
    let ended = prepared
        .and_then(|()| prepared_trial(request, workload, trial, instance.as_deref_mut(), setting));
    if let Some(reaper) = reaper {
        reaper.end();
    }
    let kept = if is_command { left_as_it_was(instance.as_deref(), setting) } else { Ok(()) };
    // Not where others wait for this one, nor where its state, or its layer, is there but once.
    let alone = setting.rank.is_none() && setting.reached.is_none() && setting.upper.is_none();
    let is_spoilt = if alone && ended.is_ok() { (around.is_spoilt)(trial) } else { Ok(false) };
    // What the trial made is removed however it ended; its own fault is the one to tell. An upper
    // layer of its own is thrown away whole.
    let cleared = match setting.upper {
        Some(_) => Ok(()),
        None => (around.clear)(trial),
    };
    // Worse than any other fault of a command is that it has changed a file of the person's.
    kept?;
    let ended = ended?;
    cleared?;
    Ok((ended, is_spoilt?))
}

/// A command is a program like any other: whether it left alone what it was to read is looked at.
fn left_as_it_was(instance: Option<&Instance>, setting: &Setting<'_>) -> Result<(), Fault> {
    const AFTER: &str = "a command had run; end the run, and see to your files";
    instance.map_or(Ok(()), Instance::check)?;
    setting.tree.filter(|tree| tree.is_small()).map_or(Ok(()), |tree| tree.check(AFTER))
}

/// A trial whose files are there: cache state, window, checks.
fn prepared_trial(
    request: &TrialRequest,
    workload: &Workload,
    trial: &Trial<'_>,
    instance: Option<&mut Instance>,
    setting: &Setting<'_>,
) -> Result<Ended, Fault> {
    let visit = (workload.visits)(trial)?;
    let drained = cache::drain(setting.scratch, setting.drain_limit)?;
    let proof = match (instance.as_deref(), reads_direct(request, visit.as_ref()), setting.tree) {
        (_, _, Some(_)) if setting.reached.is_some() => setting.reached.clone(),
        (_, _, Some(tree)) => reach_tree(request, tree, setting.prober)?,
        (Some(instance), true, _) => Some(cache::before_direct(&instance.file, setting.prober)?),
        (instance, ..) => reach(request, instance, setting)?,
    };
    let before = setting.limit.map(Limit::evidence).transpose()?;
    let lay_above = setting.upper.map(copy_up::count).transpose()?;
    // From here to the window nothing waits: pages that were just freed are used again soonest.
    let mut measurement = match in_child(workload, trial, request, setting)? {
        Some(measurement) => measurement,
        None => return Ok(Ended::Deserted),
    };
    if let (Some(limit), Some(before)) = (setting.limit, before) {
        limited::record(&mut measurement, before, limit.evidence()?);
    }
    if let (Some(upper), Some(before)) = (setting.upper, lay_above) {
        copy_up::record(&mut measurement, before, copy_up::count(upper)?);
        measurement.flags.extend(setting.copy_up_syncs.then_some(Code::CopyUpFsync));
    }
    if !drained.drained {
        measurement.flags.push(Code::NotDrained);
    }
    (workload.around.verify)(trial, &mut measurement)?;
    let aside_bytes = aside_bytes(request, visit.as_ref(), setting.tree);
    let of = (visit.as_ref(), instance.as_deref());
    conclude(&mut measurement, proof, of, aside_bytes, setting)?;
    if let (Some(visit), Some(instance)) = (visit, instance) {
        check(&mut measurement, &visit, instance)?;
    }
    Ok(Ended::Here(Ok(Box::new(measurement))))
}

/// Reads past the page cache, whose state then says nothing.
fn reads_direct(request: &TrialRequest, visit: Option<&Visit>) -> bool {
    visit.is_some() && request.levels.is_on(Factor::Direct)
}

fn reach(
    request: &TrialRequest,
    instance: Option<&Instance>,
    setting: &Setting<'_>,
) -> Result<Option<CacheProof>, Fault> {
    let (Some(wanted), Some(instance)) = (wanted_state(request)?, instance) else {
        return Ok(None);
    };
    if let Some(limit) = setting.limit {
        limited::prepare(limit, &instance.file, instance.bytes, wanted)?;
    }
    let prepare = if instance.shared.is_some() { cache::prepare_shared } else { cache::prepare };
    prepare(wanted, &instance.file, setting.prober).map(Some)
}

/// The state of every file that the trial visits. Of one that is to be remounted it is the state
/// before: looking at the files afterwards would bring their inodes in.
pub fn reach_tree(
    request: &TrialRequest,
    tree: &TreeInstance,
    prober: &Prober,
) -> Result<Option<CacheProof>, Fault> {
    let Some(wanted) = wanted_state(request)? else { return Ok(None) };
    let listing = tree.subject().tree;
    let ranges = listing.map(|listing| segments(listing.files(), request.extent));
    let ranges = ranges.unwrap_or_default();
    let many = request.workload == WorkloadId::Files.word();
    match (many && files::looks_only(&request.levels), wanted) {
        (true, CacheState::Cold) => Ok(None),
        (true, CacheState::Remount) => Ok(Some(cache::just_mounted())),
        (true, CacheState::Warm) => tree.look_at(&ranges),
        _ => tree.reach(wanted, &ranges, prober),
    }
}

/// The state that is asked for.
fn wanted_state(request: &TrialRequest) -> Result<Option<CacheState>, Fault> {
    let Some(wanted) = request.levels.text(CacheState::FACTOR) else { return Ok(None) };
    let fault = |word: UnknownWord| Fault::new("reach a cache state", word.to_string());
    wanted.parse().map(Some).map_err(fault)
}

/// `None`: the controller went away.
fn in_child(
    workload: &Workload,
    trial: &Trial<'_>,
    request: &TrialRequest,
    setting: &Setting<'_>,
) -> Result<Option<Measurement>, Fault> {
    let doing = || format!("run a trial of {}", request.workload);
    let lost = |cause: String, signal| Fault::new(doing(), cause).signal(signal);
    let limit = Duration::from_nanos(request.limit_ns);
    let work = || {
        let on = trial.subject.map_or(trial.scratch, |subject| subject.path);
        let rank = setting.rank.map(|rank| (rank, RankTimes::default()));
        let metrics = Metrics::default();
        let mut counted = Counted { on, rank, limit, baseline: None, metrics };
        let entered = setting.limit.map_or(Ok(()), Limit::enter);
        let run = entered.and_then(|()| (workload.run)(trial, &mut counted));
        let result = run.map(|mut measurement| {
            // What the workload has measured itself stays.
            let own = std::mem::replace(&mut measurement.metrics, counted.metrics);
            measurement.metrics.extend(own.iter());
            match counted.rank {
                Some((rank, times)) => {
                    times.put(&mut measurement.metrics);
                    rank.done();
                }
                // There are no others that it is to be put together with.
                None => measurement.recorded = [].into(),
            }
            measurement
        });
        serde_json::to_vec(&result).unwrap_or_default()
    };
    let longest = limit.saturating_add(setting.rank.map_or(Duration::ZERO, |_| WAITING));
    let is_command = request.levels.get(Factor::Contender).is_some();
    let expected_bytes = trial.subject.map_or(0, |subject| subject.bytes);
    let space = is_command.then(|| SpaceWatch::start(trial.scratch, expected_bytes)).transpose()?;
    let holds = || space.as_ref().is_none_or(SpaceWatch::holds);
    let guard: Option<&dyn Fn() -> bool> = if is_command { Some(&holds) } else { None };
    let watch = Watch { alive: Some(setting.watch), guard };
    match run_watched(work, longest, &watch).map_err(|e| fault(doing(), &e.into()))? {
        End::Done(bytes) => serde_json::from_slice::<Result<Measurement, Fault>>(&bytes)
            .map_err(|e| lost(format!("its result cannot be read: {e}"), None))?
            .map(Some),
        End::Deserted => Ok(None),
        End::Stopped => Err(match &space {
            Some(space) => space.fault(doing()),
            None => lost("it was ended".into(), None),
        }),
        End::Limit | End::Signal(OUT_OF_TIME) => {
            let fix = "a larger --budget allows for longer trials";
            Err(lost(format!("it passed its limit of {limit:.1?} and was ended; {fix}"), None))
        }
        End::Exit(ABANDONED) if setting.rank.is_some() => Err(lost(NOT_STARTED.into(), None)),
        End::Exit(status) => Err(lost(format!("it ended with exit status {status}"), None)),
        End::Signal(signal) => Err(lost(why(signal), Some(signal))),
    }
}

fn why(signal: i32) -> String {
    let name = signal_name(signal);
    match name.as_str() {
        "SIGBUS" => {
            "it was ended by SIGBUS: the mapped file became shorter, its device failed, or there \
             was no space left for it"
                .into()
        }
        "SIGKILL" => "it was ended by SIGKILL: by someone, or for want of memory".into(),
        _ => format!("it was ended by {name}"),
    }
}

/// What the device may deliver beside what is read: where files of a tree are made, the blocks of
/// inodes and directories that they go into. Nearly all copies of 2000 cached files were called unproven
/// for 380 KiB of them.
fn aside_bytes(request: &TrialRequest, visit: Option<&Visit>, tree: Option<&TreeInstance>) -> u64 {
    const EACH: u64 = 512;
    const TABLES: u64 = 256 << 10;
    let makes = || request.levels.word().is_some_and(FileOperation::has_own);
    match (visit, tree) {
        (Some(visit), _) => visit.aside_bytes,
        (None, Some(tree)) if makes() => {
            TABLES + EACH * tree.subject().tree.map_or(0, Listing::files)
        }
        (None, _) => 0,
    }
}

fn conclude(
    measurement: &mut Measurement,
    proof: Option<CacheProof>,
    (visit, instance): (Option<&Visit>, Option<&Instance>),
    aside_bytes: u64,
    setting: &Setting<'_>,
) -> Result<(), Fault> {
    let Some(mut proof) = proof else { return Ok(()) };
    let metric = |id: &str| measurement.metrics.get(id).map(|value| *value as u64);
    let (device_bytes, major) = (metric("device_read_bytes"), metric("major_faults"));
    // A clone moves no byte, so that the device has none to deliver.
    let cloned = measurement.proof.copy.as_ref().is_some_and(|c| c.route == CopyRoute::Cloned);
    let visited =
        if cloned { Some(0) } else { visit.and_then(|visit| visit.layout.visited_bytes()) };
    match instance.filter(|_| proof.is_direct()) {
        Some(instance) => {
            let (file, work) = (&instance.file, (visited, measurement.repetitions));
            cache::conclude_direct(&mut proof, file, setting.prober, work, device_bytes)?;
        }
        None => {
            cache::conclude(&mut proof, visited, device_bytes, major.unwrap_or(0), aside_bytes);
        }
    }
    measurement.flags.extend(cache::flag(&proof));
    measurement.flags.extend(cache::flag_of_effort(&proof));
    measurement.proof.cache = Some(proof);
    Ok(())
}

/// Whether the bytes were the file's.
fn check(
    measurement: &mut Measurement,
    visit: &Visit,
    instance: &mut Instance,
) -> Result<(), Fault> {
    let Some(digest) = &mut measurement.proof.digest else { return Ok(()) };
    if visit.real && digest.matches.is_none() {
        digest.matches = instance.expected(visit)?.map(|hex| hex == digest.hex);
        measurement.flags.extend(digest.matches.is_none().then_some(Code::PartChecked));
    }
    if digest.matches == Some(false) {
        measurement.flags.push(Code::CheckFailed);
    }
    Ok(())
}
