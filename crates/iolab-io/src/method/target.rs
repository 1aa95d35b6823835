//! What is written to, and until when it is timed.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::fill::Pool;
use super::partition::{Layout, Stop};
use super::sync::open_flags;
use iolab_model::catalog::{Sync, Target, Until};

/// A file to write and how. It exists already.
#[derive(Debug)]
pub struct WriteJob<'a> {
    /// The file; opened by every thread of its own.
    pub path: &'a Path,
    /// What is written by whom.
    pub layout: Layout,
    /// The bytes.
    pub pool: &'a Pool,
    /// When data are made durable.
    pub sync: Sync,
    /// What the file is.
    pub target: Target,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Requests under way at a time, where the method can have more than one.
    pub depth: u32,
    /// Whether each block is timed by itself.
    pub latency: bool,
    /// The file's size when all is written.
    pub end_bytes: u64,
    /// Until when it is timed.
    pub until: Until,
}

impl WriteJob<'_> {
    /// Opens the file as this job writes it.
    pub fn open(&self, access: OFlags) -> Result<OwnedFd, Stop> {
        let append = if self.target == Target::Append { OFlags::APPEND } else { OFlags::empty() };
        let direct = if self.direct { OFlags::DIRECT } else { OFlags::empty() };
        let flags = access | append | direct | open_flags(self.sync);
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::open(self.path, flags, Mode::empty());
        match opened {
            Err(Errno::INVAL) if self.direct => {
                let cause = "O_DIRECT is refused by this file system; leave out --direct on, or \
                             name a directory on a disk";
                Err(Stop { cause: cause.into(), errno: Some(Errno::INVAL.raw_os_error()) })
            }
            opened => Ok(opened?),
        }
    }
}
