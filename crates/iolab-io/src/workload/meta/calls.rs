//! The loops. Each makes its call on one file after another and nothing else; whether all went
//! well is looked at when the loop is done. `turn` is 1 where a call changes what is at rest and 0
//! where it changes it back, so that no call changes nothing.

use std::mem::MaybeUninit;

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, RawDir, XattrFlags, accessat, chmodat, chownat, getxattr,
    linkat, mkdirat, openat, readlinkat_raw, renameat, setxattr, statat, symlinkat, unlinkat,
    utimensat,
};
use rustix::io::Errno;

use super::call_schedule::CallSchedule;
use super::prepared_targets::{POINTS_TO, PreparedTargets};
use super::tree::{ATTRIBUTE, BYTES, MODES, VALUES, owners, times};
use crate::method::{Stop, Watch};
use crate::sys::{close, path};

/// Bytes of directory entries asked for at a time, as readdir(3) of glibc does.
const LISTING_BYTES: usize = 32 << 10;

/// What a loop did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Calls, or entries of directories.
    pub operations: u64,
    /// The sum of what the calls returned.
    sum: u64,
}

impl Done {
    /// Whether each call returned this much: a call that answers nothing is no call.
    fn returning(self, each: u64) -> Result<Done, Stop> {
        if self.sum == self.operations * each {
            return Ok(self);
        }
        let Done { operations, sum } = self;
        Err(Stop::new(format!("{operations} calls returned {sum} in all and not {each} each")))
    }
}

/// Calls `call` with the index of a file and the turn, row after row of `span.repeats`.
#[inline(always)]
fn each<W: Watch>(
    span: &CallSchedule,
    watch: &mut W,
    mut call: impl FnMut(usize, usize) -> Result<u64, Errno>,
) -> Result<Done, Stop> {
    let (files, first) = (span.files as usize, span.first as usize);
    let (mut index, mut left, mut sum) = (first, span.calls, 0);
    let mut turn = (span.before & 1) as usize ^ 1;
    let mut failed = None;
    let mut began = watch.begin();
    while left > 0 {
        let row = left.min(span.repeats);
        for at in 0..row {
            match call(index, turn ^ (at & 1) as usize) {
                Ok(returned) => sum += returned,
                Err(errno) => failed = failed.or(Some((index, errno))),
            }
            began = watch.turn(began);
        }
        left -= row;
        index += 1;
        if index == files {
            index = 0;
        }
        if index == first {
            turn ^= (span.repeats & 1) as usize;
        }
    }
    match failed {
        None => Ok(Done { operations: span.calls, sum }),
        Some((index, errno)) => Err(failure(index, errno)),
    }
}

fn failure(index: usize, errno: Errno) -> Stop {
    let stop = Stop::from(errno);
    Stop { cause: format!("file {index}: {}", stop.cause), ..stop }
}

/// For calls that return nothing.
fn nothing(result: Result<(), Errno>) -> Result<u64, Errno> {
    result.map(|()| 0)
}

const NO_FLAGS: AtFlags = AtFlags::empty();

pub(super) fn create<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(MODES[0]);
    each(span, watch, |i, _| {
        nothing(openat(&stage.work, &*stage.names[i], flags, mode).map(close::in_place))
    })
}

pub(super) fn open_close<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mode = Mode::empty();
    each(span, watch, |i, _| {
        nothing(openat(&stage.files, &*stage.names[i], flags, mode).map(close::in_place))
    })
}

pub(super) fn stat<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let call = |i: usize, _| Ok(statat(&stage.files, &*stage.names[i], NO_FLAGS)?.st_size as u64);
    each(span, watch, call)?.returning(stage.bytes)
}

pub(super) fn access<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    each(span, watch, |i, _| {
        nothing(accessat(&stage.files, &*stage.names[i], Access::READ_OK, NO_FLAGS))
    })
}

pub(super) fn chmod<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    each(span, watch, |i, turn| {
        let mode = Mode::from_raw_mode(MODES[turn]);
        nothing(chmodat(&stage.files, &*stage.names[i], mode, NO_FLAGS))
    })
}

pub(super) fn chown<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let owners = owners();
    each(span, watch, |i, turn| {
        nothing(chownat(&stage.files, &*stage.names[i], Some(owners[turn]), None, NO_FLAGS))
    })
}

pub(super) fn utimens<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let times = [times(0), times(1)];
    each(span, watch, |i, turn| {
        nothing(utimensat(&stage.files, &*stage.names[i], &times[turn], NO_FLAGS))
    })
}

