//! The bare flags of Google Benchmark, so that `compare.py benchmarks iolab iolab` and whatever
//! else starts a benchmark program can start iolab: `iolab --benchmark_filter=…`, or with axes of
//! one's own, `iolab read big.iso --benchmark_out=out.json`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::benchmark_filter::BenchmarkFilter;
use super::commands::{Cli, Command};
use super::measure::Measure;
use super::terminal_io::{self, Ending, Exit, Failure};
use super::verbosity::Talk;
use iolab_model::plan::Plan;
use iolab_model::result::Document;
use iolab_model::spec;
use iolab_report::{self as report, BenchmarkRows, TextStyle, benchmark_name, write_benchmarks};

const PREFIX: &str = "--benchmark_";

/// Why a cell is not measured.
const UNWANTED: &str = "not wanted by --benchmark_filter";

/// Rounds where none are asked for: enough for upstream's U test.
const REPETITIONS: u32 = 10;

/// What is measured where no workload is named: no file of the person's, a few seconds.
const SUITE: &[&[&str]] = &[
    &["syscall", "--operation", "getppid,lseek,read,pread"],
    &["read", "--file-size", "1Mi", "--block", "4Ki,64Ki", "--method", "read,pread,mmap"],
];

/// Flags that change how upstream's library measures or colours; they are accepted and do nothing.
const IGNORED: &[&str] = &[
    "color",
    "context",
    "counters_tabular",
    "display_aggregates_only",
    "enable_random_interleaving",
    "min_warmup_time",
    "perf_counters",
    "time_unit",
];

/// What the flags ask for.
#[derive(Debug)]
struct Flags {
    list: bool,
    filter: BenchmarkFilter,
    repetitions: u32,
    /// Seconds that a benchmark runs for in each repetition.
    min_time_s: Option<f64>,
    out: Option<PathBuf>,
    out_format: String,
    format: String,
    rows: BenchmarkRows,
}

/// Whether the program was started as a benchmark program.
pub fn wanted() -> bool {
    std::env::args_os().skip(1).any(|a| a.to_string_lossy().starts_with(PREFIX))
}

/// Does what the flags ask for.
///
/// # Errors
/// A flag that is not known or not understood, or what ended a measurement.
pub fn run() -> Ending {
    let (flags, rest): (Vec<OsString>, Vec<OsString>) =
        std::env::args_os().skip(1).partition(|a| a.to_string_lossy().starts_with(PREFIX));
    let flags = read(&flags)?;
    let commands = match rest.is_empty() {
        true => SUITE.iter().map(|words| words.iter().map(OsString::from).collect()).collect(),
        false => vec![rest],
    };
    let mut measured = Vec::new();
    let mut names = Vec::new();
    let talk = Talk { quiet: !flags.list, ..Talk::default() };
    for command in commands {
        let Some(measure) = measure_of(command)? else { return Ok(Exit::Done) };
        let alter = |plan: &mut Plan| narrow(plan, &flags);
        let prepared = measure.planned(&alter)?;
        let plan = &prepared.plan;
        names.extend(
            plan.cells
                .iter()
                .filter(|cell| cell.skip.is_none())
                .map(|cell| benchmark_name(&plan.workload, &cell.levels)),
        );
        if !flags.list && plan.cells.iter().any(|cell| cell.skip.is_none()) {
            let mut document = measure.measured(&prepared, &talk)?;
            document.cells.retain(|cell| cell.reason.as_deref() != Some(UNWANTED));
            measured.push(document);
        }
    }
    if flags.list {
        return terminal_io::data(|out| names.iter().try_for_each(|name| writeln!(out, "{name}")));
    }
    if names.is_empty() {
        return Err(Failure::usage("no benchmark matches --benchmark_filter"));
    }
    if let Some(path) = &flags.out {
        write_file(path, &flags, &measured)?;
    }
    terminal_io::data(|out| show(&flags.format, &flags, &measured, &talk.look(), out))
}

/// The measurement that words ask for; nothing where they ask for help.
fn measure_of(words: Vec<OsString>) -> Result<Option<Measure>, Failure> {
    let all = std::iter::once(OsString::from("iolab")).chain(words);
    match Cli::try_parse_from(all).map(|cli| cli.command) {
        Ok(Command::Measure(measure)) => Ok(Some(measure)),
        Ok(_) => Err(Failure::usage(
            "--benchmark_ flags go with a command that measures, as in iolab read big.iso --benchmark_out=out.json",
        )),
        Err(error) => super::commands::parse_failure(error).map(|_| None),
    }
}

