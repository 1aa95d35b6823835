//! Runs that were driven and concluded like real ones, on the virtual machine: of every shape that a
//! report has words for, with noise, failures and budgets drawn from a seed.

use iolab_model::catalog::{Code, Factor, Family, Level, Levels, RECORDED, WorkloadId, bytes_text};
use iolab_model::plan::{Cell, Condition, Plan};
use iolab_model::result::{Document, Environment, RunInfo};
use iolab_run::{StopSignal, document, drive, stream};
use rand_core::Rng as _;
use rand_pcg::Pcg64;

use crate::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

/// What the cells of a generated run differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Methods.
    Methods,
    /// Methods and blocks.
    Blocks,
    /// Methods, by file size.
    Sizes,
    /// Methods and blocks, by file size.
    SizesAndBlocks,
    /// Numbers of threads.
    Threads,
    /// Depths of a queue.
    Queues,
    /// Cold and warm.
    Caches,
    /// Ways to write: blocks of two methods, and targets.
    Writes,
    /// Ways to copy, with blocks and without.
    Copies,
    /// Workers on many files, by operation.
    Files,
    /// Ways to do a recorded program's file work.
    Replays,
}

const SHAPES: [Shape; 11] = [
    Shape::Methods,
    Shape::Blocks,
    Shape::Sizes,
    Shape::SizesAndBlocks,
    Shape::Threads,
    Shape::Queues,
    Shape::Caches,
    Shape::Writes,
    Shape::Copies,
    Shape::Files,
    Shape::Replays,
];

/// The shape of the run of a seed.
pub fn shape(seed: u64) -> Shape {
    SHAPES[seed as usize % SHAPES.len()]
}

struct Draw(Pcg64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0.next_u32() as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn method(levels: Levels, method: &str) -> Levels {
    levels.with(Factor::Method, Level::word(method))
}

/// Methods over some blocks; a mapping has none.
fn over_blocks(at: &Levels, blocks: &[u64]) -> Vec<Levels> {
    let reads = blocks
        .iter()
        .map(|block| method(at.clone(), "read").with(Factor::Block, Level::Number(*block)));
    reads.chain([method(at.clone(), "mmap")]).collect()
}

const BLOCKS: [u64; 4] = [4096, 65_536, 262_144, 1 << 20];

fn block(levels: Levels, bytes: u64) -> Levels {
    levels.with(Factor::Block, Level::Number(bytes))
}

fn threads(levels: &Levels, most: usize) -> Vec<Levels> {
    let with = |n: u64| levels.clone().with(Factor::Threads, Level::Number(n));
    [1, 2, 4, 8][..most.min(4)].iter().map(|n| with(*n)).collect()
}

/// The same of the workloads that do more than read.
fn conditions_of_others(shape: Shape, many: usize) -> Vec<(Levels, Vec<Levels>)> {
    let blocks = || BLOCKS[..many.min(4)].iter();
    let none = Levels::new;
    match shape {
        Shape::Writes => {
            let of = |target: &'static str| {
                let at = none().with(Factor::Target, Level::word(target));
                let way = |name| blocks().map(|n| block(method(at.clone(), name), *n)).collect();
                let ways: Vec<Vec<Levels>> = ["write", "pwrite"].into_iter().map(way).collect();
                (at.clone(), ways.concat())
            };
            ["new", "overwrite"][..1 + many % 2].iter().map(|target| of(target)).collect()
        }
        Shape::Copies => {
            let by_hand = blocks().map(|n| block(method(none(), "read-write"), *n));
            let whole = ["copy_file_range", "sendfile"].map(|name| method(none(), name));
            vec![(none(), by_hand.chain(whole).collect())]
        }
        Shape::Files => {
            let of = |operation: &'static str| {
                let at = none()
                    .with(Factor::FileSize, Level::Number(16_384))
                    .with(Factor::Files, Level::Number(500))
                    .with(Factor::Operation, Level::word(operation));
                (at.clone(), threads(&at, many))
            };
            ["read", "create", "copy"][..1 + many % 3].iter().map(|what| of(what)).collect()
        }
        _ => {
            let at = none().with(Factor::Trace, Level::Path(TRACE.into()));
            let recorded = |factor: Factor| at.clone().with(factor, Level::word(RECORDED));
            let own = recorded(Factor::Method).with(Factor::Block, Level::word(RECORDED));
            let other = blocks().map(|n| block(recorded(Factor::Method), *n));
            let pread = method(at.clone(), "pread").with(Factor::Block, Level::word(RECORDED));
            vec![(at.clone(), [own, pread].into_iter().chain(other).collect())]
        }
    }
}