pub(super) fn set_attribute<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    path::enter(&stage.files)?;
    each(span, watch, |i, turn| {
        nothing(setxattr(&*stage.names[i], ATTRIBUTE, VALUES[turn], XattrFlags::empty()))
    })
}

pub(super) fn get_attribute<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    path::enter(&stage.files)?;
    let mut value = [0_u8; 64];
    each(span, watch, |i, _| Ok(getxattr(&*stage.names[i], ATTRIBUTE, &mut value)? as u64))?
        .returning(VALUES[0].len() as u64)
}

pub(super) fn rename<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let (files, names, aliases) = (&stage.files, &stage.names, &stage.aliases);
    each(span, watch, |i, turn| {
        nothing(match turn {
            1 => renameat(files, &*names[i], files, &*aliases[i]),
            _ => renameat(files, &*aliases[i], files, &*names[i]),
        })
    })
}

pub(super) fn rename_across<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let (files, other, names) = (&stage.files, &stage.other, &stage.names);
    each(span, watch, |i, turn| {
        nothing(match turn {
            1 => renameat(files, &*names[i], other, &*names[i]),
            _ => renameat(other, &*names[i], files, &*names[i]),
        })
    })
}

pub(super) fn link<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let (files, work, names) = (&stage.files, &stage.work, &stage.names);
    each(span, watch, |i, _| nothing(linkat(files, &*names[i], work, &*names[i], NO_FLAGS)))
}

pub(super) fn symlink<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let target = std::ffi::CString::new(POINTS_TO).unwrap_or_default();
    each(span, watch, |i, _| nothing(symlinkat(&*target, &stage.work, &*stage.names[i])))
}

pub(super) fn readlink<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let mut target = [0_u8; 64];
    each(
        span,
        watch,
        |i, _| Ok(readlinkat_raw(&stage.work, &*stage.names[i], &mut target)? as u64),
    )?
    .returning(POINTS_TO.len() as u64)
}

pub(super) fn truncate<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    path::enter(&stage.files)?;
    // One byte more and one less: what the file holds is not lost.
    let sizes = [stage.bytes, stage.bytes + 1];
    each(span, watch, |i, turn| nothing(path::truncate(&stage.names[i], sizes[turn])))
}

pub(super) fn mkdir<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let mode = Mode::RWXU;
    each(span, watch, |i, _| nothing(mkdirat(&stage.work, &*stage.names[i], mode)))
}

pub(super) fn rmdir<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    each(span, watch, |i, _| nothing(unlinkat(&stage.work, &*stage.names[i], AtFlags::REMOVEDIR)))
}

pub(super) fn unlink<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    each(span, watch, |i, _| nothing(unlinkat(&stage.files, &*stage.names[i], NO_FLAGS)))
}

#[inline(always)]
fn write_first(stage: &PreparedTargets, index: usize, turn: usize) -> Result<u64, Errno> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(&stage.files, &*stage.names[index], flags, Mode::empty())?;
    let written = rustix::io::write(&file, &BYTES[turn..=turn])?;
    close::in_place(file);
    Ok(written as u64)
}

pub(super) fn first_write<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    each(span, watch, |i, turn| write_first(stage, i, turn))?.returning(1)
}

pub(super) fn chmod_write<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    let call = |i: usize, turn: usize| {
        let mode = Mode::from_raw_mode(MODES[turn]);
        chmodat(&stage.files, &*stage.names[i], mode, NO_FLAGS)?;
        write_first(stage, i, turn)
    };
    each(span, watch, call)?.returning(1)
}

pub(super) fn readdir<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    list(stage, span, watch, |_| Ok(()))
}

pub(super) fn readdir_stat<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
) -> Result<Done, Stop> {
    list(stage, span, watch, |name| statat(&stage.files, name, NO_FLAGS).map(|_| ()))
}

/// Lists the directory as often as it takes to see `span.calls` entries; `.` and `..` are none.
#[inline(always)]
fn list<W: Watch>(
    stage: &PreparedTargets,
    span: &CallSchedule,
    watch: &mut W,
    mut see: impl FnMut(&std::ffi::CStr) -> Result<(), Errno>,
) -> Result<Done, Stop> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut buffer = [MaybeUninit::uninit(); LISTING_BYTES];
    let (times, mut entries) = (span.calls.div_ceil(stage.entries), 0);
    let mut began = watch.begin();
    for _ in 0..times {
        let directory = openat(&stage.files, c".", flags, Mode::empty())?;
        let mut listing = RawDir::new(&directory, &mut buffer);
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                see(name)?;
                entries += 1;
                began = watch.turn(began);
            }
        }
        close::in_place(directory);
    }
    Done { operations: times * stage.entries, sum: entries }.returning(1)
}
