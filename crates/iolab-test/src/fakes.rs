//! Seeded synthetic runs for the tests, the example and the browser: whatever a picture may have
//! to show, without a machine. The intervals are rough stand-ins for those of `stats`.

use std::collections::BTreeMap;

use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64;

use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{
    Answer, AnswerKind, CellRecord, CellStatus, Comparison, Document, Environment, Estimate,
    ExperimentRecord, Grade, Measurement, Phase, ProtocolRecord, RunInfo, SCHEMA, Sample, Summary,
    Twin, Verdict, Warning,
};

/// A cell before it is measured.
#[derive(Clone, Debug)]
pub struct Fake {
    /// Its levels.
    pub levels: Levels,
    /// True time of one pass.
    pub wall_ns: f64,
    /// Shares of the wall time that are user and system time.
    pub cpu: (f64, f64),
    /// Bytes of a pass.
    pub bytes: u64,
    /// Operations of a pass.
    pub operations: u64,
    /// Standard deviation of ln t.
    pub noise: f64,
    /// Why it gives nothing, where it does not.
    pub gone: Option<(CellStatus, &'static str)>,
}

/// A cell that reads `bytes` in `wall_ns`.
pub fn fake(levels: Levels, wall_ns: f64, bytes: u64) -> Fake {
    let operations = levels.number(Factor::Block).map_or(1, |block| bytes.div_ceil(block.max(1)));
    Fake { levels, wall_ns, cpu: (0.25, 0.7), bytes, operations, noise: 0.015, gone: None }
}

/// Levels from pairs.
pub fn levels(pairs: &[(Factor, Level)]) -> Levels {
    let mut levels = Levels::new();
    for (factor, level) in pairs {
        levels.set(*factor, level.clone());
    }
    levels
}

/// A number as a level.
pub fn number(n: u64) -> Level {
    Level::Number(n)
}

/// Measures the cells in `rounds` steady rounds and answers each condition.
pub fn document(
    seed: u64,
    workload: &str,
    ask: &[Factor],
    rounds: u32,
    fakes: Vec<Fake>,
) -> Document {
    let mut random = Normal(Pcg64::seed_from_u64(seed));
    let machine: Vec<f64> = (0..rounds + 3).map(|_| random.next() * 0.01).collect();
    let cells: Vec<CellRecord> = fakes.iter().map(|f| measure(f, &machine, &mut random)).collect();
    let twin = fakes.iter().find(|f| f.gone.is_none()).map(|first| {
        let samples = measure(first, &machine, &mut random).samples;
        Twin {
            cell: name(&first.levels),
            samples,
            ratio: Some(1.002),
            low: Some(0.994),
            high: Some(1.009),
            ..Twin::default()
        }
    });
    let mut factors: BTreeMap<Factor, Vec<serde_json::Value>> = BTreeMap::new();
    for cell in &cells {
        for (factor, level) in cell.factors.iter() {
            let value = serde_json::to_value(level).unwrap_or_default();
            let known = factors.entry(factor).or_default();
            if !known.contains(&value) {
                known.push(value);
            }
        }
    }
    let answers = answers(&cells, ask);
    Document {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            id: seed,
            title: format!("{workload}, synthetic"),
            started: "2026-11-21T14:00:00Z".to_owned(),
            finished: Some("2026-11-21T14:01:00Z".to_owned()),
            complete: true,
            seed,
            argv: ["iolab", workload, "big file.iso", "--budget", "30s"]
                .map(str::to_owned)
                .to_vec(),
        },
        environment: environment(),
        experiment: ExperimentRecord {
            workload: workload.to_owned(),
            directory: None,
            factors,
            ask: ask.to_vec(),
            protocol: ProtocolRecord {
                alpha: 0.05,
                delta: 0.02,
                budget_ns: 30_000_000_000,
                clock_resolution_ns: 20.0,
                clock_cost_ns: 40.0,
                epoch_rounds: 3,
                steady_rounds: rounds,
                stopped: "every answer was found".to_owned(),
                ..ProtocolRecord::default()
            },
        },
        cells,
        twin,
        answers,
        warnings: vec![Warning {
            code: Code::Virtualised,
            text: "running on a virtual machine (KVM)".to_owned(),
        }],
    }
}

