//! `iolab record -- COMMAND…`: what a program does with files, as a trace.

pub(super) mod calibrate;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};

use super::signals::Signals;
use super::terminal_io::{Ending, Exit, Failure, say};
use super::trace_file;
use super::verbosity::Talk;
use iolab_io::sys::command::Status;
use iolab_io::tool::record::{Looked, Stop, Strace, forbidden, look, untraced};
use iolab_model::catalog::{count_text, path_to_text, so_many};
use iolab_run::StopSignal;
use iolab_trace::{FileKind, Limits, Run, Trace, TraceError, learn_memory};

/// So long a command may take to end when it was asked to; then it is left to run.
const GRACE: Duration = Duration::from_secs(3);
/// More runs than these tell nothing more of a program.
const MOST_RUNS: u32 = 100;

/// Record what a program does with files, for iolab profile
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab record -- dd if=in of=out bs=1k\n  iolab record --runs 3 -- python3 report.py    and how long it takes untraced\n  iolab record --output build.trace -- make -j4\n\nThe command runs under strace, as it stands: what it prints and writes is its\nown. Nothing that files hold is recorded; names of files and the command line\nare. Ctrl-C is the command's; a second one asks it to end and, where it does\nnot, leaves it to run. What is recorded is kept."
)]
pub struct Record {
    /// The file of the trace [default: COMMAND.trace; never one that is there]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Run the command so many times more, without strace: its own time, for the profile; and once more
    /// with it, for which reads bring new memory into use. What it prints then is thrown away; it must be
    /// one that can be run again
    #[arg(long, value_name = "N", default_value_t = 0)]
    runs: u32,
    /// The command and its arguments, after --
    #[arg(value_name = "COMMAND", required = true, last = true, value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

impl Record {
    /// A command, as `iolab profile -- COMMAND…` has it.
    pub(super) fn of(command: Vec<OsString>, runs: u32) -> Record {
        Record { output: None, runs, command }
    }

    /// Runs the command and writes its trace.
    ///
    /// # Errors
    /// strace is missing or forbidden, there is no such command, or the trace cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        self.recorded(talk).map(|(_, exit)| exit)
    }

    /// As [`Record::run`], with the file that it wrote.
    pub(super) fn recorded(self, talk: &Talk) -> Result<(PathBuf, Exit), Failure> {
        if self.runs > MOST_RUNS {
            return Err(Failure::usage(format!("--runs {}: the most is {MOST_RUNS}", self.runs)));
        }
        if let Some(path) = &self.output {
            trace_file::is_free(path)?;
        }
        let strace = Strace::find().map_err(Failure::refused)?;
        // Nobody but the command itself may end it by Ctrl-C: the trace is still to be written.
        let signals = Signals::listen(true).map_err(Failure::internal)?;
        let beside = self.output.as_deref().and_then(Path::parent);
        let beside = beside.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let tracer_cost = calibrate::tracer_cost(&strace, beside);
        if signals.wanted() != StopSignal::None {
            return Err(Failure::said(Exit::Interrupted));
        }
        let traced = strace.start(&self.command, iolab_trace::CALLS, beside);
        let traced = traced.map_err(Failure::usage)?;
        let (status, log) =
            traced.wait(&mut until_asked_to_end(&signals)).map_err(Failure::internal)?;
        let stopped = signals.wanted() != StopSignal::None;
        let trace = iolab_trace::parse(log, &Limits::default());
        let mut trace = trace.map_err(|error| unrecorded(&error, status))?;
        trace.command = self.command.iter().map(|word| word.as_bytes().to_vec()).collect();
        trace.tracer = strace.describe();
        trace.tracer_cost = tracer_cost;
        let directory = std::env::current_dir().unwrap_or_default();
        trace.directory = directory.into_os_string().into_encoded_bytes();
        look_up(&mut trace);
        if !stopped {
            self.time(&mut trace, status, &signals);
        }
        if !trace.runs.is_empty() && signals.wanted() == StopSignal::None {
            self.learn_memory(&mut trace, &strace, beside, &signals);
        }
        let stem = self.command.first().map(|word| trace_file::stem(word.as_bytes()));
        let path = trace_file::save(&trace, self.output.as_deref(), &stem.unwrap_or_default())?;
        self.tell(&trace, status, stopped, &path, talk);
        Ok((path, if stopped { Exit::Interrupted } else { Exit::Done }))
    }

