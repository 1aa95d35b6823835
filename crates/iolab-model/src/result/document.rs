//! The whole of a run, as JSON writes it and the history keeps it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::along::{LevelsOf, crossings, within};
use super::answer::{Answer, AnswerKind, Summary, Twin, Warning};
use super::environment::Environment;
use super::exclusion::{CellStatus, ExclusionReason, SCREENED};
use super::finding::Finding;
use super::more_time::MoreTime;
use super::sample::Sample;
use crate::catalog::{Code, Fact, Factor, Levels, WorkloadId};

/// The name and version of the format.
pub const SCHEMA: &str = "iolab.run/1";

/// One run with everything that was measured and concluded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Which run.
    pub run: RunInfo,
    /// The machine.
    pub environment: Environment,
    /// What was asked.
    pub experiment: ExperimentRecord,
    /// What was measured.
    pub cells: Vec<CellRecord>,
    /// The baseline against itself; absent where no cell could run.
    pub twin: Option<Twin>,
    /// What was concluded.
    pub answers: Vec<Answer>,
    /// What holds for the whole run.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Identity of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// Number in the history it was made in.
    pub id: u64,
    /// What it is about, in words.
    pub title: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; absent while it runs and after a crash.
    pub finished: Option<String>,
    /// Whether it ended by itself (not interrupted).
    pub complete: bool,
    /// The seed of everything random.
    pub seed: u64,
    /// The command line, lossless.
    pub argv: Vec<String>,
}

/// The experiment as it was planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentRecord {
    /// `read`, `syscall`, …
    pub workload: String,
    /// The directory that it worked under; absent in runs of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Every axis with its levels, as they are in the cells.
    #[schemars(with = "BTreeMap<String, Vec<serde_json::Value>>")]
    pub factors: BTreeMap<Factor, Vec<serde_json::Value>>,
    /// The factors that were compared.
    #[schemars(with = "Vec<String>")]
    pub ask: Vec<Factor>,
    /// How it was measured.
    pub protocol: ProtocolRecord,
}

impl ExperimentRecord {
    /// Whether this is what was done; of another tool's runs nothing may be known.
    pub fn is(&self, workload: WorkloadId) -> bool {
        self.workload == workload.word()
    }
}

/// The protocol's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolRecord {
    /// Error allowed for each answer.
    pub alpha: f64,
    /// Differences smaller than this share do not matter.
    pub delta: f64,
    /// An answer goes on until its runner-up is known within this share; absent in runs of before it
    /// was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Time allowed.
    pub budget_ns: u64,
    /// Rounds asked for, where fixed.
    pub rounds: Option<u32>,
    /// Whether cells proven slower were left out; absent where the workload decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eliminate: Option<bool>,
    /// Processors that trials were bound to; empty: not bound.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// What made files may take that are kept for later runs; absent where none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_bytes: Option<u64>,
    /// Smallest step of the clock.
    #[serde(default)]
    pub clock_resolution_ns: f64,
    /// Cost of one empty pair of clock reads.
    #[serde(default)]
    pub clock_cost_ns: f64,
    /// Rounds per renewal of the file instances.
    #[serde(default)]
    pub epoch_rounds: u32,
    /// Steady rounds done.
    #[serde(default)]
    pub steady_rounds: u32,
    /// Why the run stopped, in words.
    #[serde(default)]
    pub stopped: String,
}

impl ProtocolRecord {
    /// Whether every number of it can be written as JSON.
    pub(super) fn is_finite(&self) -> bool {
        let numbers = [self.alpha, self.delta, self.clock_resolution_ns, self.clock_cost_ns];
        numbers.iter().chain(&self.precision).all(|number| number.is_finite())
    }

    /// Every number of it that must be there, and those that may be left out.
    pub(super) fn numbers(&mut self) -> ([&mut f64; 4], [&mut Option<f64>; 1]) {
        let ProtocolRecord { alpha, delta, clock_resolution_ns, clock_cost_ns, .. } = self;
        ([alpha, delta, clock_resolution_ns, clock_cost_ns], [&mut self.precision])
    }
}

/// One cell with its samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellRecord {
    /// Name within the run, from its levels: `pread/64Ki`.
    pub id: String,
    /// Its levels.
    pub factors: Levels,
    /// What became of it.
    pub status: CellStatus,
    /// Why skipped, failed or eliminated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same as a word; absent where it was measured to the end, and in older records:
    /// [`CellRecord::exclusion_reason`] knows those too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclusion: Option<ExclusionReason>,
    /// Every trial.
    pub samples: Vec<Sample>,
    /// Figures over the steady rounds; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

impl CellRecord {
    /// Whether the time of a pass is worked out from trials that did a part of one.
    pub fn is_extrapolated(&self) -> bool {
        let bounded =
            |sample: &Sample| sample.measurement.flags.contains(&crate::catalog::Code::Bounded);
        self.samples.iter().any(|sample| sample.counts() && bounded(sample))
    }

