//! Tasks that move bytes: read, write, copy; and those that move none: create, stat, remove.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fsync, openat, statat, unlinkat};
use rustix::io::{Errno, read};

use super::build::write_all;
use super::listing::File;
use super::settings::Settings;
use super::step_timer::{Step, StepTimer};
use super::task::{Gone, Task, TreeCursor};
use crate::method::Buffer;
use crate::method::copy::WholeFile;
use crate::sys::close;
use crate::sys::fold::{Xor32, xor32};
use iolab_model::tree::Content;

/// Opens a file for reading. A link, or a FIFO that has taken its place, is neither followed nor
/// waited for; with `O_NOATIME` in `quiet` the access time stays where that is permitted (open(2)).
#[inline(always)]
fn open_for_reading(
    site: &TreeCursor<'_>,
    file: &File<'_>,
    quiet: &mut OFlags,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match openat(site.directory()?, file.name, flags | *quiet, Mode::empty()) {
        Err(Errno::PERM) if !quiet.is_empty() => {
            *quiet = OFlags::empty();
            openat(site.directory()?, file.name, flags, Mode::empty())
        }
        other => other,
    }
}

#[inline(always)]
fn open_new(site: &TreeCursor<'_>, file: &File<'_>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    openat(site.directory()?, file.name, flags, Mode::RUSR | Mode::WUSR)
}

#[inline(always)]
fn made_durable<L: StepTimer>(file: &OwnedFd, each: bool, laps: &mut L) -> Result<(), Errno> {
    if each {
        fsync(file)?;
        laps.lap(Step::Sync);
    }
    Ok(())
}

/// Opens, reads to the end, closes.
pub(super) struct Read<'a> {
    site: TreeCursor<'a>,
    buffer: Buffer,
    quiet: OFlags,
    /// Folds the bytes of a block; absent: they are not looked at.
    fold: Option<Xor32>,
    /// The XOR of each file's words, in the order of reading, of the pass under way.
    pub(super) seen: Vec<(u64, u32)>,
}

impl<'a> Read<'a> {
    /// `files`: how many it will read in a pass.
    pub(super) fn new(settings: &'a Settings<'a>, buffer: Buffer, files: u64) -> Read<'a> {
        let Settings { touches, quiet, .. } = *settings;
        let mut seen = Vec::new();
        if touches {
            // Written once, so that no page fault of the table's own is timed.
            seen.resize(files as usize, (u64::MAX, 0));
            seen.clear();
        }
        Read { site: settings.standing(), buffer, quiet, fold: touches.then(xor32), seen }
    }
}

impl Task for Read<'_> {
    const SIZES: bool = false;

    fn each_site(&mut self, act: impl Fn(&mut TreeCursor<'_>) -> Gone) -> Gone {
        act(&mut self.site)
    }

    #[inline(always)]
    fn file<L: StepTimer>(&mut self, file: &File<'_>, laps: &mut L) -> Result<u64, Errno> {
        laps.begin();
        let opened = open_for_reading(&self.site, file, &mut self.quiet)?;
        laps.lap(Step::Open);
        let buffer = self.buffer.as_mut();
        let (mut at, mut word) = (0_u64, 0);
        loop {
            let count = match read(&opened, &mut *buffer) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            if let Some(fold) = self.fold {
                word ^= fold(&buffer[..count]).rotate_left(8 * (at % 4) as u32);
            }
            at += count as u64;
            // A regular file gives less than it is asked for at its end alone.
            if count < buffer.len() {
                break;
            }
        }
        laps.lap(Step::Transfer);
        close::in_place(opened);
        laps.lap(Step::Close);
        if self.fold.is_some() {
            if self.seen.len() == self.seen.capacity() {
                // The next pass over the same files.
                self.seen.clear();
            }
            self.seen.push((file.number, word));
        }
        Ok(at)
    }
}

