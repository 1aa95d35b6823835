//! How many more rounds something will take, if rounds go on as they did.

use super::bias::Bias;
use super::evidence::ln_evidence;
use super::report::{Claims, Standing};
use super::series::merge;
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
    at_rate(n, w, (f64::from(w) + 0.5) / (f64::from(n) + 1.0), ln_bar)
}

/// More rounds until E reaches the bar, if so large a share of them are wins.
fn at_rate(n: u32, w: u32, rate: f64, ln_bar: f64) -> Option<u32> {
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

/// How far below the rate that was seen a forecast stays, in its standard errors: a rate seen in few
/// rounds is as often too high as too low, and who waits as long as was foretold wants an answer then in
/// nearly every case, not in every second.
const CAUTION: f64 = 1.0;

/// The same if wins go on more rarely than they did, by as much as chance may have helped.
fn likely(n: u32, w: u32, ln_bar: f64) -> Option<u32> {
    if ln_evidence(n, w) >= ln_bar {
        return Some(0);
    }
    let all = f64::from(n) + 1.0;
    let seen = (f64::from(w) + 0.5) / all;
    at_rate(n, w, seen - CAUTION * (seen * (1.0 - seen) / all).sqrt(), ln_bar)
}

/// Merged rounds, as bounds are made of them where neighbours are alike.
fn likely_within(mut d: Vec<f64>, limit: f64, size: usize, ln_bar: f64) -> Option<u32> {
    merge(&mut d, size);
    let within = d.iter().filter(|d| **d <= limit).count() as u32;
    let units = likely(d.len() as u32, within, ln_bar)?;
    units.checked_mul(size as u32)
}

impl Watch {
    /// More units until the answer is settled: the pick within δ, or one cell left, whichever comes
    /// first; so many that they nearly always do where rounds go on as they did. `None` where neither is in sight, and where
    /// what biases the claims keeps them open however many rounds there are. Promised to nobody.
    pub fn forecast(&self, claims: &Claims, bias: &Bias) -> Option<u32> {
        let pick = self.to_pick(claims, bias);
        let winner = self.to_winner(claims, bias);
        match (pick, winner) {
            (Some(pick), Some(winner)) => Some(pick.min(winner)),
            (either, other) => either.or(other),
        }
    }

    fn to_pick(&self, claims: &Claims, bias: &Bias) -> Option<u32> {
        let k = claims.cells.len() as f64;
        let bar = (2.0 * (k - 1.0).max(1.0) / self.alpha).ln();
        let limit = claims.delta.ln_1p() - bias.carried();
        let pick = claims.pick.map(|pick| pick.cell).or_else(|| self.leader())?;
        let open = |cell: &usize| *cell != pick && !claims.cells[*cell].settled;
        let needs = claims
            .compared()
            .into_iter()
            .filter(open)
            .map(|j| likely_within(self.contrast(pick, j), limit, bias.size(pick, j), bar));
        let most = needs.collect::<Option<Vec<u32>>>()?.into_iter().max().unwrap_or(0);
        (limit > 0.0).then_some(most)
    }

    fn to_winner(&self, claims: &Claims, bias: &Bias) -> Option<u32> {
        let leader = self.leader()?;
        // With all others clear, what is left is this cell's own share and the leader's.
        let bar = (2.0 / self.alpha).ln();
        let open = claims.cells.iter().enumerate();
        let open = open.filter(|(at, c)| {
            *at != leader && matches!(c.standing, Standing::Best | Standing::Withdrawn(_))
        });
        let needs = open.map(|(at, cell)| match (bias.size(at, leader), bias.carried()) {
            (1, 0.0) => likely(cell.met, cell.longer, bar),
            // The leader is slower by less than what the cell before can do: it never shows.
            (size, carried) => likely_within(self.contrast(leader, at), -carried, size, bar),
        });
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
