//! JSON of fio (`--output-format=json`): a job is a cell, reads and writes are runs of their own.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::ImportError;
use super::build::{Draft, Head, document};
use crate::catalog::{Factor, Level, Levels, utc_text};
use crate::result::{Document, Measurement, Phase, Sample};

#[derive(Deserialize)]
struct File {
    #[serde(rename = "fio version")]
    version: String,
    #[serde(default)]
    timestamp: u64,
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, Value>,
    #[serde(default)]
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    #[serde(default)]
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, Value>,
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
    read: Option<Side>,
    write: Option<Side>,
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
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
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
    type Pick = fn(&Job) -> Option<&Side>;
    let sides: [(&str, Pick); 2] = [("read", |j| j.read.as_ref()), ("write", |j| j.write.as_ref())];
    for (workload, side) in sides {
        let drafts = drafts(&report, side);
        if !drafts.is_empty() {
            documents.push(document(head(&report, workload), drafts));
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

fn head(report: &File, workload: &str) -> Head {
    Head {
        tool: report.version.clone(),
        workload: workload.to_owned(),
        title: format!("{workload} by {}", report.version),
        started: utc_text(report.timestamp),
        facts: BTreeMap::new(),
    }
}

/// A cell for each job that worked on this side; jobs alike in name and options are its rounds.
fn drafts(report: &File, side: fn(&Job) -> Option<&Side>) -> Vec<Draft> {
    let mut drafts: Vec<(String, Draft)> = Vec::new();
    for job in &report.jobs {
        let Some(side) = side(job).filter(|s| s.io_bytes > 0 || s.total_ios > 0) else { continue };
        let levels = levels(&|name| option(report, job, name));
        let known = drafts.iter_mut().find(|(name, d)| *name == job.jobname && d.levels == levels);
        let draft = match known {
            Some((_, draft)) => draft,
            None => {
                let draft = Draft { levels, samples: vec![], failed: None, estimate: None };
                drafts.push((job.jobname.clone(), draft));
                match drafts.last_mut() {
                    Some((_, draft)) => draft,
                    None => continue,
                }
            }
        };
        if job.error != 0 {
            draft.failed = Some(format!("fio ended the job with error {}", job.error));
        }
        draft.samples.push(sample(job, side, draft.samples.len() as u32));
    }
    // Jobs with the same options are told apart by their names.
    let alike = |levels: &Levels| drafts.iter().filter(|(_, d)| d.levels == *levels).count() > 1;
    let names: Vec<String> = drafts
        .iter()
        .map(|(name, draft)| match alike(&draft.levels) {
            true => format!("fio {name}"),
            false => "fio".to_owned(),
        })
        .collect();
    drafts
        .into_iter()
        .zip(names)
        .map(|((_, draft), name)| Draft {
            levels: draft.levels.clone().with(Factor::Contender, Level::word(name)),
            ..draft
        })
        .collect()
}

fn option(report: &File, job: &Job, name: &str) -> Option<String> {
    let value = job.options.get(name).or_else(|| report.global.get(name))?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// The options that are axes here.
fn levels(option: &dyn Fn(&str) -> Option<String>) -> Levels {
    let mut levels = Levels::new();
    let engine = option("ioengine").unwrap_or_else(|| "psync".to_owned());
    levels.set(Factor::Method, Level::word(engine));
    let bytes = |names: &[&str]| names.iter().find_map(|n| option(n)).and_then(|t| bytes(&t));
    // fio's own default.
    levels.set(Factor::Block, Level::Number(bytes(&["bs", "blocksize"]).unwrap_or(4096)));
    if let Some(size) = bytes(&["filesize", "size"]) {
        levels.set(Factor::FileSize, Level::Number(size));
    }
    let count = |name: &str| option(name).and_then(|t| t.parse::<u64>().ok());
    levels.set(Factor::Threads, Level::Number(count("numjobs").unwrap_or(1)));
    if let Some(depth) = count("iodepth") {
        levels.set(Factor::QueueDepth, Level::Number(depth));
    }
    let direct = option("direct").is_some_and(|d| d != "0");
    levels.set(Factor::Direct, Level::word(if direct { "on" } else { "off" }));
    let random = option("rw").or_else(|| option("readwrite")).is_some_and(|rw| rw.contains("rand"));
    levels.set(Factor::Pattern, Level::word(if random { "random" } else { "sequential" }));
    levels
}

/// fio's sizes: `4k` is 4096 (its default `kb_base`), `1m`, `2GiB`, `4096`. Ranges and percents
/// are no one size.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let shift = match text[digits..].trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

fn sample(job: &Job, side: &Side, round: u32) -> Sample {
    let wall_ns = side.runtime.saturating_mul(1_000_000);
    let share = |percent: f64| (wall_ns as f64 * (percent / 100.0).clamp(0.0, 1e6)) as u64;
    let mut metrics = Vec::new();
    let mut put = |name: &str, value: f64| {
        if value.is_finite() && value > 0.0 {
            metrics.push((name.to_owned(), value));
        }
    };
    put("clat_mean_ns", side.clat_ns.mean);
    for (theirs, ours) in [("50.000000", "clat_p50_ns"), ("99.000000", "clat_p99_ns")] {
        put(ours, side.clat_ns.percentile.get(theirs).copied().unwrap_or(0.0));
    }
    Sample {
        round,
        position: 0,
        phase: Phase::Steady,
        epoch: 0,
        measurement: Measurement {
            wall_ns,
            user_ns: share(job.usr_cpu),
            system_ns: share(job.sys_cpu),
            bytes: side.io_bytes,
            operations: side.total_ios,
            repetitions: 1,
            metrics: metrics.into_iter().collect(),
            ..Measurement::default()
        },
        fault: None,
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_are_fios() {
        for (text, wanted) in [
            ("4k", Some(4096)),
            ("4096", Some(4096)),
            ("1M", Some(1 << 20)),
            ("2GiB", Some(2 << 30)),
            ("64Kb", Some(65536)),
            ("4k-8k", None),
            ("50%", None),
            ("", None),
            ("99999999999p", None),
        ] {
            assert_eq!(bytes(text), wanted, "{text}");
        }
    }
}
