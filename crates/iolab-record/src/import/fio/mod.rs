//! JSON of fio (`--output-format=json`, `json+`): a job is a cell, reads and writes are runs of
//! their own, jobs alike are its rounds, and the threads of one job are one sample.

mod options;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::ImportError;
use super::build::{Draft, Head, document};
use super::number;
use iolab_model::catalog::{Factor, Level, Levels, WorkloadId, utc_text};
use iolab_model::result::{Document, Environment, Measurement, Phase, Sample};
use options::levels;

/// Options without which no job of fio says what it does.
const JOB_OPTIONS: [&str; 10] = [
    "rw",
    "readwrite",
    "filename",
    "directory",
    "ioengine",
    "bs",
    "blocksize",
    "size",
    "iodepth",
    "numjobs",
];

/// Whether a text is a file of jobs: sections in brackets and, below the first, an option of fio.
pub fn is_job(text: &str) -> bool {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let mut said = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let section = |line: &str| line.starts_with('[') && line.ends_with(']');
    let option = |line: &str| {
        let name = line.split_once('=').map_or(line, |(name, _)| name).trim_end();
        JOB_OPTIONS.contains(&name)
    };
    said.next().is_some_and(section) && said.any(option)
}

/// Jobs that a title names.
const MOST_NAMED: usize = 4;

#[derive(Deserialize)]
struct File {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp: u64,
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, Value>,
    /// `client_stats` where `fio --client` wrote it.
    #[serde(default, alias = "client_stats")]
    jobs: Vec<Job>,
}

/// What `fio --client` calls the sum of its clients.
const SUM: &str = "All clients";

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    jobname: String,
    /// Of the machine, where `fio --client` had it done elsewhere.
    hostname: Option<String>,
    #[serde(default)]
    groupid: i64,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, Value>,
    /// Milliseconds, of all threads that are reported together.
    job_runtime: Option<u64>,
    /// Per cent of that.
    #[serde(default, deserialize_with = "number::or_zero")]
    usr_cpu: f64,
    #[serde(default, deserialize_with = "number::or_zero")]
    sys_cpu: f64,
    read: Option<Side>,
    write: Option<Side>,
}

/// Which way bytes went.
#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

impl Direction {
    fn workload(self) -> &'static str {
        match self {
            Direction::Read => WorkloadId::Read.word(),
            Direction::Write => WorkloadId::Write.word(),
        }
    }

    fn of(self, job: &Job) -> Option<&Side> {
        match self {
            Direction::Read => job.read.as_ref(),
            Direction::Write => job.write.as_ref(),
        }
    }
}

#[derive(Clone, Default, Deserialize)]
struct Side {
    #[serde(default)]
    io_bytes: u64,
    #[serde(default)]
    total_ios: u64,
    /// Milliseconds.
    #[serde(default)]
    runtime: u64,
    #[serde(default)]
    clat_ns: Latency,
}

#[derive(Clone, Default, Deserialize)]
struct Latency {
    #[serde(default, deserialize_with = "number::or_zero")]
    mean: f64,
    #[serde(default)]
    percentile: BTreeMap<String, Option<f64>>,
}

/// The runs: reads, writes.
pub(super) fn read(json: &str, file: &str) -> Result<Vec<Document>, ImportError> {
    let bad = |what: String| ImportError::Bad { file: file.to_owned(), what };
    // With --status-interval one object a report, each with the totals so far: the last counts.
    let mut last: Option<File> = None;
    for report in serde_json::Deserializer::from_str(json).into_iter::<File>() {
        match report {
            Ok(report) => last = Some(report),
            // What follows the JSON is talk; what is cut off in it is not.
            Err(e) if last.is_some() && !e.is_eof() => break,
            Err(e) => return Err(bad(e.to_string())),
        }
    }
    let Some(report) = last else { return Err(bad("it ends before it begins".to_owned())) };
    let mut documents = Vec::new();
    for direction in [Direction::Read, Direction::Write] {
        let drafts = drafts(&report, direction);
        if !drafts.is_empty() {
            documents.push(document(head(&report, direction), drafts));
        }
    }
    match documents.is_empty() {
        true => Err(ImportError::Empty {
            file: file.to_owned(),
            why: format!("none of its {} jobs read or wrote", report.jobs.len()),
        }),
        false => Ok(documents),
    }
}

