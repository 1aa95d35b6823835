//! Which calls a trial makes on which files. Pure.

/// Rows of `repeats` calls on one file after another, from file `first` on, wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSchedule {
    /// Files in the tree, at least 1.
    pub files: u64,
    /// Index of the first file.
    pub first: u64,
    /// Calls in the timed window.
    pub calls: u64,
    /// Calls in a row on a file, at least 1.
    pub repeats: u64,
    /// Calls on each file before the window: 0 for the first touch.
    pub before: u64,
}

impl CallSchedule {
    /// Files that the window touches.
    pub fn touched(&self) -> u64 {
        self.calls.div_ceil(self.repeats).min(self.files)
    }

    /// Their indices, in the order of the first touch.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let CallSchedule { files, first, .. } = *self;
        (0..self.touched()).map(move |at| ((first + at) % files) as usize)
    }

    /// Calls that a touched file has seen at the end, those before the window included.
    pub fn calls_on(&self, index: usize) -> u64 {
        let place = (index as u64 + self.files - self.first) % self.files;
        let lap = self.files * self.repeats;
        let rest = (self.calls % lap).saturating_sub(place * self.repeats);
        self.before + self.calls / lap * self.repeats + rest.min(self.repeats)
    }

    /// One call on each touched file, the `at`-th before the window.
    pub fn warming(&self, at: u64) -> CallSchedule {
        CallSchedule { calls: self.touched(), repeats: 1, before: at, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::CallSchedule;
    use proptest::prelude::*;

    proptest! {
        /// Against the loop itself.
        #[test]
        fn calls_are_counted_as_they_are_made(
            files in 1_u64..20, first in 0_u64..20, calls in 0_u64..300, repeats in 1_u64..7,
            before in 0_u64..3,
        ) {
            let span = CallSchedule { files, first: first % files, calls, repeats, before };
            let mut seen = vec![0; files as usize];
            for call in 0..calls {
                seen[((span.first + call / repeats) % files) as usize] += 1;
            }
            let touched: Vec<usize> = span.indices().collect();
            prop_assert_eq!(touched.len(), seen.iter().filter(|n| **n > 0).count());
            for index in touched {
                prop_assert_eq!(span.calls_on(index), before + seen[index]);
            }
        }
    }
}
