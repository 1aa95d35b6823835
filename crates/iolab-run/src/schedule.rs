//! Everything random in a run: one recorded seed, and a generator of its own for each purpose and
//! number, so that a resumed run draws the same orders and no purpose disturbs another.

use rand_core::Rng;
use rand_pcg::Pcg64;

use iolab_model::catalog::{fnv1a, mix};

/// A generator for one purpose (`"order"`) and number (the round). PCG-64 (XSL RR 128/64), as
/// published by O'Neill 2014; its sequence is fixed for all time.
pub fn stream(seed: u64, purpose: &str, number: u64) -> Pcg64 {
    // PCG streams of neighbouring numbers are alike, so all is mixed first.
    let name = fnv1a(purpose.bytes());
    let mixed = |value| mix(value, 0);
    let a = mixed(seed ^ mixed(name));
    let b = mixed(a ^ mixed(number.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
    Pcg64::new(wide(a, b), wide(mixed(name ^ b), mixed(b)))
}

/// A 64-bit seed for one purpose and number.
pub fn seed_for(seed: u64, purpose: &str, number: u64) -> u64 {
    stream(seed, purpose, number).next_u64()
}

/// A number in 0..bound, each equally likely (Lemire 2019: multiply, reject the short remainder).
pub fn below(generator: &mut impl Rng, bound: u64) -> u64 {
    if bound < 2 {
        return 0;
    }
    let threshold = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(generator.next_u64()) * u128::from(bound);
        if product as u64 >= threshold {
            return (product >> 64) as u64;
        }
    }
}

/// Puts a list in a random order, every order equally likely (Fisher–Yates).
pub fn shuffle<T>(items: &mut [T], generator: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        let other = below(generator, last as u64 + 1) as usize;
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::{below, shuffle, stream};
    use rand_core::Rng;

    #[test]
    fn the_same_seed_gives_the_same_orders_for_all_time() {
        let mut order: Vec<u32> = (0..8).collect();
        shuffle(&mut order, &mut stream(42, "order", 3));
        assert_eq!(order, [3, 5, 0, 1, 2, 7, 4, 6]);
    }

    #[test]
    fn purposes_and_numbers_are_independent() {
        let draw = |purpose: &str, number| stream(1, purpose, number).next_u64();
        let mut seen: Vec<u64> = (0..100).map(|n| draw("order", n)).collect();
        seen.extend((0..100).map(|n| draw("renew", n)));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 200);
    }

    /// All 24 orders of four, and each successor, are equally likely: χ² under its 99.99 % point.
    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for round in 0..24_000 {
            let mut order = [0u8, 1, 2, 3];
            shuffle(&mut order, &mut stream(7, "order", round));
            *counts.entry(order).or_insert(0.0) += 1.0;
        }
        assert_eq!(counts.len(), 24);
        let chi2: f64 = counts.values().map(|c: &f64| (c - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi2 < 57.0, "{chi2}");
    }

    #[test]
    fn below_stays_below_and_takes_every_value() {
        let mut generator = stream(3, "below", 0);
        let seen: std::collections::BTreeSet<u64> =
            (0..200).map(|_| below(&mut generator, 5)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(below(&mut generator, 0), 0);
        assert_eq!(below(&mut generator, 1), 0);
    }
}
