//! What proves the protocol: a machine of our own making with a clock of its own, plans for it, and
//! the drive with one choice broken. Nothing of the program uses it.

mod machine;
mod noise;
mod plans;

pub use machine::VirtualMachine;
pub use noise::{Noise, normal};
pub use plans::{PlanShape, plan};
