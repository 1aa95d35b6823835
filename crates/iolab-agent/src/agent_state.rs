//! What an agent holds from `Start` to `End`, and what it does with it.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::bind::bind;
use super::instance::Instance;
use super::kept;
use super::messages::{Beacon, InstanceOrder, PlaceTerms, Reply, TrialRequest};
use super::places::Places;
use super::rank::Rank;
use super::renewal::{Renewed, renew_all};
use super::shared_files::{self, SharedFiles, Step};
use super::tree_instance::TreeInstance;
use super::trial::{self, Ended, Setting};
use iolab_io::cache::Prober;
use iolab_io::place::memory::{Limit, sweep_groups};
use iolab_io::place::{self, Scratch, sweep};
use iolab_io::sys::clock::{self, RateWatch};
use iolab_model::catalog::{CacheState, Code, Factor, is_shared, memory_limit_bytes, path_to_text};
use iolab_model::result::{CacheProof, Fault, PlaceFacts};

/// Longest wait for dirty pages before a trial.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// Once that was in vain, the next trials wait no longer than this: the budget is not for waiting.
const DRAIN_BRIEFLY: Duration = Duration::from_millis(50);

/// What lives from `Start` to `End`. Field order is the order of dropping: open files before the
/// places that they are on, and these before the directory that they are in.
pub struct AgentState {
    instances: BTreeMap<usize, Instance>,
    trees: BTreeMap<usize, TreeInstance>,
    places: Option<Places>,
    limits: BTreeMap<u64, Limit>,
    prober: Prober,
    scratch: Scratch,
    directory: PathBuf,
    drain_limit: Duration,
    clock: RateWatch,
    /// What was made to stay for later runs.
    kept: BTreeMap<usize, InstanceOrder>,
    /// Whether a command of the person's has been run.
    has_commanded: bool,
    /// Of an MPI job: what is made together, or by another rank.
    shared: SharedFiles,
}

/// The clock is measured every time, the rest is made the first time.
pub fn start(
    session: &mut Option<AgentState>,
    directory: PathBuf,
    cpus: &[u32],
) -> Result<Reply, Fault> {
    bind(cpus)?;
    if session.as_ref().is_none_or(|session| session.directory != directory) {
        *session = None;
        // What a killed agent has left goes first; that it cannot be removed is no reason to stop.
        let _ = sweep(&directory);
        place::sweep_loops();
        sweep_groups();
        let scratch = Scratch::make(&directory)?;
        let prober = Prober::start(scratch.path())?;
        let (instances, trees) = (BTreeMap::new(), BTreeMap::new());
        let drain_limit = DRAIN_LIMIT;
        let (places, limits) = (None, BTreeMap::new());
        *session = Some(AgentState {
            instances,
            trees,
            places,
            limits,
            prober,
            scratch,
            directory,
            drain_limit,
            clock: RateWatch::start(),
            kept: BTreeMap::new(),
            has_commanded: false,
            shared: SharedFiles::default(),
        });
    }
    let scratch = session.as_ref().map(|s| path_to_text(s.scratch.shown())).unwrap_or_default();
    let clock = clock::check().map_err(|e| Fault::new("measure the clock", e.to_string()))?;
    Ok(Reply::Started {
        clock_resolution_ns: clock.resolution_ns,
        clock_cost_ns: clock.pair_cost_ns,
        scratch,
    })
}

impl AgentState {
    /// The places, the first time that they are told.
    pub fn enter_places(&mut self, terms: &PlaceTerms) -> Result<Reply, Fault> {
        if self.places.is_none() {
            self.places = Some(Places::enter(&self.directory, self.scratch.path(), terms)?);
            self.scratch.follow_mounts()?;
        }
        Ok(Reply::Done)
    }

    /// Where a file is to be made.
    fn directory_for(&mut self, order: &InstanceOrder) -> Result<PathBuf, Fault> {
        match (&order.place, &mut self.places) {
            (None, _) => Ok(self.scratch.path().to_owned()),
            (Some(place), Some(places)) => places.directory_for(place, order.id),
            (Some(_), None) => {
                Err(Fault::new("make a file on a place", "its terms were not given"))
            }
        }
    }

