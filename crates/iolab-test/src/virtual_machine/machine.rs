//! A machine whose time is a number.

use std::collections::BTreeMap;

use rand_pcg::Pcg64;

use super::noise::{Memory, Moment, Noise, normal, uniform};
use iolab_agent::Extent;
use iolab_model::plan::{Cell, Instance};
use iolab_model::result::{CacheProof, Fault, Measurement, Proof};
use iolab_run::{ClockFacts, Executor, ExecutorError, TrialOrder, stream};

/// Executes trials in no time: what each takes follows from the truth, the noises and a seed.
#[derive(Clone, Debug)]
pub struct VirtualMachine {
    /// Ids of cells by index, where they are not `c0`, `c1`, …
    pub names: Vec<String>,
    /// True time of one operation, by cell.
    pub operation_ns: Vec<f64>,
    /// Operations in a pass (a pass is so much work when whole passes are asked for).
    pub operations_per_pass: u64,
    /// Bytes of one operation; 0: a call.
    pub operation_bytes: u64,
    /// What disturbs it.
    pub noises: Vec<Noise>,
    /// The clock it shows.
    pub facts: ClockFacts,
    /// What a trial takes within its window however little it does, in operations of its cell.
    pub fixed_operations: f64,
    /// Time of a trial outside its window.
    pub around_ns: f64,
    /// The same of a trial outside the rounds, beside that: what pilots make once.
    pub pilot_around_ns: f64,
    /// Time of a renewal, for each instance that is primed.
    pub renew_ns: f64,
    /// Cells whose trials fail at once from this round on (calibration counts as 0).
    pub failing: BTreeMap<usize, u32>,
    /// Cells that never end from this round on.
    pub hanging: BTreeMap<usize, u32>,
    /// The share of trials, of any cell, that fail at once.
    pub flaky: f64,
    /// Cells whose cache state is never proven.
    pub unproven: Vec<usize>,
    /// Renewals that fail for once, by their number from 0.
    pub renewals_lost: Vec<u64>,
    /// Everything fails for good after this many trials.
    pub dies_after: Option<u64>,
    /// Rounds count from here for drifts (a shown round is added to it).
    pub trials: u64,
    /// Renewals so far, with their orders.
    pub renewals: Vec<Vec<usize>>,
    /// How often the places were made once more.
    pub makings: u32,
    /// What was asked for: cell, round, extent.
    pub asked: Vec<(usize, Option<u32>, Extent)>,
    /// Whether `asked` is kept.
    pub keep_asked: bool,
    renewed: u64,
    now_ns: f64,
    effects: Vec<f64>,
    memory: Memory,
    generator: Pcg64,
    round: Option<u32>,
    in_round: u32,
    before: Option<usize>,
}

impl VirtualMachine {
    /// A quiet machine with these true times of one operation.
    pub fn new(operation_ns: Vec<f64>, seed: u64) -> VirtualMachine {
        VirtualMachine {
            effects: vec![0.0; operation_ns.len()],
            operation_ns,
            names: Vec::new(),
            operations_per_pass: 16,
            operation_bytes: 64 << 10,
            noises: Vec::new(),
            facts: ClockFacts { resolution_ns: 1.0, pair_cost_ns: 40.0 },
            fixed_operations: 0.0,
            around_ns: 10_000.0,
            pilot_around_ns: 0.0,
            renew_ns: 10_000.0,
            failing: BTreeMap::new(),
            hanging: BTreeMap::new(),
            flaky: 0.0,
            unproven: Vec::new(),
            renewals_lost: Vec::new(),
            renewed: 0,
            dies_after: None,
            trials: 0,
            renewals: Vec::new(),
            makings: 0,
            asked: Vec::new(),
            keep_asked: false,
            now_ns: 0.0,
            memory: Memory::default(),
            generator: stream(seed, "virtual machine", 0),
            round: None,
            in_round: 0,
            before: None,
        }
    }

    /// The same with disturbances.
    #[must_use]
    pub fn with(mut self, noises: &[Noise]) -> VirtualMachine {
        self.noises = noises.to_vec();
        self
    }

    /// A new process: its time counts from here.
    pub fn restart(&mut self) {
        self.now_ns = 0.0;
    }

    fn index_of(&self, cell: &Cell) -> usize {
        let named = || self.names.iter().position(|name| *name == cell.id);
        let numbered = cell.id.strip_prefix('c').and_then(|number| number.parse().ok());
        numbered.or_else(named).unwrap_or(0)
    }

