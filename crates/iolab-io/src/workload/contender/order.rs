//! The command of a trial: its words, its directory, and what it says.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sys::child::dies_with_us;
use crate::sys::remove::remove_tree;
use iolab_model::catalog::{
    AxisWord, Capability, Contender, Factor, Slot, UnknownWord, Until, path_to_text,
};
use iolab_model::result::Fault;

use super::super::Trial;
use super::super::files::Listing;
use crate::workload::held_trees::{self, Load};
use crate::workload::spread_directories::make_apart;

/// What a command may say of its failure.
const MOST_WORDS: usize = 300;

/// A command ready to run.
pub struct CommandOrder {
    /// Its words.
    pub argv: Vec<OsString>,
    /// Bytes that one run moves.
    pub bytes: u64,
    /// Files that one run works on.
    pub files: u64,
    /// The file that it works on.
    pub source: PathBuf,
    /// What it is to make.
    pub target: PathBuf,
    /// Its own directory.
    pub directory: PathBuf,
    /// Whether the target is made from the source.
    pub from_source: bool,
    /// Until when a write is timed.
    pub until: Option<Until>,
    fio: bool,
    output: PathBuf,
    errors: PathBuf,
}

impl CommandOrder {
    /// From the levels of a trial.
    pub fn new(capability: Capability, trial: &Trial<'_>) -> Result<CommandOrder, Fault> {
        let refuse = |cause: String| Fault::new("prepare a command", cause);
        let text = trial.levels.text(Factor::Contender).unwrap_or_default();
        let contender = Contender::parse(text, capability)
            .map_err(|error| refuse(format!("{}; {}", error.problem, error.fix)))?;
        let subject = trial.subject.ok_or_else(|| refuse("it names no file".into()))?;
        let directory = directory(trial.scratch);
        let target = directory.join("target");
        let number = |factor| trial.levels.number(factor);
        let value = |slot| match slot {
            Slot::File | Slot::Source => subject.path.as_os_str().to_owned(),
            Slot::Target => target.as_os_str().to_owned(),
            Slot::Dir => directory.as_os_str().to_owned(),
            Slot::Block => number(Factor::Block).unwrap_or(64 << 10).to_string().into(),
            Slot::Size => subject.bytes.to_string().into(),
            Slot::Threads => number(Factor::Threads).unwrap_or(1).to_string().into(),
        };
        let until = trial.levels.text(Until::FACTOR).map(str::parse).transpose();
        let until = until.map_err(|word: UnknownWord| refuse(word.to_string()))?;
        Ok(CommandOrder {
            argv: contender.argv(&value),
            bytes: subject.tree.map_or(subject.bytes, Listing::bytes),
            files: subject.tree.map_or(1, Listing::files),
            source: subject.path.to_owned(),
            from_source: contender.uses(Slot::Source),
            until,
            fio: contender.prints_fio_json(),
            output: beside(trial.scratch, "out"),
            errors: beside(trial.scratch, "err"),
            target,
            directory,
        })
    }

    /// The command, to be started any number of times. What it prints is kept where it is read.
    pub fn command(&self) -> Result<Command, Fault> {
        let failed = |error: io::Error| Fault::of("prepare a command", &error);
        let Some((program, arguments)) = self.argv.split_first() else {
            return Err(Fault::new("prepare a command", "it has no words"));
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory).stdin(Stdio::null());
        command.stdout(match self.fio {
            true => Stdio::from(appending(&self.output).map_err(failed)?),
            false => nowhere(),
        });
        command.stderr(Stdio::from(appending(&self.errors).map_err(failed)?));
        dies_with_us(&mut command);
        Ok(command)
    }

    /// A command that does nothing, started in the same way; where this machine has one.
    pub fn nothing(&self) -> Option<Command> {
        let program = ["/usr/bin/true", "/bin/true"].iter().find(|p| Path::new(p).exists())?;
        let mut command = Command::new(program);
        command.current_dir(&self.directory);
        command.stdin(Stdio::null()).stdout(nowhere()).stderr(Stdio::null());
        dies_with_us(&mut command);
        Some(command)
    }

    /// What it printed, where that is kept.
    pub fn printed(&self) -> Option<Vec<u8>> {
        if self.fio { fs::read(&self.output).ok() } else { None }
    }

    /// The last line that it said on standard error.
    pub fn last_words(&self) -> Option<String> {
        let said = fs::read(&self.errors).ok()?;
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        let words: String = line.chars().filter(|c| !c.is_control()).take(MOST_WORDS).collect();
        Some(words)
    }
}

