//! What the agents of all ranks say, as one. A sample is the span from the barrier until the last of
//! them is done; each has its own clock, and times from when the barrier let it go.

use std::collections::BTreeMap;

use iolab_io::metric;
use iolab_model::catalog::Unit;
use iolab_model::result::{Fault, Measurement, Metrics};

use super::crew::Crew;
use super::messages::{Objection, Reply, Sight};
use super::rank::{DONE, LEAD, NOT_STARTED};
use super::ranks_facts::facts;
use super::ranks_latency::of_operations;
use super::ranks_proof::{Measured, Sharing, proof};

/// Files a second, of workloads that have many.
const RATE: &str = "rate_last";

/// What one of them said, and when the barrier let it in and out.
#[derive(Clone, Debug)]
pub struct Said {
    pub number: usize,
    pub reply: Reply,
    pub entered_ns: u64,
    pub left_ns: u64,
}

/// All answers as one. What one of them refuses is refused.
pub fn merge(crew: &Crew, all: Vec<Said>, sharing: Sharing) -> Reply {
    if let Some(no) = refusal(crew, &all) {
        return no;
    }
    let mut measured = Vec::new();
    let mut surveyed = Vec::new();
    let mut seen = Vec::new();
    let mut first = None;
    for said in all {
        match said.reply {
            Reply::Measured(measurement) => {
                measured.push((said.number, said.entered_ns, said.left_ns, *measurement));
            }
            Reply::Surveyed(facts) => surveyed.push((said.number, *facts)),
            Reply::Seen(sight) => seen.push((said.number, *sight)),
            other => {
                first.get_or_insert(other);
            }
        }
    }
    if !measured.is_empty() {
        return Reply::Measured(Box::new(measurement(crew, measured, sharing)));
    }
    if !surveyed.is_empty() {
        return Reply::Surveyed(Box::new(facts(crew, surveyed)));
    }
    if !seen.is_empty() {
        return Reply::Seen(Box::new(sight(crew, seen)));
    }
    first.unwrap_or(Reply::Refused(Fault::new("ask the ranks", "none has answered")))
}

/// The worst of what went wrong, told with its rank. That a trial was not started because another's
/// was not is no cause.
fn refusal(crew: &Crew, all: &[Said]) -> Option<Reply> {
    let of = |number: usize, fault: &Fault| Fault {
        doing: format!("{}: {}", crew.name(number), fault.doing),
        ..fault.clone()
    };
    let refused = all.iter().find_map(|said| match &said.reply {
        Reply::Refused(fault) => Some(Reply::Refused(of(said.number, fault))),
        Reply::Objected(no) => {
            let text = format!("{}: {}", crew.name(said.number), no.text);
            Some(Reply::Objected(Objection { text, ..no.clone() }))
        }
        _ => None,
    });
    let lost = all.iter().filter_map(|said| match &said.reply {
        Reply::Lost(fault) => Some((said.number, fault)),
        _ => None,
    });
    let lost = lost.min_by_key(|(_, fault)| fault.cause == NOT_STARTED);
    refused.or_else(|| lost.map(|(number, fault)| Reply::Lost(of(number, fault))))
}

/// The machine of rank 0, and what can spoil a result on any.
fn sight(crew: &Crew, all: Vec<(usize, Sight)>) -> Sight {
    let mut each = all.into_iter();
    let Some((_, mut sight)) = each.next() else { return Sight::default() };
    for (number, other) in each.filter(|(number, _)| crew.hosts.get(*number) != crew.hosts.first())
    {
        for mut hazard in other.hazards {
            hazard.text = format!("{}: {}", crew.name(number), hazard.text);
            if !sight.hazards.iter().any(|known| known.code == hazard.code) {
                sight.hazards.push(hazard);
            }
        }
    }
    sight
}

