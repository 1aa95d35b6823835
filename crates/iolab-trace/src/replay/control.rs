//! Calls on open files that move nothing: flags, locks, looks at the file system.

use super::disk::NodeKind;
use super::left_out::Reason;
use super::locks::Held;
use super::state::{Judged, Opened, Sifter};
use super::step::{Act, Action, Step};
use crate::call::{Call, OpenFlags};
use crate::control::{Control, Lock};

/// Judges a call that came back without an error.
pub(super) fn judge(sifter: &mut Sifter<'_>, index: u32, call: &Call, opened: Opened) -> Judged {
    let control = Control::from_code(call.detail).ok_or(Reason::Kind)?;
    let is_file = sifter.disk.inode(opened.inode).kind == NodeKind::File;
    let step = |action| Step { slot: call.handle, ..Step::new(action, index) };
    let (offset, asked) = (call.offset, call.asked);
    let mut changes = false;
    let step = match control {
        Control::Look => step(Action::Look),
        Control::FileSystem => step(Action::FileSystem),
        _ if !is_file => return Err(Reason::Kind),
        Control::Flags(flags) => {
            Step { flags: set(sifter, call.handle, opened, flags)?, ..step(Action::Flags) }
        }
        Control::Holder => Step { offset, asked, ..step(Action::Holder) },
        Control::Range(lock) => {
            // Such locks are a process's, and a replay is one: they never wait for one another.
            let free = sifter.locks.of_process(opened.inode);
            locked(free && may_lock(lock, opened.flags))?;
            Step { offset, asked, flags: lock.number(), ..step(Action::LockRange) }
        }
        Control::OpenFile(lock) => {
            let range = Held::new(call.handle, lock, offset, asked);
            let may = may_lock(lock, opened.flags);
            locked(may && sifter.locks.of_open_file(opened.inode, range))?;
            changes = true;
            Step { offset, asked, flags: lock.number(), ..step(Action::LockOpenFile) }
        }
        Control::Whole(lock) => {
            locked(sifter.locks.of_whole(opened.inode, Held::new(call.handle, lock, 0, 0)))?;
            changes = true;
            Step { flags: lock.number(), ..step(Action::LockWhole) }
        }
    };
    sifter.acts.push(Act { inode: opened.inode, changes, ..Act::new(step, call.thread) });
    Ok(())
}

/// One that ended without closing its file has not given its lock back here.
fn locked(is_free: bool) -> Judged {
    if is_free { Ok(()) } else { Err(Reason::Unlike) }
}

/// A range of a file that is open for that.
fn may_lock(lock: Lock, flags: OpenFlags) -> bool {
    match lock {
        Lock::Shared => !flags.has(OpenFlags::WRONLY),
        Lock::Exclusive => flags.writes(),
        Lock::Nothing => true,
    }
}

/// The flags of a handle from now on. What was opened through the page cache stays so: whether the
/// file system could do otherwise is not known.
fn set(
    sifter: &mut Sifter<'_>,
    handle: u32,
    opened: Opened,
    flags: OpenFlags,
) -> Result<u32, Reason> {
    const SET: OpenFlags = OpenFlags::APPEND.with(OpenFlags::DIRECT).with(OpenFlags::NOATIME);
    if flags.has(OpenFlags::DIRECT) && !opened.was_direct {
        return Err(Reason::Kind);
    }
    if let Some(Some(opened)) = sifter.handles.get_mut(handle as usize) {
        opened.flags = opened.flags.without(SET).with(flags.among(SET));
    }
    Ok(flags.among(SET).0)
}
