//! Outside of the clock: what must be there, whether each call did what it says, and back to the
//! state at rest.

use std::io;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, mkdirat, openat, statat, symlinkat};
use rustix::io::Errno;

use super::Job;
use super::operation::{Before, Effect};
use super::prepared_targets::{OTHER, POINTS_TO, PreparedTargets, WORK};
use super::tree::{ATTRIBUTE, BYTES, MODES, TIMES, VALUES, open_directory, owners, times};
use crate::method::{Stop, Unwatched};
use crate::sys::remove::remove_tree;
use crate::workload::Trial;
use crate::workload::spread_directories::make_apart;
use iolab_model::catalog::path_to_text;
use iolab_model::result::{Effects, Fault, Measurement};

/// So many files of a trial are looked at, spread over all of them.
const MOST_CHECKED: u64 = 1024;

/// A fault with the errno of an I/O error.
pub(super) fn fault(doing: impl Into<String>, error: &io::Error) -> Fault {
    let errno = error.raw_os_error();
    Fault::new(doing, advised(error.to_string(), errno)).errno(errno)
}

/// A fault of a loop that stopped.
pub(super) fn stopped(doing: String, stop: Stop) -> Fault {
    Fault::new(doing, advised(stop.cause, stop.errno)).errno(stop.errno)
}

/// The cause, and what to do about it.
pub(super) fn advised(cause: String, errno: Option<i32>) -> String {
    let is = |errno_: Errno| errno == Some(errno_.raw_os_error());
    let remedy = match () {
        () if is(Errno::NOSPC) || is(Errno::DQUOT) => {
            "no space or no inodes are left: free some, or take fewer --files or a smaller \
             --file-size"
        }
        () if is(Errno::OPNOTSUPP) || is(Errno::NOSYS) => {
            "this file system cannot do it: name a directory on another one"
        }
        () if is(Errno::PERM) || is(Errno::ACCESS) => "this user may not do it: run as root",
        () if is(Errno::INVAL) => "not in this user namespace or file system: run as root",
        () if is(Errno::MLINK) => "take fewer --files: the file system limits links",
        () if is(Errno::NAMETOOLONG) => "name a directory with a shorter path",
        () if is(Errno::ROFS) => "the place is read-only: name another one",
        () => return cause,
    };
    format!("{cause}; {remedy}")
}

/// Makes the directories beside the files and what the operation finds there. A call that uses up
/// its file is made on others before: each of its passes has directories of its own.
pub(super) fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    let job = Job::of(trial)?;
    let doing = || format!("prepare {} in {}", job.operation.part.id, path_to_text(&job.tree.root));
    let failed = |error: io::Error| fault(doing(), &error);
    furnish(&job).map_err(failed)?;
    if job.operation.effect.once() {
        for at in 0..job.span.before {
            let stage =
                PreparedTargets::open(&job.tree).and_then(|stage| stage.named(&job.tree, false));
            let done =
                (job.operation.run)(&stage.map_err(failed)?, &job.span.warming(at), &mut Unwatched);
            done.map_err(|stop| stopped(doing(), stop))?;
            refurnish(&job).map_err(failed)?;
        }
    }
    if job.span.before == 0 {
        // What is touched first is not in the journal's running transaction yet.
        let root = open_directory(&job.tree.root).map_err(failed)?;
        rustix::fs::syncfs(&root).map_err(|errno| failed(errno.into()))?;
    }
    Ok(())
}

/// The directories beside the files that all ranks make their names in.
pub(super) fn lay(trial: &Trial<'_>) -> Result<(), Fault> {
    let job = Job::of(trial)?;
    let doing = || format!("make directories for all ranks in {}", path_to_text(&job.tree.root));
    directories(&job).map_err(|error| fault(doing(), &error))
}

/// Removes them, with whatever any rank has left in them.
pub(super) fn lift(trial: &Trial<'_>) -> Result<(), Fault> {
    let job = Job::of(trial)?;
    let doing =
        || format!("remove the directories of all ranks in {}", path_to_text(&job.tree.root));
    strip(&job).map_err(|error| fault(doing(), &error))
}

fn directories(job: &Job) -> io::Result<()> {
    [WORK, OTHER].iter().try_for_each(|directory| make_apart(&job.tree.root.join(directory)))
}

fn furnish(job: &Job) -> io::Result<()> {
    if job.tree.among.is_none() {
        directories(job)?;
    }
    // An overlay copies the directory up before its first file: once, and not in the window.
    rustix::fs::utimensat(CWD, job.tree.directory(), &times(0), AtFlags::empty())?;
    let work = open_directory(&job.tree.root.join(WORK))?;
    for index in job.span.indices() {
        match job.operation.before {
            Before::SymbolicLinks => symlinkat(POINTS_TO, &work, job.tree.name('f', index))?,
            Before::Directories => mkdirat(&work, job.tree.name('f', index), Mode::RWXU)?,
            Before::Files | Before::Chmod => break,
        }
    }
    Ok(())
}

fn refurnish(job: &Job) -> io::Result<()> {
    if job.tree.among.is_some() {
        take_back(job)?;
        return furnish(job);
    }
    strip(job)?;
    if job.operation.effect == Effect::NoFile {
        job.tree.replant()?;
    }
    furnish(job)
}

