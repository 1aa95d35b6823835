//! When written data are made durable: nothing, one fsync, one after each block or every n-th, or
//! by the flags that the file is opened with.

use std::fmt;
use std::str::FromStr;

use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::latency::{Latencies, Watch, Watched};

/// As written: `none`, `end`, `fsync`, `dsync`, `sync`, `every:16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Never; what `close(2)` leaves to the kernel.
    None,
    /// One `fsync(2)` after the last block, before the file is closed.
    End,
    /// `fsync(2)` after each block.
    Fsync,
    /// `O_DSYNC`: a write returns when its data, and what is needed to read them, are durable.
    Dsync,
    /// `O_SYNC`: the same with all metadata.
    Sync,
    /// `fsync(2)` after every n-th block.
    Every(u64),
}

impl Sync {
    /// The words of the axis.
    pub const WORDS: &'static [&'static str] =
        &["none", "end", "fsync", "dsync", "sync", "every:N"];

    /// What `open(2)` is told.
    pub fn open_flags(self) -> OFlags {
        match self {
            Sync::Dsync => OFlags::DSYNC,
            Sync::Sync => OFlags::SYNC,
            Sync::None | Sync::End | Sync::Fsync | Sync::Every(_) => OFlags::empty(),
        }
    }

    /// Whether everything is durable once the last write (with the fsync that follows it) has
    /// returned.
    pub fn durable_on_return(self) -> bool {
        matches!(self, Sync::Fsync | Sync::Dsync | Sync::Sync)
    }

    /// Syncs that writing so many blocks costs, the one at the end included.
    pub fn count(self, blocks: u64) -> u64 {
        match self {
            Sync::None | Sync::End => 1,
            Sync::Fsync | Sync::Dsync | Sync::Sync => blocks,
            Sync::Every(n) => blocks.div_ceil(n.max(1)),
        }
    }
}

impl FromStr for Sync {
    type Err = String;
    fn from_str(text: &str) -> Result<Sync, String> {
        Ok(match text {
            "none" => Sync::None,
            "end" => Sync::End,
            "fsync" => Sync::Fsync,
            "dsync" => Sync::Dsync,
            "sync" => Sync::Sync,
            _ => match text.strip_prefix("every:").map(str::parse) {
                Some(Ok(blocks)) if blocks > 0 => Sync::Every(blocks),
                _ => {
                    return Err(format!(
                        "unknown sync {text:?}: use none, end, fsync, dsync, sync or every:N \
                         with N blocks, 1 or more"
                    ));
                }
            },
        })
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sync::None => f.write_str("none"),
            Sync::End => f.write_str("end"),
            Sync::Fsync => f.write_str("fsync"),
            Sync::Dsync => f.write_str("dsync"),
            Sync::Sync => f.write_str("sync"),
            Sync::Every(blocks) => write!(f, "every:{blocks}"),
        }
    }
}

/// What follows each block. The hot loop is generic over it, so that it is chosen once a trial.
pub trait Barrier: Copy + Send {
    /// Called after each block, in the timed window.
    fn after_block(&mut self, file: BorrowedFd<'_>) -> Result<(), Errno>;
}

/// What surrounds each block that is written: a barrier, and the clock where blocks are timed one
/// by one.
pub trait Follow: Send {
    /// Called before each block, in the timed window: what `after` must be given.
    fn before(&self) -> u64;

    /// Called after each block, in the timed window.
    fn after(&mut self, file: BorrowedFd<'_>, began: u64) -> Result<(), Errno>;

    /// How long the blocks took, where that was recorded.
    fn latencies(self) -> Option<Latencies>;
}

impl<B: Barrier> Follow for B {
    #[inline(always)]
    fn before(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn after(&mut self, file: BorrowedFd<'_>, _: u64) -> Result<(), Errno> {
        self.after_block(file)
    }

    fn latencies(self) -> Option<Latencies> {
        None
    }
}

/// A barrier, and each block timed with what follows it.
#[derive(Debug)]
pub struct Timed<B> {
    barrier: B,
    watch: Watched,
}

impl<B> Timed<B> {
    /// Times the blocks of this one.
    pub fn new(barrier: B) -> Timed<B> {
        Timed { barrier, watch: Watched::default() }
    }
}

impl<B: Barrier> Follow for Timed<B> {
    #[inline(always)]
    fn before(&self) -> u64 {
        self.watch.begin()
    }

    #[inline(always)]
    fn after(&mut self, file: BorrowedFd<'_>, began: u64) -> Result<(), Errno> {
        self.barrier.after_block(file)?;
        self.watch.end(began);
        Ok(())
    }

    fn latencies(self) -> Option<Latencies> {
        self.watch.finish()
    }
}

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoBarrier;

impl Barrier for NoBarrier {
    #[inline(always)]
    fn after_block(&mut self, _: BorrowedFd<'_>) -> Result<(), Errno> {
        Ok(())
    }
}

/// `fsync(2)` after every n-th block.
#[derive(Clone, Copy, Debug)]
pub struct EveryNth {
    every: u64,
    left: u64,
}

impl EveryNth {
    /// After this many blocks (> 0) each time.
    pub fn new(every: u64) -> EveryNth {
        EveryNth { every, left: every }
    }
}

impl Barrier for EveryNth {
    #[inline(always)]
    fn after_block(&mut self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.left = self.every;
        fsync(file)
    }
}

/// `fsync(2)` to its end: an interruption is no answer.
pub fn fsync(file: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::fsync(file))
}

/// `fdatasync(2)` to its end.
pub fn fdatasync(file: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::io::retry_on_intr(|| rustix::fs::fdatasync(file))
}

#[cfg(test)]
mod tests {
    use super::{Barrier, EveryNth, Sync};
    use rustix::fd::AsFd;

    #[test]
    fn words_parse_and_print_back() {
        for text in ["none", "end", "fsync", "dsync", "sync", "every:16"] {
            assert_eq!(text.parse::<Sync>().unwrap().to_string(), text);
        }
        for text in ["", "every:0", "every:", "every:x", "always", "Sync"] {
            assert!(text.parse::<Sync>().unwrap_err().contains("every:N"), "{text}");
        }
    }

    #[test]
    fn syncs_are_counted_with_the_one_for_the_rest() {
        assert_eq!(Sync::None.count(100), 1);
        assert_eq!(Sync::Dsync.count(100), 100);
        assert_eq!(Sync::Every(30).count(100), 4);
        assert_eq!(Sync::Every(50).count(100), 2);
    }

    /// A pipe cannot be synced (EINVAL), so that a sync shows.
    #[test]
    fn every_third_block_is_synced() {
        let (end, _other) = rustix::pipe::pipe().unwrap();
        let mut barrier = EveryNth::new(3);
        let synced: Vec<bool> = (0..7).map(|_| barrier.after_block(end.as_fd()).is_err()).collect();
        assert_eq!(synced, [false, false, true, false, false, true, false]);
    }
}
