//! `iolab quick`: a survey of a directory in about a minute, on one screen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::factor_args::absolute;
use super::history::StoreArgs;
use super::measure::plan_of;
use super::output::{self, Output, Talk};
use super::protocol_args::ProtocolArgs;
use super::session::{Session, argv};
use super::terminal_io::{Ending, Exit, Failure, say};
use iolab_model::catalog::{
    AxisWord, CacheState, Fact, Factor, FileOperation, Level, NamedCall, Sync, WorkloadId,
    bytes_text, path_to_text, rough_time_text,
};
use iolab_model::plan::Plan;
use iolab_model::result::{AnswerKind, Document, Environment, Grade};
use iolab_model::spec::{Experiment, Protocol};
use iolab_report::survey::{self, Topic};

/// Survey a directory in about a minute: how to read, write and copy files here
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab quick                  this directory, one minute\n  iolab quick /data            another one\n  iolab quick --budget 20s     rougher, sooner\n  iolab quick --plan           what it would do and write; nothing is done"
)]
pub struct Quick {
    /// The directory to survey; what is made there is removed
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    #[command(flatten)]
    protocol: ProtocolArgs,
    #[command(flatten)]
    store: StoreArgs,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

type Axes = Vec<(Factor, Vec<Level>)>;

/// One run of the survey.
struct SurveyPart {
    topic: Topic,
    title: &'static str,
    workload: WorkloadId,
    /// Share of the budget; all together leave a little for making files and starting agents.
    share: f64,
    levels: fn(greatest_bytes: u64) -> Axes,
}

const LEGS: [SurveyPart; 9] = [
    SurveyPart {
        topic: Topic::Calls,
        title: "what a system call costs",
        workload: WorkloadId::Syscall,
        share: 0.08,
        levels: |_| {
            use NamedCall::{Chmod, Fstat, Lseek, OpenClose, Read, Write};
            vec![axis(&[Lseek, Read, Write, Fstat, OpenClose, Chmod])]
        },
    },
    SurveyPart {
        topic: Topic::Metadata,
        title: "what metadata calls cost",
        workload: WorkloadId::Meta,
        share: 0.07,
        levels: |_| {
            use NamedCall::{Create, Readdir, Rename, Stat, Unlink};
            vec![axis(&[Create, Stat, Rename, Readdir, Unlink]), (Factor::Files, numbers(&[200]))]
        },
    },
    SurveyPart {
        topic: Topic::Warm,
        title: "block sizes, cached",
        workload: WorkloadId::Read,
        share: 0.14,
        levels: |greatest| {
            let blocks = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB];
            read(&["read"], &blocks, CacheState::Warm, &[greatest.min(256 * MIB)])
        },
    },
    SurveyPart {
        topic: Topic::Mapping,
        title: "read against mmap by file size",
        workload: WorkloadId::Read,
        share: 0.14,
        levels: |greatest| {
            let sizes = [16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB];
            let sizes: Vec<u64> = sizes.into_iter().filter(|bytes| *bytes <= greatest).collect();
            read(&["read", "mmap"], &[64 * KIB], CacheState::Warm, &sizes)
        },
    },
    SurveyPart {
        topic: Topic::Cold,
        title: "block sizes, from the device",
        workload: WorkloadId::Read,
        share: 0.16,
        levels: |greatest| {
            read(&["read"], &[4 * KIB, 64 * KIB, MIB], CacheState::Cold, &[greatest.min(128 * MIB)])
        },
    },
    SurveyPart {
        topic: Topic::Durable,
        title: "block sizes, until the data are durable",
        workload: WorkloadId::Write,
        share: 0.12,
        levels: |greatest| {
            vec![
                (Factor::Method, words(&["write"])),
                (Factor::Block, numbers(&[4 * KIB, 64 * KIB, MIB])),
                (Factor::FileSize, numbers(&[greatest.min(32 * MIB)])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Synced,
        title: "what it costs to have each block safe",
        workload: WorkloadId::Write,
        share: 0.07,
        levels: |greatest| {
            vec![
                (Factor::Method, words(&["write"])),
                (Factor::Block, numbers(&[4 * KIB])),
                axis(&[Sync::Fsync, Sync::Dsync]),
                (Factor::FileSize, numbers(&[greatest.min(MIB)])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Small,
        title: "small files",
        workload: WorkloadId::Files,
        share: 0.05,
        levels: |_| {
            vec![
                axis(&[FileOperation::Read]),
                (Factor::Files, numbers(&[300])),
                (Factor::FileSize, numbers(&[16 * KIB])),
                (Factor::Threads, numbers(&[1, 2])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Copying,
        title: "ways to copy",
        workload: WorkloadId::Copy,
        share: 0.12,
        levels: |greatest| {
            let methods = ["read-write", "copy_file_range", "sendfile", "reflink"];
            vec![
                (Factor::Method, words(&methods)),
                (Factor::Block, numbers(&[4 * KIB, 128 * KIB])),
                (Factor::FileSize, numbers(&[greatest.min(32 * MIB)])),
            ]
        },
    },
];

/// Space that the survey takes at most at a time, and what it leaves free of what there is.
const GREATEST_SPACE_BYTES: u64 = 512 * MIB;

/// Levels of the axis that their type stands for.
fn axis<W: AxisWord>(words: &[W]) -> (Factor, Vec<Level>) {
    (W::FACTOR, words.iter().map(|word| word.level()).collect())
}

fn words(texts: &[&str]) -> Vec<Level> {
    texts.iter().copied().map(Level::word).collect()
}

fn numbers(values: &[u64]) -> Vec<Level> {
    values.iter().copied().map(Level::Number).collect()
}

fn read(methods: &[&str], blocks: &[u64], cache: CacheState, sizes: &[u64]) -> Axes {
    vec![
        (Factor::Method, words(methods)),
        (Factor::Block, numbers(blocks)),
        axis(&[cache]),
        (Factor::FileSize, numbers(sizes)),
    ]
}

/// What there is to show so far.
struct Survey<'a> {
    directory: &'a Path,
    protocol: &'a Protocol,
    output: Output,
    talk: &'a Talk,
    began: Instant,
    runs: Vec<(Topic, Document)>,
    interrupted: bool,
}

impl Quick {
    /// Measures and prints the screen.
    ///
    /// # Errors
    /// The directory cannot be used, or nothing could be measured there.
    pub fn run(self, talk: &Talk) -> Ending {
        let protocol = self.protocol.read()?;
        let directory = absolute(&self.directory)?;
        let mut survey = Survey {
            directory: &directory,
            protocol: &protocol,
            output: Output::recording(self.store.clone()),
            talk,
            began: Instant::now(),
            runs: Vec::new(),
            interrupted: false,
        };
        let plans = survey.plans()?;
        let promise = promise(&directory, &plans, protocol.budget_ns);
        if self.protocol.plan {
            return output::text(&format!("{promise}\n{}", outline(&plans)));
        }
        if !talk.quiet {
            say(&promise);
        }
        survey.measure(plans)?;
        if survey.runs.is_empty() {
            return Err(Failure::refused("nothing could be measured here; try iolab doctor"));
        }
        output::text(&survey.screen())?;
        Ok(if survey.interrupted { Exit::Interrupted } else { Exit::Done })
    }
}

impl Survey<'_> {
    /// What can be measured here; what cannot is said.
    fn plans(&self) -> Result<Vec<(&'static SurveyPart, Plan)>, Failure> {
        let greatest = self.greatest_file_bytes()?;
        let mut plans = Vec::new();
        for leg in &LEGS {
            let plan = plan_of(&self.experiment(leg, greatest, self.share_ns(leg)))?;
            match plan.baseline {
                Some(_) => plans.push((leg, plan)),
                None => {
                    let why = plan.cells.iter().find_map(|cell| cell.skip.as_deref());
                    say(&format!("left out: {}: {}", leg.title, why.unwrap_or("no cell can run")));
                }
            }
        }
        Ok(plans)
    }

    /// Half of what is free, but not more than a survey is worth.
    fn greatest_file_bytes(&self) -> Result<u64, Failure> {
        let space = iolab_io::place::space(self.directory).map_err(Failure::usage)?;
        let memory = iolab_io::host::available_memory_bytes();
        let greatest = (space.usable_bytes() / 2).min(memory / 4).min(GREATEST_SPACE_BYTES);
        if greatest < 64 * KIB {
            return Err(Failure::refused(format!(
                "{}: too little space for a survey; free some or name another directory",
                path_to_text(self.directory)
            )));
        }
        // Whole pages, so that no block size is short by a tail.
        Ok(greatest / (64 * KIB) * (64 * KIB))
    }

    fn share_ns(&self, leg: &SurveyPart) -> u64 {
        (self.protocol.budget_ns as f64 * leg.share) as u64
    }

    fn experiment(&self, leg: &SurveyPart, greatest_bytes: u64, budget_ns: u64) -> Experiment {
        Experiment {
            title: Some(format!("quick: {}", leg.title)),
            workload: leg.workload.to_string(),
            directory: self.directory.to_owned(),
            factors: (leg.levels)(greatest_bytes).into_iter().collect::<BTreeMap<_, _>>(),
            protocol: Protocol { budget_ns, ..self.protocol.clone() },
        }
    }

    /// Each leg in its share of the time and what the earlier ones left over; then, where much is
    /// left, the least certain one again with all of it.
    fn measure(&mut self, mut plans: Vec<(&'static SurveyPart, Plan)>) -> Result<(), Failure> {
        let mut shares: f64 = plans.iter().map(|(leg, _)| leg.share).sum();
        for (leg, plan) in &mut plans {
            let left = self.left_ns() * 0.95;
            plan.protocol.budget_ns = (left * leg.share / shares) as u64;
            shares -= leg.share;
            self.leg(leg, plan)?;
            if self.interrupted {
                return Ok(());
            }
        }
        if self.left_ns() < 0.2 * self.protocol.budget_ns as f64 {
            return Ok(());
        }
        if let Some(topic) = self.least_certain()
            && let Some((leg, plan)) = plans.iter_mut().find(|(leg, _)| leg.topic == topic)
        {
            plan.protocol.budget_ns = (self.left_ns() * 0.95) as u64;
            self.leg(leg, plan)?;
        }
        Ok(())
    }

    fn left_ns(&self) -> f64 {
        self.protocol.budget_ns as f64 - self.began.elapsed().as_nanos() as f64
    }

    fn leg(&mut self, leg: &SurveyPart, plan: &Plan) -> Result<(), Failure> {
        let output = &self.output;
        let session = Session {
            plan,
            output,
            talk: self.talk,
            argv: argv(),
            resumes: None,
            places: Default::default(),
            guest: None,
        };
        let (document, failure) = session.measure()?;
        self.interrupted = !document.run.complete && failure.is_none();
        self.runs.retain(|(topic, _)| *topic != leg.topic);
        self.runs.push((leg.topic, document));
        failure.map_or(Ok(()), Err)
    }

    /// The topic whose answers are worst, where one is less than good; what writes is not
    /// repeated, for it was said how much will be written.
    fn least_certain(&self) -> Option<Topic> {
        let doubt = |document: &Document| {
            let worst = |answer: &iolab_model::result::Answer| {
                (answer.kind == AnswerKind::Undecided, answer.grade)
            };
            document.answers.iter().map(worst).max()
        };
        let writes =
            |topic: &Topic| matches!(topic, Topic::Durable | Topic::Synced | Topic::Copying);
        let runs = self.runs.iter().filter(|(topic, _)| !writes(topic));
        let doubts = runs.filter_map(|(topic, d)| Some((doubt(d)?, *topic)));
        let (worst, topic) = doubts.max()?;
        (worst > (false, Grade::A)).then_some(topic)
    }

    fn screen(&self) -> String {
        let environment = &self.runs[0].1.environment;
        let heading = heading(self.directory, environment, self.began.elapsed().as_nanos() as f64);
        let mut ids: Vec<u64> = self.runs.iter().map(|(_, d)| d.run.id).collect();
        ids.sort_unstable();
        let next = match ids.as_slice() {
            [one] => format!("Run {one} recorded · iolab show {one}"),
            [first, .., last] => format!("Runs {first}–{last} recorded · iolab show {last}"),
            [] => String::new(),
        };
        survey::screen(&heading, &self.runs, &next, self.talk.look().width)
    }
}

/// What will be done to the directory, said before it is done.
fn promise(directory: &Path, plans: &[(&SurveyPart, Plan)], budget_ns: u64) -> String {
    let written: u64 = plans.iter().map(|(_, plan)| plan.cost.bytes_written).sum();
    format!(
        "surveys {} in {}: writes {} there in all and removes it",
        path_to_text(directory),
        rough_time_text(budget_ns as f64),
        bytes_text(written)
    )
}

fn outline(plans: &[(&SurveyPart, Plan)]) -> String {
    let line = |(leg, plan): &(&SurveyPart, Plan)| {
        let cells = plan.cells.iter().filter(|cell| cell.skip.is_none()).count();
        let time = rough_time_text(plan.protocol.budget_ns as f64);
        format!("  {:<32} {cells} cells, about {time}\n", leg.title)
    };
    plans.iter().map(line).collect()
}

/// Where this was, in one line.
fn heading(directory: &Path, environment: &Environment, elapsed_ns: f64) -> String {
    let text = |fact| environment.text(fact).map(str::to_owned);
    let place = match (text(Fact::MountFsType), text(Fact::DeviceName)) {
        (Some(fs), Some(device)) => Some(format!("{fs} on {device}")),
        (fs, _) => fs,
    };
    let machine =
        match (environment.number(Fact::CpuCount), environment.number(Fact::MemoryTotalBytes)) {
            (Some(cpus), Some(memory)) => {
                Some(format!("{cpus} cores, {} GiB", (memory as f64 / (1u64 << 30) as f64).round()))
            }
            _ => None,
        };
    let parts = [
        Some(path_to_text(directory)),
        place,
        text(Fact::KernelRelease).map(|release| format!("Linux {release}")),
        machine,
        Some(rough_time_text(elapsed_ns)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
