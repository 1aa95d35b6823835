//! The agent of a rank: a child of the relay, asked and listened to without ever waiting for it alone.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;

use super::line::{Signal, StartLine};
use super::wire::{take_message, write_message};

/// How long an agent may take to clean up.
const END_GRACE: Duration = Duration::from_secs(10);

/// What an agent has let hear so far since it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The last signal of its trial, and which trial that is.
    pub signal: Option<(Signal, u64)>,
    /// Its answer.
    pub answer: Option<Vec<u8>>,
    /// How it ended, in words.
    pub ended: Option<String>,
}

impl Heard {
    /// Whether nothing more will come of it.
    pub fn is_over(&self) -> bool {
        self.answer.is_some() || self.ended.is_some()
    }
}

/// The agent, and the lines to it.
#[derive(Debug)]
pub struct AgentChild {
    program: PathBuf,
    arguments: Vec<OsString>,
    running: Option<Running>,
    heard: Heard,
}

#[derive(Debug)]
struct Running {
    child: Child,
    requests: ChildStdin,
    replies: ChildStdout,
    line: StartLine,
    /// What came of an answer so far.
    begun: Vec<u8>,
}

impl AgentChild {
    /// Starts it: `program arguments… FD`, where FD is its end of the start line.
    ///
    /// # Errors
    /// No process can be started.
    pub fn start(program: PathBuf, arguments: Vec<OsString>) -> io::Result<AgentChild> {
        let heard = Heard::default();
        let mut agent = AgentChild { program, arguments, running: None, heard };
        agent.running = Some(agent.spawn()?);
        Ok(agent)
    }

    fn spawn(&self) -> io::Result<Running> {
        let (line, theirs) = StartLine::pair()?;
        // Inherited by this one child: it is closed here before there is another.
        rustix::io::fcntl_setfd(theirs.stream(), FdFlags::empty())?;
        let mut command = Command::new(&self.program);
        command.arg0("iolab").args(&self.arguments);
        command.arg(theirs.stream().as_raw_fd().to_string());
        // A signal to the job is for the relays: an agent cleans up and ends when its stream does.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(replies)) => {
                Ok(Running { child, requests, replies, line, begun: Vec::new() })
            }
            _ => Err(io::Error::other("the agent has no streams")),
        }
    }

    /// Ends it, if it has not ended, and starts another.
    ///
    /// # Errors
    /// No process can be started.
    pub fn restart(&mut self) -> io::Result<()> {
        self.end();
        self.running = Some(self.spawn()?);
        Ok(())
    }

    /// Asks; what was heard before is forgotten.
    pub fn ask(&mut self, request: &[u8]) {
        self.heard = Heard::default();
        let Some(running) = &mut self.running else {
            self.heard.ended = Some("it had ended before".into());
            return;
        };
        running.begun.clear();
        if write_message(&mut running.requests, request).is_err() {
            self.is_gone();
        }
    }

    /// What it has let hear.
    pub fn heard(&self) -> &Heard {
        &self.heard
    }

    /// Gives its trial the word. One that cannot hear it has ended, which its agent tells.
    pub fn tell(&self, signal: Signal, time_ns: u64) {
        if let (Some(running), Some((_, trial))) = (&self.running, self.heard.signal) {
            let _ = running.line.say(signal, trial, time_ns);
        }
    }

    /// Listens for at most so long, until something new is heard.
    pub fn listen(&mut self, longest: Duration) {
        let Some(running) = &mut self.running else { return };
        if self.heard.is_over() {
            return;
        }
        let line = running.line.stream();
        let mut asked =
            [PollFd::new(line, PollFlags::IN), PollFd::new(&running.replies, PollFlags::IN)];
        let limit = Timespec::try_from(longest).ok();
        if !matches!(poll(&mut asked, limit.as_ref()), Ok(1..)) {
            return;
        }
        let spoken = [!asked[0].revents().is_empty(), !asked[1].revents().is_empty()];
        if spoken[0]
            && let Ok((signal, trial, _)) = running.line.hear()
        {
            self.heard.signal = Some((signal, trial));
        }
        if spoken[1] {
            let mut buffer = [0; 16 << 10];
            match running.replies.read(&mut buffer) {
                Ok(count @ 1..) => {
                    running.begun.extend(&buffer[..count]);
                    self.heard.answer = take_message(&mut running.begun);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => self.is_gone(),
            }
        }
    }

    /// Its stream has ended, and so has it, or will in a moment.
    fn is_gone(&mut self) {
        self.heard.ended = Some(self.end().unwrap_or_else(|| "it closed its stream".into()));
    }

    /// It takes too long, and is not waited for any more.
    pub fn give_up(&mut self, why: &str) {
        if let Some(running) = &mut self.running {
            let _ = running.child.kill();
        }
        self.end();
        self.heard.ended = Some(why.to_owned());
    }

    /// Closes the stream, which makes it clean up and end, and waits for that. How it ended.
    pub fn end(&mut self) -> Option<String> {
        let Running { mut child, requests, replies, line, .. } = self.running.take()?;
        drop((requests, replies, line));
        let asked = Instant::now();
        while asked.elapsed() < END_GRACE {
            if let Ok(Some(status)) = child.try_wait() {
                return Some(match status.signal() {
                    Some(signal) => format!("ended by signal {signal}"),
                    None => status.to_string(),
                });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = child.kill();
        // One that hangs in the kernel cannot be waited for.
        None
    }
}

impl Drop for AgentChild {
    fn drop(&mut self) {
        self.end();
    }
}
