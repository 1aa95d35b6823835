//! The XOR of a buffer's 32-bit words at the speed of the caches: wide vectors chosen at run time.

/// XOR of the little-endian 32-bit words of a buffer, the last one padded with zeros.
pub type Xor32 = fn(&[u8]) -> u32;

/// The fastest [`Xor32`] of this processor. Choose once, call often.
pub fn xor32() -> Xor32 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return x86::xor32_avx512;
        }
        if std::is_x86_feature_detected!("avx2") {
            return x86::xor32_avx2;
        }
    }
    xor32_portable
}

/// The same without vectors of a certain processor (LLVM still uses the baseline's).
pub fn xor32_portable(bytes: &[u8]) -> u32 {
    const LANES: usize = 8;
    let mut partitions = [0_u64; LANES];
    let mut chunks = bytes.chunks_exact(LANES * 8);
    for chunk in &mut chunks {
        for (partition, word) in partitions.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *partition ^= u64::from_le_bytes(*word);
        }
    }
    let wide = partitions.iter().fold(0, |a, b| a ^ b);
    (wide ^ (wide >> 32)) as u32 ^ xor32_short(chunks.remainder())
}

/// For a few bytes.
#[inline(always)]
fn xor32_short(bytes: &[u8]) -> u32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut acc = 0;
    for word in words {
        acc ^= u32::from_le_bytes(*word);
    }
    for (at, byte) in tail.iter().enumerate() {
        acc ^= u32::from(*byte) << (8 * at);
    }
    acc
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_loadu_si256, _mm256_setzero_si256, _mm256_storeu_si256,
        _mm256_xor_si256, _mm512_loadu_si512, _mm512_setzero_si512, _mm512_storeu_si512,
        _mm512_xor_si512,
    };

    use super::xor32_short;

    /// Only handed out by [`super::xor32`], once the processor was seen to have AVX-512F.
    pub(super) fn xor32_avx512(bytes: &[u8]) -> u32 {
        if bytes.len() < 64 {
            return xor32_short(bytes);
        }
        // SAFETY: `xor32` detected avx512f before it gave this function out.
        unsafe { wide512(bytes) }
    }

    /// Only handed out by [`super::xor32`], once the processor was seen to have AVX2.
    pub(super) fn xor32_avx2(bytes: &[u8]) -> u32 {
        if bytes.len() < 32 {
            return xor32_short(bytes);
        }
        // SAFETY: `xor32` detected avx2 before it gave this function out.
        unsafe { wide256(bytes) }
    }

    /// Eight accumulators: a load a cycle is the limit, not the latency of XOR.
    #[target_feature(enable = "avx512f")]
    fn wide512(bytes: &[u8]) -> u32 {
        let mut acc = [_mm512_setzero_si512(); 8];
        let (rows, rest) = bytes.as_chunks::<512>();
        for row in rows {
            for (at, partition) in acc.iter_mut().enumerate() {
                // SAFETY: 64 bytes from 64·at lie within the row of 512; no alignment is needed.
                let word = unsafe { _mm512_loadu_si512(row.as_ptr().add(64 * at).cast()) };
                *partition = _mm512_xor_si512(*partition, word);
            }
        }
        let (words, tail) = rest.as_chunks::<64>();
        for word in words {
            // SAFETY: the chunk has 64 bytes; no alignment is needed.
            let word: __m512i = unsafe { _mm512_loadu_si512(word.as_ptr().cast()) };
            acc[0] = _mm512_xor_si512(acc[0], word);
        }
        let mut all = acc[0];
        for partition in &acc[1..] {
            all = _mm512_xor_si512(all, *partition);
        }
        let mut out = [0_u8; 64];
        // SAFETY: `out` has 64 writable bytes; no alignment is needed.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), all) };
        xor32_short(&out) ^ xor32_short(tail)
    }

    /// The same with half the width.
    #[target_feature(enable = "avx2")]
    fn wide256(bytes: &[u8]) -> u32 {
        let mut acc = [_mm256_setzero_si256(); 8];
        let (rows, rest) = bytes.as_chunks::<256>();
        for row in rows {
            for (at, partition) in acc.iter_mut().enumerate() {
                // SAFETY: 32 bytes from 32·at lie within the row of 256; no alignment is needed.
                let word = unsafe { _mm256_loadu_si256(row.as_ptr().add(32 * at).cast()) };
                *partition = _mm256_xor_si256(*partition, word);
            }
        }
        let (words, tail) = rest.as_chunks::<32>();
        for word in words {
            // SAFETY: the chunk has 32 bytes; no alignment is needed.
            let word: __m256i = unsafe { _mm256_loadu_si256(word.as_ptr().cast()) };
            acc[0] = _mm256_xor_si256(acc[0], word);
        }
        let mut all = acc[0];
        for partition in &acc[1..] {
            all = _mm256_xor_si256(all, *partition);
        }
        let mut out = [0_u8; 32];
        // SAFETY: `out` has 32 writable bytes; no alignment is needed.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), all) };
        xor32_short(&out) ^ xor32_short(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::{Xor32, xor32, xor32_portable, xor32_short};

    /// By the definition, byte by byte.
    fn plain(bytes: &[u8]) -> u32 {
        bytes.iter().enumerate().fold(0, |acc, (i, b)| acc ^ (u32::from(*b) << (8 * (i % 4))))
    }

    fn every_fold() -> Vec<Xor32> {
        let mut all: Vec<Xor32> = vec![xor32(), xor32_portable, xor32_short];
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx2") {
                all.push(super::x86::xor32_avx2);
            }
            if std::is_x86_feature_detected!("avx512f") {
                all.push(super::x86::xor32_avx512);
            }
        }
        all
    }

    #[test]
    fn every_width_agrees_with_the_definition_at_every_length_and_alignment() {
        let bytes: Vec<u8> =
            (0..2100_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        for fold in every_fold() {
            for start in 0..8 {
                for end in (start..1200).chain(2000..2100) {
                    assert_eq!(fold(&bytes[start..end]), plain(&bytes[start..end]));
                }
            }
        }
    }
}
