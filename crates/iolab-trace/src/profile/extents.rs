//! Which bytes of a file were read, and how many more than once.

/// Ranges in the order in which they were read; neighbours are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    ranges: Vec<(u64, u64)>,
    bytes: u64,
}

impl Extents {
    pub(super) fn add(&mut self, start: u64, end: u64) {
        self.bytes = self.bytes.saturating_add(end.saturating_sub(start));
        match self.ranges.last_mut() {
            Some((_, last_end)) if *last_end == start => *last_end = end,
            _ if end > start => self.ranges.push((start, end)),
            _ => (),
        }
    }

    /// Bytes that were read once already when they were read.
    pub(super) fn again_bytes(&mut self) -> u64 {
        self.ranges.sort_unstable();
        let (mut covered, mut reached) = (0u64, 0u64);
        for (start, end) in &self.ranges {
            covered = covered.saturating_add(end.saturating_sub((*start).max(reached)));
            reached = reached.max(*end);
        }
        self.bytes.saturating_sub(covered)
    }
}

#[cfg(test)]
mod tests {
    use super::Extents;

    #[test]
    fn only_what_was_read_before_counts() {
        let again = |ranges: &[(u64, u64)]| {
            let mut extents = Extents::default();
            ranges.iter().for_each(|(start, end)| extents.add(*start, *end));
            extents.again_bytes()
        };
        assert_eq!(again(&[(0, 10), (10, 20)]), 0);
        assert_eq!(again(&[(0, 10), (5, 20), (0, 3)]), 8);
        assert_eq!(again(&[(0, 100), (20, 30), (20, 30)]), 20);
        assert_eq!(again(&[]), 0);
    }
}
