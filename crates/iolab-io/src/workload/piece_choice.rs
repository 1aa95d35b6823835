//! Which pieces of a large trial are compared: one of each run of so many neighbours, drawn anew for
//! every trial, so that what is wrong at one place is not passed over in all of them.

use iolab_model::catalog::{Code, mix};
use iolab_model::result::Measurement;

/// Bytes compared in one trial, about; of a larger one a part is.
pub(super) const CHECKED_BYTES: u64 = 64 << 20;

/// The stream of the draw.
const STREAM: u64 = 0x9eec_e500;

/// What a trial draws its choice from. Its time is in its record and never the same again, so that a
/// choice can be repeated from the record and not be foreseen.
pub(super) fn draw(seed: u64, measurement: &Measurement) -> u64 {
    mix(mix(seed, STREAM), measurement.wall_ns)
}

/// One piece of every so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceChoice {
    every: u64,
    draw: u64,
}

impl PieceChoice {
    /// Of pieces that hold `bytes` together.
    pub fn new(bytes: u64, draw: u64) -> PieceChoice {
        PieceChoice { every: bytes.div_ceil(CHECKED_BYTES).max(1), draw }
    }

    /// Whether this piece is compared.
    pub fn takes(self, index: u64) -> bool {
        index % self.every == mix(self.draw, index / self.every) % self.every
    }
}

/// Says how much was compared, and that it was not all where it was not.
pub(super) fn tell(measurement: &mut Measurement, checked_bytes: u64, all_bytes: u64) {
    measurement.metrics.insert("checked_bytes".into(), checked_bytes as f64);
    let in_part = checked_bytes < all_bytes && !measurement.flags.contains(&Code::PartChecked);
    measurement.flags.extend(in_part.then_some(Code::PartChecked));
}

#[cfg(test)]
mod tests {
    use super::{CHECKED_BYTES, PieceChoice, draw};
    use iolab_model::result::Measurement;

    /// Always the same pieces were compared: a write that went wrong between them was never seen.
    #[test]
    fn pieces_are_drawn_anew_and_come_to_be_seen_all() {
        let (every, pieces) = (20, 20 * 256);
        let mut seen = vec![0_u32; pieces];
        for wall_ns in 0..200 {
            let draw = draw(7, &Measurement { wall_ns, ..Measurement::default() });
            let choice = PieceChoice::new(every * CHECKED_BYTES, draw);
            let chosen: Vec<usize> = (0..pieces).filter(|at| choice.takes(*at as u64)).collect();
            assert_eq!(chosen.len(), pieces / every as usize, "one of each run");
            chosen.into_iter().for_each(|at| seen[at] += 1);
        }
        // Of 200 draws each piece is in 10; in none of them once in 28 000 pieces.
        assert!(seen.iter().filter(|times| **times == 0).count() <= 3);
        assert!(seen.iter().all(|times| *times < 40), "{:?}", seen.iter().max());
    }

    #[test]
    fn all_of_a_small_trial_is_compared() {
        let choice = PieceChoice::new(CHECKED_BYTES, 3);
        assert!((0..1000).all(|index| choice.takes(index)));
    }
}
