//! What a trial costs outside its timed window, on a real agent.

use std::path::Path;
use std::time::Instant;

use iolab_agent::{
    Content, Extent, InstanceOrder, LocalChild, Reply, Request, Transport, TrialRequest,
};
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::result::Measurement;
use iolab_test::real_agent::started_agent;

use crate::verdict;

const TRIALS: usize = 300;
const LIMIT_NS: u64 = 10_000_000_000;

/// Prints a row a kind of trial; true where the limit is kept.
pub fn rows(directory: &Path) -> bool {
    let mut agent = started_agent(env!("CARGO_BIN_EXE_iolab").into(), directory);
    let bytes = 4 << 20;
    let order = InstanceOrder {
        id: 0,
        host: None,
        path: None,
        bytes,
        seed: 1,
        content: Content::Random,
        place: None,
        targets: Vec::new(),
        files: None,
        tree: None,
        attributes: false,
        keep_bytes: None,
        shared: None,
    };
    assert_eq!(agent.ask(&Request::Make(order)).unwrap(), Reply::Done);
    let levels = Levels::new().with(Factor::Operation, Level::word("getppid"));
    let call = request("syscall", levels, None, 10_000);
    let levels = Levels::new()
        .with(Factor::Method, Level::word("pread"))
        .with(Factor::Block, Level::Number(64 << 10))
        .with(Factor::Consume, Level::word("xor"));
    let plain = request("read", levels.clone(), Some(0), 1);
    let warm = request("read", levels.with(Factor::Cache, Level::word("warm")), Some(0), 1);
    let mut good = true;
    for (name, request, limit_us) in [
        ("a call", &call, Some(2000.0)),
        ("a read, 4 MiB", &plain, Some(2000.0)),
        ("a warm read, 4 MiB, cache work included", &warm, None),
    ] {
        let outside_us = around(&mut agent, request);
        let kept = limit_us.is_none_or(|limit| outside_us <= limit);
        let (limit, word) = match limit_us {
            Some(limit) => (format!("≤ {limit:.0} µs"), verdict(kept)),
            None => ("–".into(), ""),
        };
        println!(
            "| outside the timed window: {name} | {outside_us:.0} µs | – | – | {limit} | {word} |"
        );
        good &= kept;
    }
    assert_eq!(agent.ask(&Request::End).unwrap(), Reply::Done);
    good
}

fn request(workload: &str, levels: Levels, instance: Option<usize>, passes: u64) -> Request {
    let extent = Extent::Passes(passes);
    let workload = workload.into();
    let trial = TrialRequest { workload, levels, instance, extent, limit_ns: LIMIT_NS };
    Request::Trial(Box::new(trial))
}

/// Median time from request to reply, less the timed window, in microseconds.
fn around(agent: &mut LocalChild, request: &Request) -> f64 {
    let mut outside: Vec<f64> = (0..TRIALS)
        .map(|_| {
            let start = Instant::now();
            let measured = measured(agent.ask(request).unwrap());
            start.elapsed().as_nanos() as f64 - measured.wall_ns as f64
        })
        .collect();
    outside.sort_by(f64::total_cmp);
    outside[TRIALS / 2] / 1e3
}

fn measured(reply: Reply) -> Measurement {
    match reply {
        Reply::Measured(measurement) => *measurement,
        other => panic!("{other:?}"),
    }
}
