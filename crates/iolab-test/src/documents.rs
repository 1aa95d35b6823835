//! Synthetic documents for tests: seeded ones that look like a run, and arbitrary ones.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{
    Answer, AnswerKind, CacheProof, CellRecord, CellStatus, Comparison, Digest, Document,
    Environment, Estimate, ExperimentRecord, Fault, Grade, Measurement, Metrics, Phase, Proof,
    ProtocolRecord, Residency, RunInfo, SCHEMA, Sample, Summary, Twin, Verdict, Warning,
};

/// Rounds of a synthetic run: one first, two warm-ups, the rest steady.
pub const ROUNDS: u32 = 12;
const PASS: u64 = 256 << 20;

/// A small generator, the same on every machine (Knuth's MMIX constants).
struct Seeded(u64);

impl Seeded {
    /// Between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Levels of a warm read of a file.
pub fn levels(method: &str, block: Option<u64>) -> Levels {
    let levels = Levels::new()
        .with(Factor::FileSize, Level::Number(PASS))
        .with(Factor::Method, Level::word(method))
        .with(Factor::Threads, Level::Number(1))
        .with(Factor::Cache, Level::word("warm"));
    match block {
        Some(block) => levels.with(Factor::Block, Level::Number(block)),
        None => levels,
    }
}

/// Which phase a round belongs to.
pub fn phase(round: u32) -> Phase {
    match round {
        0 => Phase::First,
        1 | 2 => Phase::Warmup,
        _ => Phase::Steady,
    }
}

/// A sample of one pass in about `wall_ns`.
pub fn sample(round: u32, position: u32, wall_ns: u64, operations: u64) -> Sample {
    Sample {
        round,
        position,
        phase: phase(round),
        epoch: round,
        measurement: Measurement {
            wall_ns,
            user_ns: wall_ns / 4,
            system_ns: wall_ns * 3 / 4,
            bytes: PASS,
            operations,
            repetitions: 1,
            metrics: Metrics::from([("minor_faults", 2.0)]),
            proof: Proof {
                cache: Some(CacheProof {
                    wanted: "warm".into(),
                    how: "evict+prime".into(),
                    before: Some(Residency {
                        probe: "cachestat".into(),
                        total_bytes: PASS,
                        resident_bytes: PASS,
                        dirty_bytes: Some(0),
                    }),
                    device_bytes: Some(0),
                    proven: true,
                    ..CacheProof::default()
                }),
                digest: Some(Digest {
                    kind: "xor".into(),
                    hex: "5d1c9e02".into(),
                    matches: Some(true),
                }),
                ..Proof::default()
            }
            .into(),
            flags: Vec::new(),
            ranks_ns: [].into(),
            recorded: [].into(),
        },
        fault: None,
    }
}

fn summary(values: &[f64]) -> Summary {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let at = |share: f64| sorted[((n - 1) as f64 * share).round() as usize];
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let square: f64 = sorted.iter().map(|v| (v - mean).powi(2)).sum();
    Summary {
        n: n as u32,
        median: at(0.5),
        low: Some(at(0.2)),
        high: Some(at(0.8)),
        mean,
        sd: if n > 1 { (square / (n - 1) as f64).sqrt() } else { 0.0 },
        min: sorted[0],
        q1: at(0.25),
        q3: at(0.75),
        max: sorted[n - 1],
    }
}

/// Figures over the steady samples, close to what the statistics make of them.
pub fn estimate(samples: &[Sample]) -> Option<Estimate> {
    let steady: Vec<_> = samples.iter().filter(|s| s.is_steady()).collect();
    if steady.is_empty() {
        return None;
    }
    let of = |f: &dyn Fn(&Measurement) -> f64| {
        summary(&steady.iter().map(|s| f(&s.measurement)).collect::<Vec<_>>())
    };
    Some(Estimate {
        wall_ns: of(&|m| m.wall_ns as f64),
        user_ns: of(&|m| m.user_ns as f64),
        system_ns: of(&|m| m.system_ns as f64),
        bytes_per_second: Some(of(&|m| m.bytes as f64 / (m.wall_ns as f64 / 1e9))),
        ns_per_operation: of(&|m| m.wall_ns as f64 / m.operations as f64),
    })
}

/// A measured cell whose pass takes about `wall_ms`.
pub fn cell(id: &str, factors: Levels, wall_ms: f64, seed: u64) -> CellRecord {
    let mut noise = Seeded(seed);
    let operations = factors.number(Factor::Block).map_or(1, |block| PASS / block);
    let samples: Vec<Sample> = (0..ROUNDS)
        .map(|round| {
            let wall = wall_ms * 1e6 * (1.0 + 0.06 * noise.next());
            sample(round, (noise.next() * 4.0) as u32, wall as u64, operations)
        })
        .collect();
    let estimate = estimate(&samples);
    CellRecord {
        id: id.to_owned(),
        factors,
        status: CellStatus::Measured,
        reason: None,
        exclusion: None,
        samples,
        estimate,
    }
}

/// A cell that could not be had.
pub fn skipped(id: &str, factors: Levels, reason: &str) -> CellRecord {
    CellRecord {
        id: id.to_owned(),
        factors,
        status: CellStatus::Skipped,
        reason: Some(reason.to_owned()),
        exclusion: None,
        samples: Vec::new(),
        estimate: None,
    }
}

/// A cell of which every trial failed.
pub fn failed(id: &str, factors: Levels) -> CellRecord {
    let samples = (0..3)
        .map(|round| Sample {
            round,
            position: 0,
            phase: phase(round),
            epoch: 0,
            measurement: Measurement { flags: vec![Code::TrialFailed], ..Measurement::default() },
            fault: Some(Fault {
                doing: "read /data/a".into(),
                cause: "Input/output error (os error 5)".into(),
                errno: Some(5),
                signal: None,
            }),
        })
        .collect();
    CellRecord {
        id: id.to_owned(),
        factors,
        status: CellStatus::Failed,
        reason: Some("every trial failed: read /data/a: Input/output error (os error 5)".into()),
        exclusion: None,
        samples,
        estimate: None,
    }
}

/// A pair of cells.
pub fn comparison(a: &str, b: &str, ratio: f64, verdict: Verdict, clear: bool) -> Comparison {
    Comparison {
        a: a.into(),
        b: b.into(),
        ratio,
        low: Some(ratio * 0.97),
        high: Some(ratio * 1.03),
        verdict,
        clear,
        n: 40,
        ties: 0,
    }
}

/// An answer that stands alone.
pub fn answer(kind: AnswerKind, best: &[&str], sentence: &str) -> Answer {
    Answer {
        condition: Levels::new().with(Factor::Cache, Level::word("warm")),
        kind,
        best: best.iter().map(|&id| id.to_owned()).collect(),
        pick: None,
        regret: Vec::new(),
        findings: Vec::new(),
        grade: Grade::B,
        raise: Some("five file instances or more; give a larger --budget".into()),
        sentence: sentence.into(),
        rounds: 40,
        detectable: None,
        more_seconds: None,
        warnings: Vec::new(),
        comparisons: Vec::new(),
    }
}

/// A run without cells or answers.
pub fn empty() -> Document {
    let facts = [
        ("kernel.release", "6.18.5".into()),
        ("cpu.model", "Example CPU".into()),
        ("cpu.count", 2.into()),
        ("memory.total_bytes", 25_769_803_776u64.into()),
        ("mount.fs_type", "ext4".into()),
        ("device.name", "nvme0n1".into()),
        ("iolab.version", "0.1.0".into()),
        ("libc", "glibc 2.41".into()),
    ];
    let numbers = |all: &[u64]| all.iter().map(|&n| n.into()).collect();
    let words = |all: &[&str]| all.iter().map(|&w| w.into()).collect();
    Document {
        schema: SCHEMA.into(),
        run: RunInfo {
            id: 17,
            title: "read 256 MiB warm: method × block".into(),
            started: "2026-03-01T10:00:00Z".into(),
            finished: Some("2026-03-01T10:01:00Z".into()),
            complete: true,
            seed: 0xfeed_f00d_dead_beef,
            argv: ["iolab", "read", "--file-size", "256Mi"].map(String::from).to_vec(),
        },
        environment: Environment(facts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        experiment: ExperimentRecord {
            workload: "read".into(),
            directory: None,
            factors: BTreeMap::from([
                (Factor::FileSize, numbers(&[PASS])),
                (Factor::Method, words(&["pread", "mmap"])),
                (Factor::Block, numbers(&[4096, 65536])),
                (Factor::Threads, numbers(&[1])),
                (Factor::Cache, words(&["warm"])),
            ]),
            ask: vec![Factor::Method, Factor::Block],
            protocol: ProtocolRecord {
                alpha: 0.05,
                delta: 0.02,
                budget_ns: 60_000_000_000,
                clock_resolution_ns: 1.0,
                clock_cost_ns: 32.5,
                epoch_rounds: 5,
                steady_rounds: ROUNDS - 3,
                stopped: "every answer is resolved".into(),
                ..ProtocolRecord::default()
            },
        },
        cells: vec![],
        twin: None,
        answers: vec![],
        warnings: vec![],
    }
}

/// The run that most tests use: a winner, a slower cell, an eliminated one, a skipped one, a twin.
pub fn winner() -> Document {
    let mut doc = empty();
    let mut slow = cell("pread/4Ki", levels("pread", Some(4096)), 55.0, 2);
    slow.status = CellStatus::Eliminated;
    slow.reason = Some("eliminated at round 9, ratio ≥ 1.62".into());
    slow.samples.truncate(9);
    slow.samples[8].measurement.flags.push(Code::Outlier);
    slow.estimate = estimate(&slow.samples);
    doc.cells = vec![
        cell("pread/64Ki", levels("pread", Some(65536)), 32.0, 1),
        slow,
        cell("mmap", levels("mmap", None), 41.0, 3),
        skipped(
            "mmap-populate",
            levels("mmap-populate", None),
            "needs 1 GiB of free memory; free some",
        ),
    ];
    let twin = cell("pread/64Ki", levels("pread", Some(65536)), 32.0, 4);
    doc.twin = Some(Twin {
        cell: "pread/64Ki".into(),
        samples: twin.samples,
        ratio: Some(1.003),
        low: Some(0.991),
        high: Some(1.012),
        ..Twin::default()
    });
    let mut answer = answer(
        AnswerKind::Winner,
        &["pread/64Ki"],
        "pread with 64 KiB blocks is fastest here: 1.28× (1.24–1.32) faster than mmap.",
    );
    answer.comparisons = vec![
        comparison("pread/64Ki", "pread/4Ki", 0.58, Verdict::Faster, true),
        comparison("pread/64Ki", "mmap", 0.78, Verdict::Faster, true),
        comparison("pread/4Ki", "mmap", 1.34, Verdict::Slower, true),
    ];
    doc.answers = vec![answer];
    doc.warnings = vec![Warning {
        code: Code::Virtualised,
        text: "running under KVM; 0.3 % of the time was taken by the host".into(),
    }];
    doc
}

/// Two that cannot be told apart.
pub fn tie() -> Document {
    let mut doc = empty();
    doc.cells = vec![
        cell("pread/64Ki", levels("pread", Some(65536)), 32.0, 1),
        cell("pread/256Ki", levels("pread", Some(262_144)), 32.1, 5),
    ];
    let mut answer = answer(
        AnswerKind::Tie,
        &["pread/64Ki", "pread/256Ki"],
        "64 KiB and 256 KiB are equally fast here (within 2 %).",
    );
    answer.comparisons =
        vec![comparison("pread/64Ki", "pread/256Ki", 0.998, Verdict::Equivalent, false)];
    doc.answers = vec![answer];
    doc
}

/// A killed run: samples, no conclusions.
pub fn partial() -> Document {
    let mut doc = winner();
    doc.run.finished = None;
    doc.run.complete = false;
    doc.experiment.protocol.stopped = "the process ended before the run did".into();
    doc.answers.clear();
    doc.cells.iter_mut().for_each(|c| c.estimate = None);
    if let Some(twin) = &mut doc.twin {
        (twin.ratio, twin.low, twin.high) = (None, None, None);
    }
    doc
}

/// Names that want to break out of whatever they are written into.
pub fn hostile() -> Document {
    let mut doc = empty();
    let evil = "=cmd|'/c calc'!A1 `x` | **b** \n\x1b[31m<script>\u{202e}\"q\",";
    let path = OsString::from_vec(b"/data/a\nb\xff`|,\"=".to_vec());
    let with_file = |levels: Levels| levels.with(Factor::File, Level::Path(path.clone().into()));
    doc.run.title = evil.into();
    doc.run.argv.push(evil.into());
    doc.environment.0.insert("mount.fs_type".into(), evil.into());
    doc.environment.0.insert(evil.into(), evil.into());
    doc.cells = vec![
        cell(evil, with_file(levels(evil, Some(4096))), 32.0, 1),
        skipped(&format!("{evil}2"), with_file(levels("mmap", None)), evil),
        failed(&format!("{evil}3"), with_file(levels("read", None))),
    ];
    let mut answer = answer(AnswerKind::Winner, &[evil], evil);
    answer.raise = Some(evil.into());
    doc.answers = vec![answer];
    doc.warnings = vec![Warning { code: Code::Container, text: evil.into() }];
    doc
}

/// The documents that every format must take.
pub fn all() -> Vec<(&'static str, Document)> {
    let with = |cells: Vec<CellRecord>| Document { cells, ..empty() };
    let mut undecided = tie();
    undecided.answers[0].kind = AnswerKind::Undecided;
    undecided.answers[0].sentence = "Not decided between 64 KiB and 256 KiB.".into();
    undecided.answers[0].detectable = Some(1.04);
    undecided.answers[0].more_seconds = Some(95.0);
    undecided.answers[0].comparisons[0].verdict = Verdict::Undecided;
    undecided.answers[0].comparisons[0].high = None;
    let mut invalid = tie();
    invalid.answers[0].kind = AnswerKind::Invalid;
    invalid.answers[0].grade = Grade::Invalid;
    invalid.answers[0].best.clear();
    invalid.answers[0].sentence = "No answer: the same cell measured twice differed.".into();
    invalid.answers[0].warnings =
        vec![Warning { code: Code::TwinBroken, text: "the twin's e-value is 240".into() }];
    vec![
        ("empty", empty()),
        ("winner", winner()),
        ("tie", tie()),
        ("undecided", undecided),
        ("invalid", invalid),
        ("partial", partial()),
        ("hostile", hostile()),
        ("one cell", with(vec![cell("null", levels("null", None), 1.0, 9)])),
        ("skipped only", with(vec![skipped("mmap", levels("mmap", None), "no mmap here")])),
        ("failed only", with(vec![failed("read", levels("read", None))])),
    ]
}

/// A run of these cells (id, levels, milliseconds a pass) with so many steady rounds. Each round
/// has a speed of its own, by up to `drift`, that all its cells share; each trial up to `noise`.
pub fn timed(
    cells: &[(&str, Levels, f64)],
    rounds: u32,
    drift: f64,
    noise: f64,
    seed: u64,
) -> Document {
    let mut random = Seeded(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    (0..4).for_each(|_| _ = random.next());
    let speed: Vec<f64> = (0..rounds + 3).map(|_| 1.0 + drift * random.next()).collect();
    let mut doc = empty();
    doc.run.seed = seed;
    doc.run.title = "read 256 MiB warm: method".into();
    doc.experiment.protocol.steady_rounds = rounds;
    doc.cells = cells
        .iter()
        .map(|(id, factors, ms)| {
            let operations = factors.number(Factor::Block).map_or(1, |block| PASS / block);
            let samples: Vec<Sample> = speed
                .iter()
                .zip(0..)
                .map(|(speed, round)| {
                    let wall = ms * 1e6 * speed * (1.0 + noise * random.next());
                    sample(round, 0, wall as u64, operations)
                })
                .collect();
            CellRecord {
                id: (*id).to_owned(),
                factors: factors.clone(),
                status: CellStatus::Measured,
                reason: None,
                exclusion: None,
                estimate: estimate(&samples),
                samples,
            }
        })
        .collect();
    doc
}
