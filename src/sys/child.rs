//! Children that do not outlive their parent, and a try in a child so that this process stays as
//! it is.

use std::io;
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
    use super::try_in_child;

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
