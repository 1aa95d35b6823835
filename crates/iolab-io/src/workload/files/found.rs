//! What was found in a tree of the person's, and what of it is left out.

use std::ffi::CStr;

use crate::sys::name::until_nul;
use iolab_model::catalog::count_text;

/// What was found in a tree. Names lie in one block of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub(super) names: Vec<u8>,
    pub(super) directories: Vec<FoundDirectory>,
    pub(super) files: Vec<FoundFile>,
    /// What was found and is left out.
    pub left_out: LeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundDirectory {
    pub(super) parent: u32,
    pub(super) name: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) name: u64,
    pub(super) size: u64,
    pub(super) directory: u32,
}

/// What a tree holds beside files that can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Symbolic links: not followed.
    pub links: u64,
    /// FIFOs.
    pub fifos: u64,
    /// Sockets.
    pub sockets: u64,
    /// Devices.
    pub devices: u64,
    /// Files and directories that may not be read.
    pub unreadable: u64,
    /// Directories on which another file system is mounted.
    pub mounts: u64,
    /// Of the files that are read, names that share their bytes with another name.
    pub hard_links: u64,
}

impl LeftOut {
    pub(super) fn add(&mut self, more: &LeftOut) {
        self.links += more.links;
        self.fifos += more.fifos;
        self.sockets += more.sockets;
        self.devices += more.devices;
        self.unreadable += more.unreadable;
        self.mounts += more.mounts;
        self.hard_links += more.hard_links;
    }

    /// In words; nothing where nothing is left out.
    pub fn words(&self) -> Option<String> {
        let all = [
            (self.links, "symbolic links"),
            (self.fifos, "FIFOs"),
            (self.sockets, "sockets"),
            (self.devices, "devices"),
            (self.unreadable, "that may not be read"),
            (self.mounts, "other file systems"),
        ];
        let some = all.iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> =
            some.map(|(count, what)| format!("{} {what}", count_text(*count))).collect();
        if !words.is_empty() {
            words = vec![format!("left out: {}", words.join(", "))];
        }
        if self.hard_links > 0 {
            let count = count_text(self.hard_links);
            words.push(format!("{count} files have several names, each of which is visited"));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

impl Found {
    /// The name that lies at this place.
    #[inline(always)]
    pub(super) fn name(&self, at: u64) -> &CStr {
        let rest = self.names.get(at as usize..).unwrap_or_default();
        until_nul(rest).unwrap_or(c"")
    }
}
