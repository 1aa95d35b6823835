//! A finished call, applied to what is known: it becomes a [`Call`] with its offset.

use super::applied::{Applied, Effect, Maker};
use super::errors::errno;
use super::known::{Shape, shape};
use super::named::NamedCall;
use super::state::State;
use super::words::{self, Descriptor, Words};
use crate::call::{Call, CallKind, NONE, UNKNOWN_RESULT};
use crate::error::TraceError;

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
        Shape::Device if is_reflink(&applied) => {
            applied.between(CallKind::Clone, (2, 0), None, usize::MAX)?
        }
        Shape::Close
        | Shape::CloseRange
        | Shape::Duplicate
        | Shape::Control
        | Shape::Lock
        | Shape::FileSystem
        | Shape::Device => applied.descriptors(shape)?,
        Shape::Transfer(known) => applied.transfer(known)?,
        Shape::Seek => applied.seek()?,
        Shape::Map => applied.map()?,
        Shape::OnMap { kind } => applied.on_map(kind),
        Shape::OnHandle(known) => applied.on_handle(known)?,
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

/// `= 5`, `= 3</f>`, `= -1 ENOENT (…)`, `= -1 (errno 2)` where it is raw, `= 0x7f…`, `= ?`.
pub(super) fn result(came_back: &[u8]) -> i64 {
    let mut parts = came_back.split(|byte| *byte == b' ');
    let first = parts.next().unwrap_or_default();
    if first == b"-1" {
        let name = parts.next().unwrap_or_default();
        let number = parts.next().filter(|_| name == b"(errno");
        let number = number.and_then(|number| words::count(number.strip_suffix(b")")?));
        return match number.and_then(|number| i64::try_from(number).ok()) {
            Some(number) => -number,
            None => -i64::from(errno(name)),
        };
    }
    match words::descriptor(came_back).or_else(|| words::descriptor(first)) {
        Some(Descriptor { number, .. }) if number >= 0 => number,
        // An address beyond half of all is a success, too.
        _ if words::count(first).is_some() => 0,
        _ => UNKNOWN_RESULT,
    }
}

/// FICLONE makes one file hold what another does, or the file system has no such thing.
fn is_reflink(applied: &Applied<'_>) -> bool {
    let is_refused = applied.call.result == -i64::from(errno(b"EOPNOTSUPP"));
    applied.argument(1).ends_with(b"FICLONE") && (applied.succeeded() || is_refused)
}

impl Applied<'_> {
    pub(super) fn fork(&mut self) -> bool {
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
