//! Calls on open files that move nothing: flags, locks, looks at the file system.

use super::disk::NodeKind;
use super::left_out::Reason;
use super::state::{Judged, Locks, Opened, Sifter};
use super::step::{Act, Action, Step};
use crate::call::{Call, OpenFlags};
use crate::control::{Control, Lock};

/// Judges a call that came back without an error.
pub(super) fn judge(sifter: &mut Sifter<'_>, index: u32, call: &Call, opened: Opened) -> Judged {
    let control = Control::from_code(call.detail).ok_or(Reason::Kind)?;
    let is_file = sifter.disk.inode(opened.inode).kind == NodeKind::File;
    let step = |action| Step { slot: call.handle, ..Step::new(action, index) };
    let mut changes = false;
    let step = match control {
        Control::Look => step(Action::Look),
        Control::FileSystem => step(Action::FileSystem),
        _ if !is_file => return Err(Reason::Kind),
        Control::Flags(flags) => {
            Step { flags: set(sifter, call.handle, opened, flags)?, ..step(Action::Flags) }
        }
        Control::Range(lock) => {
            if !may_lock(lock, opened.flags) {
                return Err(Reason::Unlike);
            }
            let (offset, asked) = (call.offset, call.asked);
            Step { offset, asked, flags: lock.number(), ..step(Action::LockRange) }
        }
        Control::Whole(lock) => {
            if !lock_whole(sifter, call.handle, opened.inode, lock) {
                return Err(Reason::Unlike);
            }
            changes = true;
            Step { flags: lock.number(), ..step(Action::LockWhole) }
        }
    };
    sifter.acts.push(Act { inode: opened.inode, changes, ..Act::new(step, call.thread) });
    Ok(())
}

/// Gives back the lock of a handle that is closed; whether there was one.
pub(super) fn unlock(locks: &mut Locks, handle: u32, inode: u32) -> bool {
    let Some(holders) = locks.get_mut(&inode) else { return false };
    let before = holders.len();
    holders.retain(|(holder, _)| *holder != handle);
    holders.len() < before
}

/// A range of a file that is open for that. Such locks are a process's, and a replay is one: they never
/// wait for one another.
fn may_lock(lock: Lock, flags: OpenFlags) -> bool {
    match lock {
        Lock::Shared => !flags.has(OpenFlags::WRONLY),
        Lock::Exclusive => flags.writes(),
        Lock::Nothing => true,
    }
}

/// Whether nobody is in the way. One that ended without closing its file has not given it back here.
fn lock_whole(sifter: &mut Sifter<'_>, handle: u32, inode: u32, lock: Lock) -> bool {
    unlock(&mut sifter.locks, handle, inode);
    let holders = sifter.locks.entry(inode).or_default();
    let alone = lock == Lock::Exclusive;
    if lock != Lock::Nothing {
        if holders.iter().any(|(_, theirs)| *theirs || alone) {
            return false;
        }
        holders.push((handle, alone));
    }
    true
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
