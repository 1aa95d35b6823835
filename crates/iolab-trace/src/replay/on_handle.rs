//! Calls on open files: read, write, lseek, fsync and their kin.

use super::control;
use super::disk::NodeKind;
use super::left_out::Reason;
use super::state::{Judged, Opened, Sifter};
use super::step::{Act, Action, Step, map_is_written};
use crate::call::{Call, CallKind, NONE, OpenFlags};

/// What lseek is asked for with: where a hole or data begins depends on the file system.
const FIRST_OF_HOLES: u32 = 3;
/// No read asks for more than this beyond what it brings.
const MOST_ASKED_BEYOND: u64 = 1 << 20;
/// No call moves more (MAX_RW_COUNT).
const MOST_MOVED: u64 = 0x7fff_f000;

/// Judges a call that came back without an error.
pub(super) fn judge(sifter: &mut Sifter<'_>, index: u32, call: &Call) -> Judged {
    if call.moved_bytes() > MOST_MOVED {
        return Err(Reason::Unlike);
    }
    let at = (call.kind.moves_bytes()).then_some(call.offset);
    let opened = sifter.opened(call.handle, at)?;
    let is_file = sifter.disk.inode(opened.inode).kind == NodeKind::File;
    let on = On { index, call, opened };
    match call.kind {
        CallKind::Close => on.close(sifter),
        CallKind::Other => control::judge(sifter, index, call, opened),
        CallKind::Duplicate => {
            on.edit(sifter, |opened| opened.copies += 1);
            on.plain(sifter, Action::Duplicate)
        }
        CallKind::Attribute => {
            on.put(sifter, Step { expected: call.result, ..on.step(Action::Attribute) })
        }
        CallKind::StatHandle => on.plain(sifter, Action::StatHandle),
        CallKind::ChangeMode => {
            let flags = u32::from(!is_file);
            on.put(sifter, Step { flags, ..on.step(Action::ChangeMode) })
        }
        CallKind::ChangeOwner => on.plain(sifter, Action::ChangeOwner),
        CallKind::ChangeTimes => on.plain(sifter, Action::ChangeTimes),
        CallKind::Sync => on.changing(sifter, on.step(Action::Sync)),
        CallKind::DataSync => on.changing(sifter, on.step(Action::DataSync)),
        CallKind::List if !is_file => on.list(sifter),
        CallKind::Seek => on.seek(sifter),
        _ if !is_file => Err(Reason::Kind),
        CallKind::Read | CallKind::ReadAt => on.read(sifter),
        CallKind::Write | CallKind::WriteAt => on.write(sifter),
        CallKind::Truncate => {
            sifter.disk.resized(opened.inode, call.asked);
            on.changing(sifter, Step { asked: call.asked, ..on.step(Action::Truncate) })
        }
        CallKind::Allocate => on.allocate(sifter),
        CallKind::Advise => on.put(
            sifter,
            Step {
                asked: call.asked,
                offset: call.offset,
                flags: call.detail,
                ..on.step(Action::Advise)
            },
        ),
        CallKind::Map => on.map(sifter),
        CallKind::CopyRange | CallKind::SendFile => on.copy(sifter),
        CallKind::Clone => on.clone_of(sifter),
        _ => Err(Reason::Kind),
    }
}

struct On<'c> {
    index: u32,
    call: &'c Call,
    opened: Opened,
}

