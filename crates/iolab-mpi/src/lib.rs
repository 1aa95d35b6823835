//! The ranks of an MPI job. Each is a process of MPI that measures nothing: a relay between the one
//! controller and an agent of its own, which is its child. So no MPI library lives in a process that
//! forks, and what measures is the same program as on one machine.
//!
//! Between the ranks there are collectives and nothing else ([`Group`]); `main.rs` has them by MPI,
//! the tests by threads.

mod agent;
mod group;
pub mod launcher;
pub mod line;
mod patience;
mod relay;
#[cfg(test)]
mod tests;
pub mod wire;

pub use agent::AgentChild;
pub use group::{Group, Lost};
pub use line::StartLine;
pub use patience::Patience;
pub use relay::{Controller, Relay};
