//! The two small functions that turn text and numbers into numbers that have nothing in common
//! with their neighbours'. Records hold what they give, so they stay as they are.

/// FNV-1a, 64 bits (Fowler, Noll & Vo): a short name for bytes, no proof against malice.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// SplitMix64's output function (Steele, Lea & Flood 2014) of the `id`-th state after `seed`.
#[inline]
pub fn mix(seed: u64, id: u64) -> u64 {
    let mut z = seed.wrapping_add(id.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{fnv1a, mix};

    #[test]
    fn the_published_values() {
        assert_eq!(fnv1a([]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
        // The first three outputs of SplitMix64 from the seed 1234567.
        let first = [0, 1, 2].map(|id| mix(1_234_567, id));
        assert_eq!(first, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }
}
