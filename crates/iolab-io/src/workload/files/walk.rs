//! The walk through a tree of the person's. Nothing is opened but directories, no link is followed,
//! and no other file system is entered. Threads share what is still to be looked through.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{Access, AtFlags, Dir, FileType, Stat, accessat, fstat, statat};
use rustix::io::Errno;

use super::found::LeftOut;
use super::listing::{PATH_LIMIT, open_below, open_path};

/// One directory as it was found.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Names one after the other, each with its end.
    pub(super) names: Vec<u8>,
    /// Where the name of each file lies, and its size.
    pub(super) files: Vec<(u64, u64)>,
    /// Where the name of each directory lies, and which part it is.
    pub(super) directories: Vec<(u64, usize)>,
    /// What is left out.
    pub(super) left_out: LeftOut,
}

/// Every directory from the root, which is part 0, down; the others in no order.
pub(super) fn walk(root: &OwnedFd, threads: usize) -> Result<Vec<Part>, Errno> {
    let shared = Shared {
        root: root.as_fd(),
        device: fstat(root)?.st_dev,
        everything: rustix::process::geteuid().is_root(),
        queue: Mutex::default(),
        changed: Condvar::new(),
    };
    let opened = open_below(shared.root, c".")?;
    shared.lock().steps.push(Step { name: CString::default(), above: 0 });
    let all = std::thread::scope(|scope| {
        let (shared, helpers) = (&shared, 1..threads);
        // The root is looked through first: without directories in it nobody has to help.
        let mut own = vec![(0, shared.look(&opened, 0))];
        drop(opened);
        let alone = shared.lock().waiting.len() < 2;
        let helpers: Vec<_> = helpers
            .filter(|_| !alone)
            .filter_map(|_| {
                // Where no thread is to be had, those that there are do it.
                std::thread::Builder::new().spawn_scoped(scope, || shared.work()).ok()
            })
            .collect();
        own.extend(shared.work());
        for helper in helpers {
            own.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        own
    });
    let mut parts = vec![Part::default(); shared.lock().steps.len()];
    for (number, part) in all {
        parts[number] = part;
    }
    Ok(parts)
}

/// A directory's name, and the part of the directory that it lies in. The root has neither.
struct Step {
    name: CString,
    above: usize,
}

#[derive(Default)]
struct Queue {
    /// Every directory that was found, by its part.
    steps: Vec<Step>,
    /// Those that are to be looked through.
    waiting: Vec<usize>,
    /// Directories that somebody looks through: more may come of them.
    busy: usize,
}

struct Shared<'a> {
    root: BorrowedFd<'a>,
    device: u64,
    /// The superuser may read whatever the mode says.
    everything: bool,
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Queue {
    /// The way from the root to a directory, in pieces that are short enough for a path.
    fn pieces(&self, part: usize) -> Vec<Vec<u8>> {
        let mut chain = Vec::new();
        let mut at = part;
        while at != 0 {
            chain.push(self.steps[at].name.as_bytes());
            at = self.steps[at].above;
        }
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        for name in chain.into_iter().rev() {
            match pieces.last_mut().filter(|piece| piece.len() + name.len() + 1 < PATH_LIMIT) {
                Some(piece) => piece.extend_from_slice(name),
                None => pieces.push(name.to_vec()),
            }
            pieces.last_mut().into_iter().for_each(|piece| piece.push(b'/'));
        }
        pieces
    }
}

impl Shared<'_> {
    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks through directories until there are none and none can come.
    fn work(&self) -> Vec<(usize, Part)> {
        let mut done = Vec::new();
        while let Some(waiting) = self.next() {
            let part = match self.open(waiting) {
                Ok(opened) => self.look(&opened, waiting),
                Err(_) => Part {
                    left_out: LeftOut { unreadable: 1, ..LeftOut::default() },
                    ..Part::default()
                },
            };
            done.push((waiting, part));
            let mut queue = self.lock();
            queue.busy -= 1;
            if queue.busy == 0 {
                self.changed.notify_all();
            }
        }
        done
    }

    fn next(&self) -> Option<usize> {
        let mut queue = self.lock();
        loop {
            if let Some(waiting) = queue.waiting.pop() {
                queue.busy += 1;
                return Some(waiting);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens a directory without ever leaving the tree.
    fn open(&self, part: usize) -> Result<OwnedFd, Errno> {
        let pieces = self.lock().pieces(part);
        let mut opened = None;
        for mut piece in pieces {
            let from = opened.as_ref().map_or(self.root, AsFd::as_fd);
            opened = Some(open_path(from, &mut piece)?);
        }
        opened.map_or_else(|| open_below(self.root, c"."), Ok)
    }

    fn look(&self, directory: &OwnedFd, at: usize) -> Part {
        let mut part = Part::default();
        // What cannot be read of a directory is left out like a directory.
        if self.entries(directory, at, &mut part).is_err() {
            part.left_out.unreadable += 1;
        }
        part
    }

    fn entries(&self, directory: &OwnedFd, at: usize, part: &mut Part) -> Result<(), Errno> {
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." && !is_scratch(name) {
                self.entry(directory, at, name, part);
            }
        }
        Ok(())
    }

    fn entry(&self, directory: &OwnedFd, at: usize, name: &CStr, part: &mut Part) {
        let Ok(about) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
            // It vanished, or the directory may be read but not searched.
            part.left_out.unreadable += 1;
            return;
        };
        let readable = || {
            self.everything || accessat(directory, name, Access::READ_OK, AtFlags::EACCESS).is_ok()
        };
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile if !readable() => part.left_out.unreadable += 1,
            FileType::RegularFile => part.file(name, &about),
            FileType::Directory if about.st_dev != self.device => part.left_out.mounts += 1,
            FileType::Directory => {
                let found = self.add(Step { name: name.to_owned(), above: at });
                let name = part.keep(name);
                part.directories.push((name, found));
            }
            FileType::Symlink => part.left_out.links += 1,
            FileType::Fifo => part.left_out.fifos += 1,
            FileType::Socket => part.left_out.sockets += 1,
            _ => part.left_out.devices += 1,
        }
    }

    /// One more directory to look through; the number of its part.
    fn add(&self, step: Step) -> usize {
        let mut queue = self.lock();
        let part = queue.steps.len();
        queue.steps.push(step);
        queue.waiting.push(part);
        drop(queue);
        self.changed.notify_one();
        part
    }
}

impl Part {
    fn keep(&mut self, name: &CStr) -> u64 {
        let at = self.names.len() as u64;
        self.names.extend_from_slice(name.to_bytes_with_nul());
        at
    }

    fn file(&mut self, name: &CStr, about: &Stat) {
        self.left_out.hard_links += u64::from(about.st_nlink > 1);
        let name = self.keep(name);
        self.files.push((name, about.st_size as u64));
    }
}

/// A scratch directory of iolab's own: `.iolab-` and 16 hexadecimal digits.
fn is_scratch(name: &CStr) -> bool {
    let digits = name.to_bytes().strip_prefix(b".iolab-");
    digits.is_some_and(|rest| rest.len() == 16 && rest.iter().all(u8::is_ascii_hexdigit))
}
