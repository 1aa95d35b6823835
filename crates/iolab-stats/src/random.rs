//! The one generator of this room: PCG-64, seeded and named, so that a figure can be had again.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// A stream of its own for each purpose and each pair.
pub(crate) fn generator(seed: u64, stream: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed), u128::from(stream))
}

/// A number in 0..n, by multiplication; the bias of n/2⁶⁴ is far below anything seen here.
pub(crate) fn below(random: &mut Pcg64, n: usize) -> usize {
    ((u128::from(random.next_u64()) * n as u128) >> 64) as usize
}

/// Fisher–Yates.
pub(crate) fn shuffle<T>(random: &mut Pcg64, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(random, last + 1));
    }
}
