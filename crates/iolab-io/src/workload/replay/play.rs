//! The loop over the steps of one thread. Everything in it is timed: nothing is allocated, formatted
//! or looked up but a place in an array.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use super::scene::LEADS_TO;
use super::walk::Walk;
use crate::sys::call_ring::CallRing;
use crate::sys::clock::{self, now_ns};
use crate::sys::new_memory::NewMemory;
use crate::sys::prefetch::prefetch;
use crate::sys::raw_call::{self as raw, MapOrder, RawMapping};
use crate::sys::raw_control as control;
use crate::sys::raw_name;
use iolab_trace::NONE;
use iolab_trace::replay::{Action, Program, Step};

/// What all threads of a replay share.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    pub(super) program: &'a Program,
    /// The directory of all copies.
    pub(super) root: BorrowedFd<'a>,
    /// Open files, by their slots.
    pub(super) slots: &'a [AtomicI32],
    pub(super) events: &'a [AtomicU32],
    /// What is written.
    pub(super) content: &'a [u8],
    /// Where in a page its buffers begin, where the trace does not say it.
    pub(super) into_page_bytes: usize,
    /// This user and group.
    pub(super) owner: (u32, u32),
    pub(super) page_bytes: usize,
}

/// What one thread has for itself.
#[derive(Debug)]
pub(super) struct Own<'a> {
    pub(super) buffer: &'a mut [u8],
    /// For reads that brought new memory into use.
    pub(super) new_memory: Option<NewMemory>,
    /// Mappings that files are read through, by slot; empty where there are none.
    pub(super) maps: Vec<RawMapping>,
    /// Mappings that the program made, with room for all of them.
    pub(super) made: Vec<RawMapping>,
    /// Where some of its calls are requests in a ring.
    pub(super) ring: Option<CallRing>,
    pub(super) tally: Tally,
}

/// So many steps ahead, one is asked of memory: what the calls move takes the steps out of the
/// processor's caches, and no pattern of reading them is left to be foreseen by it. Calls of 4 KiB took
/// 35 ns more where each waited for its step.
const AHEAD: usize = 4;

/// How its calls came back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Calls that came back otherwise than recorded.
    pub(super) otherwise: u64,
    /// The first of them, by its step, and what it came back with.
    pub(super) first: Option<(usize, i64)>,
}

impl Tally {
    #[cold]
    #[inline(never)]
    fn note(&mut self, step: usize, result: i64) {
        self.otherwise += 1;
        self.first.get_or_insert((step, result));
    }
}

impl Own<'_> {
    /// What its memory has to give back is given back while nothing is counted.
    #[inline(always)]
    fn make_room(&mut self, stage: &Stage<'_>, step: &Step) {
        if step.reads_new()
            && let Some(memory) = &mut self.new_memory
        {
            memory.make_room(step.new_pages(stage.page_bytes as u64) as usize);
        }
    }

    /// So many bytes of its buffer, from where it usually begins.
    #[inline(always)]
    fn room(&mut self, stage: &Stage<'_>, bytes: usize) -> &mut [u8] {
        &mut self.buffer[stage.into_page_bytes..stage.into_page_bytes + bytes]
    }

    /// As many as a step asks for, as far into a page as the program's were.
    #[inline(always)]
    fn room_of(&mut self, stage: &Stage<'_>, step: &Step) -> &mut [u8] {
        let into = stage.buffer_offset(step);
        &mut self.buffer[into..into + step.asked as usize]
    }

    /// A read into memory that is as new as the program's was.
    fn read_new(&mut self, stage: &Stage<'_>, step: &Step) -> i64 {
        let (asked, moved) = (step.asked as usize, step.expected.max(0) as usize);
        let new = step.new_pages(stage.page_bytes as u64) as usize;
        let Some(memory) = &mut self.new_memory else { return 0 };
        let into = memory.place(asked, moved, new, stage.buffer_offset(step));
        match step.action {
            Action::ReadAt => raw::read_at(stage.fd(step), into, step.offset),
            _ => raw::read(stage.fd(step), into),
        }
    }
}

/// Takes all steps of a thread.
#[inline(never)]
pub(super) fn play(stage: &Stage<'_>, steps: &[Step], own: &mut Own<'_>) {
    for (number, step) in steps.iter().enumerate() {
        prefetch(std::ptr::from_ref(step).wrapping_add(AHEAD));
        let result = take(stage, step, own);
        let expected = if step.action.counts_bytes() { result } else { result.min(0) };
        if expected != step.expected {
            own.tally.note(number, result);
        }
    }
}

/// The same, and the time in calls alone is counted, in nanoseconds: what the program did between them
/// passes in a walk.
#[inline(never)]
pub(super) fn play_counting_calls(
    stage: &Stage<'_>,
    steps: &[Step],
    own: &mut Own<'_>,
    walk: &mut Walk,
) -> u64 {
    let mut in_calls_ns: u64 = 0;
    for (number, step) in steps.iter().enumerate() {
        if step.action == Action::Think {
            walk.pass(step.asked);
            continue;
        }
        own.make_room(stage, step);
        let began_ns = now_ns();
        let result = take(stage, step, own);
        let took_ns = now_ns().saturating_sub(began_ns);
        // Waiting for another thread is none of it.
        in_calls_ns += if step.action.is_call() { took_ns } else { 0 };
        let expected = if step.action.counts_bytes() { result } else { result.min(0) };
        if expected != step.expected {
            own.tally.note(number, result);
        }
    }
    in_calls_ns
}

