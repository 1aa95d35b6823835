//! Calls that name files: open, stat, rename and their kin.

use super::disk::{EEXIST, EINVAL, EISDIR, ENODATA, ENOENT, ENOTDIR, ENOTEMPTY, Inode, NodeKind};
use super::left_out::Reason;
use super::state::{Judged, Opened, Sifter};
use super::step::{Act, Action, Step};
use crate::call::{Call, CallKind, NONE, OpenFlags};
use crate::control::{ASKS_FOR_ATTRIBUTE, Control};

/// Whether a call is about a name and on no open file.
pub(super) fn is_by_name(call: &Call) -> bool {
    let by_either = matches!(
        call.kind,
        CallKind::ChangeMode | CallKind::ChangeOwner | CallKind::ChangeTimes | CallKind::Truncate
    );
    let looks = asks_in_vain(call)
        || call.kind == CallKind::Other && call.detail == Control::FileSystem.code();
    call.kind.is_by_name() || (by_either || looks) && call.handle == NONE
}

/// Whether an extended attribute is asked for that is not there. Of those that are there a trace does
/// not say enough.
pub(super) fn asks_in_vain(call: &Call) -> bool {
    let asks = call.kind == CallKind::Attribute && call.detail == ASKS_FOR_ATTRIBUTE;
    asks && call.result == -ENODATA
}

/// An opening. What it would do is done to the disk only where it comes out as recorded.
pub(super) fn open(sifter: &mut Sifter<'_>, index: u32, call: &Call, errno: Option<i64>) -> Judged {
    let name = sifter.name(call.file)?.to_vec();
    let flags = OpenFlags(call.detail);
    let step = Step {
        path: call.file,
        other: below(sifter, call, &name),
        slot: call.handle,
        flags: call.detail,
        ..Step::new(Action::Open, index)
    };
    if let Some(errno) = errno {
        let step = Step { slot: NONE, expected: -errno, ..step };
        return fail(sifter, call, &name, step, errno);
    }
    if flags.has(OpenFlags::TMPFILE) || call.handle == NONE {
        return Err(Reason::Kind);
    }
    let mut changes = flags.has(OpenFlags::TRUNC);
    let inode = match sifter.disk.find(&name) {
        Ok(inode) => {
            let kind = sifter.disk.inode(inode).kind;
            let as_directory = kind == NodeKind::Directory;
            let is_refused = flags.has(OpenFlags::CREAT) && flags.has(OpenFlags::EXCL)
                || kind == NodeKind::Link
                || as_directory && flags.writes()
                || !as_directory && flags.has(OpenFlags::DIRECTORY);
            if is_refused {
                return Err(Reason::Unlike);
            }
            inode
        }
        Err(ENOENT) if flags.has(OpenFlags::CREAT) => {
            changes = true;
            let inode = Inode::new(NodeKind::File, 0, call.file);
            sifter.disk.make(&name, inode).map_err(|_| Reason::Unlike)?
        }
        Err(_) => return Err(Reason::Unlike),
    };
    if flags.has(OpenFlags::TRUNC) {
        sifter.disk.resized(inode, 0);
    }
    let was_direct = flags.has(OpenFlags::DIRECT);
    let opened = Opened { inode, offset: 0, flags, was_direct, copies: 0 };
    *sifter.handles.get_mut(call.handle as usize).ok_or(Reason::Unopened)? = Some(opened);
    sifter.acts.push(Act { inode, changes, ..Act::new(step, call.thread) });
    Ok(())
}

/// The slot of the directory that the program gave the name below, where it is still the one that is
/// there under its name: six directories of a name cost a microsecond that such a program never paid.
fn below(sifter: &mut Sifter<'_>, call: &Call, name: &[u32]) -> u32 {
    if !call.kind.is_below() {
        return NONE;
    }
    let Some(handle) = sifter.trace.handles.get(call.other as usize) else { return NONE };
    let directory = sifter.name(handle.file).map(<[u32]>::to_vec);
    let Ok(directory) = directory else { return NONE };
    if !name.starts_with(&directory) {
        return NONE;
    }
    match (sifter.opened(call.other, None), sifter.disk.find(&directory)) {
        (Ok(opened), Ok(inode))
            if opened.inode == inode && sifter.disk.is(inode, NodeKind::Directory) =>
        {
            call.other
        }
        _ => NONE,
    }
}

