//! iolab: a laboratory for file I/O on Linux.
//!
//! Data flows one way:
//! arguments → [`spec`] → [`plan`] → [`run`] (rounds ⇄ [`agent`]) → samples → [`stats`] → answer → [`report`],
//! with [`record`] listening to the events of a run. `ARCHITECTURE.md` is the map of these rooms.

pub mod agent; //    the other process: protocol, transports, the forked trial
pub mod cache; //    reach a cache state and prove it
pub mod catalog; //  how a part describes itself: factors, levels, methods, codes
pub mod cli;
pub mod host; //     facts of the machine, probes, hazards
pub mod import; //   files of other machines and other tools, as documents
pub mod method; //   how it is done: one file each
pub mod metric; //   what is counted beside time: one row each
pub mod place; //    where the files are: made, read back, torn down
pub mod plan; //     factors × levels → cells → seeded rounds; what it will cost
pub mod record; //   the history on disk
pub mod report; //   what people and programs read
pub mod result; //   a run as data: samples, estimates, answers; the format iolab.run/1
pub mod run; //      drives a plan round by round; stops, eliminates, emits events
pub mod spec; //     an experiment as written: units, ranges, validation
pub mod stats; //    samples → intervals, comparisons, answers, grades
pub mod study; //    published results: figures, claims, and how a claim is judged
pub mod sys; //      system calls; the only room with unsafe code
pub mod tool; //     the small tools around a measurement: make, checksum, compare
pub mod tree; //     many files as a description: names, sizes, contents
pub mod workload; // what is done: one file each //      one file a subcommand: arguments in, exit code out
