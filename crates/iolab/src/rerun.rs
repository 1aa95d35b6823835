//! `iolab rerun BEFORE [AFTER]`: what a run was asked, measured again as runs of its own. What the
//! machine does between runs shows in several runs alone.

use std::collections::BTreeSet;

use clap::Args;

use super::compare::{Shape, failure, side};
use super::consent_args::ConsentArgs;
use super::output::Output;
use super::protocol_args::drawn_seed;
use super::reported::session;
use super::resume::once_more;
use super::store_args::StoreArgs;
use super::terminal_io::{Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_controller::Console;
use iolab_model::catalog::so_many;
use iolab_model::result::Document;
use iolab_report::compare::{Terms, compare, runs_text};

/// More runs than these nobody waits for.
const MOST_RUNS: u32 = 50;

/// Measure a recorded run's experiment again, as new runs beside it
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab rerun last                 four runs more: a baseline\n  iolab rerun 3 4 --times 4        four more of each, in turn, and both compared\n  iolab rerun 3..5 6 --times 2\n\nEach run is recorded with a seed of its own, and ends as its command says:\nbudget, rounds, precision. What it exported is not written again.\n\nExit status: 0 done, 12 a run cannot be made again, 130 interrupted."
)]
pub struct Rerun {
    /// What is measured again: a number, a pinned name, last; several of one experiment as 3,5 or 3..7
    #[arg(value_name = "BEFORE")]
    first: String,
    /// A second side, measured in turn with the first and compared with it
    #[arg(value_name = "AFTER")]
    second: Option<String>,
    /// So many runs more, on each side
    #[arg(long, value_name = "N", default_value_t = 4)]
    times: u32,
    /// How a comparison is written
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Shape,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

impl Rerun {
    /// Measures, and tells of each run, or compares both sides.
    ///
    /// # Errors
    /// There is no such run, or one that cannot be made again here.
    pub fn run(self, talk: &Talk) -> Ending {
        let again = Again::of(&self.store, &self.consent, talk)?;
        let history = again.store.open()?;
        let mut sides = vec![side(&history, &self.first)?];
        if let Some(second) = &self.second {
            sides.push(side(&history, second)?);
        }
        again.record(&mut sides, self.times)?;
        let names: Vec<String> = sides.iter().map(|side| numbers(side)).collect();
        match (sides.as_slice(), names.as_slice()) {
            ([before, after], [before_runs, after_runs]) => {
                let terms = Terms { alpha: 0.05, delta: 0.02, anyway: false };
                self.format.write(&compare(before, after, &terms).map_err(failure)?, talk)?;
                tell(
                    talk,
                    &format!(
                        "again: iolab compare {before_runs} {after_runs} · as a gate: iolab gate \
                     {after_runs} --baseline {before_runs}"
                    ),
                );
            }
            _ => tell(
                talk,
                &format!(
                    "a baseline: iolab gate --baseline {} --record {}",
                    names.join(","),
                    sides.first().map_or(0, Vec::len)
                ),
            ),
        }
        Ok(Exit::Done)
    }
}

fn tell(talk: &Talk, line: &str) {
    if !talk.quiet {
        say(line);
    }
}

/// Their numbers, as a command takes them.
fn numbers(runs: &[Document]) -> String {
    let ids: BTreeSet<u64> = runs.iter().map(|run| run.run.id).collect();
    runs_text(&ids.into_iter().collect::<Vec<_>>())
}

/// How runs are made again.
pub struct Again<'a> {
    /// Which history; its path does not depend on the working directory.
    store: StoreArgs,
    consent: &'a ConsentArgs,
    /// What is said meanwhile.
    talk: &'a Talk,
}

impl<'a> Again<'a> {
    /// Into this history, with what is allowed.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn of(
        store: &StoreArgs,
        consent: &'a ConsentArgs,
        talk: &'a Talk,
    ) -> Result<Again<'a>, Failure> {
        Ok(Again { store: store.absolute()?, consent, talk })
    }

    /// Adds so many runs to each side, in turn, so that what the machine does in the course of time
    /// meets all sides alike.
    ///
    /// # Errors
    /// A run that cannot be made again; those that were made are in the history.
    pub fn record(&self, sides: &mut [Vec<Document>], times: u32) -> Result<(), Failure> {
        if !(1..=MOST_RUNS).contains(&times) {
            return Err(Failure::usage(format!(
                "so many runs as '{times}': write a number from 1 to {MOST_RUNS}"
            )));
        }
        let all = times as usize * sides.len();
        let mut made = 0;
        for _ in 0..times {
            for side in &mut *sides {
                let Some(pattern) = side.last() else { continue };
                made += 1;
                let run = self.once(pattern, (made, all))?;
                side.push(run);
            }
        }
        Ok(())
    }

    fn once(&self, pattern: &Document, (number, all): (usize, usize)) -> Result<Document, Failure> {
        let (prepared, _) = once_more(pattern, drawn_seed(), self.consent)?;
        if number == 1 {
            self.talk.announce(&prepared.plan);
        }
        let output = Output::recording(self.store.clone());
        let argv = pattern.run.argv.clone();
        let measured = session(&prepared, argv, None, &output, self.talk)?.measure()?;
        let run = &measured.document;
        if let Some(failure) = measured.failure {
            return Err(failure.into());
        }
        if !run.run.complete {
            let made = so_many(number - 1, "whole run");
            say(&format!("stopped; {made} of {all} and the partial run {} are kept", run.run.id));
            return Err(Failure::said(Exit::Interrupted));
        }
        let answer = run.answers.first().map_or("", |answer| answer.sentence.as_str());
        tell(self.talk, &format!("run {} ({number} of {all}): {answer}", run.run.id));
        Ok(measured.document)
    }
}
