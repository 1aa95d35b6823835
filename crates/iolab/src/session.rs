//! One run from a plan to its report: record, executor, rounds, document, exit code.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::history::StoreArgs;
use super::output::{Output, Talk, dumb, unicode};
use super::progress::Progress;
use super::record::Recorder;
use super::signals::Signals;
use super::terminal_io::{Ending, Exit, Failure, say};
use super::time;
use super::{contenders, facts, places, vm};
use iolab_agent::{LocalChild, PlaceTerms, Transport};
use iolab_io::host;
use iolab_io::place::vm::Kernel;
use iolab_model::catalog::{
    AxisWord, CacheState, Capability, Fact, Factor, FileOperation, Level, NamedCall, WorkloadId,
    path_to_text,
};
use iolab_model::plan::{Cell, Plan};
use iolab_model::result::{Document, Environment, RunInfo, Warning};
use iolab_run::{self as run, CellOutcome, DriveError, History, Outcome, RemoteExecutor};

/// A run that is to be measured.
pub struct Session<'a> {
    /// What.
    pub plan: &'a Plan,
    /// Where results go.
    pub output: &'a Output,
    /// What is said.
    pub talk: &'a Talk,
    /// The command line, lossless.
    pub argv: Vec<String>,
    /// The run that this one goes on with.
    pub resumes: Option<Resumed>,
    /// Under which terms places are made.
    pub places: PlaceTerms,
    /// The kernel of the virtual machine that it runs in, where it does.
    pub guest: Option<Kernel>,
}

/// A run that is gone on with.
pub struct Resumed {
    /// As it was recorded.
    pub document: Document,
    /// Its samples.
    pub history: History,
}

/// The command line of this process, lossless.
pub fn argv() -> Vec<String> {
    std::env::args_os().map(|argument| path_to_text(Path::new(&argument))).collect()
}

impl Session<'_> {
    /// Measures, records and reports.
    ///
    /// # Errors
    /// What ended the run, after what there is has been recorded.
    pub fn run(self) -> Ending {
        let (document, failure) = self.measure()?;
        let written = self.output.write(&document, self.talk);
        match failure {
            Some(failure) => Err(failure),
            None if !document.run.complete => written.map(|_| Exit::Interrupted),
            None => written,
        }
    }

    /// Measures and records: the document, and what ended the run where something did.
    ///
    /// # Errors
    /// Nothing was measured.
    pub fn measure(&self) -> Result<(Document, Option<Failure>), Failure> {
        let plan = self.plan;
        self.output.spare_files_of(plan)?;
        let devices = devices(plan);
        let store = self.output.store.open(&devices)?;
        StoreArgs::make_room(&store)?;
        let directories = directories(plan);
        let directories: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
        let mut environment = environment(&directories);
        contenders::record(plan, &mut environment);
        let mut warnings = host::hazards(&environment, &work(plan, &Sizes::of(plan)));
        let mut info = self.info();
        let opening = self.opening(&info, &environment);
        let continues = self.resumes.as_ref().map(|resumed| resumed.document.run.id);
        let writer = store.begin(&opening, &devices, continues).map_err(super::history::failure)?;
        let mut recorder = Recorder::new(writer, opening);
        warnings.extend(recorder.warning());
        self.tell_hazards(&warnings);

        let signals = Signals::listen(self.talk.quiet).map_err(Failure::internal)?;
        let (outcome, failure) = self.drive(&mut recorder, &signals, &mut environment);
        let Some(mut outcome) = outcome else {
            recorder.discard();
            return Err(failure.unwrap_or_else(|| Failure::internal("nothing was measured")));
        };
        warnings.extend(vm::warning(&environment));
        warnings.extend(host::swapped(&environment, &host::environment(&directories)));
        outcome.warnings.splice(0..0, warnings);
        info.finished = Some(time::now_text());
        let mut document = run::document(plan, outcome, info, environment);
        document.warnings.extend(contenders::notes(&document));
        document.run.id = recorder.finish(&document)?;
        Ok((document, failure))
    }

    fn info(&self) -> RunInfo {
        let now = time::now_text();
        RunInfo {
            id: 0,
            title: self.plan.title.clone(),
            started: self.resumes.as_ref().map_or(now, |r| r.document.run.started.clone()),
            finished: None,
            complete: false,
            seed: self.plan.protocol.seed,
            argv: self.argv.clone(),
        }
    }

    /// The document as far as it is known before the first trial.
    fn opening(&self, info: &RunInfo, environment: &Environment) -> Document {
        let mut outcome = Outcome::default();
        if let Some(resumed) = &self.resumes {
            outcome.cells.clone_from(&resumed.history.cells);
            outcome.twin.clone_from(&resumed.history.twin);
        }
        outcome.cells.resize_with(self.plan.cells.len(), CellOutcome::default);
        run::document(self.plan, outcome, info.clone(), environment.clone())
    }

    /// What was measured, and what ended it where it did not end by itself.
    fn drive(
        &self,
        recorder: &mut Recorder,
        signals: &Signals,
        environment: &mut Environment,
    ) -> (Option<Outcome>, Option<Failure>) {
        let (agent, directory, terms) = match self.agent(environment) {
            Ok(agent) => agent,
            Err(failure) => return (None, Some(failure)),
        };
        let cpus = &self.plan.protocol.cpus;
        let mut executor =
            RemoteExecutor::at(agent, &self.plan.workload, &directory, cpus).with_places(terms);
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr()) && !dumb();
        let mut progress = Progress::new(self.talk, terminal, unicode());
        let history = self.resumes.as_ref().map(|resumed| resumed.history.clone());
        let stop = || signals.wanted();
        let driven =
            run::drive(self.plan, &mut executor, &mut [recorder, &mut progress], history, &stop);
        drop(progress);
        places::record(environment, &executor.places());
        if let Err(fault) = executor.end() {
            say(&format!("iolab: {fault}"));
        }
        match driven {
            Ok(outcome) => (Some(outcome), None),
            Err(error) => {
                let failure = failure(&error);
                let outcome = error.outcome().filter(|outcome| any_sample(outcome)).cloned();
                (outcome, Some(failure))
            }
        }
    }

    /// The agent, the directory it works in, and under which terms it makes places.
    fn agent(
        &self,
        environment: &mut Environment,
    ) -> Result<(Box<dyn Transport>, PathBuf, PlaceTerms), Failure> {
        let mut terms = self.places.clone();
        let Some(kernel) = &self.guest else {
            let agent = LocalChild::start()
                .map_err(|e| Failure::internal(format!("start the agent: {e}")))?;
            return Ok((Box::new(agent), facts::work_directory(self.plan), terms));
        };
        let guest = vm::boot(kernel, self.plan, &mut terms)?;
        if let Some(machine) = guest.machine() {
            vm::record(machine, environment);
        }
        Ok((Box::new(guest), PathBuf::from(vm::DIRECTORY), terms))
    }

    fn tell_hazards(&self, warnings: &[Warning]) {
        for warning in warnings.iter().filter(|_| self.talk.verbose) {
            say(&format!("  {}: {}", warning.code, warning.text));
        }
    }
}

