//! Short calls, with a tracer and without in turn: what tracing adds to one.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::record::{Stop, Strace};
use iolab_model::result::Fault;

/// What a program that makes short calls is asked for: the word of iolab's own command.
pub const WORD: &str = "short-calls";

/// Bytes that each of them reads.
pub const BYTES: u64 = 1;

/// Reads a byte of a file that lies in memory, so often: what a call took on average, in nanoseconds.
///
/// # Errors
/// The file of the running program cannot be read.
pub fn short_reads(calls: u32) -> io::Result<u64> {
    let file = File::open(std::env::current_exe()?)?;
    let mut byte = [0; BYTES as usize];
    // The first one may fetch the block.
    file.read_exact_at(&mut byte, 0)?;
    let began = Instant::now();
    for _ in 0..calls {
        file.read_exact_at(&mut byte, 0)?;
    }
    let all = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(all / u64::from(calls.max(1)))
}

/// A program of short calls without the tracer: what it says a call took.
///
/// # Errors
/// It cannot be started, or says nothing.
pub fn without_tracer(calls: u32) -> Result<u64, Fault> {
    let words = words(calls)?;
    let output = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Fault::of("start a program of short calls", &error))?;
    said(&String::from_utf8_lossy(&output.stdout))
}

/// The same under the tracer: what it says a call took, and the log.
///
/// # Errors
/// It cannot be traced.
pub fn with_tracer(
    strace: &Strace,
    calls: u32,
    traced: &[&str],
    directory: &Path,
) -> Result<(u64, File), Fault> {
    let mut child = strace.start_with(&words(calls)?, traced, directory, |command| {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    })?;
    let text = child.said().map_err(|error| Fault::of("read from strace", &error))?;
    let (_, log) = child.wait(&mut || Stop::GoOn)?;
    Ok((said(&text)?, log))
}

fn words(calls: u32) -> Result<Vec<OsString>, Fault> {
    let own = std::env::current_exe().map_err(|error| Fault::of("find the own program", &error))?;
    Ok(vec![own.into_os_string(), WORD.into(), calls.to_string().into()])
}

fn said(text: &str) -> Result<u64, Fault> {
    let fault = || Fault::new("measure the tracer", "the program of short calls said nothing");
    text.trim().parse().map_err(|_| fault())
}