/// The trace of a generated replay.
const TRACE: &str = "program.trace";

/// What is known of it: four fifths of the program's time are file calls.
fn known_of(shape: Shape) -> Environment {
    let mut environment = Environment::default();
    if shape == Shape::Replays {
        let known = serde_json::json!({
            "program_ns": 1_000_000_000_u64, "program_file_ns": 800_000_000_u64,
            "calls": 1000, "bytes": 1_000_000, "lost_calls": 0, "lost_bytes": 0,
        });
        environment.put_named(Family::Trace, TRACE, known);
    }
    environment
}

/// The conditions of a shape, each with the levels of its cells.
fn conditions(shape: Shape, draw: &mut Draw) -> Vec<(Levels, Vec<Levels>)> {
    const METHODS: [&str; 5] = ["read", "mmap", "pread", "readv", "splice"];
    let warm = || Levels::new().with(Factor::Cache, Level::word("warm"));
    let many = 2 + draw.below(4);
    let sizes = || (0..3).map(|at| 1_u64 << (20 + 4 * at)).take(2 + many % 2);
    let of_size = |bytes: u64| warm().with(Factor::FileSize, Level::Number(bytes));
    match shape {
        Shape::Methods => {
            let cells = METHODS[..many].iter().map(|name| method(warm(), name)).collect();
            vec![(warm(), cells)]
        }
        Shape::Blocks => vec![(warm(), over_blocks(&warm(), &BLOCKS[..many.min(4)]))],
        Shape::Sizes => {
            let cells =
                |at: &Levels| ["read", "mmap"].map(|name| method(at.clone(), name)).to_vec();
            sizes().map(|bytes| (of_size(bytes), cells(&of_size(bytes)))).collect()
        }
        Shape::SizesAndBlocks => {
            let cells = |at: &Levels| over_blocks(at, &BLOCKS[..2]);
            sizes().map(|bytes| (of_size(bytes), cells(&of_size(bytes)))).collect()
        }
        Shape::Threads => {
            let at = method(warm(), "pread");
            vec![(at.clone(), threads(&at, many))]
        }
        Shape::Queues => {
            let at = method(warm(), "io_uring");
            let depth = |n: u64| at.clone().with(Factor::QueueDepth, Level::Number(n));
            vec![(at.clone(), [1, 4, 16, 64][..many.min(4)].iter().map(|n| depth(*n)).collect())]
        }
        Shape::Caches => {
            let cache =
                |word: &str| method(Levels::new(), "read").with(Factor::Cache, Level::word(word));
            vec![(method(Levels::new(), "read"), vec![cache("warm"), cache("cold")])]
        }
        _ => conditions_of_others(shape, many),
    }
}

fn asked(shape: Shape) -> Vec<Factor> {
    match shape {
        Shape::Methods | Shape::Sizes => vec![Factor::Method],
        Shape::Queues => vec![Factor::QueueDepth],
        Shape::Caches => vec![Factor::Cache],
        Shape::Blocks | Shape::SizesAndBlocks | Shape::Writes | Shape::Copies | Shape::Replays => {
            vec![Factor::Method, Factor::Block]
        }
        Shape::Threads | Shape::Files => vec![Factor::Threads],
    }
}

fn workload(shape: Shape) -> WorkloadId {
    match shape {
        Shape::Writes => WorkloadId::Write,
        Shape::Copies => WorkloadId::Copy,
        Shape::Files => WorkloadId::Files,
        Shape::Replays => WorkloadId::Replay,
        _ => WorkloadId::Read,
    }
}

