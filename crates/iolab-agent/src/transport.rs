//! How the controller reaches an agent. A child of its own is the first way, be it the agent or what
//! carries the stream to one elsewhere (ssh); a virtual machine's port speaks the same messages.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::frame::{is_heard, read_frame, write_frame};
use super::messages::{Reply, Request};
use iolab_io::sys::process::signal_name;
use iolab_model::result::Fault;

/// How long an agent may take to clean up after its stream was closed.
const END_GRACE: Duration = Duration::from_secs(10);

/// A line to one agent.
pub trait Transport {
    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// The agent is gone or speaks something else; [`Transport::restart`] may help.
    fn ask(&mut self, request: &Request) -> io::Result<Reply>;

    /// Makes sure that the old agent is gone and starts a new one.
    ///
    /// # Errors
    /// No agent can be started.
    fn restart(&mut self) -> io::Result<()>;

    /// How the last agent ended, in words, where it did.
    fn ending(&mut self) -> Option<String>;

    /// Of lines to several agents, one that broke for good, while the others went on.
    fn lost(&self) -> Option<Fault> {
        None
    }
}

impl<T: Transport + ?Sized> Transport for Box<T> {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        (**self).ask(request)
    }

    fn restart(&mut self) -> io::Result<()> {
        (**self).restart()
    }

    fn ending(&mut self) -> Option<String> {
        (**self).ending()
    }

    fn lost(&self) -> Option<Fault> {
        (**self).lost()
    }
}

/// An agent that is a child of this process, or is reached through one, spoken to over its standard
/// input and output.
#[derive(Debug)]
pub struct LocalChild {
    command: AgentCommand,
    agent: Option<Running>,
    /// An agent that says nothing for so long stands still.
    silence: Option<Duration>,
    /// How it was found to, once it was.
    stood_still: Option<String>,
}

/// What is started, each time an agent is.
#[derive(Clone, Debug)]
struct AgentCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    requests: ChildStdin,
    replies: ChildStdout,
}

impl LocalChild {
    /// Starts this very program as an agent, whatever happened to its file since.
    ///
    /// # Errors
    /// No process can be started.
    pub fn start() -> io::Result<LocalChild> {
        let own = PathBuf::from("/proc/self/exe");
        LocalChild::start_program(own).map_err(|e| match e.kind() {
            // A bare root directory, a chroot: without /proc nothing could be proven either.
            io::ErrorKind::NotFound => io::Error::new(
                io::ErrorKind::NotFound,
                "/proc is not there, and nothing can be measured without it: \
                 mount -t proc proc /proc",
            ),
            _ => e,
        })
    }

    /// Starts another iolab as the agent.
    ///
    /// # Errors
    /// No process can be started.
    pub fn start_program(program: PathBuf) -> io::Result<LocalChild> {
        LocalChild::start_command(program, vec!["agent".into()])
    }

    /// Starts a program that ends in an agent, wherever that is: its streams are the agent's.
    ///
    /// # Errors
    /// No process can be started.
    pub fn start_command(program: PathBuf, arguments: Vec<OsString>) -> io::Result<LocalChild> {
        let command = AgentCommand { program, arguments };
        let agent = Some(spawn(&command)?);
        Ok(LocalChild { command, agent, silence: None, stood_still: None })
    }

    /// The same, where the agent says that it is at work (`iolab agent SECONDS`): one that says nothing
    /// for so long is taken for lost.
    pub fn heard_within(mut self, silence: Duration) -> LocalChild {
        self.silence = Some(silence);
        self
    }

    /// The agent's process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.agent.as_ref().map(|agent| agent.child.id())
    }

    /// Ends the line to an agent that stands still: it would not see its stream close.
    fn give_up(&mut self) -> io::Error {
        self.stop(Duration::ZERO);
        let cause = format!(
            "it said nothing for {:.0?} while the line to it stood: it was stopped, or its machine does \
             not get round to it",
            self.silence.unwrap_or_default()
        );
        self.stood_still = Some(cause.clone());
        io::Error::new(io::ErrorKind::TimedOut, cause)
    }

    /// Closes the stream, which makes the agent clean up and end, and waits for that, no longer than this.
    fn stop(&mut self, grace: Duration) {
        let Some(Running { mut child, requests, replies }) = self.agent.take() else { return };
        drop((requests, replies));
        let asked = Instant::now();
        while asked.elapsed() < grace {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn spawn(start: &AgentCommand) -> io::Result<Running> {
    let mut command = Command::new(&start.program);
    if start.program.starts_with("/proc") {
        // What `ps` shows of it.
        command.arg0("iolab");
    }
    // In a process group of its own: Ctrl-C at the terminal is the controller's to understand.
    command.args(&start.arguments).process_group(0);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(requests), Some(replies)) => Ok(Running { child, requests, replies }),
        _ => Err(io::Error::other("the agent has no streams")),
    }
}

impl Transport for LocalChild {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        let agent = self.agent.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        write_frame(&mut agent.requests, request)?;
        loop {
            if !is_heard(&agent.replies, self.silence)? {
                return Err(self.give_up());
            }
            match read_frame(&mut agent.replies)? {
                Some(Reply::AtWork) => {}
                Some(reply) => return Ok(reply),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    fn restart(&mut self) -> io::Result<()> {
        self.stop(END_GRACE);
        self.stood_still = None;
        self.agent = Some(spawn(&self.command)?);
        Ok(())
    }

    fn ending(&mut self) -> Option<String> {
        let Some(Running { child, .. }) = &mut self.agent else { return self.stood_still.clone() };
        // The stream closes a moment before the process can be reaped.
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_secs(1) {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(match status.signal() {
                    Some(signal) => format!("ended by {}", signal_name(signal)),
                    None => status.to_string(),
                });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }
}

impl Drop for LocalChild {
    fn drop(&mut self) {
        self.stop(END_GRACE);
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::time::Duration;

    use super::{LocalChild, Transport};
    use crate::Request;

    #[test]
    fn an_agent_that_stands_still_is_given_up_and_says_so() {
        let start = |script: &str| {
            let words = ["-c", script].map(Into::into).to_vec();
            LocalChild::start_command("sh".into(), words).unwrap()
        };
        let mut still = start("cat > /dev/null").heard_within(Duration::from_secs(1));
        let error = still.ask(&Request::StillHere).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(still.pid(), None);
        let ending = still.ending().unwrap();
        assert!(
            ending.starts_with("it said nothing for 1s while the line to it stood"),
            "{ending}"
        );
        // Another one is started as after any other end.
        still.restart().unwrap();
        assert!(still.pid().is_some());
        // One that has ended is no such case.
        let mut ended = start("exit 3").heard_within(Duration::from_secs(20));
        assert_ne!(ended.ask(&Request::StillHere).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(ended.ending().as_deref(), Some("exit status: 3"));
    }
}
