//! How something is waited for that has to be asked again and again: at first without a pause, then
//! asleep for longer and longer, so that whoever is measured on the same processors is not disturbed.

use std::time::{Duration, Instant};

/// Asked so often without sleep.
const AWAKE: u32 = 8;
const SHORTEST: Duration = Duration::from_micros(20);
/// So much later than it came an event is seen at most.
const LONGEST: Duration = Duration::from_millis(1);

/// One wait.
#[derive(Debug)]
pub struct Patience {
    since: Instant,
    limit: Duration,
    asked: u32,
    slept: u32,
    awake: Duration,
}

impl Patience {
    /// A wait of at most `limit`.
    pub fn new(limit: Duration) -> Patience {
        Patience { since: Instant::now(), limit, asked: 0, slept: 0, awake: Duration::ZERO }
    }

    /// The same, without sleep at first: what is awaited comes in a moment.
    #[must_use]
    pub fn awake(self, awake: Duration) -> Patience {
        Patience { awake, ..self }
    }

    /// Lets some time pass; false where the wait has lasted too long.
    pub fn pause(&mut self) -> bool {
        let waited = self.since.elapsed();
        self.asked += 1;
        if self.asked <= AWAKE || waited < self.awake {
            std::thread::yield_now();
        } else {
            self.slept += 1;
            let doubled = 2u32.saturating_pow(self.slept.min(16));
            std::thread::sleep(SHORTEST.saturating_mul(doubled).min(LONGEST));
        }
        waited < self.limit
    }
}
