//! One struct of everything that may be said about an answer.

use super::bias::{Bias, Withdrawn, crossed, widen};
use super::control::Control;
use super::pick::{Pick, Unsound, Verdict, pick, verdict};
use super::regret::{Bounds, Seen};
use super::series::Table;
use super::watch::Watch;

/// Fewer steady rounds than this say nothing.
const FEWEST_ROUNDS: usize = 5;

/// What decides a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Error allowed for the answer.
    pub alpha: f64,
    /// Differences smaller than this share do not matter.
    pub delta: f64,
    /// By cell, less is cheaper; see [`pick`].
    pub cost: Vec<u64>,
    /// Whether an exclusion is withdrawn where neighbouring rounds are alike and merged rounds do not
    /// bear it. False is the protocol's letter ("exclusion needs no merging"), which holds where the
    /// machine wanders and not where a cell does: two equal cells that each follow an AR(1) of 0.5
    /// to 0.9 are told apart in 18 to 83 % of runs without this, in 0 to 9 % with it.
    pub memory_withdraws: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { alpha: 0.05, delta: 0.02, cost: Vec::new(), memory_withdraws: true }
    }
}

/// What is known of an answer beside its times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// What can bias its claims.
    pub bias: Bias,
    /// The control of its condition.
    pub control: Option<Control>,
    /// What takes everything away.
    pub unsound: Vec<Unsound>,
}

/// Why a cell is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompared {
    /// Never on the schedule.
    Absent,
    /// No trial of it ended.
    Failed,
    /// Given up without proof.
    Dropped,
}

/// Where a cell stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// In the set of the best: not proven slower than another.
    Best,
    /// Proven not the best.
    Slower,
    /// Slower in the rounds, but something other than the cell may have made it so; it counts among
    /// the best.
    Withdrawn(Withdrawn),
    /// Nothing is said of it, and it is not beaten.
    NotCompared(NotCompared),
}

/// What is said of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellClaim {
    /// Where it stands.
    pub standing: Standing,
    /// Units in which it met an opponent.
    pub met: u32,
    /// Those in which it took longer.
    pub longer: u32,
    /// ln E that it is not the best.
    pub ln_e: f64,
    /// ln regret at least: 0 in the set of the best. 0 where it is slower: by how much is not settled.
    pub low: f64,
    /// ln regret at most; +∞ where too few rounds bound it.
    pub high: f64,
    /// The cell against which `high` was found.
    pub rival: Option<usize>,
    /// Its regret is above 0 with the error of the bounds: the bounds of others no longer wait for
    /// it, and it may leave the rounds.
    pub settled: bool,
}

/// Everything that may be said about an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// By cell.
    pub cells: Vec<CellClaim>,
    /// The set of the best; empty only where no cell is compared.
    pub best: Vec<usize>,
    /// What to take; `None` where no bound is finite yet.
    pub pick: Option<Pick>,
    /// Where the answer stands.
    pub verdict: Verdict,
    /// δ (a share) with what the control adds to it.
    pub delta: f64,
    /// Steady rounds.
    pub rounds: usize,
    /// Units of the statistic among them.
    pub units: usize,
}

impl Claims {
    /// Cells of which something is said.
    pub fn compared(&self) -> Vec<usize> {
        let said = |cell: &usize| !matches!(self.cells[*cell].standing, Standing::NotCompared(_));
        (0..self.cells.len()).filter(said).collect()
    }

    /// Whether the answer must say "of those compared".
    pub fn of_those_compared(&self) -> bool {
        self.compared().len() < self.cells.len()
    }

    /// U by cell.
    pub fn high(&self) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.high).collect()
    }

    pub(crate) fn of(watch: &Watch, rules: &Rules, facts: &Facts) -> Claims {
        let delta = facts.control.map_or(rules.delta, |c| c.widened(rules.delta));
        let slower: Vec<bool> =
            (0..watch.y.len()).map(|c| standing(watch, c) == Standing::Slower).collect();
        let crossed = crossed(&facts.bias.drifts, delta, &slower);
        let mut cells = bounds(watch, rules, &facts.bias, &crossed);
        withdraw(&mut cells, &facts.bias, (rules, delta), &slower, &crossed);
        let low: Vec<f64> = cells.iter().map(|cell| cell.low).collect();
        let high: Vec<f64> = cells.iter().map(|cell| cell.high).collect();
        let rounds = watch.rounds();
        let units = watch.ends.as_ref().map_or(rounds, Vec::len);
        let verdict = Verdict::Several;
        let mut claims = Claims { cells, best: vec![], pick: None, verdict, delta, rounds, units };
        let compared = claims.compared();
        claims.best = compared.iter().copied().filter(|cell| claims.in_best(*cell)).collect();
        claims.pick = pick(&high, &rules.cost, &compared, delta).filter(|_| rounds > 0);
        let unsound = unsound(facts, rounds);
        claims.verdict = match unsound.is_empty() {
            true => verdict_of(&claims, &compared, &low, &high),
            false => Verdict::Unsound(unsound),
        };
        claims
    }

    fn in_best(&self, cell: usize) -> bool {
        matches!(self.cells[cell].standing, Standing::Best | Standing::Withdrawn(_))
    }
}

