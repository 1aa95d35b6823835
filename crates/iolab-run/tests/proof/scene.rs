//! What a proof is made of: a virtual machine, a plan and the truth about both, driven and concluded
//! as a person's run is, and held against what it should have said.

use std::cell::Cell;

use iolab_model::result::{AnswerKind, ExclusionReason};
use iolab_run::{
    Conclusion, History, Judge, Outcome, Policy, StopSignal, Stopped, conclude, drive_by,
};
use iolab_stats::claims::{self, Claims, Facts, Standing, Watch};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

/// Each instance is as fast as it happens to be, ±10 %.
pub const INSTANCE: Noise = Noise::Instance(0.1);
/// Wall time is whole nanoseconds.
const ROUNDING: f64 = 1e-5;

/// So many runs; where the long proof is asked for (`IOLAB_TRUST`), 2000 or as many as it says.
pub fn runs(few: u32) -> u32 {
    let Some(asked) = std::env::var_os("IOLAB_TRUST") else { return few };
    let number = asked.to_str().and_then(|asked| asked.parse().ok());
    number.filter(|runs| *runs > 1).unwrap_or(2000)
}

/// The most errors that chance explains: the 99.9 % point of so many runs that err with probability p.
pub fn most(runs: u32, p: f64) -> u32 {
    let (mut term, mut sum) = ((1.0 - p).powi(runs as i32), 0.0);
    for errors in 0..runs {
        sum += term;
        if sum >= 0.999 {
            return errors;
        }
        term *= f64::from(runs - errors) / f64::from(errors + 1) * p / (1.0 - p);
    }
    runs
}

#[test]
fn most_is_that_of_the_binomial() {
    assert_eq!((most(2000, 0.05), most(2000, 0.01)), (131, 35));
    assert_eq!(most(200, 0.05), 21);
}

/// What files the cells work on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Files {
    /// So many cells in turn have one of their own.
    Own(usize),
    /// Each its own, in whatever state it is: never renewed.
    Kept,
    /// All one.
    Shared,
    /// All one, too large for a trial: each does a part.
    Bounded,
}

/// One kind of run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What is special about it.
    pub name: String,
    /// By cell: time of one operation, in units.
    pub truth: Vec<f64>,
    pub noises: Vec<Noise>,
    pub files: Files,
    /// What a trial costs however much it does, in operations.
    pub fixed: f64,
    /// The share of trials that fail.
    pub flaky: f64,
    /// Time of an operation, of what surrounds a trial, and of renewing one file.
    pub unit_ns: f64,
    pub around_ns: f64,
    pub renew_ns: f64,
    /// Rounds between two looks, where the driver does not choose.
    pub look_every: Option<u32>,
    /// Budget.
    pub seconds: u64,
    /// Steady rounds at most, and at least.
    pub rounds: u32,
    pub fewest_rounds: u32,
    /// Whether the settled leave.
    pub eliminate: bool,
    /// Broken off at some trial and gone on with.
    pub broken_off: bool,
    /// Brought to its end after half of the rounds, whatever it found, and gone on with (`iolab more`).
    pub more: bool,
}

impl Scene {
    pub fn new(name: &str, truth: Vec<f64>, noises: &[Noise], rounds: u32) -> Scene {
        Scene {
            name: name.to_owned(),
            truth,
            noises: noises.to_vec(),
            files: Files::Own(1),
            fixed: 0.0,
            flaky: 0.0,
            unit_ns: 1e5,
            around_ns: 1e4,
            renew_ns: 1e4,
            look_every: Some(1),
            seconds: 600,
            rounds,
            fewest_rounds: Policy::default().fewest_rounds,
            eliminate: true,
            broken_off: false,
            more: false,
        }
    }

    /// Goes on to its last round whatever was found.
    #[must_use]
    pub fn until_the_end(self) -> Scene {
        Scene { fewest_rounds: u32::MAX, ..self }
    }

    pub fn shape(&self, seed: u64) -> PlanShape {
        let mut shape = PlanShape::new(self.truth.len(), seed);
        shape.protocol.budget_ns = self.seconds * 1_000_000_000;
        shape.eliminate = self.eliminate;
        match self.files {
            Files::Own(cells) => shape.cells_a_file = cells,
            Files::Kept => shape.cache = Some("any"),
            Files::Shared => shape.own_instances = false,
            Files::Bounded => (shape.own_instances, shape.file_bytes) = (false, 64 << 20),
        }
        shape
    }

    pub fn machine(&self, seed: u64) -> VirtualMachine {
        let times = self.truth.iter().map(|t| t * self.unit_ns).collect();
        let mut machine = VirtualMachine::new(times, seed).with(&self.noises);
        if self.files == Files::Bounded {
            machine.operations_per_pass = 1024;
        }
        machine.fixed_operations = self.fixed;
        machine.flaky = self.flaky;
        (machine.renew_ns, machine.around_ns) = (self.renew_ns, self.around_ns);
        machine
    }

    /// ln regret of every cell, were all compared.
    pub fn regret(&self) -> Vec<f64> {
        let best = self.truth.iter().copied().fold(f64::INFINITY, f64::min);
        self.truth.iter().map(|truth| (truth / best).ln()).collect()
    }

