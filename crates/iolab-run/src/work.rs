//! How much work a cell's trial can be: passes, and parts of a pass.

use iolab_model::catalog::{
    CacheState, Factor, FileOperation, Pattern, Sync, Touch, is_held_warm, is_shared,
    memory_limit_bytes,
};
use iolab_model::plan::{Cell, Instance, Plan};
use iolab_model::result::Sample;
use iolab_model::tree::TreeOrder;

/// A mapping that is read in sequence is counted in windows of this size, in any other order in
/// pages.
pub const WINDOW_BYTES: u64 = 1 << 20;

/// What a call that copies a whole file is asked for at a time.
pub const CHUNK_BYTES: u64 = 64 << 20;

/// A file up to this size is copied several times within a trial; of a larger one each trial makes
/// one copy, so that the space is that of one.
const SMALL_BYTES: u64 = 64 << 10;

/// What a trial of a cell is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Operations in one pass; 1 where a pass is one call.
    pub operations_per_pass: u64,
    /// Bytes of one operation, where a pass is over a file.
    pub step_bytes: u64,
    /// Bytes of a pass over one file that has parts; 0 where a pass is something else.
    pub pass_bytes: u64,
    /// What parts of a pass are counted in: bytes of one operation, or 1 where an operation is a file.
    pub part_step: u64,
    /// The state is gone after one pass, or it leaves a file: never repeated within a trial.
    pub once: bool,
    /// A trial ends in one flush, which costs what it costs however little was written.
    pub flushes: bool,
    /// Threads that do the work.
    pub threads: u64,
    /// A trial has no fewer operations, however long they take: each of several workers needs some
    /// files of its own, and the first calls of a trial are dearer than those that follow.
    pub least_operations: u64,
    /// Nor has it more, as a pilot finds: what a call uses up is there once.
    pub most_operations: u64,
}

impl Default for Work {
    /// One operation that can be repeated.
    fn default() -> Work {
        Work {
            operations_per_pass: 1,
            step_bytes: 1,
            pass_bytes: 0,
            part_step: 1,
            once: false,
            flushes: false,
            threads: 1,
            least_operations: 1,
            most_operations: u64::MAX,
        }
    }
}

/// Files that each worker has at least, and those that a trial on a tree has at least.
const FILES_A_WORKER: u64 = 4;
const FEWEST_FILES: u64 = 32;
/// Calls that a trial has at least where each uses up what it works on.
const FEWEST_CALLS: u64 = 100;

impl Work {
    /// The work of one cell of a plan.
    pub fn of(plan: &Plan, cell: &Cell) -> Work {
        let instance = cell.instance.and_then(|i| plan.instances.get(i));
        let bytes = instance.map(|i| own_bytes(i, cell));
        let files = instance.and_then(|i| i.tree.as_ref()).map(|tree| tree.files().max(1));
        let step_bytes = match (plan.copies, cell.levels.number(Factor::Block)) {
            (true, None) => CHUNK_BYTES,
            _ => step_bytes(cell, plan.page_bytes),
        };
        let command = cell.levels.get(Factor::Contender).is_some();
        // After a mount the first files pay for what all of them share: no part stands for the
        // whole tree; and one flush at the end costs what it costs however few files it is for.
        let ends_in_sync = files.is_some() && cell.levels.word() == Some(Sync::End);
        let remounts = cell.levels.word() == Some(CacheState::Remount);
        // Nor has a recorded program a part, and it leaves other files than it found.
        let recorded = instance
            .and_then(|i| i.tree.as_ref())
            .is_some_and(|tree| matches!(tree, TreeOrder::Recorded(_)));
        let files = files.filter(|_| !command && !remounts && !ends_in_sync && !recorded);
        // A call on a scratch file is no pass over it, and neither has a part. A touch is one call
        // on each file of a tree; the whole is all of them.
        let in_file = match (bytes, cell.levels.get(Factor::Operation)) {
            // A command cannot be told to do a part.
            _ if command || recorded => 1,
            (Some(bytes), None) => bytes.div_ceil(step_bytes).max(1),
            _ if is_touch(cell) => touches(cell),
            _ => 1,
        };
        let threads = cell.levels.number(Factor::Threads).unwrap_or(1).max(1);
        let least = match files {
            Some(files) => (FILES_A_WORKER * threads).max(FEWEST_FILES).min(files),
            None if uses_up(cell) => FEWEST_CALLS,
            None => past_the_limit(cell, bytes, step_bytes).min(in_file),
        };
        let large = bytes.is_some_and(|bytes| bytes > SMALL_BYTES);
        let over_file = files.is_none() && in_file > 1 && !is_touch(cell);
        Work {
            operations_per_pass: files.unwrap_or(in_file),
            step_bytes,
            pass_bytes: bytes.filter(|_| over_file).unwrap_or(0),
            part_step: if files.is_some() { 1 } else { step_bytes },
            once: cell.starts_cold()
                || ends_in_sync
                || is_touch(cell)
                || recorded
                || cell.writes()
                || (plan.copies && (large || command))
                || (command && cell.levels.word() == Some(FileOperation::Copy)),
            flushes: cell.writes() && !cell.syncs_each_operation(),
            threads,
            least_operations: least,
            most_operations: u64::MAX,
        }
    }
}

