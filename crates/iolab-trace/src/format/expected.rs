//! What a call is expected to be after those before it: the same for who writes and who reads.

use crate::call::{Call, CallKind, NONE};

/// What came before.
pub(super) struct Expected {
    pub(super) thread: u32,
    pub(super) handle: u32,
    /// The end of the last call, in ticks.
    pub(super) end_ticks: u64,
    /// Of each handle: where the last call ended, and what it asked for.
    of_handle: Vec<(u64, u64)>,
    /// Of each kind: the last detail.
    details: [u32; 256],
}

impl Expected {
    pub(super) fn new(handles: usize) -> Expected {
        Expected {
            thread: 0,
            handle: NONE,
            end_ticks: 0,
            of_handle: vec![(0, 0); handles],
            details: [0; 256],
        }
    }

    /// Offset and bytes asked for.
    pub(super) fn range(&self, handle: u32) -> (u64, u64) {
        self.of_handle.get(handle as usize).copied().unwrap_or_default()
    }

    pub(super) fn detail(&self, kind: CallKind) -> u32 {
        self.details[kind as usize]
    }

    /// The call has been written or read.
    pub(super) fn then(&mut self, call: &Call, end_ticks: u64) {
        self.thread = call.thread;
        self.handle = call.handle;
        self.end_ticks = end_ticks;
        self.details[call.kind as usize] = call.detail;
        if let Some(range) = self.of_handle.get_mut(call.handle as usize)
            && (call.kind.moves_bytes() || call.kind == CallKind::Seek)
        {
            let end = call.offset.wrapping_add(call.moved_bytes());
            let asked = if call.kind.moves_bytes() { call.asked } else { range.1 };
            *range = (end, asked);
        }
    }
}

/// What a call of this kind asks for where nothing is said.
pub(super) fn usual_asked(kind: CallKind, last: u64) -> u64 {
    if kind.moves_bytes() { last } else { 0 }
}

/// Where a call of this kind is where nothing is said.
pub(super) fn usual_offset(kind: CallKind, last: u64) -> u64 {
    if kind.moves_bytes() || kind == CallKind::Seek { last } else { 0 }
}

/// What comes back where nothing is said: all that was asked for.
pub(super) fn usual_result(kind: CallKind, asked: u64) -> i64 {
    if kind.moves_bytes() { i64::try_from(asked).unwrap_or(0) } else { 0 }
}
