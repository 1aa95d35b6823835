//! What a study says, in a form that can be judged.

use super::figures::Figures;
use super::needs::Needs;
use super::select::Selection;
use iolab_model::catalog::Factor;

/// A claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name within the study.
    pub id: String,
    /// The claim in one sentence.
    pub says: String,
    /// The experiments that it may be judged by: the first that was run counts.
    pub experiments: Vec<String>,
    /// Cells that all of it is about.
    pub of: Selection,
    /// What is claimed of them.
    pub kind: Kind,
    /// Which time is compared.
    pub measure: Measure,
    /// The unit of work that times are divided by.
    pub per: Per,
    /// Of a side with several cells, the best or every one of them.
    pub choice: Choice,
    /// Over which levels it must hold.
    pub spread: Spread,
    /// What a machine must have, that it can be asked there.
    pub needs: Needs,
    /// What of it is ours and not the study's.
    pub ours: Ours,
    /// Where it stands in the study.
    pub place: Option<String>,
    /// Figures that were published for it.
    pub published: Option<Figures>,
    /// What a reader should know: why it stands out, what the study could not see.
    pub note: Option<String>,
}

/// What is claimed. Ratios are time of the second over time of the first: how many times faster
/// the first is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `a` takes less time than `b`; with a range, by so much.
    Faster {
        /// The faster side.
        a: Selection,
        /// The slower side.
        b: Selection,
        /// By which factor, from and to.
        by: Option<(f64, f64)>,
    },
    /// `a` is faster than all others of the claim's cells.
    Fastest {
        /// Who.
        a: Selection,
    },
    /// Each side is faster than the next one.
    Order {
        /// From the fastest to the slowest.
        sides: Vec<Selection>,
    },
    /// Time falls (or rises) along an axis.
    Ordered {
        /// The axis.
        axis: Factor,
        /// Whether time gets less.
        falling: bool,
    },
    /// Time grows as the level of the axis does: the price of a unit of work stays the same.
    Linear {
        /// The axis.
        axis: Factor,
        /// Differences of that price up to this share are none.
        tolerance: f64,
    },
    /// From a level on, nothing is gained along the axis any more.
    Plateau {
        /// The axis.
        axis: Factor,
        /// The first level of the plateau.
        from: u64,
        /// Gains up to this share are none.
        tolerance: f64,
    },
    /// Below a place on the axis `a` is faster, above it `b`.
    Crossover {
        /// The axis.
        axis: Factor,
        /// Faster at small levels.
        a: Selection,
        /// Faster at large levels.
        b: Selection,
        /// Between which levels of the axis they change places.
        between: (u64, u64),
    },
    /// No difference beyond a share.
    Equivalent {
        /// One side.
        a: Selection,
        /// The other side.
        b: Selection,
        /// The share.
        tolerance: f64,
    },
    /// The times of two sides lie at most so far apart.
    Difference {
        /// One side.
        a: Selection,
        /// The other side.
        b: Selection,
        /// Nanoseconds for one unit of work.
        most_ns: f64,
    },
    /// `a` is not faster than `b` by more than a share; it may well be slower.
    GainsNothing {
        /// What should help and does not.
        a: Selection,
        /// Without it.
        b: Selection,
        /// The share.
        tolerance: f64,
    },
    /// `a` gains less over `b` at one place than at another.
    GainsLess {
        /// The faster side.
        a: Selection,
        /// The slower side.
        b: Selection,
        /// Where it gains less.
        at: Selection,
        /// Where it gains more.
        than: Selection,
    },
    /// Of the elapsed time, the measure takes a share within these bounds, in every cell.
    Share {
        /// At least.
        from: f64,
        /// At most.
        to: f64,
    },
    /// Every cell found the same value (the digest of what was read).
    SameValue,
    /// Said by the study and beyond the product: `needs` says what is missing.
    Untested,
    /// The rate grows along the axis, from one level to another by a factor.
    Scales {
        /// The axis.
        axis: Factor,
        /// From this level.
        from: u64,
        /// To this level.
        to: u64,
        /// By which factor, from and to.
        by: (f64, f64),
    },
}

/// Which time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Wall time.
    #[default]
    Elapsed,
    /// User CPU time.
    User,
    /// System CPU time.
    System,
    /// User and system CPU time.
    Cpu,
}

/// What times are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// The byte where bytes move, else the operation.
    #[default]
    Work,
    /// The operation.
    Operation,
    /// One pass over the data.
    Pass,
}

/// Which cells of a side are meant, where it has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The best of them, whichever that is; the interval allows for the choice.
    #[default]
    Best,
    /// Every one of them.
    Every,
}

/// Whether a claim is asked once or once for each level of a factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Once.
    #[default]
    Once,
    /// For each level; it must hold at so many of them, at all where nothing is said.
    Each(Factor, Option<usize>),
    /// In the mean of the levels (of the logarithms, so that a ratio is a ratio).
    Average(Factor),
}

/// What of a claim is not the study's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ours {
    /// Nothing.
    #[default]
    Nothing,
    /// A part of it: the threshold, the cells.
    Part(String),
    /// All of it.
    All,
}

impl Claim {
    /// Whether a run of this experiment may judge it.
    pub fn is_about(&self, experiment: &str) -> bool {
        self.experiments.iter().any(|name| name == experiment)
    }

    /// Every selection of its kind with its key, without `of`.
    pub(super) fn sides(&self) -> Vec<&Selection> {
        match &self.kind {
            Kind::Faster { a, b, .. }
            | Kind::Equivalent { a, b, .. }
            | Kind::Difference { a, b, .. }
            | Kind::GainsNothing { a, b, .. }
            | Kind::Crossover { a, b, .. } => vec![a, b],
            Kind::GainsLess { a, b, at, than } => vec![a, b, at, than],
            Kind::Fastest { a } => vec![a],
            Kind::Order { sides } => sides.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The axis that it runs along.
    pub(super) fn axis(&self) -> Option<Factor> {
        match self.kind {
            Kind::Ordered { axis, .. }
            | Kind::Linear { axis, .. }
            | Kind::Plateau { axis, .. }
            | Kind::Crossover { axis, .. }
            | Kind::Scales { axis, .. } => Some(axis),
            _ => None,
        }
    }

    /// Places on its axis that it names.
    pub(super) fn marks(&self) -> Vec<u64> {
        match self.kind {
            Kind::Plateau { from, .. } => vec![from],
            Kind::Crossover { between: (from, to), .. } | Kind::Scales { from, to, .. } => {
                vec![from, to]
            }
            _ => Vec::new(),
        }
    }
}
