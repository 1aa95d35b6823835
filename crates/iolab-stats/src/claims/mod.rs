//! Trials → claims: who is not the best, how much each cell costs against the best at most and at
//! least, which one to take. Every claim carries its own guarantee and holds at every moment,
//! whatever stops the run. Pure: numbers in, numbers out. All amounts are natural logarithms of
//! ratios of time unless they are called a share.

mod bias;
mod control;
mod evidence;
mod exclusion;
mod forecast;
mod grade;
mod hopeless;
mod pick;
mod regret;
mod report;
mod series;
mod stopping;
mod watch;

pub use bias::{Bias, CarryOver, Drift, LEVEL, Withdrawn, lag_limit, smallest_merge};
pub use control::{Control, control};
pub use evidence::{Bar, fewest_rounds, fewest_wins, ln_evidence};
pub use forecast::{rounds_to_exclude, rounds_within};
pub use grade::{Evidence, Raise, grade};
pub use hopeless::{Pace, QUARTER, due, given_up, hopeless, rounds_to_settle};
pub use pick::{Pick, Unsound, Verdict, pick, plateau};
pub use report::{CellClaim, Claims, Facts, NotCompared, Rules, Standing, claims};
pub use series::{Round, Table, Trial};
pub use stopping::{Progress, Wanting, leaving, narrowed, wanting};
pub use watch::Watch;
