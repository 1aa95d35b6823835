//! What ranks do together: collectives, each with a limit.

use std::time::Duration;

/// The others were waited for in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// For what.
    pub awaited: &'static str,
    /// How long.
    pub after: Duration,
}

/// All ranks, seen from one of them. Every call is made by all, in the same order.
pub trait Group {
    /// This rank's number.
    fn rank(&self) -> u32;

    /// How many there are.
    fn size(&self) -> u32;

    /// Returns once all have come.
    ///
    /// # Errors
    /// Not all came in time.
    fn barrier(&mut self, limit: Duration) -> Result<(), Lost>;

    /// The same, asleep, for others are measured meanwhile.
    ///
    /// # Errors
    /// Not all came in time.
    fn await_all(&mut self, limit: Duration) -> Result<(), Lost>;

    /// What rank 0 has goes to all.
    ///
    /// # Errors
    /// It did not come in time.
    fn broadcast(&mut self, bytes: &mut Vec<u8>, limit: Duration) -> Result<(), Lost>;

    /// What each has goes to rank 0, which alone gets anything; nobody has more than `longest` bytes, which
    /// is the same at all.
    ///
    /// # Errors
    /// Not all came in time.
    fn gather(&mut self, own: &[u8], longest: usize, limit: Duration)
    -> Result<Vec<Vec<u8>>, Lost>;

    /// The greatest of what all have, each number by itself.
    ///
    /// # Errors
    /// Not all came in time.
    fn greatest(&mut self, own: [u32; 3], limit: Duration) -> Result<[u32; 3], Lost>;
}
