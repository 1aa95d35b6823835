//! One run from a plan to its document: record, agent, rounds.

use std::path::Path;

use super::access_times;
use super::console::{Console, Stop};
use super::error::Error;
use super::prepared::Prepared;
use super::recorder::Recorder;
use super::resume::Resumed;
use super::{contenders, history, wall_clock, work_ahead};
use iolab_agent::{LookOrder, Started, Transport};
use iolab_model::catalog::{Code, Fact, Family, path_to_text};
use iolab_model::plan::Plan;
use iolab_model::result::{Document, Environment, PlaceFacts, RunInfo, Warning};
use iolab_run::{self as run, CellOutcome, Observer, Outcome, Policy, RemoteExecutor, Stopped};

/// A run that is to be measured.
pub struct Session<'a> {
    /// What, and where.
    pub prepared: &'a Prepared,
    /// The file of the history; absent: the usual one.
    pub store: Option<&'a Path>,
    /// The command line, lossless.
    pub argv: Vec<String>,
    /// The run that this one goes on with.
    pub resumes: Option<Resumed>,
    /// What it is for, where that is not its own answers.
    pub aim: Option<Aim<'a>>,
    /// Who sees it, and may end it.
    pub console: &'a dyn Console,
}

/// What a run is for.
#[derive(Clone, Copy)]
pub struct Aim<'a> {
    /// By cell of what was measured so far, whether more rounds of it are wanted.
    pub wanted: &'a dyn Fn(&Document) -> Vec<bool>,
    /// Time that the rounds may take beyond that of the plan.
    pub extra_ns: u64,
}

/// What a run gave.
#[derive(Debug)]
pub struct Measured {
    /// As it is recorded.
    pub document: Document,
    /// What ended it, where it did not end by itself or by the person.
    pub failure: Option<Error>,
}

impl Measured {
    /// Whether the person ended it.
    pub fn is_interrupted(&self) -> bool {
        self.failure.is_none() && !self.document.run.complete
    }
}

