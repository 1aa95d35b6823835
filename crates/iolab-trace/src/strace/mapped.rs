//! Calls on mapped files.

use super::applied::Applied;
use super::flags::{advice, words_of};
use super::words;
use crate::call::CallKind;
use crate::error::TraceError;

impl Applied<'_> {
    pub(super) fn map(&mut self) -> Result<bool, TraceError> {
        let address = words::count(self.words.came_back).filter(|_| self.succeeded());
        let (length, offset) = (self.count(1), self.count(5));
        let protection = words_of(self.argument(2)).any(|word| word == b"PROT_WRITE");
        let flags = [(&b"MAP_SHARED"[..], 2), (b"MAP_SHARED_VALIDATE", 2), (b"MAP_POPULATE", 4)];
        let set = |(name, bit): &(&[u8], u32)| {
            words_of(self.argument(3)).any(|word| word == *name).then_some(*bit)
        };
        self.call.detail =
            u32::from(protection) | flags.iter().filter_map(set).fold(0, |a, b| a | b);
        (self.call.asked, self.call.offset) = (length, offset);
        let is_file = self.on(4)?;
        let handle = self.call.handle;
        if let Some(group) = self.state.groups.get_mut(&self.maker.group)
            && let Some(address) = address
        {
            match is_file {
                true => drop(group.maps.insert(address, (length, handle))),
                false => drop(group.maps.remove(&address)),
            }
        }
        self.call.result = self.call.result.min(0);
        // Memory of the program's own is no file.
        Ok(is_file && self.kind(CallKind::Map))
    }

    pub(super) fn on_map(&mut self, kind: CallKind) -> bool {
        let (address, length) = (self.count(0), self.count(1));
        let group = self.state.groups.get(&self.maker.group);
        let range = group.and_then(|group| group.maps.range(..=address).next_back());
        let Some((start, (mapped, handle))) = range else { return false };
        if address - start >= *mapped {
            return false;
        }
        self.call.offset = address - start;
        self.call.handle = *handle;
        self.call.file = self.state.trace.handles[*handle as usize].file;
        self.call.asked = length;
        self.call.detail = match kind {
            CallKind::MapAdvise => advice(self.argument(2)),
            _ => 0,
        };
        self.kind(kind)
    }
}
