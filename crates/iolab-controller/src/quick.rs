//! A survey of a directory: several runs that share a budget.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::console::Console;
use super::error::Error;
use super::placement::Placement;
use super::prepared::Prepared;
use super::resume::{Resumed, resumed};
use super::session::{Measured, Session};
use super::survey_parts::{KIB, MIB, PARTS};
use iolab_agent::{Here, Location, SurveyOrder};
use iolab_model::catalog::{WorkloadId, path_to_text};
use iolab_model::result::{Answer, AnswerKind, Document, Grade, Topic};
use iolab_model::spec::{Experiment, Protocol};

pub use super::survey_parts::SurveyPart;

/// Space that a survey takes at most at a time.
const GREATEST_SPACE_BYTES: u64 = 512 * MIB;

/// One part of a survey, ready to run.
pub type Planned = (&'static SurveyPart, Prepared);

/// Several runs in one directory: where and how.
pub struct QuickOrder<'a> {
    /// The directory that is measured.
    pub directory: &'a Path,
    /// Its budget is for all runs together.
    pub protocol: &'a Protocol,
    /// The file of the history; absent: the usual one.
    pub store: Option<&'a Path>,
    /// The command line, lossless.
    pub argv: Vec<String>,
    /// Who sees it, and may end it.
    pub console: &'a dyn Console,
}

/// A survey, and what it has found so far.
pub struct Survey<'a> {
    /// Where and how.
    pub order: QuickOrder<'a>,
    began: Instant,
    /// What was measured, each topic once.
    pub runs: Vec<(Topic, Document)>,
    /// Whether the person ended it.
    pub interrupted: bool,
}

impl QuickOrder<'_> {
    /// Half of what is free, but not more than a survey is worth.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn greatest_file_bytes(&self) -> Result<u64, Error> {
        let calls = Experiment {
            title: None,
            workload: WorkloadId::Syscall.to_string(),
            directory: self.directory.to_owned(),
            factors: BTreeMap::new(),
            protocol: self.protocol.clone(),
        };
        let facts = Here.survey(&SurveyOrder::of(&calls))?;
        let space = (facts.free_bytes / 2).min(facts.available_memory_bytes / 4);
        let greatest = space.min(GREATEST_SPACE_BYTES);
        if greatest < 64 * KIB {
            return Err(Error::NoRoom(path_to_text(self.directory)));
        }
        // Whole pages, so that no block size is short by a tail.
        Ok(greatest / (64 * KIB) * (64 * KIB))
    }

    /// One of the runs, recorded; or more of one that was.
    ///
    /// # Errors
    /// What ended it before its first trial.
    pub(super) fn run(
        &self,
        prepared: &Prepared,
        resumes: Option<Resumed>,
    ) -> Result<Measured, Error> {
        let (store, argv, console) = (self.store, self.argv.clone(), self.console);
        Session { prepared, store, argv, resumes, aim: None, console }.measure()
    }
}

impl<'a> Survey<'a> {
    /// A survey whose time runs from now on.
    pub fn begin(order: QuickOrder<'a>) -> Survey<'a> {
        Survey { order, began: Instant::now(), runs: Vec::new(), interrupted: false }
    }

    /// What can be measured here; what cannot is said.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn plans(&self) -> Result<Vec<Planned>, Error> {
        let greatest = self.order.greatest_file_bytes()?;
        let mut plans = Vec::new();
        for part in &PARTS {
            let experiment = self.experiment(part, greatest, self.share_ns(part));
            let prepared = Prepared::of(&experiment, &Placement::default())?;
            let plan = &prepared.plan;
            if plan.baseline.is_some() {
                plans.push((part, prepared));
                continue;
            }
            let why = plan.cells.iter().find_map(|cell| cell.skip.as_deref());
            let why = why.unwrap_or("no cell can run");
            self.order.console.say(&format!("left out: {}: {why}", part.title));
        }
        Ok(plans)
    }

    fn share_ns(&self, part: &SurveyPart) -> u64 {
        (self.order.protocol.budget_ns as f64 * part.share) as u64
    }

    fn experiment(&self, part: &SurveyPart, greatest_bytes: u64, budget_ns: u64) -> Experiment {
        Experiment {
            title: Some(format!("quick: {}", part.title)),
            workload: part.workload.to_string(),
            directory: self.order.directory.to_owned(),
            factors: (part.levels)(greatest_bytes).into_iter().collect::<BTreeMap<_, _>>(),
            protocol: Protocol { budget_ns, ..self.order.protocol.clone() },
        }
    }

    /// Each part in its share of the time and what the earlier ones left over; then, where much is
    /// left, it goes on with the least certain one: one answer from all of its rounds, for the better
    /// of two would be chosen by what they said.
    ///
    /// # Errors
    /// What ended a run.
    pub fn measure(&mut self, mut plans: Vec<Planned>) -> Result<(), Error> {
        let mut shares: f64 = plans.iter().map(|(part, _)| part.share).sum();
        for (part, prepared) in &mut plans {
            let left = self.left_ns() * 0.95;
            prepared.plan.protocol.budget_ns = (left * part.share / shares) as u64;
            shares -= part.share;
            self.part(part, prepared, None)?;
            if self.interrupted {
                return Ok(());
            }
        }
        let wanted_rounds = self.order.protocol.rounds.is_some();
        if wanted_rounds || self.left_ns() < 0.2 * self.order.protocol.budget_ns as f64 {
            return Ok(());
        }
        let Some((topic, document)) = self.least_certain() else { return Ok(()) };
        if let Some((part, prepared)) = plans.iter_mut().find(|(part, _)| part.topic == topic) {
            let mut so_far = resumed(document.clone(), &prepared.plan)?;
            so_far.extend(&mut prepared.plan, (self.left_ns() * 0.95) as u64);
            self.part(part, prepared, Some(so_far))?;
        }
        Ok(())
    }

    /// Time since it began, in nanoseconds.
    pub fn elapsed_ns(&self) -> f64 {
        self.began.elapsed().as_nanos() as f64
    }

    fn left_ns(&self) -> f64 {
        self.order.protocol.budget_ns as f64 - self.elapsed_ns()
    }

    fn part(
        &mut self,
        part: &SurveyPart,
        prepared: &Prepared,
        resumes: Option<Resumed>,
    ) -> Result<(), Error> {
        let measured = self.order.run(prepared, resumes)?;
        self.interrupted = measured.is_interrupted();
        self.runs.retain(|(topic, _)| *topic != part.topic);
        self.runs.push((part.topic, measured.document));
        measured.failure.map_or(Ok(()), Err)
    }

    /// The run whose answers are worst, where one is less than good; what writes is not
    /// repeated, for it was said how much will be written.
    fn least_certain(&self) -> Option<(Topic, &Document)> {
        let worst = |answer: &Answer| (answer.kind == AnswerKind::Undecided, answer.grade);
        let doubt = |document: &Document| document.answers.iter().map(worst).max();
        let writes =
            |topic: &Topic| matches!(topic, Topic::Durable | Topic::Synced | Topic::Copying);
        let runs = self.runs.iter().filter(|(topic, _)| !writes(topic));
        let doubts = runs.filter_map(|(topic, d)| Some((doubt(d)?, *topic, d)));
        let (worst, topic, document) = doubts.max_by_key(|(worst, topic, _)| (*worst, *topic))?;
        (worst > (false, Grade::A)).then_some((topic, document))
    }
}