/// One sample of what every rank measured.
fn measurement(crew: &Crew, mut all: Vec<Measured>, sharing: Sharing) -> Measurement {
    sharing.settle(crew, &mut all);
    let done = |measured: &Measurement| measured.metrics.get(DONE).map_or(1, |ns| *ns as u64);
    let sum = |of: fn(&Measurement) -> u64| {
        all.iter().fold(0, |sum: u64, (.., m)| sum.saturating_add(of(m)))
    };
    let mut flags = Vec::new();
    for flag in all.iter().flat_map(|(.., measured)| &measured.flags) {
        if !flags.contains(flag) {
            flags.push(*flag);
        }
    }
    let mut whole = Measurement {
        wall_ns: all.iter().map(|(.., measured)| done(measured)).max().unwrap_or(0),
        user_ns: sum(|m| m.user_ns),
        system_ns: sum(|m| m.system_ns),
        bytes: sum(|m| m.bytes),
        operations: sum(|m| m.operations),
        repetitions: all.first().map_or(0, |(.., measured)| measured.repetitions),
        metrics: together(&all),
        proof: proof(crew, &all).into(),
        flags,
        ranks_ns: if all.len() > 1 {
            all.iter().map(|(.., m)| done(m)).collect()
        } else {
            [].into()
        },
        recorded: [].into(),
    };
    whole.metrics.extend(span(crew, &all).iter());
    whole.metrics.extend(of_files(&whole).iter());
    whole.metrics.extend(of_operations(&all).iter());
    whole
}

/// What is said of many files follows from the whole: no rank's own span is that of all.
fn of_files(whole: &Measurement) -> Metrics {
    let files = whole.operations.max(1) as f64;
    let processor_ns = (whole.user_ns + whole.system_ns) as f64;
    let rows = [
        (RATE, files * 1e9 / whole.wall_ns.max(1) as f64),
        ("processor_ns_per_file", processor_ns / files),
    ];
    let counted = |id: &str| whole.metrics.contains_key(id);
    rows.into_iter().filter(|(id, _)| counted(id)).collect()
}

/// What was counted, of all: times are those of the slowest, counts are added up. What is counted of
/// a whole machine is counted once for each, and what is made of single operations is made of those of
/// all.
fn together(all: &[Measured]) -> Metrics {
    let mut sums: BTreeMap<_, (u64, f64)> = BTreeMap::new();
    for (id, value) in all.iter().flat_map(|(.., measured)| measured.metrics.iter()) {
        let (count, so_far) = sums.entry(id).or_insert((0, 0.0));
        *count += 1;
        let adds = metric::find(id.as_str())
            .is_some_and(|m| matches!(m.info.unit, Unit::Count | Unit::Bytes));
        let of_machine = id.as_str().starts_with("disk_");
        *so_far = if adds && !of_machine { *so_far + value } else { so_far.max(value) };
    }
    let whole = |id: &str| metric::find(id).is_some() && id != "rate_first";
    let kept = sums.into_iter().filter(|(id, (count, _))| {
        *count == all.len() as u64 && whole(id.as_str()) && !id.as_str().contains("latency")
    });
    kept.map(|(id, (_, value))| (id, value)).collect()
}

/// What is to be said of the ranks: who was first and last, and how together they were.
fn span(crew: &Crew, all: &[Measured]) -> Metrics {
    let of = |measured: &Measurement, id: &str| measured.metrics.get(id).copied();
    let done = || all.iter().filter_map(|(number, .., m)| Some((*number, of(m, DONE)?, m)));
    let slowest = done().max_by(|a, b| a.1.total_cmp(&b.1));
    let first = done().map(|(_, ns, _)| ns).min_by(f64::total_cmp);
    let (Some((number, last, _)), Some(first)) = (slowest, first) else {
        return Metrics::default();
    };
    let work = |m: &Measurement| if m.bytes > 0 { m.bytes } else { m.operations } as f64;
    let lead = all.iter().filter_map(|(.., m)| of(m, LEAD)).fold(0.0, f64::max);
    // Whoever comes last to a barrier waits for nobody: what it costs.
    let cost = all.iter().map(|(_, entered, left, _)| left.saturating_sub(*entered)).min();
    let mut metrics = Metrics::from([
        ("ranks_first_ns", first),
        ("ranks_spread", last / first.max(1.0)),
        ("ranks_slowest", number as f64),
        ("ranks_sum_rate", done().map(|(_, ns, m)| work(m) / (ns / 1e9)).sum()),
        ("barrier_to_call_ns", lead),
        ("barrier_ns", cost.unwrap_or(0) as f64),
    ]);
    // Clocks of different machines cannot be compared; on each the ranks share one.
    let mut of_host: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (number, _, left, _) in all {
        let (least, most) = of_host.entry(crew.hosts.get(*number)).or_insert((*left, *left));
        (*least, *most) = ((*least).min(*left), (*most).max(*left));
    }
    let rates = node_rates(crew, all);
    if let (Some(least), Some(most)) = (rates.first(), rates.last()) {
        metrics.extend([("nodes_least_rate", *least), ("nodes_most_rate", *most)]);
    }
    let skew = of_host.values().map(|(least, most)| most - least).max().unwrap_or(0);
    metrics.insert("barrier_skew_ns".into(), skew as f64);
    metrics
}

