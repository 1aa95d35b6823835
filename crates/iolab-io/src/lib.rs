//! The machine: what is measured, how, where, and in which state of the cache.

/// One field of each item of a constant list, in its order, as a constant: `each_of!(ALL.part)`.
macro_rules! each_of {
    ($all:ident . $field:ident) => {{
        let mut fields = [$all[0].$field; $all.len()];
        let mut at = 0;
        while at < $all.len() {
            fields[at] = $all[at].$field;
            at += 1;
        }
        fields
    }};
}

pub mod cache; //    reach a cache state and prove it
pub mod host; //     facts of the machine, probes, hazards
pub mod method; //   how it is done: one file each
pub mod metric; //   what is counted beside time: one row each
pub mod place; //    where the files are: made, read back, torn down
pub mod sys; //      system calls; the only room with unsafe code
pub mod tool; //     the small tools around a measurement: make, checksum, compare
pub mod workload; // what is done: one file each
