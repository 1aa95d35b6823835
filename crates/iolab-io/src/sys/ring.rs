//! An io_uring for one thread: a buffer for each request under way, buffers and files registered,
//! so that the kernel looks neither up for each request. Reads, writes, a read whose bytes the
//! next request writes, and syncs.
//!
//! The memory of a slot is the kernel's while a request on it is under way; [`Ring::slot`] gives
//! it out only in between.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, opcode, squeue, types};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Why there is no ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// The kernel lacks io_uring (ENOSYS) or it is forbidden (EPERM).
    #[error(
        "io_uring cannot be set up here: {0}; kernel.io_uring_disabled or a container's seccomp \
         filter forbids it, or the kernel lacks it"
    )]
    Setup(Errno),
    /// Memory that is registered is locked, and there is a limit to that.
    #[error(
        "{slots} buffers of {slot_bytes} bytes cannot be registered: {errno}; raise the limit of \
         locked memory (ulimit -l), or take a smaller --queue-depth or --block"
    )]
    Buffers {
        /// Buffers asked for.
        slots: u32,
        /// Bytes of each.
        slot_bytes: usize,
        /// ENOMEM where the limit is too small.
        errno: Errno,
    },
    /// The files cannot be registered.
    #[error("files cannot be registered with io_uring: {0}")]
    Files(Errno),
}

impl RingError {
    /// The errno behind it.
    pub fn errno(self) -> Errno {
        match self {
            RingError::Setup(errno) | RingError::Files(errno) => errno,
            RingError::Buffers { errno, .. } => errno,
        }
    }
}

/// Bytes of one request: a part of a slot's buffer and a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which buffer.
    pub slot: u32,
    /// First byte within the buffer.
    pub from: u32,
    /// How many bytes.
    pub bytes: u32,
    /// Which of the registered files.
    pub file: u32,
    /// Offset in the file.
    pub at: u64,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot that it worked on; nothing for a sync.
    pub slot: Option<u32>,
    /// What the caller gave with it.
    pub token: u32,
    /// Bytes moved, as read(2) and write(2) would say. `ECANCELED`: the request that it was
    /// linked to failed or was short.
    pub result: Result<u32, Errno>,
}

/// Requests that [`Ring::hand_over`] lets come together. While a whole round of them is collected
/// the device has nothing to do: of random direct reads at depth 32, four at a time took an eighth
/// less time than all at once, and no more processor time (docs/performance.md).
const TOGETHER: u32 = 4;

/// Marks a request that works on no slot.
const NO_SLOT: u32 = u32::MAX;

/// A ring with its buffers. It belongs to the thread that made it.
pub struct Ring {
    // Dropped before the memory that its requests use.
    ring: IoUring,
    memory: Memory,
    /// Requests under way, by slot.
    busy: Vec<u32>,
    files: u32,
    in_flight: u32,
    /// Requests that the kernel has not been told of.
    queued: u32,
}

// SAFETY: the memory is the ring's own and is reached through it only. Requests are submitted by
// the thread that made it: from any other the kernel refuses them (EEXIST), which is an error to
// the caller and keeps the memory for ever in `Drop`. So another thread may have it to drop it.
unsafe impl Send for Ring {}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ring({} slots, {} in flight)", self.busy.len(), self.in_flight)
    }
}

