//! Time of the steps of an operation, where a trial measures it; otherwise nothing at all.

/// A step of what is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Opening or creating it.
    Open,
    /// Moving its bytes.
    Transfer,
    /// Making it durable.
    Sync,
    /// Closing it.
    Close,
    /// The one call, where there is only one.
    Call,
}

/// Told when a step ends. The loop is generic over it, so that who measures no latency pays for
/// none.
pub(super) trait Laps: Send {
    /// An operation begins.
    fn begin(&mut self);
    /// The step since the last call has ended.
    fn lap(&mut self, step: Step);
}

/// Nobody looks at the clock.
#[derive(Debug, Default)]
pub(super) struct NoLaps;

impl Laps for NoLaps {
    #[inline(always)]
    fn begin(&mut self) {}
    #[inline(always)]
    fn lap(&mut self, _: Step) {}
}
