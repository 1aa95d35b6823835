//! What outlives a run: the history on disk, and files of other machines and tools.

pub mod history; // the runs made here
pub mod import; //  files of other machines and other tools, as documents