impl Ring {
    /// A ring of `slots` (> 0) buffers of `slot_bytes` (> 0) each, touched and page-aligned, on
    /// these files. The files stay open in the ring, whatever becomes of the descriptors.
    pub fn new(slots: u32, slot_bytes: usize, files: &[BorrowedFd<'_>]) -> Result<Ring, RingError> {
        // Two requests a slot (a read and the write linked to it) and a sync of each file.
        let entries = slots.saturating_mul(2).saturating_add(files.len() as u32);
        let ring = set_up(entries).map_err(|e| RingError::Setup(errno_of(&e)))?;
        let no_buffers = |errno| RingError::Buffers { slots, slot_bytes, errno };
        let memory = Memory::new(slots as usize, slot_bytes).map_err(no_buffers)?;
        let vector: Vec<libc::iovec> = (0..slots as usize)
            .map(|slot| libc::iovec { iov_base: memory.at(slot).cast(), iov_len: slot_bytes })
            .collect();
        // SAFETY: the buffers live in `memory`, which outlives the ring (see `Drop`).
        unsafe { ring.submitter().register_buffers(&vector) }
            .map_err(|e| no_buffers(errno_of(&e)))?;
        let descriptors: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
        if !descriptors.is_empty() {
            let registered = ring.submitter().register_files(&descriptors);
            registered.map_err(|e| RingError::Files(errno_of(&e)))?;
        }
        let busy = vec![0; slots as usize];
        Ok(Ring { ring, memory, busy, files: files.len() as u32, in_flight: 0, queued: 0 })
    }

    /// Puts these files into the places of those that were registered, as many as there were. No
    /// request may be under way (EBUSY).
    pub fn set_files(&mut self, files: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        if self.in_flight > 0 {
            return Err(Errno::BUSY);
        }
        if files.len() != self.files as usize {
            return Err(Errno::INVAL);
        }
        let mut descriptors = [-1; 8];
        let Some(places) = descriptors.get_mut(..files.len()) else { return Err(Errno::INVAL) };
        places.iter_mut().zip(files).for_each(|(place, file)| *place = file.as_raw_fd());
        let updated = self.ring.submitter().register_files_update(0, places);
        updated.map(drop).map_err(|e| errno_of(&e))
    }

    /// Buffers.
    pub fn slots(&self) -> u32 {
        self.busy.len() as u32
    }

    /// Requests that have not been taken by [`Ring::take`].
    #[inline(always)]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The buffer of a slot. Panics where a request on it is under way: that is a defect of the
    /// caller, and reading it would be a race with the kernel.
    #[inline(always)]
    pub fn slot(&self, slot: u32) -> &[u8] {
        assert!(self.busy[slot as usize] == 0, "slot {slot} belongs to the kernel");
        // SAFETY: the slot lies in `memory` (the index was checked), all of it was written when
        // it was made, and no request on it is under way.
        unsafe { std::slice::from_raw_parts(self.memory.at(slot as usize), self.memory.slot_bytes) }
    }

    /// The same, to be filled.
    #[inline(always)]
    pub fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        assert!(self.busy[slot as usize] == 0, "slot {slot} belongs to the kernel");
        let bytes = self.memory.slot_bytes;
        // SAFETY: as in `slot`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.at(slot as usize), bytes) }
    }

    /// Queues a read into a slot; [`Ring::submit`] hands it to the kernel.
    #[inline(always)]
    pub fn read(&mut self, piece: Piece, token: u32) -> Result<(), Errno> {
        let entry = self.read_entry(piece)?;
        self.push(&entry, piece.slot, token)
    }

    /// Queues a write out of a slot.
    #[inline(always)]
    pub fn write(&mut self, piece: Piece, token: u32) -> Result<(), Errno> {
        let entry = self.write_entry(piece)?;
        self.push(&entry, piece.slot, token)
    }

    /// Queues a read and a write of the same slot that begins when the read has ended. A read that
    /// fails or is short cancels the write (`IOSQE_IO_LINK`). Both tell of their end.
    pub fn read_then_write(
        &mut self,
        (read, read_token): (Piece, u32),
        (write, write_token): (Piece, u32),
    ) -> Result<(), Errno> {
        if read.slot != write.slot {
            return Err(Errno::INVAL);
        }
        let (first, second) = (self.read_entry(read)?, self.write_entry(write)?);
        self.push(&first.flags(squeue::Flags::IO_LINK), read.slot, read_token)?;
        self.push(&second, write.slot, write_token)
    }

    /// Queues an fsync of a file, or an fdatasync. It does not wait for requests before it.
    pub fn sync(&mut self, file: u32, data_only: bool, token: u32) -> Result<(), Errno> {
        if file >= self.files {
            return Err(Errno::BADF);
        }
        let flags =
            if data_only { types::FsyncFlags::DATASYNC } else { types::FsyncFlags::empty() };
        let entry = opcode::Fsync::new(types::Fixed(file)).flags(flags).build();
        self.push(&entry, NO_SLOT, token)
    }