fn environment() -> Environment {
    let facts = serde_json::json!({
        "kernel.release": "6.18.5", "cpu.model": "Synthetic 3 GHz", "cpu.count": 4,
        "cpu.allowed": 4, "cpu.l2_bytes": 2 << 20, "cpu.llc_bytes": 32 << 20, "page_bytes": 4096,
        "memory.total_bytes": 24u64 << 30, "fs.type": "ext4", "device.read_ahead_bytes": 131_072, "iolab.version": "0.1.0"
    });
    match facts {
        serde_json::Value::Object(map) => Environment(map.into_iter().collect()),
        _ => Environment::default(),
    }
}

/// The id of a cell: its levels with the words for people left out.
pub fn name(levels: &Levels) -> String {
    let words: Vec<String> = levels.iter().map(|(_, level)| level.to_string()).collect();
    words.join("/")
}

fn measure(fake: &Fake, machine: &[f64], random: &mut Normal) -> CellRecord {
    let mut cell = CellRecord {
        id: name(&fake.levels),
        factors: fake.levels.clone(),
        status: CellStatus::Measured,
        reason: None,
        exclusion: None,
        samples: Vec::new(),
        estimate: None,
    };
    if let Some((status, reason)) = fake.gone {
        (cell.status, cell.reason) = (status, Some(reason.to_owned()));
        if status != CellStatus::Eliminated {
            return cell;
        }
    }
    let rounds = if cell.status == CellStatus::Eliminated { 11 } else { machine.len() };
    for (round, drift) in machine.iter().enumerate().take(rounds) {
        let first = if round == 0 { 0.4 } else { 0.0 };
        let mut excess = drift + first + random.next() * fake.noise;
        let outlier = random.0.next_u32().is_multiple_of(60) && round > 2;
        if outlier {
            excess += 0.25;
        }
        let wall = fake.wall_ns * excess.exp();
        cell.samples.push(Sample {
            round: round as u32,
            position: random.0.next_u32() % 8,
            phase: match round {
                0 => Phase::First,
                1 | 2 => Phase::Warmup,
                _ => Phase::Steady,
            },
            epoch: (round / 3) as u32,
            measurement: Measurement {
                wall_ns: wall as u64,
                user_ns: (wall * fake.cpu.0) as u64,
                system_ns: (wall * fake.cpu.1) as u64,
                bytes: fake.bytes,
                operations: fake.operations,
                repetitions: 1,
                flags: if outlier { vec![Code::Outlier] } else { Vec::new() },
                ..Measurement::default()
            },
            fault: None,
        });
    }
    cell.estimate = estimate(&cell.samples);
    cell
}

fn estimate(samples: &[Sample]) -> Option<Estimate> {
    let steady = || samples.iter().filter(|s| s.phase == Phase::Steady).map(|s| &s.measurement);
    steady().next()?;
    let of = |value: &dyn Fn(&Measurement) -> f64| summary(steady().map(value).collect());
    let bytes = steady().any(|m| m.bytes > 0);
    Some(Estimate {
        wall_ns: of(&|m| m.wall_ns as f64),
        user_ns: of(&|m| m.user_ns as f64),
        system_ns: of(&|m| m.system_ns as f64),
        bytes_per_second: bytes.then(|| of(&|m| m.bytes as f64 / m.wall_ns.max(1) as f64 * 1e9)),
        ns_per_operation: of(&|m| m.wall_ns as f64 / m.operations.max(1) as f64),
    })
}

fn summary(mut values: Vec<f64>) -> Summary {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let at =
        |share: f64| values.get(((n - 1) as f64 * share).round() as usize).copied().unwrap_or(0.0);
    let mean = values.iter().sum::<f64>() / n as f64;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let reach = 0.98 / (n as f64).sqrt();
    Summary {
        n: n as u32,
        median: at(0.5),
        low: (n >= 6).then(|| at((0.5 - reach).max(0.0))),
        high: (n >= 6).then(|| at((0.5 + reach).min(1.0))),
        mean,
        sd: (square / (n.max(2) - 1) as f64).sqrt(),
        min: at(0.0),
        q1: at(0.25),
        q3: at(0.75),
        max: at(1.0),
    }
}

