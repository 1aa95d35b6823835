//! Runs a mover: opens, times, adds up, and says in words what the kernel refused.

use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::segments::segments;
use crate::method::access::open_for_reading;
use crate::method::measured_window::MeasuredWindow;
use crate::method::partition::{Moved, Stop};
use crate::method::read_loop::Outcome;
use crate::method::sync::{Barrier, DataEach, EveryNth, NoBarrier, fsync, open_flags};
use crate::sys::clock::now_ns;
use crate::sys::usage::usage;
use iolab_model::catalog::{Sync, path_to_text};
use iolab_model::result::Fault;

/// What to do with the holes of a sparse source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holes {
    /// Nothing is said: bytes are copied as they are read, a file system may do as it likes.
    #[default]
    AsItComes,
    /// Only data is copied (SEEK_DATA, SEEK_HOLE): the target has the holes of the source.
    Keep,
    /// Holes become zeros that are written.
    Fill,
}

/// How much is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// The whole file, once into each target: open both, move, set the mode, close.
    Whole(Vec<PathBuf>),
    /// Only these ranges, at the same offsets of one target; opening and closing is not timed.
    Part(PathBuf, Vec<Range<u64>>),
}

/// A file to copy and how.
#[derive(Clone, Debug)]
pub struct CopyJob<'a> {
    /// Where from; opened anew for each copy, because the state of read-ahead lives in the open
    /// file.
    pub source: &'a Path,
    /// Its size, as planned: neither more nor less is copied.
    pub bytes: u64,
    /// Permission bits that a whole copy is given.
    pub mode: u32,
    /// What is copied where to. No target may exist: it is never overwritten, linked or not.
    pub work: Work,
    /// Bytes per call.
    pub block_bytes: u64,
    /// Pairs of a read and a write in flight.
    pub queue_depth: u32,
    /// What to do with holes.
    pub holes: Holes,
    /// When the target is made durable.
    pub sync: Sync,
}

/// What a copy yields.
#[derive(Clone, Debug, PartialEq)]
pub struct Copied {
    /// Times, bytes, operations.
    pub outcome: Outcome,
    /// The size of the pipe, where the bytes went through one.
    pub pipe_bytes: Option<u64>,
}

/// Both ends of a copy, open.
#[derive(Debug)]
pub struct Ends {
    /// Open for reading.
    pub source: OwnedFd,
    /// Open for reading and writing: a shared mapping that is written to needs both.
    pub target: OwnedFd,
}

/// What a method is asked for at a time: these bytes of the source, to the same offsets of the
/// target.
#[derive(Debug)]
pub struct CopyRange<'a, B> {
    /// Where from and where to.
    pub ends: &'a Ends,
    /// Which bytes.
    pub bytes: Range<u64>,
    /// What follows each operation.
    pub barrier: &'a mut B,
}

impl<B: Barrier> CopyRange<'_, B> {
    /// Lets the barrier follow an operation.
    #[inline(always)]
    pub fn after_block(&mut self) -> Result<(), Stop> {
        self.barrier.after_block(self.ends.target.as_fd()).map_err(refused)
    }
}

/// What a method must do to copy. Everything in `open` is outside the timed window, everything in
/// `range` inside it: there nothing may be allocated, formatted or asked of the clock per
/// operation.
pub trait Mover: Sized {
    /// Whether the target is written by calls that heed `O_SYNC` and `O_DSYNC`; what is written
    /// through a map does not, and is synced after each operation instead.
    const WRITES_BY_CALL: bool = true;