impl Session<'_> {
    /// Measures and records.
    ///
    /// # Errors
    /// Nothing was measured. What ends a run in its course stands in [`Measured::failure`].
    pub fn measure(&self) -> Result<Measured, Error> {
        let (plan, location) = (&self.prepared.plan, &*self.prepared.location);
        let devices = location.devices_shared(&work_ahead::touched(plan));
        let store = history::open(self.store, &devices, self.console)?;
        history::make_room(&store)?;
        let stop = self.console.listen().map_err(Error::Deaf)?;
        let mut started = location.start(plan, &self.prepared.places)?;
        let (look, mut environment, mut warnings) = self.look(&mut started)?;
        if let Some(resumed) = &self.resumes {
            resumed.fits(&environment)?;
        }
        let mut info = self.info();
        let opening = self.opening(&info, &environment);
        let continues = self.resumes.as_ref().map(|resumed| resumed.document.run.id);
        let writer = store.begin(&opening, &devices, continues)?;
        let mut recorder = Recorder::new(writer, opening);
        warnings.extend(recorder.warning());
        for warning in &warnings {
            self.console.detail(&format!("  {}: {}", warning.code, warning.text));
        }
        let driven = self.drive(started, &mut recorder, &stop, look, &environment);
        let Some(mut outcome) = driven.outcome else {
            recorder.discard();
            let nothing = || Error::NothingToMeasure("no trial came to its end".to_owned());
            return Err(driven.failure.unwrap_or_else(nothing));
        };
        record_places(&mut environment, &driven.places);
        warnings.extend(driven.changes);
        outcome.warnings.splice(0..0, warnings);
        info.finished = Some(wall_clock::now_text());
        let mut document = run::document(plan, outcome, info, environment);
        document.warnings.extend(contenders::notes(&document));
        document.run.id = recorder.finish(&document)?;
        Ok(Measured { document, failure: driven.failure })
    }

    /// The machine as its agent sees it: what was asked (for a later look), facts and hazards.
    fn look(&self, started: &mut Started) -> Result<(LookOrder, Environment, Vec<Warning>), Error> {
        let plan = &self.prepared.plan;
        let mut order = work_ahead::look_order(plan);
        let sight = self.prepared.location.look(&mut *started.agent, &order)?;
        let mut environment = sight.environment.clone();
        environment.0.extend(std::mem::take(&mut started.environment).0);
        contenders::record(plan, &sight.versions, &mut environment);
        if let Ok(directory) = std::env::current_dir() {
            environment.put(Fact::RunWorkingDirectory, path_to_text(&directory));
        }
        order.before = Some(sight.environment);
        order.programs.clear();
        let mut warnings = sight.hazards;
        warnings.extend(access_times::warning(plan));
        warnings.append(&mut started.warnings);
        Ok((order, environment, warnings))
    }

    fn info(&self) -> RunInfo {
        let plan = &self.prepared.plan;
        let now = wall_clock::now_text();
        RunInfo {
            id: 0,
            title: plan.title.clone(),
            started: self.resumes.as_ref().map_or(now, |r| r.document.run.started.clone()),
            finished: None,
            complete: false,
            seed: plan.protocol.seed,
            argv: self.argv.clone(),
        }
    }

    /// The document as far as it is known before the first trial.
    fn opening(&self, info: &RunInfo, environment: &Environment) -> Document {
        let plan = &self.prepared.plan;
        let mut outcome = Outcome::default();
        if let Some(resumed) = &self.resumes {
            outcome.cells.clone_from(&resumed.history.cells);
            outcome.twin.clone_from(&resumed.history.twin);
        }
        outcome.cells.resize_with(plan.cells.len(), CellOutcome::default);
        run::document(plan, outcome, info.clone(), environment.clone())
    }

    fn drive(
        &self,
        started: Started,
        recorder: &mut Recorder,
        stop: &Stop,
        look: LookOrder,
        environment: &Environment,
    ) -> Driven {
        let plan = &self.prepared.plan;
        let extra_ns = self.aim.map_or(0, |aim| aim.extra_ns);
        let policy = Policy { aim: self.aim_of(plan, environment), extra_ns, ..Policy::default() };
        let Started { agent, directory, terms, .. } = started;
        let cpus = &plan.protocol.cpus;
        let mut executor = RemoteExecutor::at(agent, &plan.workload, &directory, cpus)
            .for_plan(plan)
            .with_places(terms);
        let mut progress = self.console.progress();
        let history = self.resumes.as_ref().map(|resumed| resumed.history.clone());
        let observers: &mut [&mut dyn Observer] = &mut [recorder, &mut *progress];
        let driven = run::drive_by(&policy, plan, &mut executor, observers, history, stop);
        drop(progress);
        let places = executor.places();
        let mut changes = self.changes(executor.agent(), &look);
        let harm = executor.left_as_it_was().err();
        changes.extend(
            harm.iter().map(|fault| Warning { code: Code::SourceChanged, text: fault.to_string() }),
        );
        let lost = executor.agent().lost();
        if let Err(fault) = executor.end() {
            self.console.say(&format!("iolab: {fault}"));
        }
        let (outcome, failure) = match driven {
            // The other machines went on, and what is missing is told.
            Ok(outcome) if lost.is_some() => {
                (Some(Outcome { stopped: Stopped::Failed, ..outcome }), lost.map(Error::from))
            }
            Ok(outcome) => (Some(outcome), harm.map(Error::from)),
            Err(error) => {
                let outcome = error.outcome().filter(|outcome| any_sample(outcome)).cloned();
                (outcome, Some(error.into()))
            }
        };
        Driven { outcome, failure, places, changes }
    }

    /// The aim as the rounds ask it.
    fn aim_of<'s>(
        &'s self,
        plan: &'s Plan,
        environment: &'s Environment,
    ) -> Option<Box<run::Aim<'s>>> {
        let aim = self.aim?.wanted;
        Some(Box::new(move |outcome| aim(&run::so_far(plan, outcome, environment.clone()))))
    }

    /// What has changed on the machine meanwhile; nothing where its agent is gone.
    fn changes(&self, agent: &mut dyn Transport, look: &LookOrder) -> Vec<Warning> {
        let sight = self.prepared.location.look(agent, look);
        sight.map(|sight| sight.hazards).unwrap_or_default()
    }
}

/// What came of the rounds.
struct Driven {
    /// What was measured, where anything was.
    outcome: Option<Outcome>,
    /// What ended it where it did not end by itself.
    failure: Option<Error>,
    /// What the places turned out to be.
    places: Vec<PlaceFacts>,
    /// Hazards that came up meanwhile.
    changes: Vec<Warning>,
}

fn any_sample(outcome: &Outcome) -> bool {
    outcome.cells.iter().any(|cell| !cell.samples.is_empty())
}

fn record_places(environment: &mut Environment, places: &[PlaceFacts]) {
    for facts in places {
        if let Ok(value) = serde_json::to_value(facts) {
            environment.put_named(Family::Place, &facts.asked, value);
        }
    }
}
