//! From levels to a job, and the file around it: made before the trial, removed after it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};

use crate::method::sync::fsync;
use crate::method::{self, Layout, Pool, Stop, WriteEntry, WriteJob};
use crate::sys::direct::alignment_in;
use iolab_model::catalog::{Factor, Fill, Pattern, Sync, Target, Until, is_shared, path_to_text};
use iolab_model::result::Fault;

use super::super::portion::Portion;
use super::super::{Extent, Subject, Trial};

/// Threads of one trial, at most.
const MOST_THREADS: u64 = 4096;
/// Requests under way of one thread, at most.
const MOST_DEPTH: u32 = 4096;
/// What a file holds before it is appended to.
const HEAD_BYTES: u64 = 1 << 20;

/// A trial's levels as numbers.
pub struct Task {
    pub entry: &'static WriteEntry,
    pub layout: Layout,
    pub sync: Sync,
    pub target: Target,
    /// The file that is written.
    pub path: PathBuf,
    /// Its size when all is written, by all ranks where they share it.
    pub end_bytes: u64,
    /// The end of what is written here; of a file of its own, the same.
    pub own_end_bytes: u64,
    /// Where in the file the layout begins.
    pub base_bytes: u64,
    /// Whether others write other parts of it.
    pub shared: bool,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    depth: u32,
    latency: bool,
    fill: Fill,
    until: Until,
    step_bytes: u64,
    file_bytes: u64,
    seed: u64,
}

impl Task {
    /// The plan has checked what people write; here nothing is taken on trust.
    pub fn new(trial: &Trial<'_>) -> Result<Task, Fault> {
        let levels = trial.levels;
        if let Some(why) = super::impossible(levels) {
            return Err(refuse(why));
        }
        let id = levels.text(Factor::Method).unwrap_or("write");
        let entry = method::find(id)
            .and_then(|method| method.write.as_ref())
            .ok_or_else(|| refuse(format!("no method {id:?} can write; `iolab list methods`")))?;
        let pattern = levels.word_or(Pattern::Sequential).map_err(refuse)?;
        let target = levels.word_or(Target::New).map_err(refuse)?;
        let threads = levels.number(Factor::Threads).unwrap_or(1);
        let step_bytes =
            (entry.step_bytes)(levels.number(Factor::Block).unwrap_or(64 << 10), pattern);
        if threads == 0 || threads > MOST_THREADS || step_bytes == 0 {
            return Err(refuse(format!("{threads} threads with blocks of {step_bytes} bytes")));
        }
        let direct = levels.is_on(Factor::Direct);
        let depth = levels.number(Factor::QueueDepth).unwrap_or(1);
        let depth = u32::try_from(depth).ok().filter(|depth| (1..=MOST_DEPTH).contains(depth));
        let subject = trial.subject.ok_or_else(|| refuse("it names no file"))?;
        let path = path_of(trial, &subject, target);
        if let Some(unit) = direct.then(|| alignment_in(trial.scratch)?.block_bytes()).flatten()
            && !step_bytes.is_multiple_of(unit)
        {
            return Err(refuse(format!(
                "direct I/O moves multiples of {unit} bytes here, and {step_bytes} is none; take \
                 such a --block"
            )));
        }
        let portion = Portion::of(levels, &subject);
        let layout = Portion::layout_of(portion, &subject, (step_bytes, threads), pattern);
        let layout = cut(layout, trial.extent, target).map_err(refuse)?;
        let base_bytes = if target == Target::Append { HEAD_BYTES } else { 0 };
        let file_bytes = portion.map_or(subject.bytes, |portion| portion.bytes);
        let own_end_bytes = end_bytes(&layout, target, file_bytes) + base_bytes;
        Ok(Task {
            entry,
            sync: levels.word_or(Sync::None).map_err(refuse)?,
            fill: levels.word_or(Fill::Random).map_err(refuse)?,
            until: levels.word_or(Until::Durable).map_err(refuse)?,
            path,
            end_bytes: match portion {
                None => own_end_bytes,
                Some(_) if target == Target::Overwrite => subject.bytes,
                Some(portion) => portion.bytes,
            },
            own_end_bytes,
            shared: portion.is_some(),
            file_bytes,
            seed: subject.seed,
            base_bytes,
            direct,
            depth: depth.ok_or_else(|| refuse(format!("a queue depth is 1 to {MOST_DEPTH}")))?,
            latency: levels.is_on(Factor::Latency),
            target,
            layout,
            step_bytes,
        })
    }

    /// What is written.
    pub fn pool(&self) -> Result<Pool, Fault> {
        Pool::new(self.fill, self.seed, self.step_bytes, self.file_bytes)
            .map_err(|stop| self.fault(stop))
    }

    /// The job for the method.
    pub fn job<'a>(&'a self, pool: &'a Pool) -> WriteJob<'a> {
        WriteJob {
            path: &self.path,
            layout: self.layout.clone(),
            pool,
            sync: self.sync,
            target: self.target,
            direct: self.direct,
            depth: self.depth,
            latency: self.latency,
            end_bytes: self.end_bytes,
            until: self.until,
        }
    }

    /// Makes the file that is to be new, in the process that writes it.
    pub fn create(&self) -> Result<(), Fault> {
        match self.target {
            Target::New if !self.shared => self.make().map(drop),
            _ => Ok(()),
        }
    }

    fn make(&self) -> Result<File, Fault> {
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create_new(true).mode(0o600).open(&self.path);
        made.map_err(|error| self.failed("make", &error))
    }

