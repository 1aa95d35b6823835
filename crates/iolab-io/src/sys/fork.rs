//! One piece of work in a forked child: its result over a pipe, a time limit, and an end that is
//! known whatever happens to it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, kill_process, set_parent_process_death_signal, setrlimit,
};

use super::process::{FROM_OUTSIDE, restore};

/// How long a killed child may take to die (a process in uninterruptible sleep cannot).
const DEATH_GRACE: Duration = Duration::from_secs(5);
/// Between two looks whether a child has ended: its pipe is closed microseconds before.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
/// Exit status of a child whose work panicked.
const PANICKED: i32 = 101;

/// How a child ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// By itself; what it wrote.
    Done(Vec<u8>),
    /// With this exit status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed at its limit.
    Limit,
    /// It was killed because the other side of `watch` went away.
    Deserted,
    /// It was killed because the guard said so.
    Stopped,
}

/// What may end a child before its limit.
#[derive(Default)]
pub struct Watch<'a> {
    /// Closed at its other end: nobody waits for the child any more.
    pub alive: Option<BorrowedFd<'a>>,
    /// Asked many times a second; false: the child must end.
    pub guard: Option<&'a dyn Fn() -> bool>,
}

/// How often a guard is asked: a disk that takes 5 GB/s loses 250 MB meanwhile, a quarter of what is
/// kept free on a large one.
const GUARD_EVERY: Duration = Duration::from_millis(50);

/// Runs `work` in a forked child and gives back the bytes it returns. The child is killed after
/// `limit`, or as soon as the other end of `watch` is closed. Call it only while this process has
/// one thread: a fork copies no other. Errors: no pipe or no process could be made.
pub fn run_forked(
    work: impl FnOnce() -> Vec<u8>,
    limit: Duration,
    watch: Option<BorrowedFd<'_>>,
) -> Result<End, Errno> {
    run_watched(work, limit, &Watch { alive: watch, guard: None })
}

/// The same with everything that may end it.
pub fn run_watched(
    work: impl FnOnce() -> Vec<u8>,
    limit: Duration,
    watch: &Watch<'_>,
) -> Result<End, Errno> {
    let (from_child, to_parent) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let parent = rustix::process::getpid();
    let started = Instant::now();
    // SAFETY: this process has one thread (see above), so the child may allocate and lock.
    match unsafe { libc::fork() } {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
        0 => {
            drop(from_child);
            child(work, parent, to_parent)
        }
        pid => {
            drop(to_parent);
            match Pid::from_raw(pid) {
                Some(pid) => Ok(follow(pid, from_child, started, limit, watch)),
                None => Err(Errno::CHILD),
            }
        }
    }
}

fn child(work: impl FnOnce() -> Vec<u8>, parent: Pid, out: OwnedFd) -> ! {
    // A crash is a result here; a core file of the cache would only cost time and space.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    restore(&FROM_OUTSIDE);
    let orphaned = rustix::process::getppid() != Some(parent);
    let status = match catch_unwind(AssertUnwindSafe(|| if orphaned { Vec::new() } else { work() }))
    {
        Ok(bytes) => i32::from(File::from(out).write_all(&bytes).is_err()),
        Err(_) => PANICKED,
    };
    // SAFETY: ends the child at once; nothing of the parent's (buffers, exit hooks) must run here.
    unsafe { libc::_exit(status) }
}

/// In a child: ends it at once, whatever its threads are at.
pub fn leave(status: i32) -> ! {
    // SAFETY: ends the process without running anything of the parent's, as [`child`] does.
    unsafe { libc::_exit(status) }
}

/// Reads until the child's end of the pipe is closed, then reaps it.
fn follow(
    pid: Pid,
    from_child: OwnedFd,
    started: Instant,
    limit: Duration,
    watch: &Watch<'_>,
) -> End {
    let mut output = Vec::new();
    let mut pipe = File::from(from_child);
    let killed = loop {
        let left = limit.saturating_sub(started.elapsed());
        let guard = watch.guard.filter(|_| left > GUARD_EVERY);
        match wait_for(&pipe, watch.alive, if guard.is_some() { GUARD_EVERY } else { left }) {
            Woken::Limit if guard.is_some_and(|holds| !holds()) => break Some(End::Stopped),
            Woken::Limit if guard.is_some() => {}
            Woken::Pipe => match read_some(&mut pipe, &mut output) {
                Ok(0) => break None,
                Ok(_) => {}
                Err(_) => break Some(End::Limit),
            },
            Woken::Deserted => break Some(End::Deserted),
            Woken::Limit => break Some(End::Limit),
            Woken::Again => {}
        }
    };
    let Some(reason) = killed else {
        // What it wrote is whole, but its end may wait on a file system that hangs.
        let left = limit.saturating_sub(started.elapsed()).max(DEATH_GRACE);
        return reap(pid, output, left);
    };
    let _ = kill_process(pid, Signal::KILL);
    let dying = Instant::now();
    while dying.elapsed() < DEATH_GRACE {
        if !matches!(wait_for(&pipe, None, DEATH_GRACE), Woken::Pipe) {
            continue;
        }
        if matches!(read_some(&mut pipe, &mut output), Ok(0) | Err(_)) {
            let _ = reap(pid, Vec::new(), DEATH_GRACE.saturating_sub(dying.elapsed()));
            break;
        }
    }
    reason
}

fn read_some(pipe: &mut File, output: &mut Vec<u8>) -> std::io::Result<usize> {
    let mut buffer = [0; 16 * 1024];
    let n = pipe.read(&mut buffer)?;
    output.extend_from_slice(&buffer[..n]);
    Ok(n)
}

enum Woken {
    Pipe,
    Deserted,
    Limit,
    Again,
}

fn wait_for(pipe: &File, watch: Option<BorrowedFd<'_>>, left: Duration) -> Woken {
    let mut fds = vec![PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)];
    // No events asked: only the hang-up is of interest, a waiting request is not.
    fds.extend(watch.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::empty())));
    let timeout = Timespec::try_from(left).ok();
    match poll(&mut fds, timeout.as_ref()) {
        Ok(0) if left.is_zero() || timeout.is_some() => Woken::Limit,
        Ok(_) if !fds[0].revents().is_empty() => Woken::Pipe,
        Ok(_) if fds.get(1).is_some_and(|fd| !fd.revents().is_empty()) => Woken::Deserted,
        Ok(_) | Err(Errno::INTR) => Woken::Again,
        Err(_) => Woken::Limit,
    }
}

/// Takes note of its end. A process in uninterruptible sleep has none: it is left behind after
/// `longest`, and its successor has its own.
fn reap(pid: Pid, output: Vec<u8>, longest: Duration) -> End {
    let mut status = 0;
    let started = Instant::now();
    loop {
        // SAFETY: `status` is a live, writable int; no rusage is asked for.
        let ended = unsafe {
            libc::wait4(pid.as_raw_pid(), &mut status, libc::WNOHANG, std::ptr::null_mut())
        };
        match ended {
            0 if started.elapsed() >= longest => return End::Limit,
            0 => std::thread::sleep(LOOK_AGAIN),
            -1 if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted => {
                return End::Exit(-1);
            }
            -1 => {}
            _ => break,
        }
    }
    if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else if libc::WEXITSTATUS(status) == 0 {
        End::Done(output)
    } else {
        End::Exit(libc::WEXITSTATUS(status))
    }
}
