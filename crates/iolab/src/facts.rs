//! What the plan must know of the machine, asked of the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::terminal_io::Failure;
use iolab_io::place::Scratch;
use iolab_io::workload::{files, meta};
use iolab_io::{host, place};
use iolab_model::catalog::{
    AxisWord, CacheState, Capability, Factor, Level, Switch, WorkloadId, path_to_text,
};
use iolab_model::plan::{Facts, Plan, TreeFacts};
use iolab_model::spec::Experiment;

use super::{contenders, parts, places, vm};

/// Gathers the facts for an experiment.
///
/// # Errors
/// The directory does not exist, or cannot be written to where files must be made.
pub fn gather(experiment: &Experiment, guest: bool) -> Result<Facts, Failure> {
    let files = experiment.factors.get(&Factor::File);
    check(experiment)?;
    let space = place::space(&experiment.directory).map_err(Failure::usage)?;
    let named = places::levels(experiment);
    let mut missing = if guest { vm::unavailable(&named) } else { places::unavailable(&named) };
    let asks = |factor: Factor, level: &Level| {
        experiment.factors.get(&factor).is_some_and(|levels| levels.contains(level))
    };
    let cold = asks(Factor::Cache, &CacheState::Cold.level());
    let tested = tested_directory(experiment);
    let direct = named.is_empty() && asks(Factor::Direct, &Level::word(Switch::On.word()));
    let theirs = files.map_or(&[][..], Vec::as_slice);
    let (files, trees) = match works_on_trees(experiment) {
        true => (BTreeMap::new(), look_through(theirs)),
        false => (look_at(theirs), BTreeMap::new()),
    };
    Ok(Facts {
        files,
        trees,
        free_bytes: space.usable_bytes(),
        free_inodes: space.free_inodes,
        greatest_file_bytes: getrlimit(Resource::Fsize).current,
        available_memory_bytes: host::available_memory_bytes(),
        last_level_cache_bytes: host::last_level_cache_bytes(),
        page_bytes: host::page_bytes(),
        greatest_locked_bytes: host::greatest_locked_bytes(),
        direct_alignment_bytes: direct.then(|| host::direct_alignment_bytes(&tested)).flatten(),
        processors: host::processors(),
        // The probes behind it are asked only where their answer matters.
        unavailable: {
            // Places have a cold state of their own.
            let plain = cold && (named.is_empty());
            missing.extend(if plain { host::unavailable(&tested) } else { BTreeMap::new() });
            // What a file system refuses is known of this one only, not of those in images.
            if !guest && asks_for_methods(experiment) {
                missing.extend(host::unavailable_methods(&tested, named.is_empty()));
            }
            missing.extend(calls_that_fail(experiment, !named.is_empty(), guest));
            missing.extend(contenders::unavailable(experiment, guest));
            missing
        },
        impossible: Some(iolab_io::workload::impossible),
        places: places::needs(&named),
    })
}

/// Checks the directory under test, where files are to be made in it.
///
/// # Errors
/// It does not exist, cannot be written to, or lies in a tree that is copied.
pub fn check(experiment: &Experiment) -> Result<(), Failure> {
    let theirs = experiment.factors.get(&Factor::File);
    // A copy goes there, whoever's file it is of.
    let copied = copies(experiment) || copies_trees(experiment);
    match theirs {
        None => {
            check_directory(&experiment.directory, "name a directory of yours, or a file to read")
        }
        Some(_) if copied => {
            check_directory(
                &experiment.directory,
                "cd to a directory that you may write to: copies are made where you are",
            )?;
            match works_on_trees(experiment) {
                true => check_outside(&experiment.directory, theirs.map_or(&[][..], Vec::as_slice)),
                false => Ok(()),
            }
        }
        Some(_) => Ok(()),
    }
}

/// A copy within the tree that is copied would change what is measured.
fn check_outside(directory: &Path, trees: &[Level]) -> Result<(), Failure> {
    let Ok(directory) = fs::canonicalize(directory) else { return Ok(()) };
    for level in trees {
        let Level::Path(tree) = level else { continue };
        if fs::canonicalize(tree).is_ok_and(|tree| directory.starts_with(tree)) {
            return Err(Failure::refused(format!(
                "{} lies in the tree that is to be copied, which is never written to; cd to a directory outside of it that has room: copies are made where you are",
                path_to_text(&directory)
            )));
        }
    }
    Ok(())
}

/// Whether methods, or what depends on them, are compared; a ladder of calls has none.
fn asks_for_methods(experiment: &Experiment) -> bool {
    experiment.workload != WorkloadId::Syscall.word()
}

