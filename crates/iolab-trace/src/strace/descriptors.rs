//! Calls that open, close and duplicate nothing but descriptors.

use super::applied::Applied;
use super::flags::{open_flags, words_of};
use super::known::{OneHandle, Shape};
use super::state::Slot;
use super::words;
use crate::call::CallKind;
use crate::control::{Control, Lock};
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
                    b"F_GETFL" | b"F_GETFD" => self.control(Some(Control::Look)),
                    b"F_SETLK" | b"F_SETLKW" | b"F_SETLK64" | b"F_SETLKW64" => {
                        self.range_lock(Control::Range)
                    }
                    b"F_OFD_SETLK" | b"F_OFD_SETLKW" => self.range_lock(Control::OpenFile),
                    b"F_GETLK" | b"F_GETLK64" | b"F_OFD_GETLK" => {
                        self.range_lock(|_| Control::Holder)
                    }
                    _ => self.control(None),
                }
            }
            Shape::Lock => {
                let lock = words_of(self.argument(1)).find_map(lock_of_file);
                self.control(lock.map(Control::Whole))
            }
            Shape::FileSystem => self.control(Some(Control::FileSystem)),
            _ => self.control(None),
        }
    }

    /// A call on a handle; nothing more is kept of it where it is none of these.
    fn control(&mut self, control: Option<Control>) -> Result<bool, TraceError> {
        let kept = self.on_handle(OneHandle::plain(CallKind::Other))?;
        self.call.detail = control.map_or(0, Control::code);
        Ok(kept)
    }

    /// Of a lock whose range is counted from the beginning of the file, the range is kept.
    fn range_lock(&mut self, control: impl Fn(Lock) -> Control) -> Result<bool, TraceError> {
        let field = |key| words::field(self.argument(2), key);
        let number = |key| field(key).and_then(words::count);
        let range = (number("l_start="), number("l_len="));
        let lock = field("l_type=").and_then(lock_of_range);
        let from_start = field("l_whence=") == Some(b"SEEK_SET");
        let (Some(lock), (Some(offset), Some(bytes)), true) = (lock, range, from_start) else {
            return self.control(None);
        };
        let kept = self.control(Some(control(lock)))?;
        (self.call.offset, self.call.asked) = (offset, bytes);
        Ok(kept)
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
            self.call.detail = Control::Look.code();
        }
        Ok(self.kind(CallKind::Other))
    }

    pub(super) fn status_flags(&mut self) -> Result<bool, TraceError> {
        let appends = words_of(self.argument(2)).any(|word| word == b"O_APPEND");
        if self.on(0)? && self.succeeded() {
            self.state.handles[self.call.handle as usize].appends = appends;
            self.call.detail = Control::Flags(open_flags(self.argument(2))).code();
        }
        Ok(self.kind(CallKind::Other))
    }
}

fn lock_of_file(word: &[u8]) -> Option<Lock> {
    match word {
        b"LOCK_SH" => Some(Lock::Shared),
        b"LOCK_EX" => Some(Lock::Exclusive),
        b"LOCK_UN" => Some(Lock::Nothing),
        _ => None,
    }
}

fn lock_of_range(word: &[u8]) -> Option<Lock> {
    match word {
        b"F_RDLCK" => Some(Lock::Shared),
        b"F_WRLCK" => Some(Lock::Exclusive),
        b"F_UNLCK" => Some(Lock::Nothing),
        _ => None,
    }
}
