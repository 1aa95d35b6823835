//! The other process: the same binary, single-threaded, that does the I/O and nothing else.
//! The controller's end is a [`Transport`]; the agent's is [`serve`].

mod content;
mod copy_up;
mod expected_digests;
mod frame;
mod guest;
mod instance;
mod limited;
mod messages;
mod places;
mod refuse;
mod serve;
mod transport;
mod tree_instance;
mod trial;
mod virtual_machine;

pub use content::Content;
pub use frame::{read_frame, write_frame};
pub use messages::{InstanceOrder, PlaceTerms, Reply, Request, TrialRequest};
pub use serve::{serve, serve_streams};
pub use transport::{LocalChild, Transport};
pub use virtual_machine::VirtualMachine;

pub use iolab_io::workload::Extent;