/// Titles tell experiments apart, so the jobs are named.
fn head(report: &File, direction: Direction) -> Head {
    let workload = direction.workload();
    let mut names: Vec<String> = Vec::new();
    for job in report.jobs.iter().filter(|job| worked(job, direction)) {
        if !names.contains(&job.name()) {
            names.push(job.name());
        }
    }
    let jobs = match names.len() {
        0..=MOST_NAMED => names.join(", "),
        n => format!("{} and {} more", names[..MOST_NAMED].join(", "), n - MOST_NAMED),
    };
    Head {
        tool: report.version.clone(),
        workload: workload.to_owned(),
        title: format!("{workload} by {}: {}", report.version, jobs),
        started: utc_text(report.timestamp),
        facts: Environment::default(),
    }
}

/// A cell for each job that worked in this direction; jobs alike in name and options are its
/// rounds.
fn drafts(report: &File, direction: Direction) -> Vec<Draft> {
    let mut found: Vec<(String, Draft, Vec<&Job>)> = Vec::new();
    for job in report.jobs.iter().filter(|job| worked(job, direction)) {
        let levels = levels(direction, &|name| option(report, job, name));
        let alike = |(name, draft, _): &&mut (String, Draft, Vec<&Job>)| {
            *name == job.name() && draft.levels == levels
        };
        match found.iter_mut().find(alike) {
            Some((_, _, jobs)) => jobs.push(job),
            None => {
                let draft = Draft { levels, ..Draft::default() };
                found.push((job.name(), draft, vec![job]));
            }
        }
    }
    for (_, draft, jobs) in &mut found {
        measure(draft, jobs, direction);
    }
    named(found.into_iter().map(|(name, draft, _)| (name, draft)).collect())
}

impl Job {
    /// The same job on another machine is another one.
    fn name(&self) -> String {
        match &self.hostname {
            Some(host) => format!("{} on {host}", self.jobname),
            None => self.jobname.clone(),
        }
    }
}

fn worked(job: &Job, direction: Direction) -> bool {
    job.jobname != SUM
        && direction.of(job).is_some_and(|side| side.io_bytes > 0 || side.total_ios > 0)
}

/// A sample for each group: jobs of one group ran side by side, which is how fio gives the threads
/// of a job, unless `group_reporting` made one of them.
fn measure(draft: &mut Draft, jobs: &[&Job], direction: Direction) {
    for (round, rows) in jobs.chunk_by(|a, b| a.groupid == b.groupid).enumerate() {
        if let Some(job) = rows.iter().find(|job| job.error != 0) {
            draft.failed = Some(format!("fio ended the job with error {}", job.error));
        }
        let sample = sample(rows, direction, round as u32);
        if sample.measurement.wall_ns == 0 {
            let why = "it ended within a millisecond, which is all that fio's clock tells apart";
            draft.failed = Some(why.to_owned());
        }
        draft.samples.push(sample);
    }
}

/// Jobs with the same options are told apart by their names. A job that reads and writes in turn
/// is no rival of one that only reads.
fn named(drafts: Vec<(String, Draft)>) -> Vec<Draft> {
    let mut seen: BTreeMap<&Levels, usize> = BTreeMap::new();
    drafts.iter().for_each(|(_, draft)| *seen.entry(&draft.levels).or_default() += 1);
    let names: Vec<String> = drafts
        .iter()
        .map(|(name, draft)| match seen[&draft.levels] {
            1 => "fio".to_owned(),
            _ => format!("fio {name}"),
        })
        .collect();
    let with_name = |((_, mut draft), name): ((String, Draft), String)| {
        let mixed = draft.levels.text(Factor::Contender).is_some();
        let name = if mixed { format!("{name}, mixed") } else { name };
        draft.levels.set(Factor::Contender, Level::word(name));
        draft
    };
    drafts.into_iter().zip(names).map(with_name).collect()
}