    fn moment(&mut self, order: &TrialOrder<'_>) -> Moment {
        let (cell, round) = (self.index_of(order.cell), order.round);
        let first = self.round != round;
        if first {
            self.round = round;
            self.in_round = 0;
        }
        let slots = self.operation_ns.len() as f64 + 1.0;
        let rounds = round.unwrap_or(0);
        let time = f64::from(rounds) + f64::from(self.in_round) / slots;
        self.in_round += 1;
        let instance = order.cell.instance;
        let region = self.region(&order.extent);
        Moment {
            cell,
            round: rounds,
            first,
            before: self.before.replace(cell),
            time,
            instance,
            region,
        }
    }

    /// Where the middle of a part lies in its file; a whole pass is everywhere.
    fn region(&self, extent: &Extent) -> f64 {
        let all = self.operations_per_pass as f64;
        match extent {
            Extent::Passes(_) => 0.5,
            Extent::Part { first_operation, operations } => {
                ((*first_operation as f64 + *operations as f64 / 2.0) / all).fract()
            }
        }
    }

    fn wall_ns(&mut self, at: Moment, operations: f64) -> f64 {
        let mut ln = self.operation_ns[at.cell].ln();
        ln += at.instance.map_or(0.0, |i| self.effects[i]);
        let mut step = 1.0;
        for noise in &self.noises {
            if let Noise::Quantised(ns) = noise {
                step = *ns;
            }
            ln += noise.effect(at, &mut self.memory, &mut self.generator);
        }
        (ln.exp() * (operations + self.fixed_operations) / step).round().max(1.0) * step
    }
}

fn lost(cause: &str) -> Fault {
    Fault::new("virtual trial", cause)
}

fn since(rounds: &BTreeMap<usize, u32>, cell: usize, round: u32) -> bool {
    rounds.get(&cell).is_some_and(|from| round >= *from)
}

impl Executor for VirtualMachine {
    fn clock(&mut self) -> Result<ClockFacts, ExecutorError> {
        Ok(self.facts)
    }

    fn elapsed_ns(&mut self) -> u64 {
        self.now_ns as u64
    }

    fn make(&mut self, _: &Instance) -> Result<(), ExecutorError> {
        self.now_ns += self.renew_ns;
        Ok(())
    }

    fn renew(&mut self, order: &[usize]) -> Result<(), ExecutorError> {
        self.now_ns += self.renew_ns * order.len() as f64;
        self.renewed += 1;
        if self.renewals_lost.contains(&(self.renewed - 1)) {
            return Err(ExecutorError::Trial(lost("the agent was replaced")));
        }
        if self.keep_asked {
            self.renewals.push(order.to_vec());
        }
        for instance in order {
            self.memory.renew(*instance);
            for noise in &self.noises {
                if let Noise::Instance(sigma) = noise {
                    self.effects[*instance] = sigma * normal(&mut self.generator);
                }
            }
        }
        Ok(())
    }

    fn remake(&mut self, order: &[usize]) -> Result<(), ExecutorError> {
        self.makings += 1;
        self.renew(order)
    }

    fn trial(&mut self, order: &TrialOrder<'_>) -> Result<Measurement, ExecutorError> {
        let at = self.moment(order);
        let cell = at.cell;
        self.trials += 1;
        if self.keep_asked {
            self.asked.push((cell, order.round, order.extent));
        }
        if self.dies_after.is_some_and(|n| self.trials > n) {
            return Err(ExecutorError::Fatal(lost("the machine died")));
        }
        let (repetitions, operations) = match order.extent {
            Extent::Passes(passes) => (passes, passes * self.operations_per_pass),
            Extent::Part { operations, .. } => (1, operations),
        };
        let flaky = self.flaky > 0.0 && uniform(&mut self.generator) < self.flaky;
        if flaky || since(&self.failing, cell, at.round) {
            self.now_ns += self.around_ns;
            return Err(ExecutorError::Trial(lost("SIGSEGV")));
        }
        let wall_ns = self.wall_ns(at, operations as f64);
        at.instance.into_iter().for_each(|instance| self.memory.visit(instance));
        if since(&self.hanging, cell, at.round) || wall_ns > order.limit_ns as f64 {
            self.now_ns += order.limit_ns as f64;
            return Err(ExecutorError::Trial(lost("passed its time limit")));
        }
        let once_ns = if order.round.is_none() { self.pilot_around_ns } else { 0.0 };
        self.now_ns += wall_ns + self.around_ns + once_ns;
        let cache = self.unproven.contains(&cell).then(|| CacheProof {
            reason: Some("pages were still resident".into()),
            ..CacheProof::default()
        });
        Ok(Measurement {
            wall_ns: wall_ns as u64,
            bytes: operations * self.operation_bytes,
            operations,
            repetitions,
            proof: Proof { cache, ..Proof::default() }.into(),
            ..Measurement::default()
        })
    }
}
