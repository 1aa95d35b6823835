//! From how many calls on something is worth a word.

use super::gather::OfFile;
use super::pattern::Pattern;
use super::sum::Sum;
use super::{Finding, FindingKind};

/// Fewer calls than these are nobody's worry.
pub(super) const MANY: u64 = 100;
/// Of one file as many.
pub(super) const OFTEN: u64 = 20;

pub(super) fn finding(kind: FindingKind, sum: &Sum, sentence: String) -> Finding {
    Finding { kind, calls: sum.calls, files: 1, file_ns: sum.file_ns, of_start: false, sentence }
}

/// Whether so many small calls of one file are worth a word of their own.
pub(super) fn is_small(of: &OfFile, sum: &Sum) -> bool {
    sum.calls >= MANY && of.steps.pattern() == Some(Pattern::Sequential)
}

/// Whether one file is opened often enough for a word of its own.
pub(super) fn is_opened_again(of: &OfFile) -> bool {
    of.most_opens >= OFTEN && of.opens.failed == 0
}