    pub fn failed(&self, doing: &str, error: &io::Error) -> Fault {
        failed(&self.path, doing, error)
    }

    pub fn fault(&self, stop: Stop) -> Fault {
        method::write_fault(&self.path, stop)
    }
}

fn failed(path: &Path, doing: &str, error: &io::Error) -> Fault {
    let stop = Stop { cause: error.to_string(), errno: error.raw_os_error() };
    let fault = method::write_fault(path, stop);
    Fault { doing: format!("{doing} {}", path_to_text(path)), ..fault }
}

/// What one trial writes. A file that grows from its beginning is written from there in every
/// trial: going on where the last one stopped would leave a hole that nobody asked for.
fn cut(layout: Layout, extent: Extent, target: Target) -> Result<Layout, String> {
    let grows = matches!(target, Target::New | Target::Append);
    match extent {
        Extent::Passes(0) => Err("it asks for no pass".into()),
        Extent::Passes(passes) if target == Target::Append && passes > 1 => {
            Err("what is appended is appended once".into())
        }
        Extent::Passes(passes) => Ok(layout.passes(passes)),
        Extent::Part { operations, .. } if grows && layout.pattern == Pattern::Sequential => {
            Ok(layout.part(0, operations))
        }
        Extent::Part { first_operation, operations } => {
            Ok(layout.part(first_operation, operations))
        }
    }
}

fn end_bytes(layout: &Layout, target: Target, file_bytes: u64) -> u64 {
    if matches!(target, Target::Overwrite | Target::Preallocated) {
        return file_bytes;
    }
    let mut end = 0;
    layout.each_range(|range| end = range.end.max(end));
    end
}

fn path_of(trial: &Trial<'_>, subject: &Subject<'_>, target: Target) -> PathBuf {
    match target {
        Target::Overwrite => subject.path.to_owned(),
        _ => trial.scratch.join("written"),
    }
}

/// What must be there before the first write, durable itself.
pub fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    let task = Task::new(trial)?;
    match task.target {
        Target::New => Ok(()),
        Target::Overwrite => bring_in(&task),
        Target::Preallocated if task.shared => Ok(()),
        Target::Preallocated => preallocate(&task),
        Target::Append => {
            let (file, pool) = (task.make()?, task.pool()?);
            let head: Vec<u8> =
                pool.bytes().iter().copied().cycle().take(HEAD_BYTES as usize).collect();
            file.write_all_at(&head, 0).map_err(|error| task.failed("fill", &error))?;
            fsync(file.as_fd()).map_err(|errno| task.fault(Stop::of_sync(errno)))?;
            if task.direct { forget(&task, &file) } else { Ok(()) }
        }
    }
}

fn preallocate(task: &Task) -> Result<(), Fault> {
    let file = task.make()?;
    if task.file_bytes > 0 {
        fallocate(&file, FallocateFlags::empty(), 0, task.file_bytes)
            .map_err(|errno| no_preallocation(task, errno))?;
    }
    fsync(file.as_fd()).map_err(|errno| task.fault(Stop::of_sync(errno)))
}

/// What all ranks write parts of, made by the first of them: no part is in it yet.
pub fn lay(trial: &Trial<'_>) -> Result<(), Fault> {
    let task = Task::new(trial)?;
    match task.target {
        Target::New => task.make().map(drop),
        Target::Preallocated => preallocate(&task),
        Target::Overwrite | Target::Append => Ok(()),
    }
}

fn no_preallocation(task: &Task, errno: rustix::io::Errno) -> Fault {
    let mut fault = task.fault(errno.into());
    if errno == rustix::io::Errno::OPNOTSUPP {
        fault.cause += ": this file system cannot preallocate; leave --target preallocated out";
    }
    fault
}

/// Reads what will be overwritten: where a page is missing, writing a part of it would first have
/// to read it, and writing all of it would have to find memory for it.
fn bring_in(task: &Task) -> Result<(), Fault> {
    let file = File::open(&task.path).map_err(|error| task.failed("open", &error))?;
    if task.direct {
        return forget(task, &file);
    }
    let mut result = Ok(());
    let mut buffer = vec![0; 256 << 10];
    task.layout.each_range(|range| {
        let mut at = range.start;
        while at < range.end && result.is_ok() {
            let n = (range.end - at).min(buffer.len() as u64) as usize;
            result = file.read_exact_at(&mut buffer[..n], at);
            at += n as u64;
        }
    });
    result.map_err(|error| task.failed("read", &error))
}

/// Takes a clean file out of the page cache: pages of its own past would be taken for a bypass that
/// was none.
fn forget(task: &Task, file: &File) -> Result<(), Fault> {
    let dropped = fadvise(file, 0, None, Advice::DontNeed);
    dropped.map_err(|errno| task.fault(errno.into()))
}

/// Removes what the trial has written; a file that is overwritten stays for the next one, and one that
/// ranks share until all of them have looked at it.
pub fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    if is_shared(trial.levels) { Ok(()) } else { lift(trial) }
}

/// Removes it.
pub fn lift(trial: &Trial<'_>) -> Result<(), Fault> {
    if trial.levels.word() == Some(Target::Overwrite) {
        return Ok(());
    }
    let path = trial.scratch.join("written");
    match std::fs::remove_file(&path) {
        // A read-only file system says so of files that are not there, too.
        Err(error) if path.symlink_metadata().is_ok() => Err(failed(&path, "remove", &error)),
        _ => Ok(()),
    }
}

fn refuse(cause: impl ToString) -> Fault {
    Fault::new("prepare a write trial", cause.to_string())
}
