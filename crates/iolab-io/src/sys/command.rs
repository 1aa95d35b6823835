//! Commands run to their end: what each used, and nothing that they leave behind.

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper,
    setpgid, waitpid,
};

use super::child::{CleanupWatchdog, leave_heir};
use super::usage::Usage;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// Starts the command and waits for its end: how it ended, and what it and the children that it
/// waited for have used (wait4(2)).
///
/// # Errors
/// It cannot be started.
pub fn run(command: &mut Command) -> io::Result<(Status, Usage)> {
    let child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    let mut status = 0;
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both are live and writable; `pid` is our own child, waited for here only.
    while unsafe { libc::wait4(pid, &raw mut status, 0, raw.as_mut_ptr()) } == -1 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: an all-zero rusage is a valid one, and wait4 has filled it.
    let usage = Usage::from(unsafe { raw.assume_init() });
    let status = match libc::WIFSIGNALED(status) {
        true => Status::Signal(libc::WTERMSIG(status)),
        false => Status::Exit(libc::WEXITSTATUS(status)),
    };
    Ok((status, usage))
}

/// A group of processes that ends with the one that made it, however that ended.
#[derive(Debug)]
pub struct Group {
    heir: CleanupWatchdog,
}

impl Group {
    /// Makes this process the leader of a group; all it starts from now on belongs to it. Call it
    /// while there is one thread.
    ///
    /// # Errors
    /// No process can be made.
    pub fn lead() -> io::Result<Group> {
        setpgid(None, None)?;
        let group = getpid();
        let heir = leave_heir(move || {
            let _ = kill_process_group(group, Signal::KILL);
        })?;
        Ok(Group { heir })
    }

    /// All has ended well: whoever belongs to the group is left alone.
    pub fn dismiss(self) {
        self.heir.dismiss();
    }
}

/// How long killed processes may take to be gone.
const DEATH_GRACE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// While it lives, processes whose parent ends become children of this one, so that none gets
/// away (prctl(2), PR_SET_CHILD_SUBREAPER).
#[derive(Debug)]
pub struct Reaper {
    before: Vec<Pid>,
}

impl Reaper {
    /// Begins. Children that this process has now are left alone.
    ///
    /// # Errors
    /// The kernel does not do it.
    pub fn begin() -> io::Result<Reaper> {
        set_child_subreaper(Some(getpid()))?;
        Ok(Reaper { before: children() })
    }

    /// Ends and waits for what is left, generation after generation; how many there were.
    pub fn end(self) -> usize {
        let started = Instant::now();
        let mut ended: Vec<Pid> = Vec::new();
        loop {
            let left: Vec<Pid> =
                children().into_iter().filter(|pid| !self.before.contains(pid)).collect();
            if left.is_empty() || started.elapsed() > DEATH_GRACE {
                break;
            }
            for pid in left {
                if !ended.contains(&pid) {
                    let _ = kill_process(pid, Signal::KILL);
                    ended.push(pid);
                }
                // One in uninterruptible sleep does not end before what it waits for.
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        let _ = set_child_subreaper(None);
        ended.len()
    }
}

/// The children of this process, which has one thread.
fn children() -> Vec<Pid> {
    let path = format!("/proc/self/task/{}/children", getpid().as_raw_nonzero());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::{Group, Reaper, Status, run};
    use crate::sys::child::try_in_child;
    use crate::sys::testing::skip;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn how_a_command_ended_and_what_it_used() {
        assert_eq!(run(&mut shell("exit 7")).unwrap().0, Status::Exit(7));
        assert_eq!(run(&mut shell("kill -9 $$")).unwrap().0, Status::Signal(9));
        assert!(run(&mut Command::new("/no/such")).is_err());
        let busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
        let (_, usage) = run(&mut shell(busy)).unwrap();
        assert!(usage.user_ns + usage.system_ns > 1_000_000, "{usage:?}");
    }

    fn is_running(marker: &str) -> bool {
        let mut all = std::fs::read_dir("/proc").unwrap().flatten();
        all.any(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).split('\0').any(|word| word == marker)
        })
    }

    #[test]
    fn what_a_command_leaves_running_is_ended() {
        if !std::path::Path::new("/proc/self/task").exists() {
            return skip("what_a_command_leaves_running_is_ended", "no /proc");
        }
        // One that stays in the group, and one that leaves it.
        let text = "sleep 77.125 & setsid sleep 77.125 & sleep 0.1";
        try_in_child(|| {
            let reaper = Reaper::begin()?;
            run(&mut shell(text))?;
            match (is_running("77.125"), reaper.end(), is_running("77.125")) {
                (true, 1.., false) => Ok(()),
                _ => Err(std::io::Error::from_raw_os_error(1)),
            }
        })
        .unwrap();
    }

    #[test]
    fn a_group_ends_with_its_leader() {
        let killed = try_in_child(|| {
            let _group = Group::lead()?;
            let mut child = shell("sleep 78.125 & wait").spawn()?;
            while !is_running("78.125") {
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = child.try_wait();
            Ok(crate::sys::testing::die()?)
        });
        assert!(killed.is_err());
        let started = Instant::now();
        while is_running("78.125") {
            assert!(started.elapsed() < Duration::from_secs(20), "it still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