    /// The command's own time, where it was asked for.
    fn time(&self, trace: &mut Trace, status: ExitStatus, signals: &Signals) {
        for _ in 0..self.runs {
            let (ended, wall_ns, usage) = match untraced(&self.command) {
                Ok(run) => run,
                Err(fault) => return say(&format!("iolab: not timed without strace: {fault}")),
            };
            if signals.wanted() != StopSignal::None {
                return say("no further runs without strace; those that ended are kept");
            }
            let as_before = match ended {
                Status::Exit(code) => status.code() == Some(code),
                Status::Signal(signal) => status.signal() == Some(signal),
            };
            if !as_before {
                trace.runs.clear();
                return say(
                    "iolab: without strace the command ended otherwise, so its own time is not \
                     known: can it be run twice?",
                );
            }
            let (user_ns, system_ns) = (usage.user_ns, usage.system_ns);
            trace.runs.push(Run { wall_ns, user_ns, system_ns });
        }
    }

    /// Which reads bring new memory into use, by one more run under strace. A replay without it reads into
    /// memory that is in use.
    fn learn_memory(&self, trace: &mut Trace, strace: &Strace, beside: &Path, signals: &Signals) {
        let again = || {
            let traced = strace.start_for_memory(&self.command, beside)?;
            traced.wait(&mut until_asked_to_end(signals))
        };
        let learned = match again() {
            Ok((_, log)) if signals.wanted() == StopSignal::None => {
                learn_memory(trace, log, &Limits::default()).map_err(|error| error.to_string())
            }
            Ok(_) => return,
            Err(fault) => Err(fault.to_string()),
        };
        if let Err(why) = learned {
            say(&format!("iolab: what memory its reads go to is not known: {why}"));
        }
    }

    fn tell(&self, trace: &Trace, status: ExitStatus, stopped: bool, path: &Path, talk: &Talk) {
        if !status.success() && !stopped {
            say(&format!("the command ended with {}; what it did is kept", ended(status)));
        }
        if talk.quiet {
            return;
        }
        if stopped {
            say("stopped; what was recorded is kept");
        }
        let path = path_to_text(path);
        say(&format!(
            "{} in {}; {path} has them, and iolab profile {path} what they tell",
            so_many_calls(trace),
            so_many(trace.threads.len(), "thread")
        ));
    }
}

/// What is to be done with a command under strace: what the person's signals ask for.
fn until_asked_to_end(signals: &Signals) -> impl FnMut() -> Stop {
    let mut asked_to_end: Option<Instant> = None;
    move || match (signals.wanted(), asked_to_end) {
        // The terminal has sent the first Ctrl-C to the command, too.
        (StopSignal::None | StopSignal::AtRoundEnd, _) => Stop::GoOn,
        (StopSignal::Now, None) => {
            asked_to_end = Some(Instant::now());
            Stop::Command
        }
        (StopSignal::Now, Some(asked)) if asked.elapsed() > GRACE => Stop::Strace,
        (StopSignal::Now, Some(_)) => Stop::GoOn,
    }
}

fn so_many_calls(trace: &Trace) -> String {
    // As the profile counts them.
    match trace.file_calls() {
        1 => "1 call on files".to_owned(),
        calls => format!("{} calls on files", count_text(calls as u64)),
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// strace itself has said on stderr what it met; this is what to do about it.
fn unrecorded(error: &TraceError, status: ExitStatus) -> Failure {
    match error {
        TraceError::Empty => Failure::refused(format!(
            "record with strace: nothing was recorded, and strace ended with {}; {}",
            ended(status),
            forbidden()
        )),
        error @ TraceError::TooMany { .. } => {
            Failure::refused(format!("the log of strace: {error}"))
        }
        error => Failure::internal(format!("the log of strace: {error}")),
    }
}

/// What the calls did not tell of files is looked up: their kind, and the size of those that were
/// there and that nobody asked for it.
fn look_up(trace: &mut Trace) {
    for file in &mut trace.files {
        let lacks_size = file.kind == FileKind::Regular && file.size_bytes.is_none();
        if file.kind != FileKind::Unknown && !lacks_size || file.existed == Some(false) {
            continue;
        }
        let Some((looked, bytes)) = look(&file.name) else { continue };
        let kind = match looked {
            Looked::Regular => FileKind::Regular,
            Looked::Directory => FileKind::Directory,
            Looked::Link => FileKind::Link,
            Looked::Character => FileKind::Character,
            Looked::Block => FileKind::Block,
            Looked::Pipe => FileKind::Pipe,
            Looked::Socket => FileKind::Socket,
        };
        if file.kind == FileKind::Unknown {
            file.kind = kind;
        }
        if kind == FileKind::Regular {
            file.size_bytes.get_or_insert(bytes);
        }
    }
}
