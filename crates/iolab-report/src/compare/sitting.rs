//! Which runs were made in one go. A machine that is in a slow quarter of an hour is slow in all runs
//! of it: five runs in a row and five more in the next row differ by what happened between the rows.

use iolab_model::catalog::utc_seconds;
use iolab_model::result::Document;

/// Runs of one side that are this far apart are taken to be of machines in states of their own.
const APART_S: u64 = 30 * 60;

/// For each run of both sides the number of its sitting: runs of one side that follow one another in
/// time, with none of the other side in between, share one. A run of which it is not known when it was
/// made, or that began together with another one, has a sitting of its own.
pub(super) fn sittings(first: &[Document], second: &[Document]) -> [Vec<u32>; 2] {
    let mut numbers = [vec![0; first.len()], vec![0; second.len()]];
    let sides = [first, second];
    let mut order: Vec<(Option<u64>, usize, usize)> = Vec::new();
    for (side, runs) in sides.iter().enumerate() {
        order.extend(runs.iter().enumerate().map(|(at, run)| (began(run), side, at)));
    }
    order.sort_unstable();
    for (number, pair) in (1..).zip(order.windows(2)) {
        let [(before, its_side, earlier), (start, side, at)] = [pair[0], pair[1]];
        let follows = before.zip(start).is_some_and(|(before, start)| {
            let end = utc_seconds(sides[its_side][earlier].run.finished.as_deref().unwrap_or(""));
            start > before && start.saturating_sub(end.unwrap_or(before)) < APART_S
        });
        numbers[side][at] = match follows && side == its_side {
            true => numbers[side][earlier],
            false => number,
        };
    }
    numbers
}

/// The sittings that there are among those of some runs, the earliest first.
pub(super) fn distinct(numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn began(run: &Document) -> Option<u64> {
    utc_seconds(&run.run.started)
}

#[cfg(test)]
mod tests {
    use super::sittings;
    use iolab_model::catalog::utc_text;
    use iolab_model::result::Document;

    /// Runs of ten seconds that began at these minutes.
    fn runs(minutes: &[u64]) -> Vec<Document> {
        let run = |minute: &u64| {
            let mut run = iolab_test::documents::empty();
            run.run.started = utc_text(1_800_000_000 + 60 * minute);
            run.run.finished = Some(utc_text(1_800_000_010 + 60 * minute));
            run
        };
        minutes.iter().map(run).collect()
    }

    /// How many runs each sitting of a side has.
    fn shape(first: &[u64], second: &[u64]) -> [Vec<usize>; 2] {
        sittings(&runs(first), &runs(second))
            .map(|side| side.chunk_by(|a, b| a == b).map(<[u32]>::len).collect())
    }

    #[test]
    fn runs_in_a_row_are_one_sitting_and_runs_in_turn_are_not() {
        assert_eq!(shape(&[0, 1, 2], &[3, 4]), [vec![3], vec![2]]);
        assert_eq!(shape(&[0, 2, 4], &[1, 3, 5]), [vec![1, 1, 1], vec![1, 1, 1]]);
        // Five in a row, five of the other, and four of each in turn.
        assert_eq!(shape(&[0, 1, 2, 6, 8], &[3, 4, 5, 7, 9]), [vec![3, 1, 1], vec![3, 1, 1]]);
        // One each night.
        assert_eq!(shape(&[0, 1440, 2880], &[4320]), [vec![1, 1, 1], vec![1]]);
    }

    #[test]
    fn of_runs_whose_time_is_not_known_nothing_is_said() {
        assert_eq!(shape(&[7, 7, 7], &[7, 7]), [vec![1, 1, 1], vec![1, 1]]);
        let mut unknown = runs(&[0, 1]);
        unknown.iter_mut().for_each(|run| run.run.started.clear());
        assert_eq!(sittings(&unknown, &[])[0], [0, 1]);
    }
}
