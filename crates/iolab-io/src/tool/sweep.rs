//! A file read by several threads, each its own range: a digest or a comparison costs more than
//! the copy out of the cache, and one thread could not keep up with a bare read.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Smaller files are read by one thread: starting another takes longer than it saves.
const LEAST_LANE_BYTES: u64 = 4 << 20;
/// More threads read no faster than memory delivers.
const MOST_THREADS: u64 = 4;

/// The ranges that threads take of `bytes`, in order, each beginning on a block.
pub(super) fn partitions(bytes: u64, block: u64) -> Vec<Range<u64>> {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let threads = (bytes / LEAST_LANE_BYTES).clamp(1, processors.min(MOST_THREADS));
    let blocks = bytes.div_ceil(block);
    let cut = |partition: u64| {
        let at = u128::from(blocks) * u128::from(partition) / u128::from(threads);
        (at as u64).saturating_mul(block).min(bytes)
    };
    (0..threads).map(|partition| cut(partition)..cut(partition + 1)).collect()
}

/// Runs `work` for each range in a thread of its own; the results in order.
pub(super) fn in_threads<T: Send>(
    partitions: Vec<Range<u64>>,
    work: impl Fn(Range<u64>) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    let [only] = partitions.as_slice() else {
        return std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = partitions
                .into_iter()
                .map(|partition| scope.spawn(move || work(partition)))
                .collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
            });
            ended.collect()
        });
    };
    Ok(vec![work(only.clone())?])
}

/// Reads a whole block, or what is left of the range; a file that ends before is an error.
pub(super) fn read_block(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(buffer, at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::other("it became shorter meanwhile"),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::partitions;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_cover_the_file_once(bytes in 0u64..(1 << 33), block in 1u64..(1 << 24)) {
            let all = partitions(bytes, block);
            prop_assert_eq!(all[0].start, 0);
            prop_assert_eq!(all[all.len() - 1].end, bytes);
            for pair in all.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
                prop_assert!(pair[0].end % block == 0 || pair[0].end == bytes);
            }
        }
    }
}
