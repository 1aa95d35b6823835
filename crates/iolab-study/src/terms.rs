//! What a claim is about beside its form: which time, per what, of which cells, how widely.

use iolab_model::catalog::Factor;

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

impl Measure {
    /// A small part of a trial, of which a short one shows none: system time is most of what I/O takes.
    pub(super) fn is_lost_in_ticks(self) -> bool {
        self == Measure::User
    }

    /// As a sentence calls it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Measure::Elapsed => "time",
            Measure::User => "user time",
            Measure::System => "system time",
            Measure::Cpu => "CPU time",
        }
    }
}

impl Spread {
    /// The factor over whose levels it must hold.
    pub(super) fn over(self) -> Option<Factor> {
        match self {
            Spread::Each(factor, _) | Spread::Average(factor) => Some(factor),
            Spread::Once => None,
        }
    }
}
