//! What an experiment could have on this machine: the facts that its plan is made from.

use std::collections::BTreeMap;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::asked::Asked;
use super::catalog;
use super::messages::{Objection, Subject, SurveyOrder};
use super::place_needs;
use super::recorded;
use super::work_directory;
use iolab_io::place::Scratch;
use iolab_io::workload::{files, meta};
use iolab_io::{host, place};
use iolab_model::catalog::{
    AxisWord, CacheState, Capability, Contender, Factor, Level, Switch, WorkloadId, path_to_text,
};
use iolab_model::plan::{Facts, TreeFacts};
use iolab_model::spec::format_cpus;

/// Everything that the plan must know. Probes are asked only where their answer matters; what they
/// make is gone when they return.
///
/// # Errors
/// The directory or the processors cannot be used.
pub fn survey(order: &SurveyOrder) -> Result<Facts, Objection> {
    let asked = Asked::of(order);
    check_processors(&order.cpus)?;
    work_directory::check(&asked)?;
    let space = place::space(&asked.directory)
        .map_err(|fault| Objection::wrong(Subject::Directory, fault.to_string()))?;
    let (files, trees) = match asked.works_on_trees() {
        true => (BTreeMap::new(), asked.by_path(&look_through)),
        false => (asked.by_path(&|path| host::file_facts(path)), BTreeMap::new()),
    };
    let direct =
        asked.places.is_empty() && asked.has(Factor::Direct, &Level::word(Switch::On.word()));
    let with_data = asked.has(Factor::WithData, &Level::word(Switch::On.word()));
    let tested = asked.tested_directory();
    let image_bytes = place_needs::image_bytes(&asked.places, space.usable_bytes());
    Ok(Facts {
        hosts: Default::default(),
        ranks: None,
        files,
        trees,
        traces: asked.traces(&|path| recorded::facts(path, with_data)),
        free_bytes: space.usable_bytes(),
        free_inodes: space.free_inodes,
        greatest_file_bytes: getrlimit(Resource::Fsize).current,
        available_memory_bytes: host::available_memory_bytes(),
        last_level_cache_bytes: host::last_level_cache_bytes(),
        page_bytes: host::page_bytes(),
        least_limit_bytes: place::memory::LEAST_LIMIT_BYTES,
        greatest_locked_bytes: host::greatest_locked_bytes(),
        direct_alignment_bytes: direct.then(|| host::direct_alignment_bytes(&tested)).flatten(),
        processors: host::processors(),
        unavailable: unavailable(&asked, &tested),
        impossible: None,
        places: place_needs::of_all(&asked.places, image_bytes),
        image_bytes,
        may_drop_caches: host::may_drop_caches(),
    })
}

/// Part id → why it cannot be had here, and the remedy.
fn unavailable(asked: &Asked, tested: &Path) -> BTreeMap<String, String> {
    let mut missing = place_needs::unavailable(&asked.places);
    // Places have a cold state of their own.
    if asked.has(Factor::Cache, &CacheState::Cold.level()) && asked.places.is_empty() {
        missing.extend(host::unavailable(tested));
    }
    let direct = Level::word(Switch::On.word());
    if asked.has(Factor::Direct, &direct) && asked.places.is_empty() {
        let level = format!("{}={direct}", Factor::Direct);
        missing.extend(host::no_bypass(tested).map(|why| (level, why)));
    }
    // A ladder of calls has no methods, and nothing that depends on them. What a file system
    // refuses is known of this one only, not of those in images.
    if asked.workload != WorkloadId::Syscall.word() {
        missing.extend(host::unavailable_methods(tested, asked.places.is_empty()));
    }
    missing.extend(calls_that_fail(asked));
    missing.extend(missing_commands(asked));
    missing
}

/// Metadata calls that this user or the directory's file system does not allow, each tried. On
/// places only what needs privileges can be told before they are made.
fn calls_that_fail(asked: &Asked) -> BTreeMap<String, String> {
    if asked.capability() != Some(Capability::Metadata) {
        return BTreeMap::new();
    }
    let tried =
        Scratch::make(&asked.directory).and_then(|scratch| meta::impossible(scratch.path()));
    let privileged = |id: &str| {
        let mut parts = meta::OPERATIONS.iter();
        parts.any(|part| part.id == id && part.needs == "root")
    };
    // A directory that cannot be used at all is refused elsewhere, in its own words.
    let tried = tried.unwrap_or_default().into_iter();
    tried.filter(|(id, _)| asked.places.is_empty() || privileged(id)).collect()
}

/// Commands of the person's that cannot be had, with the reason and the remedy.
fn missing_commands(asked: &Asked) -> BTreeMap<String, String> {
    let why = |contender: &Contender| {
        let program = contender.program();
        if host::find_program(&program).is_some() {
            return None;
        }
        Some(match contender.package() {
            _ if program.contains('/') => {
                format!("{program} is not there, or is not executable: check its name (chmod +x)")
            }
            Some(package) => format!("{program} is not installed: install the package {package}"),
            None => format!("{program} is not in PATH: install it, or write its whole path"),
        })
    };
    let commands = catalog::commands(&asked.workload, &asked.factors);
    commands.filter_map(|(text, command)| Some((text.to_owned(), why(&command)?))).collect()
}

/// A tree of the person's: what is in it, or in one line why it cannot be used.
fn look_through(path: &Path) -> Result<TreeFacts, String> {
    is_tree(path)?;
    let found = files::scan(path).map_err(|fault| fault.to_string())?;
    let note = found.left_out.words();
    let listing = files::Listing::Found(found);
    Ok(TreeFacts { files: listing.files(), bytes: listing.bytes(), note })
}

fn is_tree(path: &Path) -> Result<(), String> {
    let name = path_to_text(path);
    match std::fs::metadata(path) {
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

/// Refuses processors that this process may not use, and names those there are.
fn check_processors(cpus: &[u32]) -> Result<(), Objection> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Ok(()) };
    let most = rustix::thread::CpuSet::MAX_CPU as u32;
    let is_allowed = |cpu: &u32| *cpu < most && allowed.is_set(*cpu as usize);
    let Some(cpu) = cpus.iter().find(|cpu| !is_allowed(cpu)) else { return Ok(()) };
    let have: Vec<u32> = (0..most).filter(is_allowed).collect();
    Err(no_processor(*cpu, &have))
}

/// The objection to a processor that is none of these.
pub fn no_processor(cpu: u32, have: &[u32]) -> Objection {
    let have = format_cpus(have);
    Objection::wrong(
        Subject::Processors,
        format!("--cpus: processor {cpu} cannot be used here; there are {have}"),
    )
}
