//! Arbitrary documents: whatever the format can hold, for property tests.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{
    Answer, AnswerKind, CacheProof, CellRecord, CellStatus, Comparison, Digest, Document, Effects,
    Environment, Estimate, ExclusionReason, Fault, Grade, Measurement, Name, Proof, Residency,
    RunInfo, Sample, Summary, Twin, Verdict, Warning,
};
use proptest::prelude::*;

use crate::documents::{empty, phase};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9/ ]{0,12}", any::<String>(), "[=+@|`\"',\\n\\r\\\\*_<>-]{0,8}"]
}

fn any_level(factor: Factor) -> BoxedStrategy<Level> {
    use iolab_model::catalog::Kind;
    match factor.kind() {
        Kind::Bytes | Kind::Count => any::<u64>().prop_map(Level::Number).boxed(),
        Kind::Word => any_text().prop_map(Level::Word).boxed(),
        Kind::Path => proptest::collection::vec(1u8..=255, 0..12)
            .prop_map(|bytes| Level::Path(OsString::from_vec(bytes).into()))
            .boxed(),
    }
}

fn any_levels() -> impl Strategy<Value = Levels> {
    let one = proptest::sample::select(&Factor::ALL[..])
        .prop_flat_map(|f| any_level(f).prop_map(move |l| (f, l)));
    proptest::collection::vec(one, 0..4)
        .prop_map(|all| all.into_iter().fold(Levels::new(), |levels, (f, l)| levels.with(f, l)))
}

fn finite() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE
}

fn bound() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(finite())
}

fn any_codes() -> impl Strategy<Value = Vec<Code>> {
    proptest::sample::subsequence(Code::ALL, 0..3)
}

fn any_fault() -> impl Strategy<Value = Fault> {
    (any_text(), any_text(), any::<Option<i32>>(), any::<Option<i32>>())
        .prop_map(|(doing, cause, errno, signal)| Fault { doing, cause, errno, signal })
}

fn any_proof() -> impl Strategy<Value = Proof> {
    let residency = (any_text(), any::<u64>(), any::<u64>(), any::<Option<u64>>()).prop_map(
        |(probe, total_bytes, resident_bytes, dirty_bytes)| Residency {
            probe: probe.into(),
            total_bytes,
            resident_bytes,
            dirty_bytes,
        },
    );
    let cache = (any_text(), proptest::option::of(residency), any::<(Option<u64>, bool)>())
        .prop_map(|(wanted, before, (device_bytes, proven))| CacheProof {
            how: wanted.as_str().into(),
            wanted: wanted.into(),
            before,
            device_bytes,
            expected_device_bytes: device_bytes,
            proven,
            reason: None,
            disagree: !proven,
        });
    let digest = (any_text(), any::<Option<bool>>()).prop_map(|(hex, matches)| Digest {
        kind: "xor".into(),
        hex,
        matches,
    });
    let effects = (any::<(u32, u32)>(), proptest::option::of(any_text())).prop_map(
        |((checked, wrong), example)| Effects {
            checked: checked.into(),
            wrong: wrong.into(),
            example,
        },
    );
    let option = proptest::option::of(effects);
    (proptest::option::of(cache), proptest::option::of(digest), option)
        .prop_map(|(cache, digest, effects)| Proof { cache, digest, copy: None, effects })
}

/// Any sample with finite numbers.
pub fn any_sample() -> impl Strategy<Value = Sample> {
    let head = any::<(u32, u32, u32, u8)>();
    let numbers = any::<(u64, u64, u64, u64, u64, u64)>();
    let metrics = proptest::collection::btree_map(any_text(), finite(), 0..3);
    let ranks_ns = proptest::collection::vec(any::<u64>(), 0..4);
    let rest = (metrics, any_proof(), any_codes(), proptest::option::of(any_fault()), ranks_ns);
    (head, numbers, rest).prop_map(|(h, n, (metrics, proof, flags, fault, ranks_ns))| Sample {
        round: h.0,
        position: h.1,
        phase: phase(u32::from(h.3 % 4)),
        epoch: h.2,
        measurement: Measurement {
            wall_ns: n.0,
            user_ns: n.1,
            system_ns: n.2,
            bytes: n.3,
            operations: n.4,
            repetitions: n.5,
            metrics: metrics.into_iter().collect(),
            proof: proof.into(),
            flags,
            ranks_ns: ranks_ns.into(),
            recorded: [].into(),
        },
        fault,
    })
}

fn any_summary() -> impl Strategy<Value = Summary> {
    (any::<u32>(), proptest::array::uniform7(finite()), bound(), bound()).prop_map(
        |(n, [median, mean, sd, min, q1, q3, max], low, high)| Summary {
            n,
            median,
            low,
            high,
            mean,
            sd,
            min,
            q1,
            q3,
            max,
        },
    )
}

fn any_cell() -> impl Strategy<Value = CellRecord> {
    let status = proptest::sample::select(vec![
        CellStatus::Measured,
        CellStatus::Eliminated,
        CellStatus::Skipped,
        CellStatus::Failed,
    ]);
    let samples = proptest::collection::vec(any_sample(), 0..4);
    let estimate = (any_summary(), any_summary(), proptest::option::of(any_summary())).prop_map(
        |(wall_ns, user_ns, bytes_per_second)| Estimate {
            system_ns: user_ns.clone(),
            ns_per_operation: wall_ns.clone(),
            wall_ns,
            user_ns,
            bytes_per_second,
        },
    );
    let reason = proptest::option::of(any_text());
    // "*" is no cell: in a twin it stands for whichever the round drew.
    let id = any_text().prop_filter("the word for any cell", |id| id != Twin::ANY);
    (id, any_levels(), status, reason, samples, proptest::option::of(estimate)).prop_map(
        |(id, factors, status, reason, samples, estimate)| CellRecord {
            id,
            factors,
            status,
            reason,
            exclusion: (status == CellStatus::Eliminated).then_some(ExclusionReason::Screened),
            samples,
            estimate,
        },
    )
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let kind = proptest::sample::select(vec![
        AnswerKind::Winner,
        AnswerKind::Tie,
        AnswerKind::Undecided,
        AnswerKind::Invalid,
    ]);
    let comparison = (any_text(), any_text(), finite(), bound(), bound(), any::<bool>()).prop_map(
        |(a, b, ratio, low, high, clear)| Comparison {
            a: a.into(),
            b: b.into(),
            ratio,
            low,
            high,
            verdict: if clear { Verdict::Slower } else { Verdict::Undecided },
            clear,
            n: 9,
            ties: 0,
        },
    );
    let comparisons = proptest::collection::vec(comparison, 0..3);
    let best = proptest::collection::vec(any_text(), 0..3);
    (any_levels(), kind, best, any_text(), bound(), comparisons).prop_map(
        |(condition, kind, best, sentence, more, comparisons)| Answer {
            condition,
            kind,
            best,
            pick: None,
            regret: Vec::new(),
            findings: Vec::new(),
            grade: Grade::C,
            raise: Some(sentence.clone()),
            sentence,
            rounds: 12,
            detectable: more,
            more_seconds: more,
            warnings: vec![],
            comparisons,
        },
    )
}

/// Any small document with finite numbers.
pub fn any_document() -> impl Strategy<Value = Document> {
    let info = (any_text(), any::<u64>(), any::<bool>(), proptest::option::of(any_text()));
    let facts = proptest::collection::btree_map(any_text(), any_text(), 0..3);
    let twin = (proptest::collection::vec(any_sample(), 0..3), bound(), any_text());
    let cells = proptest::collection::vec(any_cell(), 0..4);
    let answers = proptest::collection::vec(any_answer(), 0..3);
    (info, facts, cells, proptest::option::of(twin), answers, any_codes()).prop_map(
        |((title, seed, complete, finished), facts, cells, twin, answers, codes)| {
            let mut doc = empty();
            doc.run =
                RunInfo { seed, complete, finished, argv: vec![title.clone()], title, ..doc.run };
            let facts = facts.into_iter().map(|(k, v)| (k, v.into()));
            doc.environment = Environment(facts.collect());
            // Drawn anew each round, as now, or always the same cell, as once.
            let drawn = |samples: &[Sample]| {
                let name = |(at, _): (usize, &Sample)| {
                    Some(cells.get(at % cells.len())?.id.as_str().into())
                };
                samples.iter().enumerate().filter(|_| seed % 2 == 0).filter_map(name).collect()
            };
            doc.twin = twin.filter(|_| !cells.is_empty()).map(|(samples, ratio, _)| {
                let drawn: Vec<Name> = drawn(&samples);
                let cell = match seed % 2 {
                    0 => Twin::ANY.to_owned(),
                    _ => cells[0].id.clone(),
                };
                Twin { cell, samples, drawn, ratio, low: ratio, high: None }
            });
            doc.cells = cells;
            doc.answers = answers;
            doc.warnings = codes
                .into_iter()
                .map(|code| Warning { code, text: doc.run.title.clone() })
                .collect();
            doc
        },
    )
}
