//! A file system that does what disks and networks do on their bad days, each at a word: short reads
//! and writes, interruptions, errors at a byte, wrong data, a size that changes, a hang. It counts every
//! byte that it is asked for and given, so that whoever claims to have moved some can be held to it.

mod nodes;
mod serve;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fuser::{BackgroundSession, Config};

use nodes::Nodes;
use serve::{Held, Server};

/// What goes wrong with the bytes of files, from when it is set on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataFault {
    /// Nothing.
    #[default]
    None,
    /// A read gives at most so many bytes.
    ShortReads(usize),
    /// A write takes at most so many bytes.
    ShortWrites(usize),
    /// Every third read or write ends with `EINTR` before it has begun.
    Interrupted,
    /// A read of this byte of a file fails with this errno.
    ReadError {
        /// Why.
        errno: i32,
        /// Where.
        at: u64,
    },
    /// The same of a write.
    WriteError {
        /// Why.
        errno: i32,
        /// Where.
        at: u64,
    },
    /// Data cannot be made durable.
    SyncError(i32),
    /// Each read and write takes a millisecond.
    Slow,
    /// One bit of this byte is another one when it is read, of the first file that is read there.
    WrongRead(u64),
    /// One bit of this byte is another one when it is written.
    WrongWrite(u64),
    /// Files end before this byte from now on.
    Ends(u64),
    /// The first read or write waits until [`Control::release`].
    Hangs,
}

/// Bytes of files that went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Given to readers.
    pub read_bytes: u64,
    /// Taken from writers.
    pub written_bytes: u64,
}

/// What the file system and whoever controls it share.
#[derive(Debug, Default)]
struct State {
    nodes: Nodes,
    fault: DataFault,
    /// Reads and writes since the fault was set.
    calls: u64,
    counted: Counted,
    held: Vec<Held>,
    /// The file whose bytes are read wrongly.
    wrong_in: Option<u64>,
    cached: bool,
}

/// Says what goes wrong, and tells what was counted.
#[derive(Clone, Debug)]
pub struct Control(Arc<Mutex<State>>);

impl Control {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an answer is made from; nothing while the file system hangs, and the one that waits for
    /// its answer is held.
    fn awake<R>(&self, reply: R, held: fn(R) -> Held) -> Option<(MutexGuard<'_, State>, R)> {
        let mut state = self.state();
        if state.hangs() {
            state.held.push(held(reply));
            return None;
        }
        Some((state, reply))
    }

    /// From now on this goes wrong; what was counted begins anew.
    pub fn set(&self, fault: DataFault) {
        let mut state = self.state();
        (state.fault, state.calls, state.counted) = (fault, 0, Counted::default());
        state.wrong_in = None;
    }

    /// What was counted since the fault was set.
    pub fn counted(&self) -> Counted {
        self.state().counted
    }

    /// What hangs ends with `EIO`.
    pub fn release(&self) {
        self.set(DataFault::None);
        let held = std::mem::take(&mut self.state().held);
        // Not under the lock: an answer may be followed by the next request at once.
        drop(held);
    }

    /// Files and directories that are there.
    pub fn names(&self) -> Vec<String> {
        self.state().nodes.names()
    }
}

/// The file system while it is mounted; it goes with this.
#[derive(Debug)]
pub struct Mounted {
    control: Control,
    session: Option<BackgroundSession>,
}

impl Mounted {
    /// Mounts an empty one. `cached`: through the page cache, which asks for whole pages and keeps them;
    /// else every call comes here as it was made.
    ///
    /// # Errors
    /// It cannot be mounted: no /dev/fuse, no permission.
    pub fn new(directory: &Path, cached: bool) -> io::Result<Mounted> {
        let state = State { cached, ..State::default() };
        let control = Control(Arc::new(Mutex::new(state)));
        let server = Server::new(control.clone());
        let session = Some(fuser::spawn_mount(server, directory, &Config::default())?);
        Ok(Mounted { control, session })
    }

    /// Says what goes wrong.
    pub fn control(&self) -> &Control {
        &self.control
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.control.release();
        if let Some(session) = self.session.take() {
            let _ = session.umount_and_join();
        }
    }
}