    /// What trials work on; of what ranks share, the part of this one.
    pub fn make(
        &mut self,
        order: &InstanceOrder,
        (input, rank): (&File, Option<&Rank>),
    ) -> Result<Reply, Fault> {
        self.shared.note(order);
        if let Some(shared) = order.shared {
            let number = rank.map_or(0, Rank::number);
            if order.files.is_some() {
                let directory = self.shared.directory()?;
                let own = Instance::plant_among(order, directory, number, &|| !has_gone(input))?;
                self.instances.insert(order.id, own);
                return Ok(Reply::Done);
            }
            if order.tree.is_some() {
                let directory = self.shared.directory()?;
                let tree = TreeInstance::among(order, directory, number, &|| !has_gone(input))?;
                self.trees.insert(order.id, tree);
                return Ok(Reply::Done);
            }
            return self.shared.fill(order, shared, number, &|| !has_gone(input)).map(done);
        }
        let order = &mut order.clone();
        if let Some(rank) = rank {
            order.seed = rank.seed(order.seed);
            order.tree = order.tree.take().map(|tree| tree.of_rank(rank.number()));
        }
        if let Some(old) = self.instances.remove(&order.id)
            && old.made()
        {
            let _ = old.remove();
        }
        if let Some(old) = self.trees.remove(&order.id) {
            old.remove()?;
        }
        let directory = self.directory_for(order)?;
        for place in &order.targets {
            let missing = || Fault::new("make a place ready", "its terms were not given");
            self.places.as_mut().ok_or_else(missing)?.ready(place)?;
        }
        if order.keep_bytes.is_some() {
            self.kept.insert(order.id, order.clone());
        }
        if let Some(tree) = &order.tree {
            let tree = TreeInstance::new(order, tree, &directory, &|| !has_gone(input))?;
            self.trees.insert(order.id, tree);
            return Ok(Reply::Done);
        }
        let instance = Instance::new(order, &directory, &|| !has_gone(input))?;
        self.instances.insert(order.id, instance);
        Ok(Reply::Done)
    }

    /// What the places turned out to be.
    pub fn facts_of_places(&self) -> Vec<PlaceFacts> {
        self.places.as_ref().map(Places::facts).unwrap_or_default()
    }

    /// The directory of this agent's own.
    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Who the other ranks are.
    pub fn meet(&mut self, beacon: &Beacon) {
        self.shared.meet(beacon);
    }

    /// Begins what all ranks make.
    pub fn begin_shared(&self, order: &InstanceOrder) -> Result<Reply, Fault> {
        self.shared.begin(order).map(done)
    }

    /// Lets go of what other ranks are about to remove.
    pub fn let_go(&mut self) {
        self.instances.retain(|_, instance| instance.shared.is_none());
        self.shared.let_go();
    }

    /// Opens what all ranks have made.
    pub fn open_shared(&mut self, order: &InstanceOrder) -> Result<Reply, Fault> {
        if let Some(shared) = order.shared.filter(|_| order.tree.is_none() && order.files.is_none())
        {
            self.instances.insert(order.id, self.shared.open(order, shared)?);
        }
        Ok(Reply::Done)
    }

    /// What is done once for all ranks around a trial.
    pub fn around(&self, step: Step, request: &TrialRequest) -> Result<Reply, Fault> {
        let instance = request.instance.and_then(|id| self.instances.get(&id));
        let subject = instance.map(|i| i.subject(&i.path));
        let tree = request.instance.and_then(|id| self.trees.get(&id)).map(TreeInstance::subject);
        shared_files::around(step, request, subject.or(tree), self.shared.directory()?).map(done)
    }

    /// Brings instances anew into the page cache.
    pub fn renew(&mut self, order: &[usize]) -> Result<Reply, Fault> {
        self.seal()?;
        self.follow_places();
        let on_layers =
            |place: &str| self.places.as_ref().is_some_and(|places| places.upper(place).is_some());
        let each = |id: &usize| match (self.instances.get(id), self.trees.get(id)) {
            (Some(instance), _) => Ok(Renewed::of(instance, &on_layers)),
            (None, Some(tree)) => Ok(Renewed::Tree(tree)),
            (None, None) => Err(Fault::new("renew file instances", "there is no such instance")),
        };
        let all = order.iter().map(each).collect::<Result<Vec<_>, _>>()?;
        renew_all(&all)?;
        Ok(Reply::Done)
    }

    /// One trial, with all that it needs.
    pub fn trial(&mut self, request: &TrialRequest, at: (&File, Option<&Rank>)) -> Ended {
        self.has_commanded |= request.levels.get(Factor::Contender).is_some();
        self.attempt(request, at).unwrap_or_else(|fault| Ended::Here(Err(fault)))
    }

    fn attempt(
        &mut self,
        request: &TrialRequest,
        (input, rank): (&File, Option<&Rank>),
    ) -> Result<Ended, Fault> {
        let reached = self.prepare(request)?;
        let limit_bytes = self.limit_bytes(request);
        let together = is_shared(&request.levels);
        let common = together.then(|| self.shared.directory().map(Path::to_owned)).transpose()?;
        let lender = self.shared.lender(request, rank);
        let own = request.instance.and_then(|id| self.trees.get(&id));
        let lent =
            own.zip(lender).map(|(own, rank)| self.shared.lent_tree(own, rank)).transpose()?;
        let tree = lent.as_ref().or(own);
        let no_file = |id| Fault::new("run a trial", format!("there is no instance {id}"));
        let instance = match (request.instance.filter(|_| tree.is_none()), lender) {
            (None, _) => None,
            // Of a file that all have made a rank reads the part of another by itself.
            (Some(id), Some(lender)) if !together => Some(self.shared.lent(id, lender)?),
            (Some(id), _) => Some(self.instances.get_mut(&id).ok_or_else(|| no_file(id))?),
        };
        let on = |place: Option<&'_ str>| place.map(str::to_owned).zip(self.places.as_ref());
        let (target, source) = (on(request.levels.text(Factor::Place)), on(request.source_place()));
        let setting = Setting {
            scratch: target
                .as_ref()
                .and_then(|(place, all)| all.scratch(place))
                .or(common.as_deref())
                .unwrap_or(self.scratch.path()),
            prober: source.and_then(|(place, all)| all.prober(&place)).unwrap_or(&self.prober),
            tree,
            reached,
            limit: limit_bytes.and_then(|bytes| self.limits.get(&bytes)),
            copy_up_syncs: target.as_ref().is_some_and(|(place, all)| all.copy_up_syncs(place)),
            upper: target.filter(|_| request.is_touch()).and_then(|(place, all)| all.upper(&place)),
            watch: input.as_fd(),
            rank,
            drain_limit: self.drain_limit,
        };
        let mut ended = trial::run(request, instance, &setting);
        let moved = self.clock.step().is_err();
        if let Ended::Here(Ok(measurement)) = &mut ended {
            measurement.flags.extend(moved.then_some(Code::ClockMoved));
            let vain = measurement.flags.contains(&Code::NotDrained);
            self.drain_limit = if vain { DRAIN_BRIEFLY } else { DRAIN_LIMIT };
        }
        Ok(ended)
    }

