//! One call on its way: what all kinds of calls need.

use super::errors::errno;
use super::flags::advice;
use super::known::{Asked, OneHandle};
use super::state::State;
use super::words::{self, Words};
use crate::call::{Call, CallKind};
use crate::error::TraceError;
use crate::trace::FileKind;

/// Who made the call, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Maker {
    pub(super) thread: u32,
    pub(super) group: u32,
    pub(super) at_ns: u64,
}

/// What a call did to threads: the reader keeps those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// A thread of this number began; the flag: it shares its maker's descriptors.
    Began(u32, bool),
    /// The child of this number was waited for.
    WaitedFor(u32),
}

/// One call on its way.
pub(super) struct Applied<'a> {
    pub(super) state: &'a mut State,
    pub(super) words: &'a Words<'a>,
    pub(super) maker: Maker,
    pub(super) call: Call,
    pub(super) effect: Effect,
}

impl Applied<'_> {
    pub(super) fn kind(&mut self, kind: CallKind) -> bool {
        self.call.kind = kind;
        true
    }

    pub(super) fn argument(&self, at: usize) -> &[u8] {
        self.words.arguments.get(at).copied().unwrap_or_default()
    }

    pub(super) fn count(&self, at: usize) -> u64 {
        words::count(self.argument(at)).unwrap_or(0)
    }

    pub(super) fn succeeded(&self) -> bool {
        self.call.result >= 0
    }

    /// The handle of the descriptor that stands there.
    pub(super) fn handle_at(&mut self, at: usize) -> Result<Option<u32>, TraceError> {
        let Some(found) = words::descriptor(self.argument(at)) else { return Ok(None) };
        if found.number < 0 {
            return Ok(None);
        }
        let group = self.maker.group;
        self.state.handle(group, found.number, found.named.as_ref()).map(Some)
    }

    /// The call is on the handle of this descriptor; false where it is none.
    pub(super) fn on(&mut self, at: usize) -> Result<bool, TraceError> {
        // A descriptor that is closed makes no handle.
        let is_bad = self.call.result == -i64::from(errno(b"EBADF"));
        let Some(handle) = (if is_bad { None } else { self.handle_at(at)? }) else {
            return Ok(false);
        };
        self.call.handle = handle;
        self.call.file = self.state.trace.handles[handle as usize].file;
        Ok(true)
    }

    pub(super) fn view(&self, handle: usize) -> HandleView {
        let state = self.state.handles[handle];
        HandleView { at: state.offset, appends: state.appends }
    }

    /// Bytes up to `end` were read or written; of a read that brought less than was asked for, the
    /// file ends there.
    pub(super) fn moved(&mut self, file: u32, writes: bool, end: u64, is_short: bool) {
        if !self.succeeded() {
            return;
        }
        if writes {
            let size = self.state.files[file as usize].size.unwrap_or(0).max(end);
            self.state.resized(file, size);
            return;
        }
        self.state.existed(file, true);
        let state = &mut self.state.files[file as usize];
        if !state.changed {
            state.read_end = state.read_end.max(end.min(i64::MAX as u64));
        }
        let kind = self.state.trace.files[file as usize].kind;
        if is_short && matches!(kind, FileKind::Unknown | FileKind::Regular) {
            self.state.sized(file, end);
        }
    }

    pub(super) fn ask(&mut self, asked: Asked) {
        let moved = u64::try_from(self.call.result).unwrap_or(0);
        let (bytes, buffers) = match asked {
            Asked::Nothing => (0, 0),
            Asked::Argument(at) => (self.count(at), 1),
            // The lengths are not in a log without contents: what came is what is known.
            Asked::Vector(at) => (
                words::vector_bytes(self.argument(at)).unwrap_or(moved),
                self.count(at + 1).min(u64::from(u32::MAX)) as u32,
            ),
        };
        self.call.asked = bytes;
        self.call.detail = buffers;
    }

    pub(super) fn on_handle(&mut self, known: OneHandle) -> Result<bool, TraceError> {
        let OneHandle { kind, asked, offset } = known;
        if !self.on(0)? {
            return Ok(false);
        }
        self.ask(asked);
        self.call.detail = 0;
        self.call.offset = offset.map_or(0, |at| self.count(at));
        let file = self.call.file;
        match kind {
            CallKind::Advise => self.call.detail = advice(self.argument(3)),
            CallKind::Truncate if self.succeeded() => {
                let bytes = self.call.asked;
                self.state.resized(file, bytes);
            }
            CallKind::Allocate => {
                // FALLOC_FL_KEEP_SIZE and its kin are told apart from plain allocation alone.
                self.call.detail = u32::from(self.argument(1) != b"0");
                if self.succeeded() && self.call.detail == 0 {
                    let end = self.call.offset.saturating_add(self.call.asked);
                    let size = self.state.files[file as usize].size.unwrap_or(0);
                    self.state.resized(file, size.max(end));
                }
            }
            _ => (),
        }
        if !kind.moves_bytes() && kind != CallKind::Ring {
            self.call.result = self.call.result.min(0);
        }
        Ok(self.kind(kind))
    }
}

/// Where a handle stands.
pub(super) struct HandleView {
    pub(super) at: u64,
    pub(super) appends: bool,
}