impl On<'_> {
    fn step(&self, action: Action) -> Step {
        Step { slot: self.call.handle, ..Step::new(action, self.index) }
    }

    fn put(&self, sifter: &mut Sifter<'_>, step: Step) -> Judged {
        let inode = self.opened.inode;
        sifter.acts.push(Act { inode, ..Act::new(step, self.call.thread) });
        Ok(())
    }

    fn plain(&self, sifter: &mut Sifter<'_>, action: Action) -> Judged {
        self.put(sifter, self.step(action))
    }

    fn changing(&self, sifter: &mut Sifter<'_>, step: Step) -> Judged {
        let inode = self.opened.inode;
        sifter.acts.push(Act { inode, changes: true, ..Act::new(step, self.call.thread) });
        Ok(())
    }

    fn edit(&self, sifter: &mut Sifter<'_>, change: impl FnOnce(&mut Opened)) {
        edit(sifter, self.call.handle, change);
    }

    fn moved(&self) -> u64 {
        u64::try_from(self.call.result).unwrap_or(0)
    }

    fn close(&self, sifter: &mut Sifter<'_>) -> Judged {
        if self.call.detail == 1 {
            // Who locks it next must come after.
            match sifter.locks.release(self.call.handle, self.opened.inode) {
                true => self.changing(sifter, self.step(Action::Close))?,
                false => self.plain(sifter, Action::Close)?,
            }
            sifter.handles[self.call.handle as usize] = None;
            return Ok(());
        }
        // The copy was closed where it was made.
        match self.opened.copies {
            0 => Err(Reason::Kind),
            _ => {
                self.edit(sifter, |opened| opened.copies -= 1);
                Ok(())
            }
        }
    }

    fn list(&self, sifter: &mut Sifter<'_>) -> Judged {
        let names = sifter.listing.entry(self.call.handle).or_default();
        *names = names.saturating_add(u64::from(self.call.detail));
        let (names, inode) = (*names, self.opened.inode);
        let most = sifter.listed.entry(inode).or_default();
        *most = names.max(*most);
        self.put(sifter, Step { asked: self.call.asked, ..self.step(Action::List) })
    }

    fn seek(&self, sifter: &mut Sifter<'_>) -> Judged {
        if self.call.detail >= FIRST_OF_HOLES {
            return Err(Reason::Kind);
        }
        if sifter.disk.inode(self.opened.inode).kind != NodeKind::File {
            sifter.listing.remove(&self.call.handle);
        }
        let offset = self.call.offset;
        self.edit(sifter, |opened| opened.offset = offset);
        self.put(sifter, Step { offset, ..self.step(Action::Seek) })
    }

    /// Brings the offset to where it was recorded: what moved it has been left out.
    fn go_to(&self, sifter: &mut Sifter<'_>) -> Judged {
        let offset = self.call.offset;
        if self.opened.offset != offset {
            self.put(sifter, Step { offset, ..self.step(Action::Seek) })?;
        }
        Ok(())
    }

    fn read(&self, sifter: &mut Sifter<'_>) -> Judged {
        let (call, moved) = (self.call, self.moved());
        let left = sifter.disk.inode(self.opened.inode).size.saturating_sub(call.offset);
        // A read that brought less than there is was cut short by something: it asks for that much.
        let asked = match moved < left.min(call.asked) {
            true => moved,
            false => call.asked.min(moved.max(MOST_ASKED_BEYOND)),
        };
        if moved > left || (moved == 0 && left > 0 && call.asked > 0) || moved > asked {
            return Err(Reason::Unlike);
        }
        let here = call.kind == CallKind::Read;
        if here {
            self.go_to(sifter)?;
            self.edit(sifter, |opened| opened.offset = call.offset.saturating_add(moved));
        }
        let action = if here { Action::Read } else { Action::ReadAt };
        self.put(sifter, self.moving(action, asked, moved))
    }

    fn moving(&self, action: Action, asked: u64, moved: u64) -> Step {
        Step {
            asked,
            offset: self.call.offset,
            expected: moved as i64,
            parts: u16::try_from(self.call.detail.max(1)).unwrap_or(u16::MAX),
            ..self.step(action)
        }
    }

    fn write(&self, sifter: &mut Sifter<'_>) -> Judged {
        let (call, moved) = (self.call, self.moved());
        let here = call.kind == CallKind::Write;
        let end = call.offset.saturating_add(moved);
        let appends = self.opened.flags.has(OpenFlags::APPEND);
        if appends && call.offset != sifter.disk.inode(self.opened.inode).size {
            return Err(Reason::Unlike);
        }
        if here {
            if !appends {
                self.go_to(sifter)?;
            }
            self.edit(sifter, |opened| opened.offset = end);
        }
        mark_written(sifter, call.handle);
        let grows = sifter.disk.written(self.opened.inode, call.offset, end);
        let action = if here { Action::Write } else { Action::WriteAt };
        let step = self.moving(action, moved, moved);
        if grows { self.changing(sifter, step) } else { self.put(sifter, step) }
    }

    fn allocate(&self, sifter: &mut Sifter<'_>) -> Judged {
        let (offset, asked, flags) = (self.call.offset, self.call.asked, self.call.detail);
        mark_written(sifter, self.call.handle);
        if flags == 0 {
            let end = offset.saturating_add(asked);
            let has_holes = sifter.disk.inode(self.opened.inode).has_holes;
            sifter.disk.written(self.opened.inode, offset, end);
            sifter.disk.inode_mut(self.opened.inode).has_holes |= has_holes || end > 0;
        }
        self.changing(sifter, Step { offset, asked, flags, ..self.step(Action::Allocate) })
    }

    /// No more of it than the file has: what lies beyond cannot be touched.
    fn map(&self, sifter: &mut Sifter<'_>) -> Judged {
        let (offset, flags) = (self.call.offset, self.call.detail);
        let left = sifter.disk.inode(self.opened.inode).size.saturating_sub(offset);
        let asked = self.call.asked.min(left);
        if asked == 0 {
            return Err(Reason::Unlike);
        }
        if map_is_written(flags) {
            mark_written(sifter, self.call.handle);
        }
        self.put(sifter, Step { offset, asked, flags, ..self.step(Action::Map) })
    }

    fn copy(&self, sifter: &mut Sifter<'_>) -> Judged {
        let (call, moved) = (self.call, self.moved());
        let to = sifter.opened(call.other, None)?;
        let left = sifter.disk.inode(self.opened.inode).size.saturating_sub(call.offset);
        let is_file = sifter.disk.inode(to.inode).kind == NodeKind::File;
        if moved > left || !is_file || (moved == 0 && left > 0) || to.inode == self.opened.inode {
            return Err(Reason::Unlike);
        }
        self.go_to(sifter)?;
        self.edit(sifter, |opened| opened.offset = call.offset.saturating_add(moved));
        let end = to.offset.saturating_add(moved);
        mark_written(sifter, call.other);
        sifter.disk.written(to.inode, to.offset, end);
        edit(sifter, call.other, |opened| opened.offset = end);
        let sends = call.kind == CallKind::SendFile;
        let action = if sends { Action::SendFile } else { Action::CopyRange };
        let asked = if moved < left.min(call.asked) { moved } else { call.asked };
        let step = Step { other: call.other, ..self.moving(action, asked, moved) };
        let (inode, to_inode) = (self.opened.inode, to.inode);
        sifter.acts.push(Act {
            inode,
            to_inode,
            ..Act::new(Step { parts: 1, ..step }, call.thread)
        });
        Ok(())
    }

    fn clone_of(&self, sifter: &mut Sifter<'_>) -> Judged {
        let to = sifter.opened(self.call.other, None)?;
        let step = Step { other: self.call.other, ..self.step(Action::Clone) };
        mark_written(sifter, self.call.other);
        if self.call.result < 0 {
            return self.put(sifter, Step { expected: self.call.result, ..step });
        }
        let size = sifter.disk.inode(self.opened.inode).size;
        sifter.disk.resized(to.inode, size);
        sifter.disk.inode_mut(to.inode).has_holes = false;
        let (inode, to_inode) = (self.opened.inode, to.inode);
        sifter.acts.push(Act { inode, to_inode, ..Act::new(step, self.call.thread) });
        Ok(())
    }
}

fn edit(sifter: &mut Sifter<'_>, handle: u32, change: impl FnOnce(&mut Opened)) {
    if handle != NONE
        && let Some(Some(opened)) = sifter.handles.get_mut(handle as usize)
    {
        change(opened);
    }
}

/// A file that was inherited is opened for writing where it is written to.
fn mark_written(sifter: &mut Sifter<'_>, handle: u32) {
    let is_inherited = sifter.trace.handles.get(handle as usize).is_some_and(|one| !one.opened);
    if is_inherited && let Some(one) = sifter.inherited.iter_mut().find(|one| one.slot == handle) {
        one.writes = true;
    }
}