#[inline(always)]
fn take(stage: &Stage<'_>, step: &Step, own: &mut Own<'_>) -> i64 {
    let asked = step.asked as usize;
    let one = step.parts <= 1 && !step.reads_new();
    match step.action {
        Action::Read if one => raw::read(stage.fd(step), own.room_of(stage, step)),
        Action::ReadAt if one => {
            raw::read_at(stage.fd(step), own.room_of(stage, step), step.offset)
        }
        Action::Write if one => raw::write(stage.fd(step), &stage.content[..asked]),
        Action::WriteAt if one => {
            raw::write_at(stage.fd(step), &stage.content[..asked], step.offset)
        }
        Action::Seek => match raw::seek(stage.fd(step), step.offset) {
            at if at >= 0 => 0,
            error => error,
        },
        Action::Open => stage.open(step),
        Action::Close => raw::close(stage.fd(step)),
        Action::Stat => raw::stat(stage.below(step), stage.path(step.path)),
        Action::StatHandle => raw::stat_handle(stage.fd(step)),
        Action::Sync => raw::sync(stage.fd(step), false),
        Action::DataSync => raw::sync(stage.fd(step), true),
        Action::ReadMapped => match own.maps.get(step.slot as usize) {
            Some(map) => raw::read_mapped(*map, step.offset, own.room(stage, asked)),
            None => 0,
        },
        Action::Signal => {
            raw::signal(&stage.events[step.other as usize]);
            0
        }
        Action::Await => {
            raw::wait(&stage.events[step.other as usize]);
            0
        }
        _ => rarer(stage, step, own),
    }
}

/// Calls that take so long that a call of a function more is nothing.
#[inline(never)]
fn rarer(stage: &Stage<'_>, step: &Step, own: &mut Own<'_>) -> i64 {
    let (asked, root) = (step.asked as usize, stage.root.as_raw_fd());
    match step.action {
        Action::Read | Action::ReadAt if step.reads_new() => own.read_new(stage, step),
        Action::Read => raw::read_parts(stage.fd(step), own.room(stage, asked), step.parts, None),
        Action::ReadAt => {
            let at = Some(step.offset);
            raw::read_parts(stage.fd(step), own.room(stage, asked), step.parts, at)
        }
        Action::Write => {
            raw::write_parts(stage.fd(step), &stage.content[..asked], step.parts, None)
        }
        Action::WriteAt => {
            let at = Some(step.offset);
            raw::write_parts(stage.fd(step), &stage.content[..asked], step.parts, at)
        }
        Action::List => {
            let most = (own.buffer.len() - stage.into_page_bytes).min(asked.max(1));
            raw::list(stage.fd(step), own.room(stage, most))
        }
        Action::Rename => raw::rename(root, stage.path(step.path), stage.path(step.other)),
        Action::Link => raw::link(root, stage.path(step.path), stage.path(step.other)),
        Action::Unlink => raw::unlink(stage.below(step), stage.path(step.path), false),
        Action::RemoveDirectory => raw::unlink(stage.below(step), stage.path(step.path), true),
        Action::MakeDirectory => raw::make_directory(stage.below(step), stage.path(step.path)),
        Action::Symlink => raw::symlink(LEADS_TO, stage.below(step), stage.path(step.path)),
        Action::ReadLink => raw::read_link(stage.below(step), stage.path(step.path), own.buffer),
        Action::ChangeMode => {
            let (at, path) = stage.target(step);
            raw::change_mode(at, path, if is_directory(step) { 0o700 } else { 0o600 })
        }
        Action::ChangeOwner => {
            let (at, path) = stage.target(step);
            raw::change_owner(at, path, stage.owner)
        }
        Action::ChangeTimes => {
            let (at, path) = stage.target(step);
            raw::change_times(at, path)
        }
        Action::Truncate => match stage.target(step) {
            (_, Some(path)) => raw_name::truncate(path, step.asked),
            (fd, None) => raw::truncate(fd, step.asked),
        },
        Action::Allocate => raw::allocate(stage.fd(step), step.flags != 0, step.offset, step.asked),
        Action::SyncAll => raw::sync_all(root),
        Action::Advise => raw::advise(stage.fd(step), step.offset, step.asked, step.flags),
        Action::CopyRange => raw::copy_range(stage.fd(step), stage.other(step), step.asked),
        Action::SendFile => raw::send_file(stage.fd(step), stage.other(step), step.asked),
        Action::Clone => raw::clone_file(stage.fd(step), stage.other(step)),
        Action::Duplicate => raw::duplicate(stage.fd(step)),
        Action::RingRead | Action::RingWrite | Action::RingSync | Action::RingDataSync => {
            own.ring.as_mut().map_or(0, |ring| in_ring(stage, step, ring, own.buffer))
        }
        Action::Think => {
            clock::pass(step.asked);
            0
        }
        Action::Map => map(stage, step, own),
        Action::MapWhole => map_whole(stage, step, own),
        Action::Unmap => match own.maps.get_mut(step.slot as usize) {
            Some(map) => raw::unmap(std::mem::take(map)),
            None => 0,
        },
        _ => locks_and_looks(stage, step),
    }
}

