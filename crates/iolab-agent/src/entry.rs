//! Where the process `iolab agent` begins.

use std::process::ExitCode;

use super::guest::{is_guest, serve_guest};
use super::serve::serve_streams;
use iolab_io::sys::process::{FROM_OUTSIDE, ignore, report_file_limit_as_error};

/// The process `iolab agent`: frames on standard input and output. Ends with 0 after `End` or when
/// the controller has gone, with 1 where a frame cannot be read.
pub fn serve() -> ExitCode {
    if is_guest() {
        return serve_guest();
    }
    ignore(&FROM_OUTSIDE);
    report_file_limit_as_error();
    let stdio = rustix::stdio::stdin()
        .try_clone_to_owned()
        .and_then(|input| Ok((input, rustix::stdio::stdout().try_clone_to_owned()?)));
    match stdio.and_then(|(input, output)| serve_streams(input.into(), output.into())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("iolab agent: {error}; it is started by iolab itself");
            ExitCode::FAILURE
        }
    }
}