    /// Makes ready.
    fn open(job: &CopyJob<'_>) -> Result<Self, Stop>;

    /// Copies this range and lets the barrier follow each operation.
    fn range<B: Barrier>(&mut self, on: CopyRange<'_, B>) -> Result<Moved, Stop>;

    /// The size of the pipe, where there is one.
    fn pipe_bytes(&self) -> Option<u64> {
        None
    }
}

/// Copies by the method `M`.
pub fn copy<M: Mover>(job: &CopyJob<'_>, window: &mut dyn MeasuredWindow) -> Result<Copied, Fault> {
    let target = match &job.work {
        Work::Whole(targets) => targets.first(),
        Work::Part(target, _) => Some(target),
    };
    let target = target.map_or_else(String::new, |path| path_to_text(path));
    let copied = match job.sync {
        Sync::None | Sync::End | Sync::Each => run::<M, _>(job, window, NoBarrier),
        Sync::Dsync | Sync::Sync if M::WRITES_BY_CALL => run::<M, _>(job, window, NoBarrier),
        Sync::Fsync | Sync::Dsync | Sync::Sync => run::<M, _>(job, window, EveryNth::new(1)),
        Sync::Fdatasync => run::<M, _>(job, window, DataEach),
        Sync::Every(blocks) => run::<M, _>(job, window, EveryNth::new(blocks.max(1))),
    };
    copied.map_err(|stop| stop.fault(format!("copy {} to {target}", path_to_text(job.source))))
}

fn run<M: Mover, B: Barrier>(
    job: &CopyJob<'_>,
    window: &mut dyn MeasuredWindow,
    mut barrier: B,
) -> Result<Copied, Stop> {
    let mut mover = M::open(job)?;
    let outcome = match &job.work {
        Work::Whole(targets) => timed(window, || wholes(job, &mut mover, targets, &mut barrier)),
        Work::Part(target, ranges) => {
            let ends = ends(job, target)?;
            timed(window, || {
                let mut moved = Moved::default();
                for range in ranges {
                    let (ends, bytes, barrier) = (&ends, range.clone(), &mut barrier);
                    let done = mover.range(CopyRange { ends, bytes, barrier });
                    moved += done.map_err(|stop| after_bytes(stop, ends))?;
                }
                finish(job.sync, &ends).map(|()| moved)
            })
        }
    }?;
    Ok(Copied { outcome, pipe_bytes: mover.pipe_bytes() })
}

/// How far a copy had come when it stopped: calls that move bytes in the kernel do not tell where.
#[cold]
fn after_bytes(mut stop: Stop, ends: &Ends) -> Stop {
    if let Ok(about) = rustix::fs::fstat(&ends.target) {
        stop.cause = format!("{}; the target had {} bytes by then", stop.cause, about.st_size);
    }
    stop
}

/// What is not durable yet, where it is to be.
fn finish(sync: Sync, ends: &Ends) -> Result<(), Stop> {
    match sync {
        Sync::None | Sync::Fsync | Sync::Fdatasync | Sync::Dsync | Sync::Sync => Ok(()),
        Sync::End | Sync::Each | Sync::Every(_) => fsync(ends.target.as_fd()).map_err(refused),
    }
}

fn ends(job: &CopyJob<'_>, target: &Path) -> Result<Ends, Stop> {
    Ok(Ends { source: open_for_reading(job.source)?, target: create(target, job.sync)? })
}

fn timed(
    window: &mut dyn MeasuredWindow,
    work: impl FnOnce() -> Result<Moved, Stop>,
) -> Result<Outcome, Stop> {
    window.open();
    let before = usage();
    let start_ns = now_ns();
    let moved = work();
    let end_ns = now_ns();
    let after = usage();
    window.close();
    let moved = moved?;
    Ok(Outcome {
        wall_ns: end_ns.saturating_sub(start_ns).max(1),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        bytes: moved.bytes,
        operations: moved.operations,
        partial: None,
        latencies: None,
    })
}

#[inline(never)]
fn wholes<M: Mover, B: Barrier>(
    job: &CopyJob<'_>,
    mover: &mut M,
    targets: &[PathBuf],
    barrier: &mut B,
) -> Result<Moved, Stop> {
    let mut moved = Moved::default();
    for target in targets {
        let ends = ends(job, target)?;
        if job.holes == Holes::Keep {
            let Ends { source, target } = &ends;
            moved += segments(source, target, job.bytes, |bytes| {
                mover.range(CopyRange { ends: &ends, bytes, barrier })
            })?;
        } else {
            let done = mover.range(CopyRange { ends: &ends, bytes: 0..job.bytes, barrier });
            moved += done.map_err(|stop| after_bytes(stop, &ends))?;
        }
        // As the source has it, whatever the umask took away.
        rustix::fs::fchmod(&ends.target, Mode::from_raw_mode(job.mode))?;
        finish(job.sync, &ends)?;
    }
    Ok(moved)
}

/// A new file, never an old one: EEXIST for anything that stands there, a link or the source too.
fn create(target: &Path, sync: Sync) -> Result<OwnedFd, Stop> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOCTTY;
    let flags = flags | open_flags(sync);
    rustix::fs::open(target, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| match errno {
        Errno::EXIST => Stop {
            cause: format!(
                "{} stands there already, and a copy never overwrites; remove it or name another",
                path_to_text(target)
            ),
            errno: Some(errno.raw_os_error()),
        },
        other => other.into(),
    })
}

/// What follows a write that did not take all: an interruption or a short write goes on.
#[cold]
#[inline(never)]
pub fn write_rest(
    first: Result<usize, Errno>,
    bytes: &[u8],
    mut write: impl FnMut(&[u8]) -> Result<usize, Errno>,
) -> Result<(), Stop> {
    let mut done = 0;
    let mut result = first;
    loop {
        match result {
            Ok(0) if done < bytes.len() => return Err(Stop::new("the target takes no more bytes")),
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(refused(errno)),
        }
        if done >= bytes.len() {
            return Ok(());
        }
        result = write(&bytes[done..]);
    }
}

/// A refusal of the kernel with what helps.
#[cold]
pub fn refused(errno: Errno) -> Stop {
    let remedy = match errno {
        Errno::XDEV => {
            "source and target are on different file systems, and this way does not cross here; \
             take read-write, sendfile or splice"
        }
        Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS => {
            "this file system or kernel has no such way; btrfs and XFS clone: --place btrfs,xfs"
        }
        Errno::NOSPC | Errno::DQUOT => "free some space, or take a smaller file",
        Errno::FBIG => "raise the limit with ulimit -f, or take a smaller file",
        _ => return errno.into(),
    };
    let cause = format!("{}; {remedy}", std::io::Error::from(errno));
    Stop { cause, errno: Some(errno.raw_os_error()) }
}

/// The source ended before its size.
#[cold]
pub fn became_shorter(at: u64) -> Stop {
    Stop::new(format!("the source became shorter while it was copied: it ends before byte {at}"))
}

#[cfg(test)]
mod tests {
    use super::{Errno, refused, write_rest};

    #[test]
    fn short_writes_and_interruptions_are_continued() {
        let mut script = [Err(Errno::INTR), Ok(1), Ok(5)].into_iter();
        let mut seen = Vec::new();
        let write = |rest: &[u8]| {
            seen.push(rest.len());
            script.next().unwrap()
        };
        write_rest(Ok(4), &[0; 10], write).unwrap();
        assert_eq!(seen, [6, 6, 5]);
    }

    #[test]
    fn a_full_disk_is_a_fault_with_the_fix_and_no_loop() {
        let never = |_: &[u8]| panic!("no further call");
        let full = write_rest(Err(Errno::NOSPC), &[0; 10], never).unwrap_err();
        assert_eq!(full.errno, Some(Errno::NOSPC.raw_os_error()));
        assert!(full.cause.contains("free some space"), "{full:?}");
        let stuck = write_rest(Ok(3), &[0; 10], |_| Ok(0)).unwrap_err();
        assert!(stuck.cause.contains("takes no more"), "{stuck:?}");
        assert!(refused(Errno::XDEV).cause.contains("read-write"));
        assert!(refused(Errno::OPNOTSUPP).cause.contains("btrfs"));
    }
}