/// Operations that use up a memory limit that does not hold the file, and a quarter more: a trial that
/// ends before the limit is reached says nothing about it.
fn past_the_limit(cell: &Cell, bytes: Option<u64>, step_bytes: u64) -> u64 {
    let limit = cell.levels.get(Factor::Memory).zip(bytes);
    let limit = limit.and_then(|(level, bytes)| {
        memory_limit_bytes(level, bytes).filter(|limit| !is_held_warm(bytes, *limit))
    });
    limit.map_or(1, |limit| (limit + limit / 4).div_ceil(step_bytes)).max(1)
}

/// Whether a trial has the first or second touch of each file: it cannot be repeated.
pub(super) fn is_touch(cell: &Cell) -> bool {
    cell.levels.word().is_some_and(Touch::uses_up)
}

/// Whether each call uses up what it works on: then no repeats can be asked for.
fn uses_up(cell: &Cell) -> bool {
    cell.levels.word() == Some(Touch::Steady) && cell.levels.get(Factor::Repeats).is_none()
}

/// Calls of a touch on all files.
fn touches(cell: &Cell) -> u64 {
    let repeats = match cell.levels.word::<Touch>() {
        Some(Touch::Whole) => cell.levels.number(Factor::Repeats).unwrap_or(1).max(1),
        _ => 1,
    };
    cell.levels.number(Factor::Files).unwrap_or(1).max(1).saturating_mul(repeats)
}

/// Nanoseconds per unit of work, where the sample counts: for a cell whose job is one call, the call
/// (a read of 4 KiB and an lseek are rungs of one ladder); else the byte.
pub(super) fn unit_ns(cell: &Cell, sample: &Sample) -> Option<f64> {
    let measured = &sample.measurement;
    match cell.levels.get(Factor::Operation) {
        Some(_) if sample.counts() && measured.operations > 0 => {
            Some(measured.wall_ns as f64 / measured.operations as f64)
        }
        Some(_) => None,
        None => sample.unit_ns(),
    }
}

/// What one rank has of the file: of a person's that ranks share a part, of any other all.
fn own_bytes(instance: &Instance, cell: &Cell) -> u64 {
    let parts = is_shared(&cell.levels) && instance.path.is_some();
    let ranks = cell.levels.number(Factor::Ranks).filter(|_| parts);
    instance.bytes.div_ceil(ranks.unwrap_or(1).max(1))
}

/// Bytes of one operation of a cell that works on a file.
fn step_bytes(cell: &Cell, page_bytes: u64) -> u64 {
    let sequential =
        cell.levels.word().is_none_or(|pattern: Pattern| pattern == Pattern::Sequential);
    let without_block = match sequential {
        true => WINDOW_BYTES,
        false => page_bytes,
    };
    cell.levels.number(Factor::Block).unwrap_or(without_block).max(1)
}

