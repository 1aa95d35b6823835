//! When written data are made durable: nothing, one fsync, one after each block or every n-th, or
//! by the flags that the file is opened with.

use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

use iolab_model::catalog::Sync;

use super::latency::{Latencies, Watch, Watched};

/// What `open(2)` is told.
pub fn open_flags(sync: Sync) -> OFlags {
    match sync {
        Sync::Dsync => OFlags::DSYNC,
        Sync::Sync => OFlags::SYNC,
        Sync::None | Sync::End | Sync::Fsync | Sync::Fdatasync | Sync::Every(_) | Sync::Each => {
            OFlags::empty()
        }
    }
}

/// What follows each block. The hot loop is generic over it, so that it is chosen once a trial.
pub trait Barrier: Copy + Send + 'static {
    /// Called after each block, in the timed window.
    fn after_block(&mut self, file: BorrowedFd<'_>) -> Result<(), Errno>;
}

/// What surrounds each block that is written: a barrier, and the clock where blocks are timed one
/// by one.
pub trait Follow: Send + 'static {
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

/// `fdatasync(2)` after each block.
#[derive(Clone, Copy, Debug)]
pub struct DataEach;

impl Barrier for DataEach {
    #[inline(always)]
    fn after_block(&mut self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        fdatasync(file)
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
    use super::{Barrier, DataEach, EveryNth, Sync};
    use rustix::fd::AsFd;

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
        assert!((0..3).all(|_| DataEach.after_block(end.as_fd()).is_err()));
    }
}