/// Metadata calls that this user or the directory's file system does not allow, each tried. On
/// places only what needs privileges can be told before they are made.
fn calls_that_fail(
    experiment: &Experiment,
    has_places: bool,
    guest: bool,
) -> BTreeMap<String, String> {
    let info = parts::workload(&experiment.workload);
    if guest || info.is_none_or(|info| info.capability != Capability::Metadata) {
        return BTreeMap::new();
    }
    let tried =
        Scratch::make(&experiment.directory).and_then(|scratch| meta::impossible(scratch.path()));
    let privileged = |id: &str| {
        let mut parts = meta::OPERATIONS.iter();
        parts.any(|part| part.id == id && part.needs == "root")
    };
    // A directory that cannot be used at all is refused elsewhere, in its own words.
    let tried = tried.unwrap_or_default().into_iter();
    tried.filter(|(id, _)| !has_places || privileged(id)).collect()
}

/// The directory whose file system is measured: that of the first file, else where files are made.
pub fn tested_directory(experiment: &Experiment) -> PathBuf {
    let file = experiment.factors.get(&Factor::File).and_then(|levels| levels.first());
    match file {
        Some(Level::Path(path)) if works_on_trees(experiment) => path.clone(),
        Some(Level::Path(path)) => path.parent().unwrap_or(path).to_owned(),
        _ => experiment.directory.clone(),
    }
}

/// Where the agent works: the plan's directory, or, where only the person's files are read and
/// they are in a place that cannot be written to, one that is made for such use.
pub fn work_directory(plan: &Plan) -> PathBuf {
    let makes_files = plan.copies || plan.instances.iter().any(|i| i.path.is_none());
    let access = Access::WRITE_OK | Access::EXEC_OK;
    let writable = |path: &PathBuf| accessat(CWD, path, access, AtFlags::EACCESS).is_ok();
    if plan.instances.is_empty() || makes_files || writable(&plan.directory) {
        return plan.directory.clone();
    }
    // On a disk first: tmpfs has no cold state, so that the probes could not be tested there.
    let others = [PathBuf::from("/var/tmp"), std::env::temp_dir()];
    others.into_iter().find(writable).unwrap_or_else(|| plan.directory.clone())
}

/// Whether the workload leaves copies.
fn copies(experiment: &Experiment) -> bool {
    let info = super::parts::workload(&experiment.workload);
    info.is_some_and(|info| info.capability == Capability::Copy)
}

/// A directory that files can be made in.
fn check_directory(directory: &Path, fix: &str) -> Result<(), Failure> {
    let name = path_to_text(directory);
    let metadata = fs::metadata(directory).map_err(|error| {
        Failure::usage(format!("{name}: {error}; name a directory that exists, or a file to read"))
    })?;
    if !metadata.is_dir() {
        return Err(Failure::usage(format!("{name} is not a directory; name one")));
    }
    match accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        Ok(()) => Ok(()),
        Err(Errno::ROFS) => Err(Failure::refused(format!(
            "{name} is on a read-only mount, and a file must be made there; {fix}"
        ))),
        Err(error) => {
            Err(Failure::refused(format!("{name}: {error}, and a file must be made there; {fix}")))
        }
    }
}

/// Trees of the person's, by path: what is in them, or in one line why they cannot be used.
fn look_through(levels: &[Level]) -> BTreeMap<PathBuf, Result<TreeFacts, String>> {
    let look = |path: &PathBuf| {
        is_tree(path)?;
        let found = files::scan(path).map_err(|fault| fault.to_string())?;
        let note = found.left_out.words();
        let listing = files::Listing::Found(found);
        Ok(TreeFacts { files: listing.files(), bytes: listing.bytes(), note })
    };
    let paths = levels.iter().filter_map(|level| match level {
        Level::Path(path) => Some(path.clone()),
        _ => None,
    });
    paths.map(|path| (path.clone(), look(&path))).collect()
}

fn is_tree(path: &Path) -> Result<(), String> {
    let name = path_to_text(path);
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(about) if about.is_file() => Err(format!(
            "{name} is one file: name the directory that it is in, or take iolab read for the file"
        )),
        Ok(_) => Err(format!("{name} is not a directory: name one")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(format!(
            "{name} does not exist: check the name, or give --files to have a tree made"
        )),
        // What is wrong there is told as it is looked through.
        Err(_) => Ok(()),
    }
}

fn works_on_trees(experiment: &Experiment) -> bool {
    parts::workload(&experiment.workload).is_some_and(|info| info.capability == Capability::Files)
}

/// Whether copies are made beside what is read.
fn copies_trees(experiment: &Experiment) -> bool {
    let operations = experiment.factors.get(&Factor::Operation).into_iter().flatten();
    let writes = |level: &Level| {
        files::OPERATIONS.iter().any(|part| {
            *level == Level::word(part.id) && part.capabilities.contains(&Capability::Write)
        })
    };
    works_on_trees(experiment) && operations.into_iter().any(writes)
}

fn look_at(levels: &[Level]) -> BTreeMap<PathBuf, Result<u64, String>> {
    let paths = levels.iter().filter_map(|level| match level {
        Level::Path(path) => Some(path.clone()),
        _ => None,
    });
    paths.map(|path| (path.clone(), host::file_facts(&path))).collect()
}
