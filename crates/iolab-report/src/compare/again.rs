//! Which runs can be made once more, and how a command names them.

use std::collections::BTreeSet;

use iolab_model::result::Document;

/// `3,5 4,6`, where each run is of this history and was made by a command that makes it again.
pub(super) fn again(first: &[Document], second: &[Document]) -> Option<String> {
    let can = |run: &&Document| {
        let verb = run.run.argv.get(1).map_or("", String::as_str);
        let makes_it = verb == "run" || verb == run.experiment.workload;
        run.run.id != 0 && !run.is_imported() && makes_it
    };
    let side = |runs: &[Document]| -> Option<String> {
        let ids: Option<Vec<u64>> =
            runs.iter().map(|run| Some(run).filter(can).map(|run| run.run.id)).collect();
        Some(runs_text(&ids?))
    };
    let consents: BTreeSet<&str> =
        first.iter().chain(second).flat_map(Document::consents).collect();
    let consents: String = consents.into_iter().collect();
    Some(format!("{} {}{consents}", side(first)?, side(second)?))
}

/// Numbers of runs as a command takes them: `3..7,9`.
pub fn runs_text(ids: &[u64]) -> String {
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    for id in ids {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == *id => *last = *id,
            _ => stretches.push((*id, *id)),
        }
    }
    let text = |(first, last): &(u64, u64)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}..{last}"),
    };
    stretches.iter().map(text).collect::<Vec<_>>().join(",")
}