    /// How it came to be left out while it was measured; nothing where it was measured to the end
    /// or the plan skipped it. Of a plan's own skips a resumed run thinks again: a kernel may have
    /// changed.
    pub fn exclusion_reason(&self) -> Option<ExclusionReason> {
        let screened = || self.reason.as_deref().is_some_and(|why| why.starts_with(SCREENED));
        match (self.status, self.exclusion) {
            (CellStatus::Measured | CellStatus::Skipped, _) => None,
            (status, Some(why)) if why.status() == status => Some(why),
            (CellStatus::Failed, _) => Some(ExclusionReason::Failed),
            (CellStatus::Eliminated, _) if screened() => Some(ExclusionReason::Screened),
            (CellStatus::Eliminated, _) => Some(ExclusionReason::Proven),
        }
    }
}

/// Figures of a cell over its steady rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Wall time of one pass over the data (of one repetition).
    pub wall_ns: Summary,
    /// User CPU time of one pass.
    pub user_ns: Summary,
    /// System CPU time of one pass.
    pub system_ns: Summary,
    /// Speed; absent where no bytes move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<Summary>,
    /// Wall time of one operation.
    pub ns_per_operation: Summary,
}

impl Document {
    /// Whether a trial of a steady round counts.
    pub fn has_steady_round(&self) -> bool {
        let mut samples = self.cells.iter().flat_map(|cell| &cell.samples);
        samples.any(|sample| sample.is_steady())
    }

    /// What must be said again where a command goes on with the run or repeats it: what a record would
    /// start is started, and what its traces name is copied, only where that is said.
    pub fn consents(&self) -> BTreeSet<&'static str> {
        let levels = || self.cells.iter().map(|cell| &cell.factors);
        let commands = levels().any(|levels| levels.get(Factor::Contender).is_some());
        let data = levels().any(|levels| levels.is_on(Factor::WithData));
        let all = [(commands, " --allow-commands"), (data, " --with-data")];
        all.into_iter().filter_map(|(needed, word)| needed.then_some(word)).collect()
    }

    /// The run with what records of earlier versions lack in their answers ([`Answer::complete`]).
    pub fn completed(&self) -> Cow<'_, Document> {
        let lacks = |a: &Answer| a.regret.is_empty() && !a.best.is_empty();
        let mut document = Cow::Borrowed(self);
        if self.answers.iter().any(lacks) {
            let run = document.to_mut();
            run.answers.iter_mut().for_each(Answer::complete);
            run.find_along();
        }
        document
    }

    /// What is found along ordered factors, where the answers do not say it yet.
    pub fn find_along(&mut self) {
        let cells = self.cells.iter().map(|cell| (cell.id.as_str(), &cell.factors));
        let levels: LevelsOf<'_> = cells.collect();
        let (ask, delta) = (&self.experiment.ask, self.experiment.protocol.delta);
        let mut found: Vec<Vec<Finding>> =
            self.answers.iter().map(|answer| within(answer, &levels, ask, delta)).collect();
        for (at, crossing) in crossings(&self.answers, &levels, ask) {
            found[at].push(crossing);
        }
        for (answer, found) in self.answers.iter_mut().zip(found) {
            if answer.findings.is_empty() {
                answer.findings = found;
            }
        }
    }

    /// Whether the run was made by another tool or comes from another history.
    pub fn is_imported(&self) -> bool {
        [Fact::ImportTool, Fact::ImportFile]
            .iter()
            .any(|fact| self.environment.get(*fact).is_some())
    }

    /// The command that settles what the run left open, `iolab more 24 40s`; nothing where all is
    /// decided, where an hour would not do, and of what this history did not measure. Where it is not
    /// in sight how long that takes, it goes on as long again.
    pub fn more_command(&self) -> Option<String> {
        let undecided = || self.answers.iter().filter(|a| a.kind == AnswerKind::Undecided);
        let wanted = undecided().filter_map(|answer| answer.more_seconds);
        let seconds = wanted.filter(|seconds| *seconds > 0.0).fold(0.0, f64::max);
        let seconds = match seconds == 0.0 && undecided().any(|answer| self.is_open(answer)) {
            true => {
                (self.experiment.protocol.budget_ns as f64 / 1e9).min(MoreTime::LONGEST_SECONDS)
            }
            false => seconds,
        };
        let here = self.run.id != 0 && !self.is_imported();
        let time = MoreTime::of(seconds).filter(|_| here)?.argument();
        let consents: String = self.consents().into_iter().collect();
        Some(format!("iolab more {} {time}{consents}", self.run.id))
    }

    /// Whether more rounds may tell more of an answer: no pick is within what matters, and nothing
    /// biases the claims that rounds do not mend.
    fn is_open(&self, answer: &Answer) -> bool {
        let delta = self.experiment.protocol.delta;
        let within = answer.pick.as_ref().is_some_and(|pick| pick.at_most <= 1.0 + delta);
        let stays = |warning: &Warning| {
            matches!(warning.code, Code::CarryOver | Code::ContrastDrift | Code::UnequalWork)
        };
        answer.rounds > 0 && !within && !answer.warnings.iter().any(stays)
    }

    /// Several runs, likewise; copied only where one of them lacks something.
    pub fn all_completed(documents: &[Document]) -> Cow<'_, [Document]> {
        let completed: Vec<Cow<'_, Document>> = documents.iter().map(Document::completed).collect();
        match completed.iter().any(|d| matches!(d, Cow::Owned(_))) {
            true => completed.into_iter().map(Cow::into_owned).collect(),
            false => Cow::Borrowed(documents),
        }
    }
}