fn answers(cells: &[CellRecord], ask: &[Factor]) -> Vec<Answer> {
    let mut conditions: Vec<Levels> = Vec::new();
    for cell in cells {
        let condition = cell.factors.only(|f| !ask.contains(&f));
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    conditions.into_iter().filter_map(|condition| answer(cells, condition, ask)).collect()
}

fn answer(cells: &[CellRecord], condition: Levels, ask: &[Factor]) -> Option<Answer> {
    let inside: Vec<&CellRecord> = cells
        .iter()
        .filter(|c| c.estimate.is_some() && c.factors.only(|f| !ask.contains(&f)) == condition)
        .collect();
    let mut comparisons = Vec::new();
    for (at, a) in inside.iter().enumerate() {
        comparisons.extend(inside[at + 1..].iter().map(|b| compare(a, b)));
    }
    let slower = |id: &str| {
        comparisons.iter().any(|c| {
            (c.a == id && c.verdict == Verdict::Slower)
                || (c.b == id && c.verdict == Verdict::Faster)
        })
    };
    let best: Vec<String> =
        inside.iter().filter(|c| !slower(&c.id)).map(|c| c.id.clone()).collect();
    let open = comparisons.iter().any(|c| {
        best.iter().any(|id| c.a == *id)
            && best.iter().any(|id| c.b == *id)
            && c.verdict == Verdict::Undecided
    });
    let kind = match (best.len(), open) {
        (0, _) => return None,
        (1, _) => AnswerKind::Winner,
        (_, true) => AnswerKind::Undecided,
        (_, false) => AnswerKind::Tie,
    };
    let sentence = match kind {
        AnswerKind::Winner => format!("{} is fastest", best.join(", ")),
        AnswerKind::Tie => format!("{} are equally fast", best.join(", ")),
        _ => format!("{} could not be told apart", best.join(", ")),
    };
    Some(Answer {
        condition,
        kind,
        best,
        pick: None,
        regret: Vec::new(),
        findings: Vec::new(),
        grade: Grade::B,
        raise: Some("more file instances".to_owned()),
        sentence,
        rounds: 24,
        detectable: (kind == AnswerKind::Undecided).then_some(1.03),
        more_seconds: (kind == AnswerKind::Undecided).then_some(42.0),
        warnings: vec![Warning {
            code: Code::OneLayout,
            text: "measured on few layouts of the file".to_owned(),
        }],
        comparisons,
    })
}

fn compare(a: &CellRecord, b: &CellRecord) -> Comparison {
    let mut d: Vec<f64> = a
        .samples
        .iter()
        .zip(&b.samples)
        .filter(|(a, _)| a.phase == Phase::Steady)
        .map(|(a, b)| {
            (a.measurement.wall_ns.max(1) as f64 / b.measurement.wall_ns.max(1) as f64).ln()
        })
        .collect();
    d.sort_by(f64::total_cmp);
    let n = d.len();
    let cut = (n as f64 / 2.0 - 1.5 * (n as f64).sqrt()).max(0.0) as usize;
    let at = |at: usize| d.get(at).copied().unwrap_or(0.0).exp();
    let (low, high) = (at(cut), at(n.saturating_sub(1 + cut)));
    let verdict = match (low, high) {
        (low, _) if low > 1.0 => Verdict::Slower,
        (_, high) if high < 1.0 => Verdict::Faster,
        (low, high) if low >= 1.0 / 1.02 && high <= 1.02 => Verdict::Equivalent,
        _ => Verdict::Undecided,
    };
    Comparison {
        a: a.id.as_str().into(),
        b: b.id.as_str().into(),
        ratio: at(n / 2),
        low: Some(low),
        high: Some(high),
        verdict,
        clear: low > 1.02 || high < 1.0 / 1.02,
        n: n as u32,
        ties: 0,
    }
}

struct Normal(Pcg64);

impl Normal {
    /// A standard normal value (Irwin–Hall, twelve uniform values).
    fn next(&mut self) -> f64 {
        (0..12).map(|_| f64::from(self.0.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0
    }
}
