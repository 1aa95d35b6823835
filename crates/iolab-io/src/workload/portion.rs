//! The part of one file that a rank of a job has, where all of them work on it.

use crate::method::{Layout, Partition};
use iolab_model::catalog::{AxisWord, Factor, Levels, Pattern, Share, mix};

use super::Subject;

/// Which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    rank: u64,
    ranks: u64,
    strided: bool,
    /// Bytes of the parts of all.
    pub bytes: u64,
}

/// How many ranks on the one lies that wrote what a rank reads.
pub fn shift_of(levels: &Levels) -> u64 {
    levels.number(Factor::Shift).unwrap_or(0)
}

impl Portion {
    /// That of the rank of this subject; nothing where it has a file of its own.
    pub fn of(levels: &Levels, subject: &Subject<'_>) -> Option<Portion> {
        let share: Share = levels.word()?;
        let ranks = levels.number(Factor::Ranks).unwrap_or(1).max(1);
        let strided = match share {
            Share::Own | Share::One => return None,
            Share::Segmented => false,
            Share::Strided => true,
        };
        let rank = (subject.rank + shift_of(levels)) % ranks;
        // Of a file that is made each rank has as much, whatever others have; a person's is cut.
        let made = levels.number(Factor::FileSize).map(|bytes| bytes.saturating_mul(ranks));
        Some(Portion { rank, ranks, strided, bytes: made.unwrap_or(subject.bytes) })
    }

    /// Cuts the part, or where there is none the whole file, among threads; no work yet.
    pub fn layout_of(
        portion: Option<Portion>,
        subject: &Subject<'_>,
        (step_bytes, threads): (u64, u64),
        pattern: Pattern,
    ) -> Layout {
        match portion {
            Some(portion) => portion.layout(step_bytes, threads, pattern, subject.seed),
            None => Layout::new(subject.bytes, step_bytes, threads, pattern, subject.seed),
        }
    }

    fn layout(self, step_bytes: u64, threads: u64, pattern: Pattern, seed: u64) -> Layout {
        let Portion { rank, ranks, strided, bytes } = self;
        let seed = mix(seed, rank);
        let layout = if strided {
            let mut none = Layout::new(0, step_bytes, threads, pattern, seed);
            self.every_nth(&mut none.partitions, step_bytes, threads);
            none
        } else {
            let mut whole = Layout::new(bytes, step_bytes, ranks * threads, pattern, seed);
            let own = (rank * threads) as usize..((rank + 1) * threads) as usize;
            whole.partitions = whole.partitions.drain(own).collect();
            whole
        };
        Layout { shared: true, ..layout }
    }

    /// Block `i * ranks + rank` of the file is the i-th of the rank.
    fn every_nth(self, partitions: &mut [Partition], step_bytes: u64, threads: u64) {
        let blocks = self.bytes.div_ceil(step_bytes);
        let own = blocks.saturating_sub(self.rank).div_ceil(self.ranks);
        let cut = |thread: u64| (u128::from(own) * u128::from(thread) / u128::from(threads)) as u64;
        for (thread, partition) in (0..).zip(partitions) {
            let (first, end) = (cut(thread), cut(thread + 1));
            partition.first_byte = (first * self.ranks + self.rank) * step_bytes;
            partition.end_byte = self.bytes;
            partition.count = end - first;
            partition.apart = self.ranks;
        }
    }
}

/// Why a method cannot take blocks in turn with others.
pub(super) fn no_turns(levels: &Levels, own_step: bool) -> Option<String> {
    (levels.word() == Some(Share::Strided) && own_step).then(|| {
        format!(
            "--{} {}: it has no block of its own to take in turn; take pread or pwrite",
            Share::FACTOR,
            Share::Strided
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Portion;
    use crate::workload::Subject;
    use iolab_model::catalog::{AxisWord, Factor, Level, Levels, Pattern, Share};
    use proptest::prelude::*;

    fn portion(share: Share, ranks: u64, rank: u64, bytes: u64, shift: u64) -> Portion {
        let levels = Levels::new()
            .with(Share::FACTOR, share.level())
            .with(Factor::Shift, Level::Number(shift))
            .with(Factor::Ranks, Level::Number(ranks));
        let subject = Subject::file(Path::new("/f"), bytes, 1).at_rank(rank);
        Portion::of(&levels, &subject).unwrap()
    }

    proptest! {
        /// A block that two ranks wrote, or none, would be a file that nobody meant.
        #[test]
        fn the_parts_of_all_ranks_are_the_file_once(
            bytes in 1_u64..5000, step in 1_u64..300, ranks in 1_u64..9, threads in 1_u64..4,
            strided: bool, shift in 0_u64..9, order in 0..2_usize,
        ) {
            let share = if strided { Share::Strided } else { Share::Segmented };
            let pattern = [Pattern::Sequential, Pattern::Random][order];
            let (mut seen, mut sum) = (vec![0; bytes as usize], 0);
            for rank in 0..ranks {
                let layout = portion(share, ranks, rank, bytes, shift)
                    .layout(step, threads, pattern, 1).passes(1);
                layout.each_range(|range| range.for_each(|at| seen[at as usize] += 1));
                sum += layout.visited_bytes().unwrap();
            }
            prop_assert!(seen.iter().all(|times| *times == 1), "{seen:?}");
            prop_assert_eq!(sum, bytes);
        }
    }

    /// The i-th block of rank r is block i × ranks + r, and a reader with a shift has another's.
    #[test]
    fn blocks_are_taken_in_turn() {
        let first = |rank, shift| {
            let layout = portion(Share::Strided, 4, rank, 64, shift)
                .layout(4, 1, Pattern::Sequential, 1)
                .passes(1);
            let mut starts = Vec::new();
            layout.each_range(|range| starts.push(range.start));
            starts
        };
        assert_eq!(first(1, 0), [4, 20, 36, 52]);
        assert_eq!(first(3, 2), first(1, 0));
    }
}
