//! Time of the steps of an operation, where a trial measures it; otherwise nothing at all.

use crate::method::Latencies;
use crate::sys::clock::now_ns;
use iolab_model::result::Measurement;

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

impl Step {
    const ALL: [(Step, &'static str); 5] = [
        (Step::Open, "open"),
        (Step::Transfer, "transfer"),
        (Step::Sync, "sync"),
        (Step::Close, "close"),
        (Step::Call, "call"),
    ];
}

/// Told when a step ends. The loop is generic over it, so that who measures no latency pays for
/// none.
pub(super) trait StepTimer: Send + Default {
    /// An operation begins.
    fn begin(&mut self);
    /// The step since the last call has ended.
    fn lap(&mut self, step: Step);
    /// What was recorded, added to `sum`.
    fn add_to(self, sum: &mut StepTimes);
}

/// Nobody looks at the clock.
#[derive(Debug, Default)]
pub(super) struct NoTimer;

impl StepTimer for NoTimer {
    #[inline(always)]
    fn begin(&mut self) {}
    #[inline(always)]
    fn lap(&mut self, _: Step) {}
    fn add_to(self, _: &mut StepTimes) {}
}

/// One reading of the clock a step, and one before the first.
#[derive(Debug, Default)]
pub(super) struct StepTimes {
    /// By step.
    times: [Latencies; 5],
    last_ns: u64,
}

impl StepTimer for StepTimes {
    #[inline(always)]
    fn begin(&mut self) {
        self.last_ns = now_ns();
    }

    #[inline(always)]
    fn lap(&mut self, step: Step) {
        let now = now_ns();
        self.times[step as usize].record(now.saturating_sub(self.last_ns));
        self.last_ns = now;
    }

    fn add_to(self, sum: &mut StepTimes) {
        for (sum, more) in sum.times.iter_mut().zip(&self.times) {
            sum.add(more);
        }
    }
}

impl StepTimes {
    /// Puts `open_latency_p50_ns` and its like into a trial's measurement: percentiles only where the
    /// number of files supports them.
    pub(super) fn tell(&self, measurement: &mut Measurement) {
        for (step, name) in Step::ALL {
            self.times[step as usize].tell(name.into(), measurement);
        }
    }
}
