//! How a file is gone through.

use serde::Serialize;

/// Where one block follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Nine of ten begin where the last ended.
    Sequential,
    /// Nine of ten lie as far behind the last as that behind the one before it.
    Strided,
    /// Neither.
    Random,
}

impl Pattern {
    /// Its name in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Pattern::Sequential => iolab_model::catalog::Pattern::USUAL,
            Pattern::Strided => "strided",
            Pattern::Random => "random",
        }
    }
}

/// One handle's blocks, as they come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    last: Option<(u64, u64)>,
    gap: Option<i64>,
}

/// What the steps between blocks were.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    sequential: u64,
    strided: u64,
    all: u64,
}

impl Walk {
    /// A block from `offset` to `end`.
    pub(super) fn block(&mut self, offset: u64, end: u64, steps: &mut Steps) {
        if let Some((_, last_end)) = self.last {
            let gap = offset.wrapping_sub(last_end) as i64;
            steps.all += 1;
            steps.sequential += u64::from(gap == 0);
            steps.strided += u64::from(gap != 0 && self.gap == Some(gap));
            self.gap = Some(gap);
        }
        self.last = Some((offset, end));
    }
}

impl Steps {
    /// What nine of ten steps were; nothing where there was none.
    pub(super) fn pattern(&self) -> Option<Pattern> {
        let most = |part: u64| part * 10 >= self.all * 9;
        match () {
            () if self.all == 0 => None,
            () if most(self.sequential) => Some(Pattern::Sequential),
            // The first of equal steps has none before it.
            () if self.all > 2 && most(self.strided + 1) => Some(Pattern::Strided),
            () => Some(Pattern::Random),
        }
    }
}
