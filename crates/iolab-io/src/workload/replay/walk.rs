//! A program at work between its calls, as the caches of its core see it: through memory, now near,
//! now far. A call after such work finds as little of its own in them as the program's did.

use std::time::Duration;

use crate::sys::clock::now_ns;
use iolab_model::catalog::mix;

/// Bytes that caches take in at a time.
const LINE_BYTES: usize = 64;
/// Lines to walk through, as a power of two: 4 MiB, more than a core has for itself.
const MOST_LINES_LOG2: u32 = 16;
const LEAST_LINES_LOG2: u32 = 6;
/// Threads that have that much each; of more each has less.
const FEW_THREADS_LOG2: u32 = 4;
/// Steps between two looks at the clock. With 32, a program that does next to nothing between its calls
/// seemed to do much: the readlinks of a gcc took 1.57 µs for 1.14.
const STEPS: u32 = 4;
/// Of a longer time its end alone is spent awake: what was done before that is in no cache any more.
const AWAKE_NS: u64 = 2_000_000;

/// Steps that are as often near as far: each power of two of lines up to all of them is as likely, as
/// programs come back to what they used lately rather than long ago.
#[derive(Debug)]
pub(super) struct Walk {
    lines: Vec<[u8; LINE_BYTES]>,
    lines_log2: u32,
    random: u64,
}

impl Walk {
    /// For one of so many threads. All of it is touched.
    pub(super) fn new(threads: usize) -> Walk {
        let many = threads.max(1).ilog2().saturating_sub(FEW_THREADS_LOG2);
        let lines_log2 = MOST_LINES_LOG2.saturating_sub(many).max(LEAST_LINES_LOG2);
        Walk { lines: vec![[1; LINE_BYTES]; 1 << lines_log2], lines_log2, random: mix(1, 1) | 1 }
    }

    /// Lets so much time pass.
    #[inline(never)]
    pub(super) fn pass(&mut self, ns: u64) {
        let end_ns = now_ns().saturating_add(ns);
        if ns > AWAKE_NS {
            std::thread::sleep(Duration::from_nanos(ns - AWAKE_NS));
        }
        while now_ns() < end_ns {
            (0..STEPS).for_each(|_| self.step());
        }
    }

    #[inline(always)]
    fn step(&mut self) {
        // Knuth's multiplier: its high bits are random enough.
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let high = (self.random >> 32) as u32;
        let within = (1_u32 << (high % (self.lines_log2 + 1))) - 1;
        if let Some(line) = self.lines.get_mut(((high >> 8) & within) as usize) {
            line[0] = line[0].wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{MOST_LINES_LOG2, Walk};

    /// A program that spun between its calls left the caches to them, and they seemed cheaper than the
    /// program's own. A walk comes by what is near and by what is far, and takes its time.
    #[test]
    fn a_walk_reaches_far_and_stays_near() {
        let mut walk = Walk::new(1);
        let touched = |lines: &[[u8; 64]]| lines.iter().filter(|line| line[0] != 1).count();
        // On a busy machine somebody else may have the processor for all of the time.
        for _ in 0..100 {
            let began = Instant::now();
            walk.pass(3_000_000);
            assert!(began.elapsed() >= Duration::from_millis(3));
            if touched(&walk.lines) > 1000 {
                break;
            }
        }
        let (near, far) = walk.lines.split_at(1 << (MOST_LINES_LOG2 / 2));
        assert!(touched(near) > near.len() / 2, "{} of {}", touched(near), near.len());
        assert!(touched(far) > near.len(), "{} of {}", touched(far), far.len());
        assert!(touched(far) < far.len() / 2, "{} of {}", touched(far), far.len());
        assert!(Walk::new(3000).lines.len() < walk.lines.len() / 100);
    }
}