/// No space is a refusal, whoever met it.
fn failure(error: &DriveError) -> Failure {
    const ENOSPC: i32 = 28;
    const EFBIG: i32 = 27;
    const EROFS: i32 = 30;
    const EDQUOT: i32 = 122;
    match error {
        DriveError::NothingToMeasure(_) => Failure::usage(error),
        DriveError::Executor { fault, .. } | DriveError::Observer { fault, .. } => {
            match fault.errno {
                Some(EFBIG) => Failure::refused(format!("{fault}; raise the limit with ulimit -f")),
                Some(ENOSPC | EROFS | EDQUOT) => Failure::refused(fault),
                _ => Failure::internal(fault),
            }
        }
    }
}

fn any_sample(outcome: &Outcome) -> bool {
    outcome.cells.iter().any(|cell| !cell.samples.is_empty())
}

/// The directories whose file systems are under test, that of the files first.
fn directories(plan: &Plan) -> Vec<PathBuf> {
    let parents = plan.instances.iter().map(|instance| match &instance.path {
        Some(path) => path.parent().unwrap_or(path).to_owned(),
        None => plan.directory.clone(),
    });
    // A copy has two ends.
    let parents = parents.chain(plan.copies.then(|| plan.directory.clone()));
    let mut seen = BTreeSet::new();
    let mut all: Vec<PathBuf> = parents.filter(|path| seen.insert(path.clone())).collect();
    if all.is_empty() {
        all.push(plan.directory.clone());
    }
    all
}

/// Device numbers under test: the history must not write to them meanwhile.
fn devices(plan: &Plan) -> Vec<u64> {
    let files = plan.instances.iter().filter_map(|i| i.path.clone());
    let all = files.chain(directories(plan));
    let numbers: BTreeSet<u64> =
        all.filter_map(|path| Some(std::fs::metadata(path).ok()?.dev())).collect();
    numbers.into_iter().collect()
}

fn environment(directories: &[&Path]) -> Environment {
    let mut environment = host::environment(directories);
    if let Ok(directory) = std::env::current_dir() {
        environment.put(Fact::RunWorkingDirectory, path_to_text(&directory));
    }
    environment
}

/// The sizes that hazards depend on.
struct Sizes {
    blocks: Vec<u64>,
    files: Vec<u64>,
}

impl Sizes {
    fn of(plan: &Plan) -> Sizes {
        let number = |level: &Level| match level {
            Level::Number(n) => Some(*n),
            _ => None,
        };
        let blocks = plan.factors.get(&Factor::Block).into_iter().flatten();
        Sizes {
            blocks: blocks.filter_map(number).collect(),
            files: plan.instances.iter().map(|instance| instance.bytes).collect(),
        }
    }
}

fn work<'a>(plan: &Plan, sizes: &'a Sizes) -> host::Work<'a> {
    let has = |state: CacheState| {
        let levels = plan.factors.get(&Factor::Cache);
        levels.is_some_and(|levels| levels.contains(&state.level()))
    };
    let writes = super::parts::workload(&plan.workload)
        .is_some_and(|info| matches!(info.capability, Capability::Write | Capability::Copy));
    host::Work {
        block_bytes: &sizes.blocks,
        file_bytes: &sizes.files,
        cold: has(CacheState::Cold) || has(CacheState::Remount),
        warm: has(CacheState::Warm),
        writes: writes || does(plan, WorkloadId::Files, FileOperation::writes_bytes),
        trees: plan.instances.iter().any(|instance| instance.tree.is_some()),
        remakes: remakes(plan),
        reads_files: plan.factors.contains_key(&Factor::Method),
    }
}

/// Whether some trial on many files does one of these.
fn does<W: AxisWord>(plan: &Plan, workload: WorkloadId, such: fn(W) -> bool) -> bool {
    let does = |cell: &Cell| cell.levels.word().is_some_and(such);
    plan.workload == workload.word() && plan.cells.iter().filter(|c| c.skip.is_none()).any(does)
}

/// Whether each trial makes many files of its own in the directory under test itself.
fn remakes(plan: &Plan) -> bool {
    let here = plan.cells.iter().any(|cell| cell.levels.get(Factor::Place).is_none());
    let files = does(plan, WorkloadId::Files, FileOperation::has_own);
    here && (files || does(plan, WorkloadId::Meta, NamedCall::makes_or_removes))
}
