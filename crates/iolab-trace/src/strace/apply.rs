//! A finished call, applied to what is known: it becomes a [`Call`] with its offset.

use super::errors::errno;
use super::known::{Asked, Shape, shape};
use super::named::NamedCall;
use super::state::{Slot, State};
use super::words::{self, Descriptor, Words};
use crate::call::{Call, CallKind, NONE, OpenFlags, UNKNOWN_RESULT};
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

/// Applies a call. Nothing where it is not about files, or never came back.
pub(super) fn apply(
    state: &mut State,
    words: &Words<'_>,
    maker: Maker,
) -> Result<Option<(Call, Effect)>, TraceError> {
    let result = result(words.came_back);
    let Some(shape) = shape(words.name).filter(|_| result != UNKNOWN_RESULT) else {
        return Ok(None);
    };
    let call = Call {
        at_ns: maker.at_ns,
        took_ns: words.took_ns.unwrap_or(0),
        offset: 0,
        asked: 0,
        result,
        thread: maker.thread,
        file: NONE,
        other: NONE,
        handle: NONE,
        detail: 0,
        kind: CallKind::Other,
    };
    let mut applied = Applied { state, words, maker, call, effect: Effect::Nothing };
    let kept = match shape {
        Shape::Close | Shape::CloseRange | Shape::Duplicate | Shape::Control | Shape::Device => {
            applied.descriptors(shape)?
        }
        Shape::Transfer { kind, asked, offset } => applied.transfer(kind, asked, offset)?,
        Shape::Seek => applied.seek()?,
        Shape::Map => applied.map()?,
        Shape::OnMap { kind } => applied.on_map(kind),
        Shape::OnHandle { kind, asked, offset } => applied.on_handle(kind, asked, offset)?,
        Shape::Between { kind, from, to, offset, asked } => {
            applied.between(kind, (from, to), offset, asked)?
        }
        Shape::SyncAll => applied.kind(CallKind::SyncAll),
        Shape::Ring => {
            applied.call.asked = applied.count(1);
            applied.kind(CallKind::Ring)
        }
        Shape::Fork => applied.fork(),
        Shape::Wait => {
            let child = u32::try_from(result).ok().filter(|number| *number > 0);
            applied.effect = child.map_or(Effect::Nothing, Effect::WaitedFor);
            applied.kind(CallKind::Wait)
        }
        named => NamedCall(&mut applied).apply(named)?,
    };
    Ok(kept.then_some((applied.call, applied.effect)))
}