/// Whether the cell's data lie in the page cache, in a place that can change a figure. A cold trial
/// takes new pages each time.
pub(super) fn lies_in_cache(cell: &Cell) -> bool {
    let cached = cell.levels.word().is_some_and(|state: CacheState| !state.is_cold());
    cell.instance.is_some() && cached
}

/// Whether the cell works on what lies somewhere in memory that matters and can be drawn anew: a file
/// that it reads from the page cache in a state that was made; or a tree that calls are made on, where
/// others that it is compared with have a tree of their own.
pub(super) fn is_renewed(plan: &Plan, cell: &Cell) -> bool {
    let Some(instance) = cell.instance else { return false };
    let planted = plan.instances.get(instance).is_some_and(|i| i.files.is_some());
    let own = plan.conditions.get(cell.condition).is_some_and(|c| c.own_instances);
    cell.levels.word() == Some(CacheState::Warm) || (planted && own)
}

#[cfg(test)]
mod tests {
    use super::{Work, step_bytes, unit_ns};
    use iolab_model::catalog::{AxisWord, CacheState, Factor, Level, Levels};
    use iolab_model::plan::Cell;
    use iolab_model::result::{Measurement, Phase, Sample};
    use iolab_test::virtual_machine::{PlanShape, plan};

    fn cell(levels: Levels) -> Cell {
        Cell { id: "x".into(), levels, condition: 0, instance: Some(0), skip: None }
    }

    #[test]
    fn calls_are_compared_by_the_call_and_passes_by_the_byte() {
        let (wall_ns, bytes, operations) = (8_000, 4_000, 10);
        let measurement = Measurement { wall_ns, bytes, operations, ..Measurement::default() };
        let (round, position, epoch, phase) = (3, 0, 0, Phase::Steady);
        let sample = Sample { round, position, phase, epoch, measurement, fault: None };
        let call = cell(Levels::new().with(Factor::Operation, Level::word("pread")));
        assert_eq!(unit_ns(&call, &sample), Some(800.0));
        assert_eq!(unit_ns(&cell(Levels::new()), &sample), Some(2.0));
    }

    #[test]
    fn a_pass_is_so_many_blocks_windows_or_pages_and_a_call_is_one() {
        let plan = plan(&PlanShape { file_bytes: (5 << 20) + 1, ..PlanShape::new(1, 1) });
        let operations = |levels: Levels| Work::of(&plan, &cell(levels)).operations_per_pass;
        assert_eq!(operations(Levels::new().with(Factor::Block, Level::Number(1 << 20))), 6);
        assert_eq!(operations(Levels::new()), 6);
        let random = Levels::new().with(Factor::Pattern, Level::word("random"));
        assert_eq!(step_bytes(&cell(random.clone()), 16384), 16384);
        assert!(operations(random) > 6);
        assert_eq!(operations(Levels::new().with(Factor::Operation, Level::word("read"))), 1);
    }

    #[test]
    fn a_trial_under_a_memory_limit_goes_beyond_it() {
        let plan = plan(&PlanShape { file_bytes: 2 << 30, ..PlanShape::new(1, 1) });
        let least = |memory: Level, cache: CacheState| {
            let levels = Levels::new()
                .with(Factor::Block, Level::Number(1 << 20))
                .with(Factor::Memory, memory)
                .with(Factor::Cache, cache.level());
            Work::of(&plan, &cell(levels)).least_operations
        };
        assert_eq!(least(Level::Number(512 << 20), CacheState::Cold), 640);
        assert_eq!(least(Level::word("4x"), CacheState::Cold), 640);
        assert_eq!(
            least(Level::Number(1900 << 20), CacheState::Any),
            2048,
            "never more than a pass"
        );
        assert_eq!(least(Level::Number(8 << 30), CacheState::Cold), 1, "the limit holds it");
    }
}
