//! Who counts around the timed window. What a workload times lies between the two calls and
//! between its own two clock reads.

/// Told just before the first clock read and just after the last.
pub trait MeasuredWindow {
    /// Before the first clock read.
    fn open(&mut self);
    /// After the last clock read.
    fn close(&mut self);
}

/// Nobody counts.
#[derive(Debug)]
pub struct NoWindow;

impl MeasuredWindow for NoWindow {
    fn open(&mut self) {}
    fn close(&mut self) {}
}
