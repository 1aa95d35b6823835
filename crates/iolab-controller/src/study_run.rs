//! A study measured: every experiment until its claims are decided, and what that leaves of the time to
//! those whose claims are not.

use std::path::Path;
use std::time::Instant;

use super::console::Console;
use super::error::Error;
use super::history::{self, newest};
use super::prepared::Prepared;
use super::resume::{Resumed, resumed};
use super::session::{Aim, Measured, Session};
use super::study::{Job, NotTested, StudyRuns, StudyTerms};
use iolab_model::result::Document;
use iolab_study::{Claim, Study, open_cells};

/// Less than this is no time to go on with a run: it makes its files anew.
const LEAST_NS: u64 = 4_000_000_000;

/// Measures a study.
pub struct StudyRun<'a> {
    /// How.
    pub terms: &'a StudyTerms,
    /// The file of the history; absent: the usual one.
    pub store: Option<&'a Path>,
    /// The command line, lossless.
    pub argv: Vec<String>,
    /// Error allowed for each claim.
    pub alpha: f64,
    /// Who sees it, and may end it.
    pub console: &'a dyn Console,
}

/// An experiment that was measured here and now, and can be gone on with.
struct Measurement<'a> {
    name: &'a str,
    prepared: Prepared,
    claims: Vec<&'a Claim>,
}

impl StudyRun<'_> {
    /// Every job, one after the other. One that fails costs its own claims alone. One whose claims are
    /// decided early leaves its time to the rest, in the end to those whose claims are still open.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn measure<'a>(&self, study: &'a Study, jobs: Vec<Job<'a>>) -> Result<StudyRuns, Error> {
        let mut outcome = StudyRuns::default();
        let number_of_jobs = jobs.len();
        let mut purse = Purse::of(&jobs, self.terms.budget_ns.unwrap_or(study.budget_ns));
        let mut measured = Vec::new();
        for (number, job) in jobs.into_iter().enumerate() {
            let name = job.trial.name.as_str();
            if !job.left_out.is_empty() {
                outcome.left_out.push((name.to_owned(), job.left_out));
            }
            let run = match (job.planned, outcome.interrupted) {
                (_, true) => Err(NotTested::Interrupted),
                (Err(why), _) => Err(why),
                (Ok(prepared), _) => {
                    let place = format!("experiment {} of {number_of_jobs}, {name}", number + 1);
                    self.console.note(&format!("{}: {place}", study.name));
                    let claims: Vec<&Claim> =
                        study.claims.iter().filter(|claim| claim.is_about(name)).collect();
                    let own_ns = prepared.plan.protocol.budget_ns;
                    let mine = purse.take(own_ns);
                    let began = Instant::now();
                    let run = self.one(&prepared, &claims, mine - own_ns)?;
                    purse.give_back(mine, began);
                    outcome.interrupted = run.as_ref().is_ok_and(|(run, _)| !run.run.complete);
                    match run {
                        Ok((document, fresh)) => {
                            if fresh {
                                measured.push(Measurement { name, prepared, claims });
                            } else {
                                purse.spare_ns = purse.spare_ns.saturating_sub(mine);
                            }
                            Ok(document)
                        }
                        Err(error) => Err(NotTested::Failed(error)),
                    }
                }
            };
            if let Err(why) = &run {
                self.console.note(&format!("{}: {name} is not tested: {why}", study.name));
            }
            outcome.runs.insert(name.to_owned(), run);
        }
        self.go_on(&mut outcome, measured, purse)?;
        Ok(outcome)
    }

    /// Spends what is left on the runs whose claims are open.
    fn go_on(
        &self,
        outcome: &mut StudyRuns,
        measured: Vec<Measurement<'_>>,
        mut purse: Purse,
    ) -> Result<(), Error> {
        let is_open = |one: &Measurement<'_>| match outcome.runs.get(one.name) {
            Some(Ok(run)) => self.is_aimed() && self.open(&one.claims, run).contains(&true),
            _ => false,
        };
        let open: Vec<Measurement<'_>> = measured.into_iter().filter(is_open).collect();
        let number = open.len() as u64;
        for (at, mut one) in open.into_iter().enumerate() {
            let more_ns = purse.spare_ns / (number - at as u64);
            if more_ns < LEAST_NS || outcome.interrupted {
                break;
            }
            let Some(Ok(run)) = outcome.runs.get(one.name) else { continue };
            let Ok(mut found) = resumed(run.clone(), &one.prepared.plan) else { continue };
            self.console.note(&format!("going on with {}: its claims are open", one.name));
            let began = Instant::now();
            found.extend(&mut one.prepared.plan, more_ns);
            if let Ok(document) = self.session(&one.prepared, Some(found), &one.claims, 0) {
                outcome.interrupted |= !document.run.complete;
                outcome.runs.insert(one.name.to_owned(), Ok(document));
            }
            purse.spare_ns = purse.spare_ns.saturating_sub(began.elapsed().as_nanos() as u64);
        }
        Ok(())
    }

    /// Whether runs end where their claims are decided: not where a number of rounds is asked for, nor
    /// in the full setting, whose tables are to be as good as the published ones.
    fn is_aimed(&self) -> bool {
        self.terms.rounds.is_none() && !self.terms.full
    }

    fn open(&self, claims: &[&Claim], document: &Document) -> Vec<bool> {
        open_cells(claims, document, self.alpha)
    }

    /// The run of an experiment: from the history, gone on with, or new. With it, whether anything was
    /// measured for it.
    fn one(
        &self,
        prepared: &Prepared,
        claims: &[&Claim],
        extra_ns: u64,
    ) -> Result<Result<(Document, bool), Error>, Error> {
        let mut resumes = None;
        if let Some(document) = self.earlier(&prepared.plan.title)? {
            // A run of other cells, after a change of the study or of the machine, is none.
            let complete = document.run.complete;
            if let Ok(found) = resumed(document, &prepared.plan) {
                if complete {
                    return Ok(Ok((found.document, false)));
                }
                resumes = Some(found);
            }
        }
        self.console.announce(&prepared.plan);
        let document = self.session(prepared, resumes, claims, extra_ns);
        Ok(document.map(|document| (document, true)))
    }

    fn session(
        &self,
        prepared: &Prepared,
        resumes: Option<Resumed>,
        claims: &[&Claim],
        extra_ns: u64,
    ) -> Result<Document, Error> {
        let (store, argv, console) = (self.store, self.argv.clone(), self.console);
        let wanted = |document: &Document| self.open(claims, document);
        let aim = Aim { wanted: &wanted, extra_ns };
        let aim = (self.is_aimed() && !claims.is_empty()).then_some(aim);
        let measured = Session { prepared, store, argv, resumes, aim, console }.measure();
        measured.map(|Measured { document, failure }| {
            if let Some(failure) = failure {
                console.say(&format!("iolab: {failure}"));
            }
            document
        })
    }

    fn earlier(&self, title: &str) -> Result<Option<Document>, Error> {
        if !self.terms.resume {
            return Ok(None);
        }
        newest(&history::open(self.store, &[], self.console)?, title, u64::MAX)
    }
}

