//! How long it will take, against how long it took.

use crate::common::{Machine, Noise, now};
use iolab_stats::claims::{Bias, Verdict, Watch};

/// Nobody waits for more rounds than these.
const FARTHEST: u32 = 2000;
/// Looks on the way to the end of what was foretold: a run ends as soon as it is settled.
const LOOKS: u32 = 10;

fn is_settled(watch: &Watch) -> bool {
    let claims = now(watch);
    claims.pick.is_some_and(|pick| pick.within)
        || matches!(claims.verdict, Verdict::Winner { .. } | Verdict::Tie)
}

/// Whether what was foretold after so many rounds did; nothing where nothing was, or was needed.
fn came_true(seed: u64, levels: &[f64], noise: Noise, rounds: usize) -> Option<bool> {
    let mut machine = Machine::new(seed, noise, levels);
    let mut watch = machine.watch(0.05);
    (0..rounds).for_each(|_| watch.push(&machine.round(), true));
    if is_settled(&watch) {
        return None;
    }
    let more = watch.forecast(&now(&watch), &Bias::default());
    let more = more.filter(|more| *more > 0 && *more <= FARTHEST)?;
    let step = more.div_ceil(LOOKS);
    let mut left = more;
    while left > 0 {
        let next = step.min(left);
        (0..next).for_each(|_| watch.push(&machine.round(), true));
        left -= next;
        if is_settled(&watch) {
            return Some(true);
        }
    }
    Some(false)
}

/// "About 40 s more would settle it" came true in a good half of all runs, and after few rounds with
/// many cells in a third.
#[test]
fn what_is_foretold_nearly_always_comes_true() {
    let (mut told, mut kept) = (0, 0);
    for (k, sd) in [(2, 0.01), (2, 0.05), (5, 0.02), (5, 0.05), (12, 0.03)] {
        for (gap, rounds) in [(0.0, 8), (0.0, 16), (0.01, 10), (0.02, 16), (0.05, 8), (0.05, 24)] {
            let levels: Vec<f64> = (0..k).map(|at| if at == 0 { 0.0 } else { gap }).collect();
            let noise = || Noise::Normal(sd);
            let all = (0..40).filter_map(|seed| came_true(seed, &levels, noise(), rounds));
            let all: Vec<bool> = all.collect();
            let came = all.iter().filter(|came| **came).count();
            // Of a scenario alone no worse than an even chance, but for luck.
            let luck = 1.7 * (all.len() as f64).sqrt() / 2.0;
            assert!(came as f64 >= 0.6 * all.len() as f64 - luck, "{k} {sd} {gap} {rounds}");
            (told, kept) = (told + all.len(), kept + came);
        }
    }
    assert!(told > 300, "a forecast that is never made is no forecast: {told}");
    assert!(kept as f64 >= 0.85 * told as f64, "{kept} of {told}");
}
