//! Where the process `iolab agent` begins.

use std::process::ExitCode;
use std::time::Duration;

use super::guest::{is_guest, serve_guest};
use super::serve::serve_streams;
use iolab_io::sys::process::{FROM_OUTSIDE, ignore, report_file_limit_as_error};

/// The process `iolab agent [SECONDS]`: frames on standard input and output. Ends with 0 after `End`,
/// when the controller has gone or, where that is limited, was silent for so many seconds; with 1
/// where a frame cannot be read.
pub fn serve() -> ExitCode {
    if is_guest() {
        return serve_guest();
    }
    ignore(&FROM_OUTSIDE);
    report_file_limit_as_error();
    let silence = std::env::args_os().nth(2).and_then(|seconds| seconds.to_str()?.parse().ok());
    let silence = silence.map(Duration::from_secs);
    let stdio = rustix::stdio::stdin()
        .try_clone_to_owned()
        .and_then(|input| Ok((input, rustix::stdio::stdout().try_clone_to_owned()?)));
    match stdio.and_then(|(input, output)| serve_streams(input.into(), output.into(), silence)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("iolab agent: {error}; it is started by iolab itself");
            ExitCode::FAILURE
        }
    }
}