    #[inline(always)]
    fn read_entry(&self, piece: Piece) -> Result<squeue::Entry, Errno> {
        let (file, at) = (types::Fixed(piece.file), self.checked(piece)?);
        let index = piece.slot as u16;
        Ok(opcode::ReadFixed::new(file, at, piece.bytes, index).offset(piece.at).build())
    }

    #[inline(always)]
    fn write_entry(&self, piece: Piece) -> Result<squeue::Entry, Errno> {
        let (file, at) = (types::Fixed(piece.file), self.checked(piece)?);
        let index = piece.slot as u16;
        Ok(opcode::WriteFixed::new(file, at, piece.bytes, index).offset(piece.at).build())
    }

    /// The memory of a piece that lies within its slot, on a file that was registered.
    #[inline(always)]
    fn checked(&self, piece: Piece) -> Result<*mut u8, Errno> {
        let end = u64::from(piece.from) + u64::from(piece.bytes);
        let fits = piece.slot < self.slots() && end <= self.memory.slot_bytes as u64;
        match fits && piece.file < self.files {
            // SAFETY: slot and range were just checked to lie within the memory.
            true => Ok(unsafe { self.memory.at(piece.slot as usize).add(piece.from as usize) }),
            false => Err(Errno::INVAL),
        }
    }

    #[inline(always)]
    fn push(&mut self, entry: &squeue::Entry, slot: u32, token: u32) -> Result<(), Errno> {
        let entry = entry.clone().user_data(u64::from(token) << 32 | u64::from(slot));
        loop {
            // SAFETY: the memory that the entry names is within `memory` (see `checked`), which
            // is not given out while `busy` and lives until every request has ended (see `Drop`).
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                break;
            }
            // More than two requests a slot: the kernel takes some before there is room.
            self.submit(0)?;
        }
        if let Some(busy) = self.busy.get_mut(slot as usize) {
            *busy += 1;
        }
        self.in_flight += 1;
        self.queued += 1;
        Ok(())
    }

    /// Hands what is queued to the kernel where that is a handful; to be called between requests,
    /// never between two that are linked.
    #[inline(always)]
    pub fn hand_over(&mut self) -> Result<(), Errno> {
        match self.queued >= TOGETHER && self.slots() > TOGETHER {
            true => self.submit(0),
            false => Ok(()),
        }
    }

    /// Hands what is queued to the kernel and waits until `wait` requests have ended, those that
    /// ended before included.
    #[inline(always)]
    pub fn submit(&mut self, wait: u32) -> Result<(), Errno> {
        self.queued = 0;
        loop {
            match self.ring.submit_and_wait(wait as usize) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(errno_of(&error)),
            }
        }
    }

    /// A request that has ended; nothing where none has.
    #[inline(always)]
    pub fn take(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let (slot, token) = (entry.user_data() as u32, (entry.user_data() >> 32) as u32);
        if let Some(busy) = self.busy.get_mut(slot as usize) {
            *busy -= 1;
        }
        self.in_flight -= 1;
        let result = match entry.result() {
            bytes if bytes >= 0 => Ok(bytes as u32),
            error => Err(Errno::from_raw_os_error(-error)),
        };
        Some(Completion { slot: (slot != NO_SLOT).then_some(slot), token, result })
    }
}

impl Drop for Ring {
    /// The kernel may still write into the slots: they are given back when every request has ended.
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit(1).is_err() {
                // What cannot be waited for must not be written into memory of others.
                self.memory.keep();
                return;
            }
            while self.take().is_some() {}
        }
        // The kernel takes a ring apart when it likes: until then its files would hold the space
        // of what was unlinked.
        if self.files > 0 {
            let _ = self.ring.submitter().unregister_files();
        }
    }
}

