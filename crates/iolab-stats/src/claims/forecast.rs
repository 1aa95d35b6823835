//! How many more rounds something will take, if rounds go on as they did.

use super::evidence::ln_evidence;
use super::report::{Claims, Standing};
use super::watch::Watch;

/// No forecast looks further ahead.
const FARTHEST: u32 = 1 << 22;

/// More rounds until E reaches the bar, where `w` of `n` rounds were wins so far and wins go on at
/// that rate (half a win shrunk towards none, so that few rounds promise little). `None` where it
/// never will: the rate is not above one half, or millions would be needed.
pub fn rounds_to_exclude(n: u32, w: u32, ln_bar: f64) -> Option<u32> {
    if ln_evidence(n, w) >= ln_bar {
        return Some(0);
    }
    let rate = (f64::from(w) + 0.5) / (f64::from(n) + 1.0);
    let reaches = |more: u32| {
        let wins = w + (rate * f64::from(more)).round() as u32;
        ln_evidence(n + more, wins.min(n + more)) >= ln_bar
    };
    if rate <= 0.5 {
        return None;
    }
    let mut high = 1;
    while !reaches(high) {
        high *= 2;
        if high > FARTHEST {
            return None;
        }
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if reaches(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// More rounds until an upper bound is at most `limit`, from the differences seen so far.
pub fn rounds_within(d: &[f64], limit: f64, ln_bar: f64) -> Option<u32> {
    let within = d.iter().filter(|d| **d <= limit).count() as u32;
    rounds_to_exclude(d.len() as u32, within, ln_bar)
}

impl Watch {
    /// More units until the answer is settled: the pick within δ, or one cell left, whichever comes
    /// first. `None` where neither is in sight. An estimate, promised to nobody.
    pub fn forecast(&self, claims: &Claims) -> Option<u32> {
        let pick = self.to_pick(claims);
        let winner = self.to_winner(claims);
        match (pick, winner) {
            (Some(pick), Some(winner)) => Some(pick.min(winner)),
            (either, other) => either.or(other),
        }
    }

    fn to_pick(&self, claims: &Claims) -> Option<u32> {
        let k = claims.cells.len() as f64;
        let bar = (2.0 * (k - 1.0).max(1.0) / self.alpha).ln();
        let pick = claims.pick.map(|pick| pick.cell).or_else(|| self.leader())?;
        let open = |cell: &usize| *cell != pick && !claims.cells[*cell].settled;
        let needs = claims.compared().into_iter().filter(open);
        let needs =
            needs.map(|j| rounds_within(&self.contrast(pick, j), claims.delta.ln_1p(), bar));
        needs.collect::<Option<Vec<u32>>>().map(|n| n.into_iter().max().unwrap_or(0))
    }

    fn to_winner(&self, claims: &Claims) -> Option<u32> {
        let leader = self.leader()?;
        // With all others clear, what is left is this cell's own share and the leader's.
        let bar = (2.0 / self.alpha).ln();
        let open = claims.cells.iter().enumerate();
        let open = open.filter(|(at, c)| *at != leader && c.standing == Standing::Best);
        let needs = open.map(|(_, cell)| rounds_to_exclude(cell.met, cell.longer, bar));
        needs.collect::<Option<Vec<u32>>>().map(|n| n.into_iter().max().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::{rounds_to_exclude, rounds_within};

    #[test]
    fn what_goes_on_gets_there_and_a_fair_coin_never() {
        let bar = 40f64.ln();
        assert_eq!(rounds_to_exclude(8, 8, bar), Some(0));
        assert_eq!(rounds_to_exclude(4, 4, bar), Some(4));
        assert_eq!(rounds_to_exclude(40, 20, bar), None);
        let more = rounds_to_exclude(40, 26, bar).unwrap();
        assert!((40..150).contains(&more), "{more}");
        assert_eq!(rounds_within(&[0.01; 8], 0.02, bar), Some(0));
        assert_eq!(rounds_within(&[0.03; 8], 0.02, bar), None);
    }
}
