//! The A/A control: in each round one active cell drawn at random is
//! measured twice, and a coin says which of the two trials is called the first.
//!
//! As the label is a coin, its ratio has a fair sign whatever the machine does: evidence of 100
//! against that is a fault of labelling or of what comes after it, or one chance in a hundred. It
//! cannot show that a second visit is faster.

use super::evidence::Bar;
use crate::series::median_in_place;
use crate::sign::ln_e_value;

/// Evidence from which the measurement does not agree with itself.
const BROKEN: f64 = 100.0;

/// The control of one condition, pooled over its cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Rounds in which both trials ended.
    pub rounds: u32,
    /// Median ln(time of the one label / time of the other).
    pub ln_ratio: f64,
    /// Its interval at every moment (two-sided, at α); unbounded where rounds are few.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// ln E that the sign is no fair coin. Ties count for neither label.
    pub ln_e: f64,
}

/// The control from ln ratios by round, in the labels' order; those that are no number (a trial
/// was lost) count for nothing. `None` without any.
pub fn control(ln_ratios: &[f64], alpha: f64) -> Option<Control> {
    let mut d: Vec<f64> = ln_ratios.iter().copied().filter(|d| d.is_finite()).collect();
    let n = d.len();
    if n == 0 {
        return None;
    }
    let above = d.iter().filter(|d| **d > 0.0).count() as u32;
    let below = d.iter().filter(|d| **d < 0.0).count() as u32;
    let ln_ratio = median_in_place(&mut d);
    d.sort_unstable_by(f64::total_cmp);
    let (low, high) = match Bar::new(2.0 / alpha).wins(n) {
        Some(wins) => (d[n - wins], d[wins - 1]),
        None => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let ln_e = ln_e_value(above + below, above);
    Some(Control { rounds: n as u32, ln_ratio, low, high, ln_e })
}

impl Control {
    /// Whether the measurement disagrees with itself: nothing can be said then.
    pub fn broken(&self) -> bool {
        self.ln_e >= BROKEN.ln()
    }

    /// δ (a share) widened to what the same cell measured twice differs by.
    pub fn widened(&self, delta: f64) -> f64 {
        delta.max(self.ln_ratio.abs().exp_m1())
    }
}

#[cfg(test)]
mod tests {
    use super::control;

    #[test]
    fn what_agrees_changes_nothing() {
        let d: Vec<f64> = (0..40).map(|r| if r % 2 == 0 { 0.001 } else { -0.001 }).collect();
        let seen = control(&d, 0.05).unwrap();
        assert!(!seen.broken() && seen.widened(0.02) == 0.02 && seen.rounds == 40);
        assert!(seen.low < 0.0 && seen.high > 0.0);
        assert_eq!(control(&[f64::NAN], 0.05), None);
    }

    #[test]
    fn what_differs_widens_and_then_breaks() {
        let few = control(&[0.05, 0.05, f64::NAN, 0.06], 0.05).unwrap();
        assert!(!few.broken() && few.low == f64::NEG_INFINITY);
        assert!((few.widened(0.02) - 0.05f64.exp_m1()).abs() < 1e-12);
        let many = control(&[0.05; 12], 0.05).unwrap();
        assert!(many.broken() && many.low == 0.05);
        // Ties are evidence for neither.
        assert_eq!(control(&[0.0; 12], 0.05).unwrap().ln_e, 0.0);
    }
}
