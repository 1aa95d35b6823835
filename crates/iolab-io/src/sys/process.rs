//! Signals: which are ignored, and what they are called; descriptors: whose they are, how many.

use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::UnshareFlags;

/// Signals from a terminal or a service manager: the controller decides what they mean.
pub const FROM_OUTSIDE: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Ignores these signals; children inherit it.
pub fn ignore(signals: &[i32]) {
    for signal in signals {
        // SAFETY: SIG_IGN runs no code of ours.
        unsafe { libc::signal(*signal, libc::SIG_IGN) };
    }
}

/// Gives these signals back their default effect.
pub fn restore(signals: &[i32]) {
    for signal in signals {
        // SAFETY: SIG_DFL runs no code of ours.
        unsafe { libc::signal(*signal, libc::SIG_DFL) };
    }
}

/// The descriptor of this number, which whoever started this process has left open for it; from now
/// on it is nobody's after that.
///
/// # Errors
/// There is none.
pub fn inherited(number: i32) -> std::io::Result<OwnedFd> {
    if number < 3 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the caller was told the number by its parent, and takes it once; where nothing is open
    // under it, the next call says so and the descriptor is forgotten.
    let inherited = unsafe { OwnedFd::from_raw_fd(number) };
    match rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::CLOEXEC) {
        Ok(()) => Ok(inherited),
        Err(errno) => {
            let _ = inherited.into_raw_fd();
            Err(errno.into())
        }
    }
}

/// A write past RLIMIT_FSIZE is an error (EFBIG) from now on, not the end of the process.
pub fn report_file_limit_as_error() {
    ignore(&[libc::SIGXFSZ]);
}

/// Gives the calling thread a table of descriptors of its own, with copies of those that are open
/// (unshare(2)). A descriptor that it opens afterwards must be closed by this thread: elsewhere its
/// number means another file or none. In a table that is shared every look-up is atomic
/// (fdget in the kernel's fs/file.c).
///
/// # Errors
/// `ENOMEM`, or what a system-call filter answers.
pub fn own_descriptors() -> Result<(), Errno> {
    // SAFETY: unsharing the table changes what numbers mean in this thread from now on; the
    // callers hand no descriptor that they open afterwards to another thread.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }
}

/// So this process ends once the time of [`end_after`] has passed.
pub const OUT_OF_TIME: i32 = libc::SIGALRM;

/// Ends this process by [`OUT_OF_TIME`] after so long, to the second above; `None`: not any more.
pub fn end_after(limit: Option<Duration>) {
    let seconds = limit.map_or(0, |limit| limit.as_secs().saturating_add(1));
    // SAFETY: sets a timer of the kernel's; its signal has its default effect here.
    unsafe { libc::alarm(u32::try_from(seconds).unwrap_or(u32::MAX)) };
}

/// Allows as many open files as an administrator permits this process.
pub fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where it fails the old limit stays, and who meets it says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The name of a signal: `SIGKILL`; `signal 63` for one without a name here.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{OUT_OF_TIME, end_after, signal_name};
    use crate::sys::fork::{End, run_forked};

    /// A rank waits for others without a limit of its own, and from the barrier on it has one.
    #[test]
    fn a_process_that_has_a_limit_ends_by_it_and_one_that_gave_it_back_does_not() {
        let sleeping = |limit: Option<Duration>| {
            let work = move || {
                end_after(Some(Duration::ZERO));
                if limit.is_none() {
                    end_after(None);
                }
                std::thread::sleep(Duration::from_millis(1500));
                vec![1]
            };
            run_forked(work, Duration::from_secs(60), None).unwrap()
        };
        assert_eq!(sleeping(Some(Duration::ZERO)), End::Signal(OUT_OF_TIME));
        assert_eq!(sleeping(None), End::Done(vec![1]));
    }

    #[test]
    fn signals_have_their_names() {
        assert_eq!(signal_name(libc::SIGKILL), "SIGKILL");
        assert_eq!(signal_name(libc::SIGBUS), "SIGBUS");
        assert_eq!(signal_name(63), "signal 63");
    }
}