/// The time of a study as it is handed on.
struct Purse {
    /// Budgets of the jobs to come.
    ahead_ns: u64,
    /// What those before left.
    spare_ns: u64,
}

impl Purse {
    /// What belongs to an experiment that cannot be had here is spare from the first.
    fn of(jobs: &[Job<'_>], total_ns: u64) -> Purse {
        let planned = jobs.iter().filter_map(|job| job.planned.as_ref().ok());
        let ahead_ns = planned.map(|planned| planned.plan.protocol.budget_ns).sum();
        Purse { ahead_ns, spare_ns: total_ns.saturating_sub(ahead_ns) }
    }

    /// The time of the next job: its own, and of what is spare as large a part as it is of those to
    /// come.
    fn take(&mut self, own_ns: u64) -> u64 {
        let part = own_ns as f64 / self.ahead_ns.max(own_ns).max(1) as f64;
        let more_ns = (self.spare_ns as f64 * part) as u64;
        self.ahead_ns = self.ahead_ns.saturating_sub(own_ns);
        self.spare_ns -= more_ns;
        own_ns + more_ns
    }

    /// What a job has not used.
    fn give_back(&mut self, taken_ns: u64, began: Instant) {
        self.spare_ns += taken_ns.saturating_sub(began.elapsed().as_nanos() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::Purse;

    /// Two of four are done at once: the others have all of their time, and none has more than there is.
    #[test]
    fn what_is_left_goes_to_those_to_come() {
        let mut purse = Purse { ahead_ns: 400, spare_ns: 0 };
        let mut used = 0;
        for (own, uses) in [(100, 10), (100, 10), (100, 1000), (100, 1000)] {
            let mine = purse.take(own);
            assert!(mine >= own);
            let left = mine.saturating_sub(uses);
            used += mine - left;
            purse.spare_ns += left;
        }
        assert_eq!((used, purse.spare_ns), (400, 0));
    }
}
