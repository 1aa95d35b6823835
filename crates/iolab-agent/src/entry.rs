//! Where the process `iolab agent` begins.

use std::process::ExitCode;
use std::time::Duration;

use super::guest::{is_guest, serve_guest};
use super::rank::Rank;
use super::serve::serve_streams;
use iolab_io::sys::process::{FROM_OUTSIDE, ignore, report_file_limit_as_error};

/// The process `iolab agent [SECONDS [RANK LINE]]`: frames on standard input and output. Ends with 0 after `End`,
/// when the controller has gone or, where that is limited, was silent for so many seconds; with 1
/// where a frame cannot be read. No SECONDS, or 0: it may be silent for ever. RANK and LINE are those of
/// a rank of an MPI job: its number, and the descriptor of its start line.
pub fn serve() -> ExitCode {
    if is_guest() {
        return serve_guest();
    }
    ignore(&FROM_OUTSIDE);
    report_file_limit_as_error();
    let number = |at| std::env::args_os().nth(at).and_then(|word| word.to_str()?.parse().ok());
    let silence = number(2).filter(|seconds| *seconds > 0).map(Duration::from_secs);
    let rank = number(3).zip(number(4));
    let rank = rank.map(|(rank, line)| Rank::of(rank, i32::try_from(line).unwrap_or(-1)));
    let stdio = rustix::stdio::stdin()
        .try_clone_to_owned()
        .and_then(|input| Ok((input, rustix::stdio::stdout().try_clone_to_owned()?)));
    let served = rank.transpose().and_then(|rank| {
        let (input, output) = stdio?;
        serve_streams(input.into(), output.into(), silence, rank.as_ref())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("iolab agent: {error}; it is started by iolab itself");
            ExitCode::FAILURE
        }
    }
}
