//! The cache state of a tree, of that of each of its files.

use iolab_model::result::{CacheProof, Residency};

/// Proofs of many files as one.
#[derive(Default)]
pub struct Sum {
    /// That of those so far.
    pub proof: Option<CacheProof>,
}

impl Sum {
    /// And this one.
    pub fn add(&mut self, one: CacheProof) {
        let Some(all) = &mut self.proof else {
            self.proof = Some(one);
            return;
        };
        let add = |to: &mut Option<u64>, more: Option<u64>| {
            *to = to.zip(more).map(|(a, b)| a.saturating_add(b));
        };
        add(&mut all.expected_device_bytes, one.expected_device_bytes);
        match (&mut all.before, one.before) {
            (Some(before), Some(more)) => add_residency(before, &more),
            (before, _) => *before = None,
        }
        // The dearest step names them all; the first reason speaks for them all.
        all.how = all.how.dearer(one.how);
        all.reason = all.reason.take().or(one.reason);
        all.proven &= one.proven;
    }
}

fn add_residency(to: &mut Residency, more: &Residency) {
    to.total_bytes += more.total_bytes;
    to.resident_bytes += more.resident_bytes;
    to.dirty_bytes = to.dirty_bytes.zip(more.dirty_bytes).map(|(a, b)| a + b);
}