fn id(levels: &Levels) -> String {
    let word = |(factor, level): (Factor, &Level)| match (factor, level) {
        (Factor::Block | Factor::FileSize, Level::Number(n)) => bytes_text(*n).replace(' ', ""),
        _ => level.to_string(),
    };
    levels.iter().map(word).collect::<Vec<_>>().join("/")
}

fn plan_of(seed: u64, draw: &mut Draw) -> Plan {
    let conditions = conditions(shape(seed), draw);
    let cells = conditions.iter().map(|(_, cells)| cells.len()).sum();
    let mut small = PlanShape { own_instances: false, ..PlanShape::new(cells, seed) };
    small.protocol.budget_ns = draw.of(&[300, 1000, 4000]) * 1_000_000;
    small.protocol.rounds = draw.of(&[None, None, Some(6), Some(24)]);
    let mut plan = plan(&small);
    plan.title = format!("generated {seed}");
    plan.workload = workload(shape(seed)).to_string();
    plan.copies = shape(seed) == Shape::Copies;
    plan.ask = asked(shape(seed));
    (plan.cells, plan.conditions) = (Vec::new(), Vec::new());
    for (at, (levels, of_cells)) in conditions.into_iter().enumerate() {
        let first = plan.cells.len();
        plan.cells.extend(of_cells.into_iter().map(|levels| Cell {
            id: id(&levels),
            levels,
            condition: at,
            instance: Some(0),
            skip: None,
        }));
        let cells = (first..plan.cells.len()).collect();
        plan.conditions.push(Condition { levels, cells, own_instances: false });
    }
    plan
}

fn noises(draw: &mut Draw) -> Vec<Noise> {
    let mut all = vec![Noise::LogNormal(draw.of(&[0.002, 0.01, 0.03, 0.1]))];
    all.extend(match draw.below(6) {
        0 => Some(Noise::Spikes(0.05)),
        1 => Some(Noise::Drift(0.3, 40)),
        2 => Some(Noise::ContrastDrift(0, 0.2, 40)),
        3 => Some(Noise::CarryOver(0, 0.05)),
        4 => Some(Noise::Autoregressive(0.9, 0.05)),
        _ => None,
    });
    all
}

/// The run of a seed; absent where it could not even begin.
pub fn run(seed: u64) -> Option<Document> {
    made(seed, seed, false)
}

/// The same experiment on the same machine once more, on another day: its noise is another.
pub fn again(seed: u64) -> Option<Document> {
    later(made(seed, seed + (1 << 32), false))
}

/// The same experiment where what was fast is slow, and the other way round.
pub fn turned(seed: u64) -> Option<Document> {
    later(made(seed, seed + (1 << 33), true))
}

fn later(made: Option<Document>) -> Option<Document> {
    let mut run = made?;
    run.run.id += 1000;
    Some(run)
}

fn made(seed: u64, luck: u64, is_turned: bool) -> Option<Document> {
    let mut draw = Draw(stream(seed, "generated run", 0));
    let plan = plan_of(seed, &mut draw);
    let ratio = |draw: &mut Draw| draw.of(&[1.0, 1.0, 1.01, 1.03, 1.1, 1.5, 3.0, 9.0]);
    let mut times: Vec<f64> = plan.cells.iter().map(|_| 1e5 * ratio(&mut draw)).collect();
    if is_turned {
        times.reverse();
    }
    let count = times.len();
    let mut machine = VirtualMachine::new(times, luck).with(&noises(&mut draw));
    machine.names = plan.cells.iter().map(|cell| cell.id.clone()).collect();
    if draw.below(4) == 0 {
        machine.failing.insert(draw.below(count), draw.below(12) as u32);
    }
    machine.flaky = draw.of(&[0.0, 0.0, 0.02]);
    let mut outcome = drive(&plan, &mut machine, &mut [], None, &|| StopSignal::None).ok()?;
    // Of a few runs the clock moved.
    let samples = outcome.cells.iter_mut().take(1).flat_map(|cell| &mut cell.samples);
    for sample in samples.rev().take(usize::from(draw.below(16) == 0)) {
        sample.measurement.flags.push(Code::ClockMoved);
    }
    let info = RunInfo { id: seed + 1, title: plan.title.clone(), ..RunInfo::default() };
    Some(document(&plan, outcome, info, known_of(shape(seed))))
}