/// The newest way that this kernel knows: completions are worked off by the one thread that asks
/// for them (DEFER_TASKRUN, 6.1), which is the only one that submits (SINGLE_ISSUER, 6.0).
pub(super) fn set_up(entries: u32) -> io::Result<IoUring> {
    let mut newest = IoUring::builder();
    newest.setup_single_issuer().setup_defer_taskrun();
    let mut newer = IoUring::builder();
    newer.setup_single_issuer();
    let unknown = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
    match newest.build(entries) {
        Err(error) if unknown(&error) => match newer.build(entries) {
            Err(error) if unknown(&error) => IoUring::new(entries),
            other => other,
        },
        other => other,
    }
}

pub(super) fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// The slots' memory: a mapping of its own, each slot on a page of its own, every page written once.
struct Memory {
    start: *mut u8,
    all_bytes: usize,
    stride_bytes: usize,
    slot_bytes: usize,
}

impl Memory {
    fn new(slots: usize, slot_bytes: usize) -> Result<Memory, Errno> {
        let page_bytes = crate::sys::page::page_bytes() as usize;
        let stride_bytes = slot_bytes.checked_next_multiple_of(page_bytes).ok_or(Errno::NOMEM)?;
        let all_bytes = stride_bytes.checked_mul(slots).ok_or(Errno::NOMEM)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice; no memory in use changes.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), all_bytes, protection, MapFlags::PRIVATE)?
        };
        // SAFETY: the mapping is `all_bytes` long and writable, and nobody else knows of it.
        unsafe { std::ptr::write_bytes(start.cast::<u8>(), 0xa5, all_bytes) };
        Ok(Memory { start: start.cast(), all_bytes, stride_bytes, slot_bytes })
    }

    /// Where a slot begins; `slot` must be one of them.
    #[inline(always)]
    fn at(&self, slot: usize) -> *mut u8 {
        self.start.wrapping_add(slot * self.stride_bytes)
    }

    /// Never gives it back.
    fn keep(&mut self) {
        self.all_bytes = 0;
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.all_bytes > 0 {
            // SAFETY: exactly what `new` has mapped; the ring, its only user, is gone.
            let _ = unsafe { munmap(self.start.cast(), self.all_bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use super::{Piece, Ring, RingError};
    use crate::sys::testing::{among_mounts, forbid, skip};
    use rustix::io::Errno;

    fn ring(test: &str, slots: u32, slot_bytes: usize, files: &[&File]) -> Option<Ring> {
        let files: Vec<_> = files.iter().map(|f| f.as_fd()).collect();
        match Ring::new(slots, slot_bytes, &files) {
            Ok(ring) => Some(ring),
            Err(RingError::Setup(errno)) => {
                skip(test, &format!("no io_uring: {errno}"));
                None
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn reads_end_in_their_slots_with_their_tokens() {
        let file = tempfile::tempfile().unwrap();
        let text: Vec<u8> = (0..20_000_u32).map(|i| (i / 7) as u8).collect();
        file.write_all_at(&text, 0).unwrap();
        let test = "reads_end_in_their_slots_with_their_tokens";
        let Some(mut ring) = ring(test, 4, 4096, &[&file]) else { return };
        for slot in 0..4 {
            let at = u64::from(slot) * 4096;
            ring.read(Piece { slot, from: 0, bytes: 4096, file: 0, at }, 70 + slot).unwrap();
        }
        ring.submit(4).unwrap();
        let mut seen = 0;
        while let Some(done) = ring.take() {
            let slot = done.slot.unwrap();
            assert_eq!((done.token, done.result), (70 + slot, Ok(4096)));
            assert_eq!(ring.slot(slot), &text[slot as usize * 4096..][..4096]);
            seen += 1;
        }
        assert_eq!((seen, ring.in_flight()), (4, 0));
        let past = Piece { slot: 0, from: 8, bytes: 100, file: 0, at: 19_990 };
        ring.read(past, 1).unwrap();
        ring.submit(1).unwrap();
        assert_eq!(ring.take().unwrap().result, Ok(10), "the end of the file is a short read");
        assert_eq!(ring.slot(0)[8..18], text[19_990..]);
    }

    #[test]
    fn a_linked_pair_copies_and_a_short_read_cancels_its_write() {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        from.write_all_at(&[7; 5000], 0).unwrap();
        let test = "a_linked_pair_copies_and_a_short_read_cancels_its_write";
        let Some(mut ring) = ring(test, 2, 4096, &[&from, &to]) else { return };
        let pair = |at| {
            let piece = |file| Piece { slot: 1, from: 0, bytes: 4096, file, at };
            ((piece(0), 1), (piece(1), 2))
        };
        let mut run = |at| {
            let (read, write) = pair(at);
            ring.read_then_write(read, write).unwrap();
            ring.submit(2).unwrap();
            let mut both = [ring.take().unwrap(), ring.take().unwrap()];
            both.sort_by_key(|done| done.token);
            both.map(|done| done.result)
        };
        assert_eq!(run(0), [Ok(4096), Ok(4096)]);
        assert_eq!(run(4096), [Ok(904), Err(Errno::CANCELED)]);
        assert_eq!(to.metadata().unwrap().len(), 4096);
        ring.sync(1, true, 9).unwrap();
        ring.submit(1).unwrap();
        let synced = ring.take().unwrap();
        assert_eq!((synced.slot, synced.token, synced.result), (None, 9, Ok(0)));
    }

    #[test]
    fn what_lies_outside_of_a_slot_is_refused_and_a_busy_slot_is_not_given_out() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let test = "what_lies_outside_of_a_slot_is_refused_and_a_busy_slot_is_not_given_out";
        let Some(mut ring) = ring(test, 2, 100, &[&file]) else { return };
        let whole = Piece { slot: 1, from: 0, bytes: 100, file: 0, at: 0 };
        for bad in [
            Piece { slot: 2, ..whole },
            Piece { from: 1, ..whole },
            Piece { from: u32::MAX, bytes: u32::MAX, ..whole },
            Piece { file: 1, ..whole },
        ] {
            assert_eq!(ring.read(bad, 0), Err(Errno::INVAL), "{bad:?}");
            assert_eq!(ring.write(bad, 0), Err(Errno::INVAL), "{bad:?}");
        }
        assert_eq!(ring.sync(1, false, 0), Err(Errno::BADF));
        ring.read(whole, 0).unwrap();
        assert_eq!(ring.slot(0).len(), 100);
        let busy = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ring.slot(1).len()));
        assert!(busy.is_err());
        // Dropped with a request that was never submitted: it is, and waited for.
    }

    #[test]
    fn a_ring_that_is_forbidden_says_who_forbids_it() {
        for errno in [Errno::PERM, Errno::NOSYS] {
            let tried = std::thread::spawn(move || {
                let forbidden = forbid(libc::SYS_io_uring_setup, errno.raw_os_error());
                forbidden.then(|| Ring::new(1, 4096, &[]).unwrap_err())
            });
            match tried.join().unwrap() {
                Some(error) => {
                    assert_eq!(error, RingError::Setup(errno));
                    assert!(error.to_string().contains("kernel.io_uring_disabled"), "{error}");
                }
                None => skip("a_ring_that_is_forbidden_says_who_forbids_it", "no seccomp"),
            }
        }
    }

    #[test]
    fn memory_that_may_not_be_locked_is_named() {
        let test = "sys::ring::tests::memory_that_may_not_be_locked_is_named";
        let script = format!("ulimit -l 64\n{}", crate::sys::testing::GO_ON_AS_NOBODY);
        if among_mounts(test, &script).is_none() {
            return;
        }
        match Ring::new(8, 1 << 20, &[]) {
            Err(error @ RingError::Buffers { .. }) => {
                assert_eq!(error.errno(), Errno::NOMEM);
                assert!(error.to_string().contains("ulimit -l"), "{error}");
            }
            Err(RingError::Setup(errno)) => skip(test, &format!("no io_uring: {errno}")),
            other => panic!("{other:?}"),
        }
    }
}
