//! How much more time is offered for what a run left open: one figure for the sentence, the line of
//! what to do next and the command.

/// A little more than foretold.
const MARGIN: f64 = 1.1;
/// From this many seconds on minutes are easier to read.
const IN_MINUTES: f64 = 100.0;

/// A time that is easily read, and no less than what was foretold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MoreTime {
    seconds: u64,
}

impl MoreTime {
    /// Nobody waits longer than this for an answer: beyond it no command is named, and words say how
    /// long it takes.
    pub const LONGEST_SECONDS: f64 = 3600.0;

    /// For so many seconds; nothing where there is nothing to wait for, or too long.
    pub fn of(seconds: f64) -> Option<MoreTime> {
        let within = seconds > 0.0 && seconds <= MoreTime::LONGEST_SECONDS;
        let seconds = match seconds * MARGIN {
            s if s <= IN_MINUTES => (s / 10.0).ceil() * 10.0,
            s => (s / 60.0).ceil() * 60.0,
        };
        within.then_some(MoreTime { seconds: seconds as u64 })
    }

    fn number(self) -> (u64, &'static str) {
        match self.seconds {
            s if s as f64 <= IN_MINUTES => (s, "s"),
            s => (s / 60, "min"),
        }
    }

    /// `10 s`, `6 min`.
    pub fn text(self) -> String {
        let (number, unit) = self.number();
        format!("{number} {unit}")
    }

    /// As a command takes it: `10s`, `6m`.
    pub fn argument(self) -> String {
        let (number, unit) = self.number();
        format!("{number}{}", &unit[..1])
    }
}

#[cfg(test)]
mod tests {
    use super::MoreTime;

    /// "About 1.6 s more" stood above `more 1 10s`, and "43 min" above `48m`.
    #[test]
    fn a_sentence_and_a_command_have_the_same_time() {
        for (seconds, text, argument) in [
            (0.2, "10 s", "10s"),
            (11.0, "20 s", "20s"),
            (90.9, "100 s", "100s"),
            (95.0, "2 min", "2m"),
            (2580.0, "48 min", "48m"),
        ] {
            let more = MoreTime::of(seconds).unwrap();
            assert_eq!((more.text().as_str(), more.argument().as_str()), (text, argument));
        }
        let none = [0.0, -1.0, 3601.0, f64::INFINITY, f64::NAN];
        assert!(none.into_iter().all(|seconds| MoreTime::of(seconds).is_none()));
    }
}