/// Work a second of each machine until the last of its ranks was done, from the least on; none of a
/// single one.
fn node_rates(crew: &Crew, all: &[Measured]) -> Vec<f64> {
    let mut nodes: BTreeMap<_, (u64, f64)> = BTreeMap::new();
    for (number, .., measured) in all {
        let work = if measured.bytes > 0 { measured.bytes } else { measured.operations };
        let done_ns = measured.metrics.get(DONE).copied().unwrap_or(1.0);
        let (sum, last) = nodes.entry(crew.hosts.get(*number)).or_default();
        (*sum, *last) = (*sum + work, last.max(done_ns));
    }
    let mut rates: Vec<f64> =
        nodes.into_values().map(|(work, ns)| work as f64 / (ns.max(1.0) / 1e9)).collect();
    rates.sort_by(f64::total_cmp);
    if rates.len() > 1 { rates } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use iolab_model::catalog::Code;
    use iolab_model::result::{CacheProof, Digest, Fault, Measurement, Metrics, Proof};

    use super::{Crew, DONE, LEAD, NOT_STARTED, Said, Sharing, merge};
    use crate::{Objection, Reply, Subject};

    fn crew() -> Crew {
        let host = |name: &str| (name.to_owned(), format!("boot of {name}"));
        Crew { hosts: vec![host("a"), host("a"), host("b")] }
    }

    fn said(number: usize, reply: Reply) -> Said {
        Said { number, reply, entered_ns: 0, left_ns: 0 }
    }

    /// Rank, barrier in and out, first call and end since then.
    fn measured(
        number: usize,
        (entered_ns, left_ns): (u64, u64),
        (lead, done): (f64, f64),
    ) -> Said {
        let mut metrics = Metrics::from([(LEAD, lead), (DONE, done), ("minor_faults", 5.0)]);
        let times = [("close_ns", done - 1.0), ("disk_write_bytes", 7.0), ("latency_p50_ns", 1.0)];
        metrics.extend(times);
        let files = [("rate_last", 9.0), ("rate_first", 9.0), ("rate_sum", 2.0)];
        metrics.extend(files.into_iter().chain([("processor_ns_per_file", 9.0)]));
        let measurement = Measurement {
            wall_ns: 1,
            bytes: 1_000,
            operations: 10,
            user_ns: 3,
            repetitions: 2,
            metrics,
            ..Measurement::default()
        };
        let reply = Reply::Measured(Box::new(measurement));
        Said { number, reply, entered_ns, left_ns }
    }

    /// The clock of host b is an hour ahead: no time of it may be held against one of host a.
    #[test]
    fn a_sample_lasts_from_the_barrier_to_the_last_rank() {
        let hour = 3_600_000_000_000;
        let all = vec![
            measured(0, (100, 210), (10.0, 500.0)),
            measured(1, (200, 214), (30.0, 800.0)),
            measured(2, (hour, hour + 90), (20.0, 400.0)),
        ];
        let Reply::Measured(sample) = merge(&crew(), all, Sharing::None) else {
            panic!("no sample")
        };
        assert_eq!((sample.wall_ns, sample.bytes, sample.operations), (800, 3_000, 30));
        assert_eq!((sample.user_ns, sample.repetitions), (9, 2));
        let metric = |id: &str| sample.metrics.get(id).copied();
        assert_eq!(metric("ranks_first_ns"), Some(400.0));
        assert_eq!((metric("ranks_spread"), metric("ranks_slowest")), (Some(2.0), Some(1.0)));
        let sum = 1e12 / 500.0 + 1e12 / 800.0 + 1e12 / 400.0;
        assert_eq!(metric("ranks_sum_rate"), Some(sum));
        assert_eq!((metric("barrier_ns"), metric("barrier_skew_ns")), (Some(14.0), Some(4.0)));
        assert_eq!(metric("barrier_to_call_ns"), Some(30.0));
        assert_eq!(*sample.ranks_ns, [500, 800, 400]);
        // Two ranks of one machine until the later of them, and one of the other.
        let rates = [metric("nodes_least_rate"), metric("nodes_most_rate")];
        assert_eq!(rates, [Some(2_000.0 * 1e9 / 800.0), Some(1_000.0 * 1e9 / 400.0)]);
        assert_eq!((metric("minor_faults"), metric("close_ns")), (Some(15.0), Some(799.0)));
        assert_eq!(metric("disk_write_bytes"), Some(7.0), "ranks of one disk see the same bytes");
        assert_eq!((metric("latency_p50_ns"), metric(DONE)), (None, None));
        // Of many files: those of all, over the span of all.
        assert_eq!((metric("rate_sum"), metric("rate_first")), (Some(6.0), None));
        assert_eq!(metric("rate_last"), Some(30.0 * 1e9 / 800.0));
        assert_eq!(metric("processor_ns_per_file"), Some(9.0 / 30.0));
    }

    /// A record of a thousand trials at 64 ranks had better not be 64 records.
    #[test]
    fn a_sample_of_64_ranks_has_when_each_was_done_and_no_more_than_that_of_two() {
        let sample = |ranks: usize| {
            let crew = Crew { hosts: vec![("a".to_owned(), "boot".to_owned()); ranks] };
            let one = |rank: usize| measured(rank, (100, 210), (10.0, 500.0 + rank as f64));
            match merge(&crew, (0..ranks).map(one).collect(), Sharing::None) {
                Reply::Measured(sample) => sample,
                other => panic!("{other:?}"),
            }
        };
        let room = |ranks| serde_json::to_string(&sample(ranks)).unwrap().len();
        let (two, many) = (room(2), room(64));
        assert!(many < two + 62 * 8, "{two} and {many} bytes");
        let last = sample(64);
        assert_eq!((last.wall_ns, last.bytes), (563, 64_000));
        assert_eq!(last.metrics["ranks_slowest"], 63.0);
    }

    #[test]
    fn one_rank_without_its_proof_is_a_sample_without() {
        let mut all: Vec<Said> = (0..3).map(|rank| measured(rank, (0, 1), (1.0, 2.0))).collect();
        let Reply::Measured(sample) = &mut all[2].reply else { panic!() };
        let cache = CacheProof { reason: Some("half of it".into()), ..CacheProof::default() };
        let digest = Digest { kind: "xor".into(), hex: String::new(), matches: Some(true) };
        sample.proof =
            Proof { cache: Some(cache), digest: Some(digest), ..Proof::default() }.into();
        sample.flags = vec![Code::CheckFailed];
        let Reply::Measured(sample) = merge(&crew(), all, Sharing::None) else {
            panic!("no sample")
        };
        assert!(!sample.proof.holds());
        assert_eq!(sample.flags, [Code::CheckFailed]);
        let reason = sample.proof.cache.as_ref().and_then(|cache| cache.reason.clone());
        assert_eq!(reason.as_deref(), Some("rank 2 on b: half of it"));
    }

    /// Two ranks told that they had not begun, and the one that was why was not named.
    #[test]
    fn the_rank_that_failed_is_named_and_not_those_that_waited_for_it() {
        let lost = |cause: &str| Reply::Lost(Fault::new("run a trial", cause));
        let all =
            vec![said(0, lost(NOT_STARTED)), said(1, lost("no space")), said(2, lost(NOT_STARTED))];
        let Reply::Lost(fault) = merge(&crew(), all, Sharing::None) else { panic!("not lost") };
        assert_eq!(fault.to_string(), "rank 1 on a: run a trial: no space");
        let no = Objection::wrong(Subject::Directory, "it is not there");
        let all = vec![said(0, Reply::Done), said(2, Reply::Objected(no))];
        let Reply::Objected(no) = merge(&crew(), all, Sharing::None) else {
            panic!("no objection")
        };
        assert_eq!(no.to_string(), "rank 2 on b: it is not there");
    }
}
