//! Whether runs are of one experiment.

use super::{Compared, Incomparable, Terms, compare};
use iolab_model::catalog::{Factor, Kind, bytes_text, list_text};
use iolab_model::result::{Document, ExperimentRecord};

/// Runs of one experiment against each other, as a gate takes them: a cell that other cells ran beside
/// is another measurement.
///
/// # Errors
/// Other experiments (but for `anyway`), and those of [`compare`].
pub fn compare_alike(
    first: &[Document],
    second: &[Document],
    terms: &Terms,
) -> Result<Compared, Incomparable> {
    let judged = second.first();
    let others = first.iter().chain(second);
    let differs = others.map(|run| judged.map_or_else(Vec::new, |now| unlike(run, now)));
    let found = differs.into_iter().find(|differs| !differs.is_empty());
    match found {
        Some(differs) if !terms.anyway => Err(Incomparable::Experiments(differs)),
        _ => compare(first, second, terms),
    }
}

/// Whether a run asked the same of the same place.
pub(super) fn is_same(run: &Document, now: &Document) -> bool {
    let (then, now) = (&run.experiment, &now.experiment);
    (&then.workload, &then.factors, &then.ask, &then.directory)
        == (&now.workload, &now.factors, &now.ask, &now.directory)
}

/// In what the experiments of two runs differ; what another tool made names no levels.
fn unlike(then: &Document, now: &Document) -> Vec<String> {
    let (then, now) = (&then.experiment, &now.experiment);
    if then.workload != now.workload {
        return vec![format!("{} against {}", then.workload, now.workload)];
    }
    if then.factors.is_empty() || now.factors.is_empty() {
        return Vec::new();
    }
    let levels = |of: &ExperimentRecord, factor: Factor| -> Vec<String> {
        let levels = of.factors.get(&factor).into_iter().flatten();
        let mut all: Vec<String> = levels.map(|level| value_text(factor, level)).collect();
        all.sort();
        all
    };
    let differs = |factor: &Factor| levels(then, *factor) != levels(now, *factor);
    let said = |factor: Factor| {
        let of = |of: &ExperimentRecord| match levels(of, factor) {
            none if none.is_empty() => "none".to_owned(),
            some => list_text(&some),
        };
        format!("{factor} {} against {}", of(then), of(now))
    };
    Factor::ALL.into_iter().filter(differs).map(said).collect()
}

fn value_text(factor: Factor, value: &serde_json::Value) -> String {
    match (factor.kind(), value) {
        (Kind::Bytes, value) if value.is_u64() => bytes_text(value.as_u64().unwrap_or(0)),
        (_, serde_json::Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}