fn locks_and_looks(stage: &Stage<'_>, step: &Step) -> i64 {
    match step.action {
        Action::Look => control::look(stage.fd(step)),
        Action::FileSystem => match stage.target(step) {
            (_, Some(path)) => raw_name::file_system(path),
            (fd, None) => control::file_system(fd),
        },
        Action::Attribute => match stage.target(step) {
            (_, Some(path)) => raw_name::attribute(path),
            (fd, None) => control::attribute(fd),
        },
        Action::Flags => control::set_flags(stage.fd(step), step.flags as i32),
        Action::LockRange => {
            control::lock_range(stage.fd(step), step.flags as i32, step.offset, step.asked)
        }
        Action::LockOpenFile => {
            control::lock_open_file(stage.fd(step), step.flags as i32, step.offset, step.asked)
        }
        Action::Holder => control::holder(stage.fd(step), step.offset, step.asked),
        Action::LockWhole => control::lock_whole(stage.fd(step), step.flags as i32),
        _ => 0,
    }
}

/// A directory must stay one that can be entered: the step says which it is.
fn is_directory(step: &Step) -> bool {
    step.flags != 0
}

impl<'a> Stage<'a> {
    #[inline(always)]
    fn fd(&self, step: &Step) -> i32 {
        self.slots[step.slot as usize].load(Ordering::Relaxed)
    }

    /// Where in a page the buffer of a read begins; what goes past the page cache has no choice.
    #[inline(always)]
    fn buffer_offset(&self, step: &Step) -> usize {
        match step.buffer_offset() {
            Some(known) if self.into_page_bytes > 0 => known,
            _ => self.into_page_bytes,
        }
    }

    #[inline(always)]
    fn other(&self, step: &Step) -> i32 {
        self.slots[step.other as usize].load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn path(&self, number: u32) -> &'a CStr {
        &self.program.paths[number as usize]
    }

    /// The directory that its name is below: an open one of the program's, or that of all copies.
    #[inline(always)]
    fn below(&self, step: &Step) -> i32 {
        match self.slots.get(step.other as usize) {
            Some(slot) => slot.load(Ordering::Relaxed),
            None => self.root.as_raw_fd(),
        }
    }

    #[inline(always)]
    fn open(&self, step: &Step) -> i64 {
        let fd = raw::open(self.below(step), self.path(step.path), step.flags as i32, 0o600);
        if fd < 0 {
            return fd;
        }
        match self.slots.get(step.slot as usize) {
            Some(slot) => slot.store(fd as i32, Ordering::Relaxed),
            // It should have failed: what was opened is not wanted.
            None => {
                raw::close(fd as i32);
            }
        }
        0
    }

    /// What is changed: a name, or an open file.
    fn target(&self, step: &Step) -> (i32, Option<&'a CStr>) {
        match step.path {
            NONE => (self.fd(step), None),
            path => (self.below(step), Some(self.path(path))),
        }
    }
}

fn in_ring(stage: &Stage<'_>, step: &Step, ring: &mut CallRing, buffer: &mut [u8]) -> i64 {
    let (fd, asked, into) = (stage.fd(step), step.asked as usize, stage.into_page_bytes);
    match step.action {
        Action::RingRead => ring.read_at(fd, &mut buffer[into..into + asked], step.offset),
        Action::RingWrite => ring.write_at(fd, &stage.content[..asked], step.offset),
        _ => ring.sync(fd, step.action == Action::RingDataSync),
    }
}

fn map(stage: &Stage<'_>, step: &Step, own: &mut Own<'_>) -> i64 {
    let order = MapOrder {
        offset: step.offset,
        bytes: step.asked,
        writable: step.flags & 1 != 0,
        shared: step.flags & 2 != 0,
        populated: step.flags & 4 != 0,
    };
    match raw::map(stage.fd(step), &order) {
        Ok(mapping) => {
            if order.shared {
                raw::touch(mapping, stage.page_bytes, order.writable);
            }
            own.made.push(mapping);
            0
        }
        Err(error) => error,
    }
}

fn map_whole(stage: &Stage<'_>, step: &Step, own: &mut Own<'_>) -> i64 {
    let order =
        MapOrder { offset: 0, bytes: step.asked, writable: false, shared: true, populated: false };
    match (raw::map(stage.fd(step), &order), own.maps.get_mut(step.slot as usize)) {
        (Ok(mapping), Some(place)) => {
            *place = mapping;
            0
        }
        (Err(error), _) => error,
        (Ok(_), None) => 0,
    }
}