/// Creates, writes, closes; of no bytes it is *create*.
pub(super) struct Write<'a> {
    pub(super) site: TreeCursor<'a>,
    pub(super) content: Content,
    pub(super) block: u64,
    pub(super) each: bool,
    /// Whatever sizes the tree has, no byte is written.
    pub(super) empty: bool,
}

impl Task for Write<'_> {
    const SIZES: bool = true;

    fn each_site(&mut self, act: impl Fn(&mut TreeCursor<'_>) -> Gone) -> Gone {
        act(&mut self.site)
    }

    #[inline(always)]
    fn file<L: StepTimer>(&mut self, file: &File<'_>, laps: &mut L) -> Result<u64, Errno> {
        laps.begin();
        let made = open_new(&self.site, file)?;
        laps.lap(Step::Open);
        let size = if self.empty { 0 } else { file.size };
        if size > 0 {
            write_all(&made, file.number, size, &mut self.content, self.block)?;
            laps.lap(Step::Transfer);
        }
        made_durable(&made, self.each, laps)?;
        close::in_place(made);
        laps.lap(Step::Close);
        Ok(size)
    }
}

/// Opens one, creates the other, moves the bytes, closes both.
pub(super) struct Copy<'a> {
    pub(super) from: TreeCursor<'a>,
    pub(super) to: TreeCursor<'a>,
    pub(super) way: Box<dyn WholeFile>,
    pub(super) each: bool,
    pub(super) quiet: OFlags,
}

impl Task for Copy<'_> {
    const SIZES: bool = true;

    fn each_site(&mut self, act: impl Fn(&mut TreeCursor<'_>) -> Gone) -> Gone {
        act(&mut self.from)?;
        act(&mut self.to)
    }

    #[inline(always)]
    fn file<L: StepTimer>(&mut self, file: &File<'_>, laps: &mut L) -> Result<u64, Errno> {
        laps.begin();
        let from = open_for_reading(&self.from, file, &mut self.quiet)?;
        let to = open_new(&self.to, file)?;
        laps.lap(Step::Open);
        let bytes = self.way.all(&from, &to, file.size)?;
        laps.lap(Step::Transfer);
        made_durable(&to, self.each, laps)?;
        close::in_place(from);
        close::in_place(to);
        laps.lap(Step::Close);
        Ok(bytes)
    }
}

/// `fstatat`.
pub(super) struct FileStat<'a> {
    pub(super) site: TreeCursor<'a>,
    /// Sum of the sizes that were seen.
    pub(super) bytes: u64,
}

impl Task for FileStat<'_> {
    const SIZES: bool = false;

    fn each_site(&mut self, act: impl Fn(&mut TreeCursor<'_>) -> Gone) -> Gone {
        act(&mut self.site)
    }

    #[inline(always)]
    fn file<L: StepTimer>(&mut self, file: &File<'_>, laps: &mut L) -> Result<u64, Errno> {
        laps.begin();
        let about = statat(self.site.directory()?, file.name, AtFlags::SYMLINK_NOFOLLOW)?;
        laps.lap(Step::Call);
        if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(Errno::STALE);
        }
        self.bytes = self.bytes.wrapping_add(about.st_size as u64);
        Ok(0)
    }
}

/// `unlinkat`.
pub(super) struct Remove<'a> {
    pub(super) site: TreeCursor<'a>,
}

impl Task for Remove<'_> {
    const SIZES: bool = false;

    fn each_site(&mut self, act: impl Fn(&mut TreeCursor<'_>) -> Gone) -> Gone {
        act(&mut self.site)
    }

    #[inline(always)]
    fn file<L: StepTimer>(&mut self, file: &File<'_>, laps: &mut L) -> Result<u64, Errno> {
        laps.begin();
        unlinkat(self.site.directory()?.as_fd(), file.name, AtFlags::empty())?;
        laps.lap(Step::Call);
        Ok(0)
    }
}
