//! The other process: the same binary, single-threaded, that touches the files and tells what can
//! be had where it runs. The controller's end is a [`Location`], which starts it, and the
//! [`Transport`] to it; the agent's is `serve`.

mod agent_state;
mod asked;
mod bind;
pub mod catalog;
mod content;
mod copy_up;
mod counted;
mod crew;
mod entry;
mod expected_digests;
mod frame;
mod guest;
mod guest_location;
mod host_location;
mod hosts_line;
mod hosts_location;
mod hosts_merge;
mod inspect;
mod instance;
mod kept;
mod limited;
mod location;
mod look;
mod messages;
mod place_needs;
mod places;
mod planted;
mod rank;
mod ranks_facts;
mod ranks_latency;
mod ranks_location;
mod ranks_merge;
mod ranks_proof;
mod recorded;
mod renewal;
mod serve;
mod shared_files;
mod space_watch;
mod survey;
mod transport;
mod tree_instance;
mod tree_proof;
mod trial;
mod virtual_machine;
mod work_directory;

pub use content::Content;
pub use entry::serve;
pub use frame::{read_frame, write_frame};
pub use guest_location::Guest;
pub use host_location::Host;
pub use hosts_location::Hosts;
pub use location::{Here, Location, Started, SurveyError, unexpected_reply};
pub use messages::{
    Beacon, InspectOrder, Inspection, InstanceOrder, LookOrder, Objection, PlaceTerms, Reply,
    Request, Sight, Subject, SurveyOrder, TrialRequest,
};
pub use place_needs::named as places_named;
pub use ranks_location::{Ranks, is_controller};
pub use serve::serve_streams;
pub use transport::{LocalChild, Transport};
pub use tree_instance::MOST_LOOKED_AT;
pub use virtual_machine::VirtualMachine;

pub use iolab_io::host::{Probe, Work as WorkAhead};
pub use iolab_io::workload::Extent;
