//! The statistics against figures of SciPy kept in `tests/fixtures` (its README says how).

#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;

use iolab_stats as stats;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("fixtures/scipy.json")).unwrap()
}

fn series(golden: &Value, name: &Value) -> Vec<f64> {
    let values = golden["series"][name.as_str().unwrap()].as_array().unwrap();
    values.iter().map(|v| v.as_f64().unwrap()).collect()
}

/// Every (name, series, expected) of a table by series.
fn each(golden: &Value, table: &str) -> Vec<(String, Vec<f64>, Value)> {
    let rows = golden[table].as_object().unwrap();
    assert!(rows.len() >= 6);
    rows.iter()
        .map(|(k, v)| (k.clone(), series(golden, &Value::from(k.as_str())), v.clone()))
        .collect()
}

#[track_caller]
fn close(got: f64, want: &Value, what: &str) {
    let want = want.as_f64().unwrap();
    let scale = want.abs().max(1e-6);
    assert!((got - want).abs() <= 1e-8 * scale, "{what}: {got}, SciPy has {want}");
}

#[test]
fn mann_kendall_has_the_variance_of_kendalls_tau() {
    for (name, x, want) in each(&golden(), "mann_kendall") {
        let got = stats::mann_kendall(&x);
        close(got.s, &want["s"], &name);
        close(got.variance, &want["variance"], &name);
        // Ours is corrected for continuity, and so a little larger.
        let p = want["p_without_continuity"].as_f64().unwrap();
        assert!(got.p >= p && got.p < p + 0.06, "{name}: {} {p}", got.p);
    }
}

#[test]
fn theil_sen_agrees() {
    for (name, x, want) in each(&golden(), "theil_sen") {
        close(stats::theil_sen(&x), &want, &name);
    }
}

#[test]
fn pettitt_follows_its_definition() {
    for (name, x, want) in each(&golden(), "pettitt") {
        let got = stats::pettitt(&x).unwrap();
        close(got.k, &want["k"], &name);
        assert_eq!(got.at as u64, want["at"].as_u64().unwrap(), "{name}");
        // The probability of superiority is Mann–Whitney's U of the two parts.
        let (before, after) = x.split_at(got.at);
        let beats = |a: &f64, b: &f64| match a.total_cmp(b) {
            Ordering::Greater => 1.0,
            Ordering::Equal => 0.5,
            Ordering::Less => 0.0,
        };
        let u: f64 = after.iter().flat_map(|a| before.iter().map(move |b| beats(a, b))).sum();
        let share = u / (got.at * (x.len() - got.at)) as f64;
        assert!((share.max(1.0 - share) - got.superiority).abs() < 1e-12, "{name}");
    }
}

#[test]
fn a_step_has_a_small_p_and_noise_has_not() {
    let golden = golden();
    let p = |name: &str| stats::pettitt_p(&series(&golden, &Value::from(name)), 1);
    assert!(p("step") < 0.01, "{}", p("step"));
    assert!(p("normal") > 0.05, "{}", p("normal"));
    assert_eq!(p("step"), p("step"));
}

#[test]
fn rank_correlation_agrees() {
    let golden = golden();
    for row in golden["spearman"].as_array().unwrap() {
        let (mut x, mut y) = (series(&golden, &row["x"]), series(&golden, &row["y"]));
        let n = x.len().min(y.len());
        x.truncate(n);
        y.truncate(n);
        let got = stats::spearman(&x, &y).unwrap();
        close(got.statistic, &row["rho"], "rho");
        close(got.p, &row["p"], "p of rho");
    }
}

#[test]
fn order_statistic_intervals_are_the_binomials() {
    for row in golden()["order_interval"].as_array().unwrap() {
        let (n, alpha) = (row["n"].as_u64().unwrap(), row["alpha"].as_f64().unwrap());
        let want = row["rank"].as_u64().unwrap();
        assert_eq!(u64::from(stats::fixed_rank(n as u32, alpha)), want, "n {n} alpha {alpha}");
    }
}

#[test]
fn descriptive_figures_agree() {
    for (name, x, want) in each(&golden(), "describe") {
        let got = stats::summary(&x).unwrap();
        let pairs = [
            ("mean", got.mean),
            ("sd", got.sd),
            ("q1", got.q1),
            ("median", got.median),
            ("q3", got.q3),
        ];
        for (field, value) in pairs {
            close(value, &want[field], &format!("{name} {field}"));
        }
    }
}

/// `--alpha 1%` had an interval of 95 % under the words "99 % interval".
#[test]
fn the_interval_of_a_median_has_the_error_that_was_asked_for() {
    let values: Vec<f64> = (1..=30).map(f64::from).collect();
    for alpha in [0.05, 0.01, 0.001] {
        let rank = stats::fixed_rank(30, alpha);
        let got = stats::summary_at(&values, alpha).unwrap();
        let want = (Some(f64::from(rank)), Some(f64::from(31 - rank)));
        assert_eq!((got.low, got.high), want, "{alpha}");
    }
    assert_eq!(stats::summary(&values), stats::summary_at(&values, 0.05));
}

#[test]
fn a_summary_of_little_says_little() {
    assert_eq!(stats::summary(&[]), None);
    assert_eq!(stats::summary(&[f64::NAN]), None);
    let one = stats::summary(&[3.0]).unwrap();
    assert_eq!((one.n, one.median, one.sd, one.low), (1, 3.0, 0.0, None));
    let five = stats::summary(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!((five.low, five.high), (None, None));
    let six = stats::summary(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert_eq!((six.low, six.high), (Some(1.0), Some(6.0)));
}