    /// The memory limit of a trial: as written, or by its ratio to the trial's file.
    fn limit_bytes(&self, request: &TrialRequest) -> Option<u64> {
        let level = request.levels.get(Factor::Memory)?;
        let instance = request.instance.and_then(|id| self.instances.get(&id));
        let tree = request.instance.and_then(|id| self.trees.get(&id));
        let of_file = instance.map(|instance| instance.bytes);
        let held = of_file.or(tree.map(|tree| tree.subject().bytes)).unwrap_or(0);
        let bytes = memory_limit_bytes(level, held)?;
        Some(bytes.next_multiple_of(iolab_io::host::page_bytes()))
    }

    /// Trees move with the places that they are on.
    fn follow_places(&mut self) {
        if let Some(places) = &self.places {
            self.trees.values_mut().for_each(|tree| tree.follow(|place| places.root(place)));
        }
    }

    fn seal(&mut self) -> Result<(), Fault> {
        self.places.as_mut().map_or(Ok(()), |places| places.seal(&mut self.instances))
    }

    /// What a trial needs beside its file: places ready, their caches emptied, a memory limit. The
    /// state of a tree whose place was mounted again.
    fn prepare(&mut self, request: &TrialRequest) -> Result<Option<CacheProof>, Fault> {
        self.seal()?;
        self.follow_places();
        let mut reached = None;
        let cache = request.levels.word();
        if let (true, Some(place), Some(places)) =
            (request.is_touch(), request.levels.text(Factor::Place), &mut self.places)
        {
            places.renew(place, &mut self.instances)?;
        }
        match (request.source_place(), &mut self.places, cache) {
            (Some(place), Some(places), Some(CacheState::Remount)) => {
                if let Some(tree) = request.instance.and_then(|id| self.trees.get(&id)) {
                    let prober = places.prober(place).unwrap_or(&self.prober);
                    reached = trial::reach_tree(request, tree, prober)?;
                }
                places.remount(place, &mut self.instances)?;
            }
            (Some(place), Some(places), Some(CacheState::Cold)) => places.evict_below(place)?,
            (None, _, Some(CacheState::Remount)) => {
                let cause = "iolab unmounts what it has mounted: use --place, or --cache cold";
                return Err(Fault::new("remount the directory under test", cause));
            }
            _ => {}
        }
        self.follow_places();
        if let Some(bytes) = self.limit_bytes(request)
            && !self.limits.contains_key(&bytes)
        {
            self.limits.insert(bytes, Limit::make(bytes)?);
        }
        Ok(reached)
    }

    /// What was never to be written to is said to be as it was because it was looked at. A large tree is
    /// looked at here alone, and something that a command has started may have outlived it.
    pub fn left_as_it_was(&self) -> Result<(), Fault> {
        if !self.has_commanded {
            return Ok(());
        }
        let mut theirs = self.instances.values().filter(|instance| !instance.made());
        theirs.try_for_each(Instance::check)?;
        self.trees.values().try_for_each(|tree| tree.check("commands of this run have read it"))
    }

    /// Removes what was made.
    pub fn end(self) -> Result<Reply, Fault> {
        for (id, order) in &self.kept {
            match (self.instances.get(id), self.trees.get(id)) {
                // What something else has written to is not what was made.
                (Some(instance), _) if instance.check().is_ok() => kept::put(order, &instance.path),
                (None, Some(tree)) => tree.keep(order),
                _ => {}
            }
        }
        drop(self.instances);
        self.trees.into_values().try_for_each(TreeInstance::remove)?;
        self.limits.into_values().try_for_each(Limit::remove)?;
        self.places.map_or(Ok(()), Places::take_down)?;
        self.scratch.remove()?;
        // A predecessor may have been killed so late that its trial still held its directory.
        let _ = sweep(&self.directory);
        Ok(Reply::Done)
    }
}

fn done((): ()) -> Reply {
    Reply::Done
}

/// Whether the other end of the requests is closed.
fn has_gone(input: &File) -> bool {
    let mut fds = [PollFd::new(input, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|n| n > 0)
}
