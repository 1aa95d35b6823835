//! Runs that were driven and concluded like real ones, on the virtual machine: of every shape that a
//! report has words for, with noise, failures and budgets drawn from a seed.

use iolab_model::catalog::{Code, Factor, Level, Levels, bytes_text};
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
}

const SHAPES: [Shape; 7] = [
    Shape::Methods,
    Shape::Blocks,
    Shape::Sizes,
    Shape::SizesAndBlocks,
    Shape::Threads,
    Shape::Queues,
    Shape::Caches,
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

/// The conditions of a shape, each with the levels of its cells.
fn conditions(shape: Shape, draw: &mut Draw) -> Vec<(Levels, Vec<Levels>)> {
    const METHODS: [&str; 5] = ["read", "mmap", "pread", "readv", "splice"];
    const BLOCKS: [u64; 4] = [4096, 65_536, 262_144, 1 << 20];
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
            let threads = |n: u64| at.clone().with(Factor::Threads, Level::Number(n));
            vec![(at.clone(), [1, 2, 4, 8][..many.min(4)].iter().map(|n| threads(*n)).collect())]
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
    }
}

fn asked(shape: Shape) -> Vec<Factor> {
    match shape {
        Shape::Methods | Shape::Sizes => vec![Factor::Method],
        Shape::Blocks | Shape::SizesAndBlocks => vec![Factor::Method, Factor::Block],
        Shape::Threads => vec![Factor::Threads],
        Shape::Queues => vec![Factor::QueueDepth],
        Shape::Caches => vec![Factor::Cache],
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
    let mut draw = Draw(stream(seed, "generated run", 0));
    let plan = plan_of(seed, &mut draw);
    let ratio = |draw: &mut Draw| draw.of(&[1.0, 1.0, 1.01, 1.03, 1.1, 1.5, 3.0, 9.0]);
    let times: Vec<f64> = plan.cells.iter().map(|_| 1e5 * ratio(&mut draw)).collect();
    let count = times.len();
    let mut machine = VirtualMachine::new(times, seed).with(&noises(&mut draw));
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
    Some(document(&plan, outcome, info, Environment::default()))
}
