//! Calls that open, close and duplicate nothing but descriptors.

use super::applied::Applied;
use super::flags::words_of;
use super::known::{OneHandle, Shape};
use super::state::Slot;
use super::words;
use crate::call::CallKind;
use crate::error::TraceError;

impl Applied<'_> {
    pub(super) fn descriptors(&mut self, shape: Shape) -> Result<bool, TraceError> {
        match shape {
            Shape::Close => {
                let Some(found) = words::descriptor(self.argument(0)) else { return Ok(false) };
                if self.on(0)? {
                    let taken = self.state.take(self.maker.group, found.number);
                    self.call.detail = u32::from(taken.is_some_and(|(_, last)| last));
                }
                self.call.result = self.call.result.min(0);
                Ok(self.kind(CallKind::Close))
            }
            Shape::CloseRange => {
                let (first, last) = (self.count(0), self.count(1));
                // CLOSE_RANGE_CLOEXEC closes nothing yet.
                if self.succeeded() && words::count(self.argument(2)) == Some(0) {
                    let group = self.maker.group;
                    let open = self.state.groups.get(&group).map(|g| g.descriptors.keys().copied());
                    let range = |n: &i64| u64::try_from(*n).is_ok_and(|n| n >= first && n <= last);
                    let closing: Vec<i64> = open.into_iter().flatten().filter(range).collect();
                    for number in closing {
                        self.state.take(group, number);
                    }
                }
                Ok(self.kind(CallKind::Other))
            }
            Shape::Duplicate => self.duplicate(false),
            Shape::Control => {
                let command = self.argument(1).to_vec();
                match command.as_slice() {
                    b"F_DUPFD" => self.duplicate(false),
                    b"F_DUPFD_CLOEXEC" => self.duplicate(true),
                    b"F_SETFD" => self.close_on_exec(),
                    b"F_SETFL" => self.status_flags(),
                    _ => self.on_handle(OneHandle::plain(CallKind::Other)),
                }
            }
            _ => self.on_handle(OneHandle::plain(CallKind::Other)),
        }
    }

    pub(super) fn duplicate(&mut self, on_exec: bool) -> Result<bool, TraceError> {
        let found = self.on(0)?;
        let new = words::descriptor(self.words.came_back).map(|found| found.number);
        if let (true, true, Some(number)) = (found, self.succeeded(), new) {
            let closes_on_exec = on_exec || self.argument(2) == b"O_CLOEXEC";
            let slot = Slot { handle: self.call.handle, closes_on_exec };
            self.state.put(self.maker.group, number, slot)?;
        }
        self.call.result = self.call.result.min(0);
        Ok(self.kind(CallKind::Duplicate))
    }

    pub(super) fn close_on_exec(&mut self) -> Result<bool, TraceError> {
        let closes = self.argument(2) == b"FD_CLOEXEC";
        let number = words::descriptor(self.argument(0)).map(|found| found.number);
        let found = self.on(0)?;
        if let (true, Some(number)) = (found, number) {
            let group = self.state.groups.get_mut(&self.maker.group);
            if let Some(slot) = group.and_then(|group| group.descriptors.get_mut(&number)) {
                slot.closes_on_exec = closes;
            }
        }
        Ok(self.kind(CallKind::Other))
    }

    pub(super) fn status_flags(&mut self) -> Result<bool, TraceError> {
        let appends = words_of(self.argument(2)).any(|word| word == b"O_APPEND");
        if self.on(0)? && self.succeeded() {
            self.state.handles[self.call.handle as usize].appends = appends;
        }
        Ok(self.kind(CallKind::Other))
    }
}
