//! What is counted around the timed window.

use std::path::Path;
use std::time::Duration;

use super::rank::{Rank, RankTimes};
use iolab_io::method::MeasuredWindow;
use iolab_io::metric;
use iolab_io::sys::clock::now_ns;
use iolab_model::result::Metrics;

/// Counts around the timed window, in the child.
pub struct Counted<'a> {
    /// What lies on the disk that the trial is about.
    pub on: &'a Path,
    /// With the times that its ranks put together.
    pub rank: Option<(&'a Rank, RankTimes)>,
    /// From the barrier on.
    pub limit: Duration,
    /// Taken when the window opens.
    pub baseline: Option<metric::Baseline>,
    /// There when it is closed.
    pub metrics: Metrics,
}

impl MeasuredWindow for Counted<'_> {
    fn open(&mut self) {
        if let Some((rank, _)) = &self.rank {
            rank.ready();
        }
        self.baseline = Some(metric::start(self.on));
        if let Some((rank, times)) = &mut self.rank {
            times.go_ns = rank.go(self.limit);
            times.opened_ns = now_ns();
        }
    }

    fn close(&mut self) {
        if let Some((_, times)) = &mut self.rank {
            times.closed_ns = now_ns();
        }
        if let Some(baseline) = &self.baseline {
            self.metrics = metric::finish(baseline);
        }
    }
}
