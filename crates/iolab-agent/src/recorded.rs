//! Traces of the person's: what a replay of one needs, and what it is.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use iolab_io::host;
use iolab_io::workload::replay::lacking;
use iolab_model::catalog::path_to_text;
use iolab_model::plan::TraceFacts;
use iolab_model::result::Fault;
use iolab_model::tree::RecordedFiles;
use iolab_trace::replay::Replay;
use iolab_trace::{Profile, Trace};
use serde_json::{Value, json};

/// Bytes of the sum that a trace ends in.
const SUM_BYTES: u64 = 8;

/// Reads a trace; its digest too.
///
/// # Errors
/// In one line, why it cannot be used and what to do.
pub fn read(path: &Path) -> Result<(Trace, String), String> {
    let name = path_to_text(path);
    // A FIFO or a device is never opened.
    let bytes = host::file_facts(path)?;
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let mut file = File::open(path).map_err(failed)?;
    let trace = iolab_trace::read(&file)
        .map_err(|error| format!("{name}: {error}; iolab record -- COMMAND makes a trace"))?;
    let mut sum = [0; SUM_BYTES as usize];
    file.seek(SeekFrom::Start(bytes.saturating_sub(SUM_BYTES))).map_err(failed)?;
    file.read_exact(&mut sum).map_err(failed)?;
    Ok((trace, format!("{bytes}-{:016x}", u64::from_le_bytes(sum))))
}

/// What the plan must know of a trace; `with_data`: what of its files' contents is there, too.
///
/// # Errors
/// As [`read`], and where nothing of it can be done again.
pub fn facts(path: &Path, with_data: bool) -> Result<TraceFacts, String> {
    let (trace, digest) = read(path)?;
    let replay = Replay::of(&trace);
    let name = path_to_text(path);
    let lacking = with_data.then(|| lacking(&trace, &replay).words()).flatten();
    let notes: Vec<String> = replay.coverage.all_words().into_iter().chain(lacking).collect();
    if replay.coverage.lost().0 == replay.coverage.calls {
        return Err(format!("{name}: no call of it on a file can be made again; record it anew"));
    }
    Ok(TraceFacts {
        bytes: replay.file_bytes(),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
        files: RecordedFiles {
            trace: name,
            digest,
            files: replay.files.len() as u64,
            space_bytes: replay.space_bytes,
            written_bytes: replay.written_bytes,
            with_data: false,
        },
    })
}

/// What of the contents of its files is there to be copied, as a record says it.
fn data(trace: &Trace, replay: &Replay) -> Value {
    let seen = lacking(trace, replay);
    json!({
        "files": seen.files,
        "bytes": seen.bytes,
        "lacking_files": seen.lacking_files,
        "lacking_bytes": seen.lacking_bytes,
        "lacking": seen.words(),
        "state": format!("{:016x}", seen.state),
    })
}

/// The trace that was planned with.
///
/// # Errors
/// It cannot be read, or is another one.
pub fn open(path: &Path, digest: &str) -> Result<Trace, Fault> {
    let doing = || format!("open {}", path_to_text(path));
    let (trace, found) = read(path).map_err(|cause| Fault::new(doing(), cause))?;
    match found == digest {
        true => Ok(trace),
        false => Err(Fault::new(doing(), "another trace has taken its name; begin a new run")),
    }
}

/// What a record says of a trace: which it is, what of it is replayed, and what the program took
/// by itself; `with_data`: what of its files' contents is there, too. Nothing where it cannot be read.
pub fn record(path: &Path, with_data: bool) -> Option<Value> {
    let (trace, digest) = read(path).ok()?;
    let replay = Replay::of(&trace);
    let coverage = &replay.coverage;
    let (lost_calls, lost_bytes) = coverage.lost();
    let whole = Profile::of(&trace).whole;
    let run = trace.middle_run();
    Some(json!({
        "digest": digest,
        "calls": coverage.calls,
        "bytes": coverage.bytes,
        "lost_calls": lost_calls,
        "lost_bytes": lost_bytes,
        "left_out": coverage.words(),
        "program_ns": run.map(|run| run.wall_ns),
        "program_file_ns": run.and(whole.file_ns),
        "data": with_data.then(|| data(&trace, &replay)),
    }))
}
