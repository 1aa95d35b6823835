//! Which worker does which files.

use std::ops::Range;

use super::listing::Listing;
use crate::workload::Extent;
use iolab_model::catalog::Sizes;
use iolab_model::tree::Shape;

/// Files that follow each other, in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockRange {
    /// Which pass: a pass that makes files makes them in a directory of its own.
    pub(super) pass: u64,
    /// Which files.
    pub(super) files: Range<u64>,
}

/// What opening a file costs, as bytes: a worker with many small files must not end last.
const FILE_WEIGHT: u64 = 16 << 10;

/// Files of a trial in the order they are visited: whole passes, or a part that wraps at the end.
pub fn segments(files: u64, extent: Extent) -> Vec<Range<u64>> {
    match extent {
        _ if files == 0 => Vec::new(),
        Extent::Passes(_) => std::iter::once(0..files).collect(),
        Extent::Part { first_operation, operations } => {
            let first = first_operation % files;
            let count = operations.min(files);
            let end = first.saturating_add(count);
            let wrapped = (end > files).then(|| 0..end - files);
            std::iter::once(first..end.min(files)).chain(wrapped).collect()
        }
    }
}

/// Passes of a trial.
pub(super) fn passes(extent: Extent) -> u64 {
    match extent {
        Extent::Passes(passes) => passes,
        Extent::Part { .. } => 1,
    }
}

/// The block_ranges of each worker: contiguous files, so that each keeps to few directories; as many to
/// each, or where sizes differ, as many bytes.
pub(super) fn assign_files(
    listing: &Listing,
    extent: Extent,
    workers: u64,
) -> Vec<Vec<BlockRange>> {
    let segments = segments(listing.files(), extent);
    let count: u64 = segments.iter().map(|s| s.end - s.start).sum();
    let cuts = match alike(listing) {
        true => even(count, workers),
        false => weighted(listing, &segments, workers),
    };
    let passes = passes(extent);
    let of_worker = |window: &[u64]| {
        let mut block_ranges = Vec::new();
        for pass in 0..passes {
            let mut before = 0;
            for segment in &segments {
                let length = segment.end - segment.start;
                let from = window[0].clamp(before, before + length) - before;
                let to = window[1].clamp(before, before + length) - before;
                if from < to {
                    let files = segment.start + from..segment.start + to;
                    block_ranges.push(BlockRange { pass, files });
                }
                before += length;
            }
        }
        block_ranges
    };
    cuts.windows(2).map(of_worker).collect()
}

/// Whether an even share of the files is the fair one. Private directories are, by definition.
fn alike(listing: &Listing) -> bool {
    match listing {
        Listing::Made(tree) => {
            matches!(tree.sizes, Sizes::Fixed(_) | Sizes::Total(_))
                || matches!(tree.shape, Shape::Private(_))
        }
        Listing::Found(_) => false,
    }
}

fn even(count: u64, workers: u64) -> Vec<u64> {
    let cut = |w: u64| (u128::from(count) * u128::from(w) / u128::from(workers.max(1))) as u64;
    (0..=workers).map(cut).collect()
}

fn weighted(listing: &Listing, segments: &[Range<u64>], workers: u64) -> Vec<u64> {
    let weight = |file: u64| u128::from(listing.size(file).saturating_add(FILE_WEIGHT));
    let files = || segments.iter().cloned().flatten();
    let all: u128 = files().map(weight).sum();
    let mut cuts = vec![0];
    let (mut sum, mut position) = (0, 0);
    for file in files() {
        while cuts.len() as u64 <= workers && sum * u128::from(workers) >= all * cuts.len() as u128
        {
            cuts.push(position);
        }
        sum += weight(file);
        position += 1;
    }
    cuts.truncate(workers as usize);
    cuts.resize(workers as usize, position);
    cuts.push(position);
    cuts
}

#[cfg(test)]
mod tests {
    use super::{Listing, assign_files};
    use crate::workload::Extent;
    use iolab_model::tree::{Body, Shape, Tree};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_file_has_one_worker(
            files in 1_u64..3000, workers in 1_u64..130, first in 0_u64..5000, operations in 1_u64..3000,
            whole: bool, drawn: bool,
        ) {
            let sizes = if drawn { "lognormal:64Ki:2" } else { "4Ki" }.parse().unwrap();
            let tree = Tree { files, sizes, shape: Shape::Sharded, body: Body::Random, seed: 3, first: 0, rank: 0 };
            let extent = match whole {
                true => Extent::Passes(2),
                false => Extent::Part { first_operation: first, operations: operations.min(files) },
            };
            let shares = assign_files(&Listing::Made(tree), extent, workers);
            prop_assert_eq!(shares.len() as u64, workers);
            let mut seen = vec![0; files as usize];
            for block_range in shares.iter().flatten() {
                block_range.files.clone().for_each(|file| seen[file as usize] += 1);
            }
            let most = if whole { 2 } else { 1 };
            let sum: u64 = seen.iter().sum();
            prop_assert!(seen.iter().all(|n| *n <= most));
            prop_assert_eq!(sum, if whole { 2 * files } else { operations.min(files) });
        }
    }

    #[test]
    fn workers_have_bytes_alike_where_sizes_differ() {
        let sizes = "list:1Mi+0+0+0".parse().unwrap();
        let tree = Tree {
            files: 4000,
            sizes,
            shape: Shape::Shared,
            body: Body::Zero,
            seed: 1,
            first: 0,
            rank: 0,
        };
        let listing = Listing::Made(tree);
        let shares =
            assign_files(&listing, Extent::Part { first_operation: 3, operations: 2000 }, 4);
        let bytes = shares.iter().map(|block_ranges| {
            block_ranges
                .iter()
                .flat_map(|block_range| block_range.files.clone())
                .map(|file| listing.size(file))
                .sum::<u64>()
        });
        let bytes: Vec<u64> = bytes.collect();
        assert!(bytes.iter().all(|b| b.abs_diff(125 << 20) <= 2 << 20), "{bytes:?}");
    }
}
