//! One series of numbers: sorted once, and from that its median, interval, ranks and lag-1 correlation.
//! Buffers are kept between series, because an answer of 1000 cells has half a million of them.

use iolab_model::result::Interval;

/// Order-preserving image of a finite number; −0 and 0 are one.
fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

/// Up to this length ranks are counted (n² comparisons without a branch), which is faster than to
/// sort: a sort of random numbers is made of mispredicted branches.
const SHORT: usize = 96;

/// Buffers for one series at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The values in the order they were seen. ±∞ may be among them, NaN may not.
    pub(crate) values: Vec<f64>,
    sorted: Vec<f64>,
    /// Twice the mid-rank of each value, so that ties stay integers.
    twice_rank: Vec<i64>,
    /// The upper bits order a value, the lower ones are its index.
    keys: Vec<u64>,
}

impl Series {
    pub(crate) fn new(values: Vec<f64>) -> Series {
        Series { values, ..Series::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Finds order and ranks of the values.
    pub(crate) fn sort(&mut self) {
        let n = self.values.len();
        self.sorted.resize(n, 0.0);
        self.twice_rank.resize(n, 0);
        if n > SHORT || !self.count() {
            self.sort_keys();
        }
    }

    /// Ranks by counting; false where values are equal.
    fn count(&mut self) -> bool {
        let mut sum = 0;
        for (value, rank) in self.values.iter().zip(&mut self.twice_rank) {
            let below: i64 = self.values.iter().map(|other| i64::from(other < value)).sum();
            sum += below;
            *rank = 2 * below + 2;
            self.sorted[below as usize] = *value;
        }
        let n = self.values.len() as i64;
        sum == n * (n - 1) / 2
    }

    /// Ranks by sorting. The index replaces the lowest bits of the image: values closer than 2⁻⁴⁰ of
    /// themselves count as equal, which no clock can tell apart.
    fn sort_keys(&mut self) {
        let n = self.values.len();
        let mask = n.next_power_of_two() as u64 - 1;
        self.keys.clear();
        self.keys
            .extend(self.values.iter().enumerate().map(|(i, v)| ordered(*v) & !mask | i as u64));
        self.keys.sort_unstable();
        let mut start = 0;
        for equal in self.keys.chunk_by(|a, b| a & !mask == b & !mask) {
            let end = start + equal.len();
            for (key, place) in equal.iter().zip(start..) {
                let index = (key & mask) as usize;
                self.sorted[place] = self.values[index];
                self.twice_rank[index] = (start + end + 1) as i64;
            }
            start = end;
        }
    }

    /// The value of a rank, from 0. [`Series::sort`] first.
    pub(crate) fn at(&self, rank: usize) -> f64 {
        self.sorted[rank]
    }

    /// The median; NaN where empty.
    pub(crate) fn median(&self) -> f64 {
        match self.sorted.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => self.at(n / 2),
            n => halfway(self.at(n / 2 - 1), self.at(n / 2)),
        }
    }

    /// [x_(l), x_(n+1−l)] for the rank l, from 1; unbounded for 0.
    pub(crate) fn between(&self, rank: usize) -> Interval {
        let n = self.sorted.len();
        if rank == 0 || rank > n {
            return Interval::default();
        }
        Interval { low: Some(self.at(rank - 1)), high: Some(self.at(n - rank)) }
    }

    /// Spearman's correlation of neighbours, (x_1 … x_{n−1}) with (x_2 … x_n). 0 where nothing varies.
    /// [`Series::sort`] first.
    pub(crate) fn lag1(&self) -> f64 {
        let n = self.values.len();
        if n < 3 {
            return 0.0;
        }
        // Ranks within the n − 1 that stay are those within all, less one above the one that leaves.
        let (first, last) = (self.twice_rank[0], self.twice_rank[n - 1]);
        let without = |rank: i64, gone: i64| rank - 1 - (rank - gone).signum();
        let mean = n as i64;
        let (mut cross, mut left, mut right) = (0i64, 0i64, 0i64);
        for pair in self.twice_rank.windows(2) {
            let x = without(pair[0], last) - mean;
            let y = without(pair[1], first) - mean;
            cross += x * y;
            left += x * x;
            right += y * y;
        }
        match left as f64 * right as f64 {
            0.0 => 0.0,
            product => cross as f64 / product.sqrt(),
        }
    }

    /// Becomes the medians of each `size` neighbours of `from`; what is left over at the end drops out.
    pub(crate) fn merge_from(&mut self, from: &[f64], size: usize, scratch: &mut Vec<f64>) {
        self.values.clear();
        for chunk in from.chunks_exact(size.max(1)) {
            scratch.clear();
            scratch.extend_from_slice(chunk);
            self.values.push(median_in_place(scratch));
        }
    }
}

/// The median, reordering the slice; NaN where empty. ±∞ may be among the values, NaN may not.
pub(crate) fn median_in_place(values: &mut [f64]) -> f64 {
    let n = values.len();
    if n == 0 {
        return f64::NAN;
    }
    let (below, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    if n % 2 == 1 {
        return middle;
    }
    halfway(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), middle)
}

/// The middle of two values, whose sum may be too large for a number; of −∞ and ∞ it is 0.
pub(crate) fn halfway(low: f64, high: f64) -> f64 {
    match low / 2.0 + high / 2.0 {
        middle if middle.is_nan() => 0.0,
        middle => middle,
    }
}

/// The median of the finite values; `None` where there is none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    (!finite.is_empty()).then(|| median_in_place(&mut finite))
}