/// Takes out what it has made where others have theirs, and brings back what it has used up.
fn take_back(job: &Job) -> io::Result<()> {
    let (work, files) = (job.tree.root.join(WORK), open_directory(&job.tree.directory())?);
    for index in job.span.indices() {
        match remove_tree(&work.join(job.tree.name('f', index))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
        job.tree.repair(&files, index)?;
    }
    Ok(())
}

fn strip(job: &Job) -> io::Result<()> {
    for directory in [WORK, OTHER] {
        match remove_tree(&job.tree.root.join(directory)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

/// Removes what the trial made and brings the files back to rest.
pub(super) fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    let job = Job::of(trial)?;
    let doing =
        || format!("clear up after {} in {}", job.operation.part.id, path_to_text(&job.tree.root));
    rest(&job).map_err(|error| fault(doing(), &error))
}

fn rest(job: &Job) -> io::Result<()> {
    let all = job.span.touched() == job.tree.files && job.tree.among.is_none();
    if job.operation.effect == Effect::NoFile && all {
        job.tree.replant()?;
    }
    let files = open_directory(&job.tree.directory())?;
    for index in job.span.indices() {
        match job.operation.effect {
            Effect::Nothing => break,
            Effect::Name => {
                job.tree.bring_back((&files, &job.tree.name('g', index)), &files, index)?
            }
            Effect::Directory => {
                let other = open_directory(&job.tree.root.join(OTHER))?;
                job.tree.bring_back((&other, &job.tree.name('f', index)), &files, index)?;
            }
            _ => {}
        }
        job.tree.repair(&files, index)?;
    }
    // What lies where others have theirs goes with all of it.
    if job.tree.among.is_some() { Ok(()) } else { strip(job) }
}

/// Looks at the files that were touched: whether each is as its number of calls has left it.
pub(super) fn verify(trial: &Trial<'_>, measurement: &mut Measurement) -> Result<(), Fault> {
    let job = Job::of(trial)?;
    let doing = || format!("check what {} did", job.operation.part.id);
    let stage = PreparedTargets::open(&job.tree).map_err(|error| fault(doing(), &error))?;
    let mut effects = Effects::default();
    let step = job.span.touched().div_ceil(MOST_CHECKED).max(1) as usize;
    for index in job.span.indices().step_by(step) {
        if job.operation.effect == Effect::Nothing {
            break;
        }
        effects.checked += 1;
        match as_it_should(&job, &stage, index) {
            Ok(true) => {}
            Ok(false) => effects.miss(format!("file {index} is not as the calls leave it")),
            Err(error) => effects.miss(format!("file {index}: {error}")),
        }
    }
    if !effects.hold() {
        measurement.flags.push(iolab_model::catalog::Code::CheckFailed);
    }
    measurement.proof.effects = Some(effects);
    Ok(())
}

fn look(directory: &rustix::fd::OwnedFd, name: &str) -> io::Result<Option<Stat>> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => Ok(Some(about)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn as_it_should(job: &Job, stage: &PreparedTargets, index: usize) -> io::Result<bool> {
    let own = job.tree.name('f', index);
    let turn = (job.span.calls_on(index) % 2) as usize;
    let file = look(&stage.files, &own)?;
    let work = look(&stage.work, &own)?;
    let is = |about: Option<Stat>, kind: FileType| {
        about.is_some_and(|about| FileType::from_raw_mode(about.st_mode) == kind)
    };
    let mode = |turn: usize| file.is_some_and(|about| about.st_mode & 0o7777 == MODES[turn]);
    let exactly_one = |here: bool, there: bool| (turn == 0) == here && (turn == 1) == there;
    Ok(match job.operation.effect {
        Effect::Nothing => true,
        Effect::Mode => mode(turn),
        Effect::Owner => file.is_some_and(|about| about.st_uid == owners()[turn].as_raw()),
        Effect::Time => file.is_some_and(|about| about.st_mtime == TIMES[turn]),
        Effect::Size => file.is_some_and(|a| a.st_size as u64 == stage.bytes + turn as u64),
        Effect::Attribute => attribute(stage, &own)? == VALUES[turn],
        Effect::FirstByte => first_byte(stage, &own)? == BYTES[turn],
        Effect::ModeAndFirstByte => {
            let chmodded = job.operation.before == Before::Chmod;
            mode(if chmodded { 1 } else { turn }) && first_byte(stage, &own)? == BYTES[turn]
        }
        Effect::Name => {
            exactly_one(file.is_some(), look(&stage.files, &job.tree.name('g', index))?.is_some())
        }
        Effect::Directory => exactly_one(file.is_some(), look(&stage.other, &own)?.is_some()),
        Effect::File => is(work, FileType::RegularFile),
        Effect::HardLink => {
            let inode = |about: Option<Stat>| about.map(|about| (about.st_dev, about.st_ino));
            file.is_some() && inode(file) == inode(work)
        }
        Effect::SymbolicLink => is(work, FileType::Symlink),
        Effect::MadeDirectory => is(work, FileType::Directory),
        Effect::NoDirectory => work.is_none(),
        Effect::NoFile => file.is_none(),
    })
}

fn open(stage: &PreparedTargets, name: &str) -> io::Result<rustix::fd::OwnedFd> {
    Ok(openat(&stage.files, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

fn attribute(stage: &PreparedTargets, name: &str) -> io::Result<Vec<u8>> {
    let mut value = [0; 64];
    let length = rustix::fs::fgetxattr(open(stage, name)?, ATTRIBUTE, &mut value)?;
    Ok(value[..length].to_vec())
}

fn first_byte(stage: &PreparedTargets, name: &str) -> io::Result<u8> {
    let mut byte = [0];
    let length = rustix::io::pread(open(stage, name)?, &mut byte, 0)?;
    if length == 1 { Ok(byte[0]) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