/// Where what a command prints is thrown away: not in /dev/null, which GNU grep knows and stops reading at
/// its first match (149 GiB/s were measured once).
fn nowhere() -> Stdio {
    OpenOptions::new().write(true).open("/dev/zero").map_or_else(|_| Stdio::null(), Stdio::from)
}

fn appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

fn directory(scratch: &Path) -> PathBuf {
    scratch.join("contender")
}

fn beside(scratch: &Path, end: &str) -> PathBuf {
    scratch.join(format!("contender.{end}"))
}

/// An empty directory for the command.
pub fn prepare(capability: Capability, trial: &Trial<'_>) -> Result<(), Fault> {
    CommandOrder::new(capability, trial)?;
    clear(trial)?;
    let path = directory(trial.scratch);
    let made = match load(trial) {
        Some(load) => held_trees::make(&path, load),
        None => make_apart(&path),
    };
    made.map_err(|error| failed("make", &path, &error))
}

/// What a command leaves that makes many files: its trees are kept as those of our own methods are, or
/// what it removes would be held back from them.
fn load(trial: &Trial<'_>) -> Option<Load> {
    let tree = trial.subject?.tree?;
    Some(Load { files: tree.files(), bytes: tree.bytes(), removes: false })
}

/// The file that was to be read is still there, as large as it was.
pub fn unharmed(trial: &Trial<'_>) -> Result<(), Fault> {
    let Some(subject) = trial.subject else { return Ok(()) };
    let about =
        fs::metadata(subject.path).map_err(|error| failed("look at", subject.path, &error))?;
    match about.len() == subject.bytes {
        true => Ok(()),
        false => {
            let name = path_to_text(subject.path);
            let cause = format!("the command changed its size to {}", about.len());
            Err(Fault::new(format!("look at {name}"), cause))
        }
    }
}

/// Takes away what the command made and said.
pub fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    let path = directory(trial.scratch);
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let keep = |load| held_trees::keep(&path, load);
    let kept =
        load(trial).map_or(Ok(false), keep).map_err(|error| failed("keep", &path, &error))?;
    if !kept {
        gone(remove_tree(&path)).map_err(|error| failed("remove", &path, &error))?;
    }
    for end in ["out", "err"] {
        let path = beside(trial.scratch, end);
        gone(fs::remove_file(&path)).map_err(|error| failed("remove", &path, &error))?;
    }
    Ok(())
}

pub fn failed(doing: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::of(format!("{doing} {}", path_to_text(path)), error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{clear, directory, prepare};
    use crate::sys::testing::among_mounts;
    use crate::workload::files::Listing;
    use crate::workload::{Extent, Subject, Trial};
    use iolab_model::catalog::{Capability, Factor, Level, Levels};
    use iolab_model::tree::{Body, Shape, Tree};

    /// What a command had made was removed with its trial, and ext4 without a journal held its inodes
    /// back from the methods that were measured beside it.
    #[test]
    fn trees_of_commands_are_kept_as_those_of_methods_are() {
        let test =
            "workload::contender::order::tests::trees_of_commands_are_kept_as_those_of_methods_are";
        let script = "truncate -s 256M i; mkdir m; mkfs.ext4 -q -F -O ^has_journal i || exit 77; \
            mount -o loop i m || exit 77; mkdir m/scratch";
        let Some(dir) = among_mounts(test, script) else { return };
        let scratch = dir.join("m/scratch");
        let sizes = "4Ki".parse().unwrap();
        let (shape, body, seed) = (Shape::Sharded, Body::Random, 5);
        let listing =
            Listing::Made(Tree { files: 50, sizes, shape, body, seed, first: 0, rank: 0 });
        let subject = Some(Subject::tree(&dir, 0, 1, &listing));
        let copy = Level::word("cp -R {source} {target}");
        let levels = Levels::new().with(Factor::Contender, copy);
        let trial =
            Trial { levels: &levels, extent: Extent::Passes(1), subject, scratch: &scratch };
        for done in 1..=3 {
            prepare(Capability::Copy, &trial).unwrap();
            fs::write(directory(&scratch).join("target"), b"copied").unwrap();
            clear(&trial).unwrap();
            assert!(!directory(&scratch).exists());
            let entries = fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().path());
            let kept = entries.filter(|path| path.join("target").exists()).count();
            assert_eq!(kept, done, "of so many trials");
        }
    }
}
