//! What is asked, planned and found, as data. Pure: nothing here touches a machine.
//!
//! arguments or TOML → [`spec`] → [`plan`] → … → [`result`]; [`catalog`] is the vocabulary that
//! every room speaks, [`tree`] describes many files.

pub mod catalog; // how a part describes itself: factors, levels, methods, codes
pub mod plan; //    factors × levels → cells → instances; what it will cost
pub mod result; //  a run as data: samples, estimates, answers; the format iolab.run/1
pub mod spec; //    an experiment as written: units, ranges, validation
pub mod tree; //    many files as a description: names, sizes, contents
