//! Calls that move bytes, and those that say where: their offsets become explicit.

use super::applied::{Applied, HandleView};
use super::known::OneHandle;
use super::words;
use crate::call::CallKind;
use crate::error::TraceError;

impl Applied<'_> {
    pub(super) fn transfer(&mut self, known: OneHandle) -> Result<bool, TraceError> {
        let OneHandle { kind, asked, offset } = known;
        if !self.on(0)? {
            return Ok(false);
        }
        self.call.kind = kind;
        self.ask(asked);
        let explicit = offset.and_then(|at| words::count(self.argument(at)));
        // preadv2 and pwritev2 with -1 go on where the handle stands.
        self.call.kind = match (kind, explicit) {
            (CallKind::ReadAt, None) => CallKind::Read,
            (CallKind::WriteAt, None) => CallKind::Write,
            (kind, _) => kind,
        };
        let (handle, file) = (self.call.handle as usize, self.call.file);
        let HandleView { at, appends } = self.view(handle);
        let size = self.state.files[file as usize].size;
        self.call.offset = match (explicit, appends && kind.writes()) {
            (_, true) => size.unwrap_or(at),
            (Some(offset), _) => offset,
            (None, _) => at,
        };
        let moved = u64::try_from(self.call.result).unwrap_or(0);
        let end = self.call.offset.saturating_add(moved);
        if explicit.is_none() {
            self.state.handles[handle].offset = end;
        }
        self.moved(file, kind.writes(), end, moved < self.call.asked);
        Ok(true)
    }

    pub(super) fn seek(&mut self) -> Result<bool, TraceError> {
        if !self.on(0)? {
            return Ok(false);
        }
        // _llseek of 32 bits says where it led in an argument: `_llseek(3, 5, [5], SEEK_SET) = 0`.
        let led_to = words::in_brackets(self.argument(2));
        let asked = if led_to.is_some() { 3 } else { 2 };
        self.call.detail = match self.argument(asked) {
            b"SEEK_SET" => 0,
            b"SEEK_CUR" => 1,
            b"SEEK_END" => 2,
            b"SEEK_DATA" => 3,
            _ => 4,
        };
        self.call.offset = self.view(self.call.handle as usize).at;
        if let Ok(result) = u64::try_from(self.call.result) {
            let offset = led_to.unwrap_or(result);
            self.call.offset = offset;
            self.state.handles[self.call.handle as usize].offset = offset;
            if self.argument(asked) == b"SEEK_END" && self.argument(1) == b"0" {
                let file = self.call.file;
                self.state.sized(file, offset);
            }
        }
        self.call.result = self.call.result.min(0);
        Ok(self.kind(CallKind::Seek))
    }

    pub(super) fn between(
        &mut self,
        kind: CallKind,
        (from, to): (usize, usize),
        offset: Option<usize>,
        asked: usize,
    ) -> Result<bool, TraceError> {
        if !self.on(from)? {
            return Ok(false);
        }
        let Some(to) = self.handle_at(to)? else { return Ok(false) };
        self.call.other = to;
        self.call.kind = kind;
        self.call.asked = self.count(asked);
        let own = offset.and_then(|at| {
            let argument = self.argument(at).trim_ascii();
            words::count(argument).or_else(|| words::in_brackets(argument))
        });
        let handle = self.call.handle as usize;
        self.call.offset = own.unwrap_or(self.state.handles[handle].offset);
        self.call.detail = u32::from(own.is_some());
        let moved = u64::try_from(self.call.result).unwrap_or(0);
        if own.is_none() {
            let offset = &mut self.state.handles[handle].offset;
            *offset = offset.saturating_add(moved);
        }
        let source = self.call.file;
        let end = self.call.offset.saturating_add(moved);
        self.moved(source, false, end, false);
        let end = self.state.handles[to as usize].offset.saturating_add(moved);
        self.state.handles[to as usize].offset = end;
        let target = self.state.trace.handles[to as usize].file;
        self.moved(target, true, end, false);
        Ok(true)
    }
}