/// Any other.
pub(super) fn judge(
    sifter: &mut Sifter<'_>,
    index: u32,
    call: &Call,
    errno: Option<i64>,
) -> Judged {
    let name = sifter.name(call.file)?.to_vec();
    let step = Step { path: call.file, ..Step::new(action(call.kind), index) };
    let step = match call.kind {
        CallKind::Rename | CallKind::Link => Step { other: call.other, ..step },
        CallKind::Truncate => Step { asked: call.asked, ..step },
        _ => Step { other: below(sifter, call, &name), ..step },
    };
    if let Some(errno) = errno {
        return fail(sifter, call, &name, Step { expected: -errno, ..step }, errno);
    }
    let disk = &mut sifter.disk;
    let inode = match call.kind {
        CallKind::MakeDirectory => disk.make(&name, Inode::new(NodeKind::Directory, 0, call.file)),
        CallKind::Symlink => disk.make(&name, Inode::new(NodeKind::Link, 0, call.file)),
        CallKind::Unlink => disk.unlink(&name),
        CallKind::RemoveDirectory => disk.remove_directory(&name),
        CallKind::Rename | CallKind::Link => {
            let to = sifter.name(call.other)?.to_vec();
            match call.kind {
                CallKind::Link => sifter.disk.link(&name, &to),
                _ => sifter.disk.rename(&name, &to, call.other),
            }
        }
        CallKind::ReadLink => match disk.find(&name) {
            Ok(inode) if disk.inode(inode).kind != NodeKind::Link => Err(EINVAL),
            other => other,
        },
        CallKind::Truncate => match disk.find(&name) {
            Ok(inode) if disk.inode(inode).kind == NodeKind::File => {
                disk.resized(inode, call.asked);
                Ok(inode)
            }
            _ => Err(EISDIR),
        },
        _ => disk.find(&name),
    };
    let inode = inode.map_err(|_| Reason::Unlike)?;
    let kind = sifter.disk.inode(inode).kind;
    let is_mode = call.kind == CallKind::ChangeMode;
    let follows = is_mode || call.kind == CallKind::Other;
    // Where a link leads is not kept.
    if follows && kind == NodeKind::Link {
        return Err(Reason::Unlike);
    }
    let is_directory = is_mode && kind == NodeKind::Directory;
    let step = Step { flags: u32::from(is_directory), ..step };
    let looks = matches!(call.kind, CallKind::Stat | CallKind::ReadLink | CallKind::Other);
    let changes = !looks;
    sifter.acts.push(Act { inode, changes, ..Act::new(step, call.thread) });
    Ok(())
}

fn action(kind: CallKind) -> Action {
    match kind {
        CallKind::Rename => Action::Rename,
        CallKind::Unlink => Action::Unlink,
        CallKind::MakeDirectory => Action::MakeDirectory,
        CallKind::RemoveDirectory => Action::RemoveDirectory,
        CallKind::Link => Action::Link,
        CallKind::Symlink => Action::Symlink,
        CallKind::ReadLink => Action::ReadLink,
        CallKind::ChangeMode => Action::ChangeMode,
        CallKind::ChangeOwner => Action::ChangeOwner,
        CallKind::ChangeTimes => Action::ChangeTimes,
        CallKind::Truncate => Action::Truncate,
        CallKind::Other => Action::FileSystem,
        CallKind::Attribute => Action::Attribute,
        _ => Action::Stat,
    }
}

/// A call that failed and fails here too, for the same reason.
fn fail(sifter: &mut Sifter<'_>, call: &Call, name: &[u32], step: Step, errno: i64) -> Judged {
    let known = [ENOENT, EEXIST, ENOTDIR, EISDIR, EINVAL, ENOTEMPTY, ENODATA];
    if !known.contains(&errno) {
        return Err(Reason::Error);
    }
    match fails_alike(sifter, call, name, errno) {
        true => {
            sifter.acts.push(Act::new(step, call.thread));
            Ok(())
        }
        false => Err(Reason::Unlike),
    }
}

fn fails_alike(sifter: &Sifter<'_>, call: &Call, name: &[u32], errno: i64) -> bool {
    let disk = &sifter.disk;
    let found = disk.find(name);
    let kind = found.ok().map(|inode| disk.inode(inode).kind);
    let flags = OpenFlags(call.detail);
    let opens = call.kind == CallKind::Open;
    match errno {
        ENOENT if opens && flags.has(OpenFlags::CREAT) => {
            name.len() > 1 && disk.find(&name[..name.len() - 1]) == Err(ENOENT)
        }
        ENOENT => found == Err(ENOENT),
        ENOTDIR => found == Err(ENOTDIR),
        EEXIST => match call.kind {
            CallKind::Open => {
                flags.has(OpenFlags::CREAT) && flags.has(OpenFlags::EXCL) && found.is_ok()
            }
            CallKind::MakeDirectory | CallKind::Symlink => found.is_ok(),
            _ => false,
        },
        EISDIR => {
            let refuses = call.kind == CallKind::Unlink || (opens && flags.writes());
            refuses && kind == Some(NodeKind::Directory)
        }
        EINVAL => {
            call.kind == CallKind::ReadLink && kind.is_some_and(|kind| kind != NodeKind::Link)
        }
        ENODATA => kind.is_some_and(|kind| kind != NodeKind::Link) && asks_in_vain(call),
        ENOTEMPTY => {
            let full = |inode| !disk.inode(inode).entries.is_empty();
            call.kind == CallKind::RemoveDirectory && found.is_ok_and(full)
        }
        _ => false,
    }
}
