//! What share of a program's time file calls have, as a sentence.

use iolab_model::catalog::{percent_text, ratio_text, so_many, time_text};
use iolab_trace::{FindingKind, Profile, Whole};

/// A time is told as one figure where its bounds are no further apart than so many times.
const KNOWN_WITHIN: f64 = 1.5;
/// A share from which on file calls are most of a program's time.
const MOST_SHARE: f64 = 0.5;
/// A share below which file calls are hardly any of it.
const HARDLY_SHARE: f64 = 0.1;

/// The line that everybody came for.
pub(super) fn share(profile: &Profile) -> String {
    let whole = &profile.whole;
    let (Some(ns), Some(share)) = (whole.file_ns, whole.file_share) else {
        return "the log has no times of calls (strace -T): where the time goes is not known"
            .into();
    };
    let low = whole.file_low_ns.unwrap_or(ns);
    let high = whole.file_high_ns.unwrap_or(ns);
    let is_known = high as f64 <= low as f64 * KNOWN_WITHIN;
    // By the share that is told: the reader can check it.
    let gain = match (is_known, whole.gain, whole.gain_at_most) {
        (true, Some(gain), _) => format!(": roughly {} to gain", ratio_text(gain)),
        (false, _, Some(gain)) => format!(": at most {} to gain", ratio_text(gain)),
        // What is not known has no gain that could be told.
        (false, _, None) => String::new(),
        (true, None, _) if whole.wall_ns.is_some() => ": next to nothing else is left".to_owned(),
        (true, None, _) => ": next to nothing else is seen".to_owned(),
    };
    let text = |ns: u64| time_text(ns as f64);
    let time = match is_known {
        true if high as f64 <= low as f64 * 1.02 => format!("about {}", text(ns)),
        true => format!("about {} ({} to {})", text(ns), text(low), text(high)),
        false if low == 0 => format!("at most {}", text(high)),
        false => format!("{} to {}", text(low), text(high)),
    };
    if whole.wall_ns.is_some_and(|wall| ns > wall) {
        let threads = so_many(whole.threads, "thread");
        return format!("file calls of {threads} take {time} together, side by side{gain}");
    }
    let of = match whole.wall_ns {
        Some(_) => "of its own time",
        None => "of its time without the tracer's (iolab record --runs 3 measures that)",
    };
    let (low, high) = (whole.file_low_share.unwrap_or(share), whole.file_high_share);
    let high = percent_text(high.unwrap_or(share));
    let percent = match is_known {
        true => percent_text(share),
        false if low <= 0.0 => format!("up to {high}"),
        false => format!("{} to {high}", percent_text(low)),
    };
    let word = verdict(whole, share);
    let said = word.map_or_else(String::new, |word| format!(" ({word})"));
    let (dearest, syncs) = dearest(profile);
    // Where syncs are most of it the tracer's part is no matter, nor where the word holds anyway.
    let unknown = match is_known || syncs || word.is_some() {
        true => "",
        false => "; tracing adds more to a call than it takes (iolab replay measures it)",
    };
    let dearest = dearest.filter(|_| word != Some(HARDLY));
    let dearest = dearest.map_or_else(String::new, |kind| format!("; {kind} takes most of that"));
    format!("file calls take {time}, {percent} {of}{said}{gain}{dearest}{unknown}")
}

/// What is said of a program whose time goes elsewhere.
const HARDLY: &str = "hardly any: it is not the files";

/// The share in words, where all of its range has the same.
fn verdict(whole: &Whole, share: f64) -> Option<&'static str> {
    let low = whole.file_low_share.unwrap_or(share);
    let high = whole.file_high_share.unwrap_or(share);
    match () {
        () if high < HARDLY_SHARE => Some(HARDLY),
        () if high < MOST_SHARE => Some("less than half"),
        () if low > MOST_SHARE => Some("most of it"),
        () => None,
    }
}

/// The kind that takes more than half of the time of all, and whether syncs do.
fn dearest(profile: &Profile) -> (Option<&'static str>, bool) {
    let all = profile.kinds.iter().map(|row| row.file_ns).fold(0, u64::saturating_add);
    let is_most = |ns: u64| all > 0 && ns > all / 2;
    let first = profile.kinds.first().filter(|row| is_most(row.file_ns)).map(|row| row.kind);
    let syncs = profile.findings.iter().filter(|finding| finding.kind == FindingKind::Syncs);
    let syncs = syncs.map(|finding| finding.file_ns).fold(0, u64::saturating_add);
    (first, is_most(syncs))
}

/// What the tracer adds to a call, where that was measured.
pub(super) fn added(whole: &Whole) -> String {
    if !whole.tracer_is_calibrated {
        return String::new();
    }
    let text = |ns: u64| time_text(ns as f64);
    let (low, high) = (whole.tracer_low_ns_per_call, whole.tracer_high_ns_per_call);
    format!(
        ", which adds {} to a call ({} to {})",
        text(whole.tracer_ns_per_call),
        text(low),
        text(high)
    )
}
