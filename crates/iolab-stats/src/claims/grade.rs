//! The grade of an answer's figures. A claim that stands is proven whatever the
//! grade.

use iolab_model::result::Grade;

/// Steady rounds that a grade above C needs.
const ROUNDS: usize = 20;
/// So many times the rounds that there are is no advice: "about 6907 rounds more" was said of a run of
/// half a minute.
const FAR: usize = 30;
/// o/T that an A allows.
const OVERHEAD: f64 = 0.01;
/// File instances that an A needs, where they matter.
const INSTANCES: u32 = 5;
/// How far the pick may cost more than the best, as a share.
const NARROW: f64 = 0.02;
const WIDE: f64 = 0.05;

/// What the grade is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Steady rounds.
    pub rounds: usize,
    /// o/T, the clock's share of a trial.
    pub overhead: f64,
    /// File instances; `None` where they cancel.
    pub instances: Option<u32>,
    /// U of the pick (a logarithm); `None` where there is no pick. Its lower end is 0 where it may
    /// be the best, so "within ±2 %" is read as U ≤ ln 1.02.
    pub at_most: Option<f64>,
    /// More rounds until it is within δ, where that can be foreseen.
    pub forecast: Option<u32>,
}

/// The one thing that would raise the grade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raise {
    /// More rounds, about so many.
    Rounds(u32),
    /// More file instances.
    Instances(u32),
    /// Work that takes longer, by this factor.
    LongerTrials(f64),
    /// Trials that differ less: no number of rounds that anybody waits for would do.
    Quieter,
}

/// The grade of figures that are sound, and what would raise it; `None` for an A.
///
/// A: 20 rounds, a clock that takes at most 1 %, five instances, the pick within 2 %. B: the pick
/// within 5 %. C: wider, or fewer rounds.
pub fn grade(evidence: &Evidence) -> (Grade, Option<Raise>) {
    let within = |share: f64| evidence.at_most.is_some_and(|high| high <= share.ln_1p());
    let instances = evidence.instances.unwrap_or(INSTANCES);
    let caps = [
        (evidence.rounds < ROUNDS, Grade::C, more_rounds(evidence, NARROW)),
        (!within(WIDE), Grade::C, more_rounds(evidence, WIDE)),
        (!within(NARROW), Grade::B, more_rounds(evidence, NARROW)),
        (instances < INSTANCES, Grade::B, Raise::Instances(INSTANCES.saturating_sub(instances))),
        (evidence.overhead > OVERHEAD, Grade::B, longer(evidence)),
    ];
    let caps = || caps.iter().filter(|(holds, _, _)| *holds);
    let Some(worst) = caps().map(|(_, grade, _)| *grade).max() else { return (Grade::A, None) };
    let raise = caps().find(|(_, grade, _)| *grade == worst).map(|(_, _, raise)| *raise);
    (worst, raise)
}

fn longer(evidence: &Evidence) -> Raise {
    Raise::LongerTrials(evidence.overhead / OVERHEAD)
}

/// Rounds to 20, or to a bound of this share: by the forecast, else as the width goes with 1/√n.
fn more_rounds(evidence: &Evidence, share: f64) -> Raise {
    let short = ROUNDS.saturating_sub(evidence.rounds) as u32;
    let high = evidence.at_most.filter(|high| high.is_finite()).unwrap_or(0.0);
    let times = (high / share.ln_1p()).max(1.0).powi(2) - 1.0;
    let by_width = (times * evidence.rounds.max(1) as f64).ceil().min(1e9) as u32;
    match short.max(evidence.forecast.unwrap_or(by_width)).max(1) {
        more if more as usize > FAR * evidence.rounds.max(ROUNDS) => Raise::Quieter,
        more => Raise::Rounds(more),
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Grade, Raise, grade};

    #[test]
    fn grades_and_what_raises_them() {
        let a = Evidence {
            rounds: 20,
            overhead: 0.01,
            instances: None,
            at_most: Some(0.019),
            forecast: None,
        };
        assert_eq!(grade(&a), (Grade::A, None));
        let few = Evidence { rounds: 12, ..a };
        assert_eq!(grade(&few), (Grade::C, Some(Raise::Rounds(8))));
        let wide = Evidence { at_most: Some(0.0399), ..a };
        assert!(matches!(grade(&wide), (Grade::B, Some(Raise::Rounds(60..70)))));
        let none = Evidence { at_most: None, forecast: Some(30), ..a };
        assert_eq!(grade(&none), (Grade::C, Some(Raise::Rounds(30))));
        let wild = Evidence { at_most: Some(0.7), forecast: None, rounds: 40, ..a };
        assert_eq!(grade(&wild), (Grade::C, Some(Raise::Quieter)));
        let clock = Evidence { overhead: 0.05, ..a };
        assert_eq!(grade(&clock), (Grade::B, Some(Raise::LongerTrials(5.0))));
        let placed = Evidence { instances: Some(2), ..a };
        assert_eq!(grade(&placed), (Grade::B, Some(Raise::Instances(3))));
    }
}
