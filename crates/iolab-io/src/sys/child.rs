//! Children that do not outlive their parent, and a try in a child so that this process stays as
//! it is.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Lets the kernel kill the command with `SIGKILL` when the *thread* that starts it ends, so that
/// a killed iolab leaves no tool running (prctl(2), PR_SET_PDEATHSIG).
pub fn dies_with_us(command: &mut Command) -> &mut Command {
    let parent = rustix::process::getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the line above; then nobody would tell us.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: two system calls without allocation or locks between fork and exec.
    unsafe { command.pre_exec(prepare) }
}

/// Runs `attempt` in a forked child and gives its error back. It may change the child as it likes:
/// namespaces, mounts. It must not depend on other threads or on locks they may hold.
pub fn try_in_child(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: the child runs `attempt` and leaves by _exit, so that no destructor and no exit
    // handler of the parent runs twice. The C libraries keep their allocator usable after a fork.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt)) {
                Ok(Ok(())) => 0,
                // Errnos in use are below 134; 255 stands for what has none.
                Ok(Err(error)) => error.raw_os_error().unwrap_or(255),
                Err(_) => 255,
            };
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(code) }
        }
        pid => wait_for(pid),
    }
}

/// A process that acts when this one has ended, however it ended.
#[derive(Debug)]
pub struct CleanupWatchdog {
    /// Closed by the kernel with the last process that has it: this one and its forked children.
    alive: OwnedFd,
}

impl CleanupWatchdog {
    /// There is nothing left to do: the process ends without acting.
    pub fn dismiss(self) {
        let _ = rustix::io::write(&self.alive, &[0]);
    }
}

/// Starts a process that runs `act` once this process and all that it forked have ended, or the
/// [`CleanupWatchdog`] is dropped. It is nobody's child, has a session of its own and no descriptor of ours,
/// so that it keeps nothing alive. Start it before namespaces are entered.
pub fn leave_heir(act: impl FnOnce()) -> io::Result<CleanupWatchdog> {
    let (end, alive) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    try_in_child(|| {
        rustix::process::setsid()?;
        // SAFETY: as in `try_in_child`; the child of the child leaves by _exit as well.
        match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => {}
            _ => return Ok(()),
        }
        close_all_but(end.as_raw_fd());
        let mut byte = [0];
        let said = loop {
            match rustix::io::read(&end, &mut byte) {
                Err(rustix::io::Errno::INTR) => {}
                said => break said,
            }
        };
        // A byte is a farewell.
        if said != Ok(1) {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
        }
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(0) }
    })?;
    Ok(CleanupWatchdog { alive })
}

fn close_all_but(keep: RawFd) {
    let keep = keep as libc::c_uint;
    for (first, last) in [(0, keep.wrapping_sub(1)), (keep + 1, libc::c_uint::MAX)] {
        if first <= last && !(first == 0 && keep == 0) {
            // SAFETY: this process uses no descriptor but `keep` from here on; it never returns to
            // code that owns another one.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

fn wait_for(pid: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a live integer; `pid` is our own child.
        let rc = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        if rc == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if !libc::WIFEXITED(status) {
        return Err(io::Error::other("the attempt was killed"));
    }
    match libc::WEXITSTATUS(status) {
        0 => Ok(()),
        255 => Err(io::Error::other("the attempt failed")),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::{leave_heir, try_in_child};

    #[test]
    fn an_heir_acts_when_its_process_was_killed() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let killed = try_in_child(|| {
            let _heir = leave_heir(|| drop(std::fs::write(&mark, "acted")))?;
            assert!(!mark.exists());
            Ok(crate::sys::testing::die()?)
        });
        assert!(killed.is_err());
        for _ in 0..1000 {
            if mark.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("it did not act");
    }

    #[test]
    fn a_childs_error_comes_back_and_its_changes_do_not() {
        assert!(try_in_child(|| Ok(())).is_ok());
        let error = try_in_child(|| Err(std::io::Error::from_raw_os_error(28))).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(28));
        let before = std::env::current_dir().unwrap();
        try_in_child(|| std::env::set_current_dir("/")).unwrap();
        assert_eq!(std::env::current_dir().unwrap(), before);
        assert!(try_in_child(|| panic!("quiet")).is_err());
    }
}