fn verdict_of(claims: &Claims, compared: &[usize], low: &[f64], high: &[f64]) -> Verdict {
    verdict(&claims.best, compared, low, high, claims.delta)
}

fn unsound(facts: &Facts, rounds: usize) -> Vec<Unsound> {
    let mut reasons = facts.unsound.clone();
    if facts.control.is_some_and(|control| control.broken()) {
        reasons.push(Unsound::Control);
    }
    if rounds < FEWEST_ROUNDS {
        reasons.push(Unsound::FewRounds);
    }
    reasons.sort_unstable();
    reasons.dedup();
    reasons
}

/// Every cell with its exclusion and its bounds; carry-over and likeness of neighbours are in them,
/// drift only in that a cell which crossed another is settled for nobody.
fn bounds(watch: &Watch, rules: &Rules, bias: &Bias, crossed: &[bool]) -> Vec<CellClaim> {
    let lines = &watch.exclusion.lines;
    let mut bounds = Bounds::new(Seen {
        y: &watch.y,
        ends: watch.ends.as_deref(),
        merged: &bias.merged,
        carry_over: bias.carried(),
        alpha: watch.alpha,
    });
    // To have been settled once is enough, unless something other than the cell may have done it.
    let settled: Vec<bool> = (0..lines.len())
        .map(|cell| {
            let doubted = bias.carried() > 0.0 || alike(rules, bias, cell);
            let stands = !doubted || bounds.low(cell, &lines[cell].d) > 0.0;
            lines[cell].settled && !crossed[cell] && stands
        })
        .collect();
    let mut rivals: Vec<usize> =
        (0..lines.len()).filter(|cell| lines[*cell].compared() && !settled[*cell]).collect();
    // The likely best first: against them the maximum is found soon.
    rivals.sort_by(|a, b| lines[*a].median().total_cmp(&lines[*b].median()));
    (0..lines.len()).map(|cell| one(watch, cell, &mut bounds, &rivals, settled[cell])).collect()
}

fn one(
    watch: &Watch,
    cell: usize,
    bounds: &mut Bounds<'_>,
    rivals: &[usize],
    settled: bool,
) -> CellClaim {
    let line = &watch.exclusion.lines[cell];
    let standing = standing(watch, cell);
    let low = if standing == Standing::Slower { bounds.low(cell, &line.d) } else { 0.0 };
    let upper = line.compared().then(|| bounds.high(cell, rivals));
    CellClaim {
        standing,
        met: line.d.len() as u32,
        longer: line.wins,
        ln_e: line.ln_e,
        low,
        // Two bounds that cross are one error; the wider reading is the one that is safe.
        high: upper.map_or(f64::INFINITY, |upper| upper.high).max(low),
        rival: upper.and_then(|upper| upper.rival),
        settled,
    }
}

/// Whether an exclusion must hold on merged rounds too.
fn alike(rules: &Rules, bias: &Bias, cell: usize) -> bool {
    rules.memory_withdraws && bias.merged.get(cell).is_some_and(|merged| *merged > 1)
}

fn standing(watch: &Watch, cell: usize) -> Standing {
    let line = &watch.exclusion.lines[cell];
    if line.dropped {
        return Standing::NotCompared(NotCompared::Dropped);
    }
    if !line.finished {
        let failed = !line.median().is_nan();
        let why = if failed { NotCompared::Failed } else { NotCompared::Absent };
        return Standing::NotCompared(why);
    }
    if line.excluded { Standing::Slower } else { Standing::Best }
}

/// Widens by drift, and takes back what carry-over or drift may have made.
fn withdraw(
    cells: &mut [CellClaim],
    bias: &Bias,
    (rules, delta): (&Rules, f64),
    slower: &[bool],
    crossed: &[bool],
) {
    let mut low: Vec<f64> = cells.iter().map(|cell| cell.low).collect();
    let mut high: Vec<f64> = cells.iter().map(|cell| cell.high).collect();
    let why = |at: usize, cell: &CellClaim| match cell.low > 0.0 {
        _ if crossed[at] => Some(Withdrawn::Drift),
        false if bias.carried() > 0.0 => Some(Withdrawn::CarryOver),
        false if alike(rules, bias, at) => Some(Withdrawn::Alike),
        _ => None,
    };
    widen(&bias.drifts, delta, slower, &mut low, &mut high);
    for (at, cell) in cells.iter_mut().enumerate().filter(|(at, _)| slower[*at]) {
        if let Some(why) = why(at, cell) {
            cell.standing = Standing::Withdrawn(why);
            (low[at], cell.settled) = (0.0, false);
        }
    }
    for (at, cell) in cells.iter_mut().enumerate() {
        (cell.low, cell.high) = (low[at], high[at]);
    }
}

impl Watch {
    /// What can be said now.
    pub fn claims(&self, rules: &Rules, facts: &Facts) -> Claims {
        Claims::of(self, rules, facts)
    }
}

/// What a whole table allows to say: the same as a [`Watch`] that saw it round by round.
pub fn claims(table: &Table, rules: &Rules, facts: &Facts) -> Claims {
    table.watch(rules.alpha).claims(rules, facts)
}