/// `= 5`, `= 3</f>`, `= -1 ENOENT (…)`, `= 0x7f…`, `= ?`.
fn result(came_back: &[u8]) -> i64 {
    let mut parts = came_back.split(|byte| *byte == b' ');
    let first = parts.next().unwrap_or_default();
    if first == b"-1" {
        return -i64::from(errno(parts.next().unwrap_or_default()));
    }
    match words::descriptor(came_back).or_else(|| words::descriptor(first)) {
        Some(Descriptor { number, .. }) if number >= 0 => number,
        // An address beyond half of all is a success, too.
        _ if words::count(first).is_some() => 0,
        _ => UNKNOWN_RESULT,
    }
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

    fn descriptors(&mut self, shape: Shape) -> Result<bool, TraceError> {
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
                    _ => self.on_handle(CallKind::Other, Asked::Nothing, None),
                }
            }
            _ if self.argument(1).ends_with(b"FICLONE") && self.succeeded() => {
                self.between(CallKind::Clone, (2, 0), None, usize::MAX)
            }
            _ => self.on_handle(CallKind::Other, Asked::Nothing, None),
        }
    }

    fn duplicate(&mut self, on_exec: bool) -> Result<bool, TraceError> {
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

    fn close_on_exec(&mut self) -> Result<bool, TraceError> {
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

    fn status_flags(&mut self) -> Result<bool, TraceError> {
        let appends = words_of(self.argument(2)).any(|word| word == b"O_APPEND");
        if self.on(0)? && self.succeeded() {
            self.state.handles[self.call.handle as usize].appends = appends;
        }
        Ok(self.kind(CallKind::Other))
    }

    fn transfer(
        &mut self,
        kind: CallKind,
        asked: Asked,
        offset: Option<usize>,
    ) -> Result<bool, TraceError> {
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

    fn view(&self, handle: usize) -> HandleView {
        let state = self.state.handles[handle];
        HandleView { at: state.offset, appends: state.appends }
    }

    /// Bytes up to `end` were read or written; of a read that brought less than was asked for, the
    /// file ends there.
    fn moved(&mut self, file: u32, writes: bool, end: u64, is_short: bool) {
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

    fn ask(&mut self, asked: Asked) {
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

    fn seek(&mut self) -> Result<bool, TraceError> {
        if !self.on(0)? {
            return Ok(false);
        }
        self.call.detail = match self.argument(2) {
            b"SEEK_SET" => 0,
            b"SEEK_CUR" => 1,
            b"SEEK_END" => 2,
            b"SEEK_DATA" => 3,
            _ => 4,
        };
        self.call.offset = self.view(self.call.handle as usize).at;
        if let Ok(offset) = u64::try_from(self.call.result) {
            self.call.offset = offset;
            self.state.handles[self.call.handle as usize].offset = offset;
            if self.argument(2) == b"SEEK_END" && self.argument(1) == b"0" {
                let file = self.call.file;
                self.state.sized(file, offset);
            }
        }
        self.call.result = self.call.result.min(0);
        Ok(self.kind(CallKind::Seek))
    }

    fn map(&mut self) -> Result<bool, TraceError> {
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

    fn on_map(&mut self, kind: CallKind) -> bool {
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

    pub(super) fn on_handle(
        &mut self,
        kind: CallKind,
        asked: Asked,
        offset: Option<usize>,
    ) -> Result<bool, TraceError> {
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

    fn between(
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
            words::count(self.argument(at).trim_ascii()).or_else(|| {
                let inner = self.argument(at).strip_prefix(b"[")?;
                words::count(&inner[..inner.iter().position(|byte| *byte == b']')?])
            })
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

    fn fork(&mut self) -> bool {
        let flags = self.words.arguments.iter().copied();
        let shares = flags.flat_map(|argument| argument.split(|b| matches!(b, b'=' | b'|' | b',')));
        let shares = shares.into_iter().any(|word| word == b"CLONE_FILES");
        if let Some(number) = u32::try_from(self.call.result).ok().filter(|number| *number > 0) {
            self.effect = Effect::Began(number, shares);
        }
        self.call.result = self.call.result.min(0);
        self.kind(CallKind::Fork)
    }
}

/// Where a handle stands.
struct HandleView {
    at: u64,
    appends: bool,
}

/// The words of flags: `O_RDONLY|O_CLOEXEC`.
pub(super) fn words_of(flags: &[u8]) -> impl Iterator<Item = &[u8]> {
    flags.split(|byte| *byte == b'|').map(|word| word.trim_ascii())
}

/// Flags of an opening as bits of our own.
pub(super) fn open_flags(text: &[u8]) -> OpenFlags {
    let text = words::field(text, "flags=").unwrap_or(text);
    let bits = words_of(text).map(|word| {
        let known = OpenFlags::WORDS.iter().find(|(name, _)| name.as_bytes() == word);
        known.map_or(0, |(_, bit)| *bit)
    });
    OpenFlags(bits.fold(0, |all, bit| all | bit))
}

/// Numbers of posix_fadvise(2) and madvise(2), which agree on the first five.
fn advice(word: &[u8]) -> u32 {
    let name = word.rsplit(|byte| *byte == b'_').next().unwrap_or_default();
    match name {
        b"RANDOM" => 1,
        b"SEQUENTIAL" => 2,
        b"WILLNEED" => 3,
        b"DONTNEED" => 4,
        b"NOREUSE" => 5,
        // readahead(2) has none: it means to have it.
        b"" => 3,
        b"NORMAL" => 0,
        _ => 255,
    }
}