fn option(report: &File, job: &Job, name: &str) -> Option<String> {
    let value = job.options.get(name).or_else(|| report.global.get(name))?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// What the threads of one round did together.
fn sample(rows: &[&Job], direction: Direction, round: u32) -> Sample {
    let sides = || rows.iter().filter_map(|job| direction.of(job));
    let sum = |value: fn(&Side) -> u64| sides().map(value).fold(0, u64::saturating_add);
    let longest_ms = sides().map(|side| side.runtime).max().unwrap_or(0);
    let processor = |share: fn(&Job) -> f64| -> u64 {
        rows.iter()
            .map(|job| processor_ns(job, share(job), longest_ms))
            .fold(0, u64::saturating_add)
    };
    let operations = sum(|side| side.total_ios);
    Sample {
        round,
        position: 0,
        phase: Phase::Steady,
        epoch: 0,
        measurement: Measurement {
            wall_ns: longest_ms.saturating_mul(1_000_000),
            user_ns: processor(|job| job.usr_cpu),
            system_ns: processor(|job| job.sys_cpu),
            bytes: sum(|side| side.io_bytes),
            operations,
            repetitions: 1,
            metrics: latency(&sides().collect::<Vec<_>>(), operations).into_iter().collect(),
            ..Measurement::default()
        },
        fault: None,
    }
}

fn processor_ns(job: &Job, percent: f64, runtime_ms: u64) -> u64 {
    let ns = job.job_runtime.unwrap_or(runtime_ms) as f64 * 1e6;
    (ns * (percent / 100.0).clamp(0.0, 1e6)) as u64
}

/// As fio writes them, and the metric.
const PERCENTILES: [(&str, &str); 5] = [
    ("50.000000", "clat_p50_ns"),
    ("90.000000", "clat_p90_ns"),
    ("99.000000", "clat_p99_ns"),
    ("99.900000", "clat_p99_9_ns"),
    ("99.990000", "clat_p99_99_ns"),
];

/// Mean time to completion over all operations; percentiles of one thread alone, for those of
/// several cannot be put together.
fn latency(sides: &[&Side], operations: u64) -> Vec<(String, f64)> {
    let total: f64 = sides.iter().map(|s| s.clat_ns.mean * s.total_ios as f64).sum();
    let mut all = vec![("clat_mean_ns", total / operations as f64)];
    if let [side] = sides {
        for (theirs, ours) in PERCENTILES {
            all.push((ours, side.clat_ns.percentile.get(theirs).copied().flatten().unwrap_or(0.0)));
        }
    }
    let known = |(name, value): (&str, f64)| {
        (value.is_finite() && value > 0.0).then(|| (name.to_owned(), value))
    };
    all.into_iter().filter_map(known).collect()
}

#[cfg(test)]
mod job_tests {
    use super::is_job;
    use crate::import::{ImportError, read};

    /// "There is no JSON object in it; write it again, or copy it again."
    #[test]
    fn a_job_of_fio_is_no_output_of_fio() {
        assert!(is_job("; mine\n[global]\nrw=read\n[a]\nfilename=f\n"));
        assert!(!is_job("[experiment]\nname = 3\n") && !is_job("fio: a warning\n{ }"));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job.fio");
        std::fs::write(&path, "[a]\nrw=read\nfilename=${F}\n").unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, ImportError::FioJob { .. }));
        assert!(error.to_string().contains("then iolab import out.json"), "{error}");
    }
}