/// Keeps the cells that the filter wants, and sets rounds and budget.
fn narrow(plan: &mut Plan, flags: &Flags) {
    let workload = plan.workload.clone();
    plan.keep(|cell| flags.filter.wants(&benchmark_name(&workload, &cell.levels)), UNWANTED);
    plan.protocol.rounds = Some(flags.repetitions);
    plan.eliminate = false;
    if let Some(seconds) = flags.min_time_s {
        let cells = plan.cells.iter().filter(|c| c.skip.is_none()).count() + 1;
        let trials = cells as f64 * f64::from(flags.repetitions + 4);
        // At least so long: it never takes time away.
        let least = (seconds * trials * 1e9).min(3600e9) as u64;
        plan.protocol.budget_ns = plan.protocol.budget_ns.max(least);
    }
}

fn write_file(path: &Path, flags: &Flags, measured: &[Document]) -> Result<(), Failure> {
    let fill = |out: &mut dyn std::io::Write| {
        show(&flags.out_format, flags, measured, &TextStyle::default(), out)
    };
    report::export_with(path, &fill).map_err(Failure::refused)
}

fn show(
    format: &str,
    flags: &Flags,
    measured: &[Document],
    look: &TextStyle,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    match format {
        "json" => write_benchmarks(measured, flags.rows, out),
        "csv" => measured.iter().try_for_each(|d| report::write("csv", d, look, out)),
        _ => measured.iter().try_for_each(|d| report::write("table", d, look, out)),
    }
}

fn read(arguments: &[OsString]) -> Result<Flags, Failure> {
    let mut flags = Flags {
        list: false,
        filter: BenchmarkFilter::default(),
        repetitions: REPETITIONS,
        min_time_s: None,
        out: None,
        out_format: "json".to_owned(),
        format: "console".to_owned(),
        rows: BenchmarkRows::All,
    };
    for argument in arguments {
        let text = argument.to_string_lossy().into_owned();
        let (name, value) =
            text[PREFIX.len()..].split_once('=').unwrap_or((&text[PREFIX.len()..], "true"));
        set(&mut flags, name, value)?;
    }
    Ok(flags)
}

fn set(flags: &mut Flags, name: &str, value: &str) -> Result<(), Failure> {
    let wrong = |usual: &str| {
        Failure::usage(format!("{PREFIX}{name}={}: write {usual}", value.escape_debug()))
    };
    let format = || match value {
        "json" | "console" | "csv" => Ok(value.to_owned()),
        _ => Err(wrong("console, json or csv")),
    };
    match name {
        "list_tests" => flags.list = truth(value).ok_or_else(|| wrong("true or false"))?,
        "filter" => {
            flags.filter = BenchmarkFilter::parse(value)?;
        }
        "repetitions" => {
            let number = spec::parse_rounds(value).map_err(|_| wrong("a whole number from 1 on"));
            flags.repetitions = number?;
        }
        // 0.5, 0.5s; 100x asks for iterations, which the calibration finds here.
        "min_time" => {
            let seconds = value.strip_suffix('s').unwrap_or(value);
            match (seconds.parse::<f64>(), value.strip_suffix('x')) {
                (Ok(s), _) if s.is_finite() && s >= 0.0 => flags.min_time_s = Some(s),
                (_, Some(times)) if times.parse::<u64>().is_ok() => {}
                _ => return Err(wrong("seconds, as in 0.5s")),
            }
        }
        "out" if value.is_empty() => {}
        "out" => flags.out = Some(PathBuf::from(value)),
        "out_format" => flags.out_format = format()?,
        "format" => flags.format = format()?,
        "report_aggregates_only" => {
            let only = truth(value).ok_or_else(|| wrong("true or false"))?;
            flags.rows = if only { BenchmarkRows::Aggregates } else { BenchmarkRows::All };
        }
        _ if IGNORED.contains(&name) => {}
        _ => {
            return Err(Failure::usage(format!(
                "{PREFIX}{}: no such flag; there are {PREFIX}list_tests, filter, repetitions, min_time, out, out_format, format, report_aggregates_only",
                name.escape_debug()
            )));
        }
    }
    Ok(())
}

fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "y" | "on" | "t" => Some(true),
        "false" | "0" | "no" | "n" | "off" | "f" => Some(false),
        _ => None,
    }
}