    /// One run by the protocol.
    pub fn run(&self, seed: u64) -> Told {
        self.run_by(seed, Policy::default(), None)
    }

    /// One run by another policy. `errs` says whether a look sees an error, where the claims of the
    /// protocol are not what is asked about.
    pub fn run_by(&self, seed: u64, policy: Policy<'_>, errs: Option<&Errs>) -> Told {
        let ever = Cell::new(false);
        let regret = self.regret();
        let judge = |watch: &Watch, rules: &claims::Rules| {
            let claims = watch.claims(rules, &Facts::default());
            if !ever.get() {
                ever.set(match errs {
                    Some(errs) => errs(watch),
                    None => is_wrong(&claims, &regret),
                });
            }
            claims
        };
        let judge: Box<Judge<'_>> = Box::new(judge);
        let mut policy = Policy {
            fewest_rounds: self.fewest_rounds,
            greatest_rounds: self.rounds,
            look_every: self.look_every,
            judge,
            ..policy
        };
        let (out, concluded) = self.drive(seed, &mut policy);
        Told {
            ever_wrong: ever.get(),
            wrong: concluded_wrong(&out, &concluded, &regret),
            out,
            concluded,
        }
    }

    fn drive(&self, seed: u64, policy: &mut Policy<'_>) -> (Outcome, Conclusion) {
        let plan = plan(&self.shape(seed));
        let mut machine = self.machine(seed);
        let asked = Cell::new(0);
        // From the first trial of the first round to about the fortieth round.
        let last = 4 + seed * 7919 % (40 * (self.truth.len() as u64 + 2));
        let stop = || {
            asked.set(asked.get() + 1);
            match self.broken_off && asked.get() > last {
                true => StopSignal::Now,
                false => StopSignal::None,
            }
        };
        if self.more {
            policy.greatest_rounds = self.rounds / 2;
        }
        let mut out = drive_by(policy, &plan, &mut machine, &mut [], None, &stop).unwrap();
        policy.greatest_rounds = self.rounds;
        if out.stopped == Stopped::Interrupted || self.more {
            let history = History {
                cells: out.cells,
                twin: out.twin,
                epoch_rounds: out.calibration.epoch_rounds,
                elapsed_ns: out.elapsed_ns,
            };
            let go_on = || StopSignal::None;
            machine.restart();
            out = drive_by(policy, &plan, &mut machine, &mut [], Some(history), &go_on).unwrap();
        }
        let concluded = conclude(&plan, &out);
        (out, concluded)
    }
}

/// Whether a look sees an error.
pub type Errs = dyn Fn(&Watch) -> bool;

/// What came of a run.
pub struct Told {
    /// At some look one of the best was excluded, or a bound did not hold the truth.
    pub ever_wrong: bool,
    /// The same of what was concluded.
    pub wrong: bool,
    pub out: Outcome,
    pub concluded: Conclusion,
}

impl Told {
    pub fn kind(&self) -> AnswerKind {
        self.concluded.answers[0].kind
    }

    /// U of the pick; a ratio.
    pub fn at_most(&self) -> Option<f64> {
        self.concluded.answers[0].pick.as_ref().map(|pick| pick.at_most)
    }

    /// Cells that left the rounds for this reason.
    pub fn left(&self, why: ExclusionReason) -> usize {
        self.out.cells.iter().filter(|c| c.left.as_ref().is_some_and(|l| l.why == why)).count()
    }
}

/// A cell without regret that is excluded, or a bound beyond the truth. The upper bounds are about
/// those that are compared.
fn is_wrong(claims: &Claims, regret: &[f64]) -> bool {
    let of_those = claims.compared().iter().map(|c| regret[*c]).fold(f64::INFINITY, f64::min);
    claims.compared().into_iter().any(|cell| {
        let (claim, regret) = (&claims.cells[cell], regret[cell]);
        (claim.standing == Standing::Slower && regret == 0.0)
            || claim.low > regret + ROUNDING
            || claim.high < regret - of_those - ROUNDING
    })
}

fn concluded_wrong(out: &Outcome, concluded: &Conclusion, regret: &[f64]) -> bool {
    let answer = &concluded.answers[0];
    let cell = |id: &str| id.trim_start_matches('c').parse::<usize>().unwrap();
    let compared = || answer.regret.iter().map(|r| (cell(&r.cell), r));
    let of_those = compared().map(|(c, _)| regret[c]).fold(f64::INFINITY, f64::min);
    let given_up =
        |c: usize| out.cells[c].left.as_ref().is_some_and(|l| l.why == ExclusionReason::Failed);
    let missed = compared().any(|(c, told)| {
        (told.excluded && regret[c] == 0.0)
            || told.low.ln() > regret[c] + ROUNDING
            || told.high.is_some_and(|high| high.ln() < regret[c] - of_those - ROUNDING)
    });
    let best = (0..regret.len()).filter(|c| regret[*c] == of_those && !given_up(*c));
    let lost = answer.kind == AnswerKind::Winner
        && best.count() > 1
        && answer.best.iter().all(|id| regret[cell(id)] > of_those);
    missed || lost
}
