//! The line between a relay and the trial of its agent: on your marks, set, go.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// A signal: what, of which trial, and a time.
const BYTES: usize = 17;

/// What is said on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// The trial: everything is prepared.
    Ready = b'r',
    /// The relay: so it is at all ranks. Counters are read now.
    Set = b's',
    /// The trial: they are read.
    Steady = b't',
    /// The relay: the barrier let go, at this time.
    Go = b'g',
    /// The trial: the work is done.
    Done = b'd',
    /// The relay: so it is at all ranks, and what follows disturbs nobody.
    Proceed = b'p',
    /// The relay: another rank cannot start.
    Abandon = b'a',
}

const ALL: [Signal; 7] = [
    Signal::Ready,
    Signal::Set,
    Signal::Steady,
    Signal::Go,
    Signal::Done,
    Signal::Proceed,
    Signal::Abandon,
];

/// One end of the line.
#[derive(Debug)]
pub struct StartLine {
    stream: UnixStream,
}

impl StartLine {
    /// Both ends: the relay's, and the one that its agent inherits.
    ///
    /// # Errors
    /// No sockets can be had.
    pub fn pair() -> io::Result<(StartLine, StartLine)> {
        let (one, other) = UnixStream::pair()?;
        Ok((StartLine { stream: one }, StartLine { stream: other }))
    }

    /// The end that was inherited.
    pub fn of(inherited: OwnedFd) -> StartLine {
        StartLine { stream: inherited.into() }
    }

    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Says something about trial `trial`.
    ///
    /// # Errors
    /// The other side is gone.
    pub fn say(&self, signal: Signal, trial: u64, time_ns: u64) -> io::Result<()> {
        let mut bytes = [0; BYTES];
        bytes[0] = signal as u8;
        bytes[1..9].copy_from_slice(&trial.to_le_bytes());
        bytes[9..].copy_from_slice(&time_ns.to_le_bytes());
        (&self.stream).write_all(&bytes)
    }

    /// Waits for what is said: the signal, the trial, the time.
    ///
    /// # Errors
    /// The other side is gone, or says something else.
    pub fn hear(&self) -> io::Result<(Signal, u64, u64)> {
        let mut bytes = [0; BYTES];
        (&self.stream).read_exact(&mut bytes)?;
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        let signal = ALL.into_iter().find(|signal| *signal as u8 == bytes[0]);
        let strange = || io::Error::new(io::ErrorKind::InvalidData, "this is no start line");
        Ok((signal.ok_or_else(strange)?, number(1), number(9)))
    }

    /// In a trial: waits until `wanted` is said of this trial, whatever was meant for an earlier one
    /// that has ended meanwhile. The time that came with it.
    ///
    /// # Errors
    /// It was abandoned, or the relay is gone.
    pub fn wait_for(&self, wanted: Signal, trial: u64) -> io::Result<u64> {
        loop {
            match self.hear()? {
                (signal, of, time_ns) if of == trial && signal == wanted => return Ok(time_ns),
                (Signal::Abandon, of, _) if of == trial => {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                _ => {}
            }
        }
    }
}
