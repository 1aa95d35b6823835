//! Synthetic runs whose truth is known, and one claim judged on them.

use std::collections::BTreeMap;

use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::result::{
    CellRecord, CellStatus, Digest, Document, Environment, ExperimentRecord, Measurement, Phase,
    Proof, ProtocolRecord, RunInfo, SCHEMA, Sample,
};
use iolab_model::spec::file::{Source, Words};
use iolab_run::fill_estimates;
use iolab_study::{Evidence, Ruling, Study, Verdict, judge, read};

pub const ROUNDS: u32 = 80;
pub const BYTES: u64 = 1 << 20;

pub fn words() -> Words<'static> {
    Words { workloads: iolab_agent::catalog::WORKLOADS, parts: iolab_agent::catalog::all() }
}

pub fn study(claims: &str) -> Study {
    let text = format!(
        r#"
title = "t"
summary = "s"
budget = "10s"
[[experiment]]
name = "e"
workload = "read"
[experiment.factors]
method = "read,mmap"
file-size = "4Ki,64Ki,1Mi,16Mi"
block = "1Ki,4Ki,64Ki,1Mi"
threads = "1,2"
{claims}
"#
    );
    let source = Source { name: "t.toml", text: &text };
    read("t", &source, words(), 1).unwrap_or_else(|error| panic!("{error}"))
}

/// A cell: its levels and its true time of a pass.
pub type True = (Vec<(Factor, Level)>, f64);

pub fn block(bytes: u64, ns: f64) -> True {
    (vec![(Factor::Method, Level::word("read")), (Factor::Block, Level::Number(bytes))], ns)
}

pub fn sample(round: u32, position: u32, wall_ns: u64) -> Sample {
    let digest = Some(Digest { kind: "xor".into(), hex: "a7eeb2d9".into(), matches: Some(true) });
    let measurement = Measurement {
        wall_ns,
        user_ns: wall_ns / 50,
        system_ns: wall_ns / 2,
        bytes: BYTES,
        operations: 16,
        repetitions: 1,
        proof: Proof { digest, ..Proof::default() }.into(),
        ..Measurement::default()
    };
    Sample { round, position, phase: Phase::Steady, epoch: round, measurement, fault: None }
}

/// Samples around a cell's truth: the same noise for all in a round, and 1 % of each its own.
pub fn run(cells: &[True]) -> Document {
    run_seeded(cells, 0x9e37_79b9_7f4a_7c15)
}

pub fn run_seeded(cells: &[True], seed: u64) -> Document {
    let mut state = seed | 1;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let common: Vec<f64> = (0..ROUNDS).map(|_| 0.2 * noise()).collect();
    let cells = cells.iter().enumerate().map(|(at, (levels, ns))| {
        let factors =
            levels.iter().fold(Levels::new(), |all, (f, level)| all.with(*f, level.clone()));
        let samples = (0..ROUNDS).map(|round| {
            let wall_ns = (ns * (common[round as usize] + 0.02 * noise()).exp()) as u64;
            sample(round, at as u32, wall_ns)
        });
        CellRecord {
            id: format!("cell{at}"),
            factors,
            status: CellStatus::Measured,
            reason: None,
            exclusion: None,
            samples: samples.collect(),
            estimate: None,
        }
    });
    let mut document = Document {
        schema: SCHEMA.into(),
        run: RunInfo::default(),
        environment: Environment::default(),
        experiment: ExperimentRecord {
            workload: "read".into(),
            directory: Default::default(),
            factors: BTreeMap::new(),
            ask: Vec::new(),
            protocol: ProtocolRecord {
                alpha: 0.05,
                delta: 0.02,
                clock_resolution_ns: 1.0,
                clock_cost_ns: 30.0,
                epoch_rounds: 1,
                steady_rounds: ROUNDS,
                ..ProtocolRecord::default()
            },
        },
        cells: cells.collect(),
        twin: None,
        answers: Vec::new(),
        warnings: Vec::new(),
    };
    fill_estimates(&mut document);
    document
}

pub fn ruled(claim: &str, cells: &[True]) -> Ruling {
    let claim = format!("[[claim]]\nid = \"c\"\nsays = \"it\"\nexperiment = \"e\"\n{claim}\n");
    let study = study(&claim);
    let document = run(cells);
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    judge(&study.claims[0], &evidence)
}

pub fn verdict(claim: &str, cells: &[True]) -> Verdict {
    ruled(claim, cells).verdict
}

pub fn two(a: f64, b: f64) -> [True; 2] {
    [block(4096, a), block(65536, b)]
}

pub const SIDES: &str = "a = { block = \"64Ki\" }\nb = { block = \"4Ki\" }";
