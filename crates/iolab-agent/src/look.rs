//! The machine as the agent sees it: facts, what of them can spoil a result, versions of programs.

use std::path::{Path, PathBuf};

use super::instance::Identity;
use super::messages::{LookOrder, Sight};
use super::recorded;
use iolab_io::host;
use iolab_model::catalog::{Family, package_of, path_from_text};

/// Looks at this machine.
pub fn look(order: &LookOrder) -> Sight {
    let directories: Vec<PathBuf> =
        order.directories.iter().map(|text| path_from_text(text)).collect();
    let directories: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
    let mut environment = host::environment(&directories);
    for name in &order.files {
        let path = path_from_text(name);
        if let Ok(about) = std::fs::metadata(&path) {
            let known = host::device_identity(&path, &about);
            let known = known.unwrap_or_else(|| Identity::of(&about).to_string());
            environment.put_named(Family::File, name, known);
        }
    }
    // What a trace says does not change meanwhile: that it is the same file, the facts of files say.
    for name in order.traces.iter().filter(|_| order.before.is_none()) {
        if let Some(known) = recorded::record(&path_from_text(name), order.with_data) {
            environment.put_named(Family::Trace, name, known);
        }
    }
    let hazards = match &order.before {
        None => host::hazards(&environment, &order.work),
        Some(before) => host::swapped(before, &environment).into_iter().collect(),
    };
    // What is not known may do anything with the word `--version`.
    let version = |name: &String| {
        Path::new(name).file_name().and_then(|name| package_of(name.to_str()?))?;
        let program = host::find_program(name).filter(|program| host::is_packaged(program))?;
        Some((name.clone(), host::version_line(&program)?))
    };
    let versions = order.programs.iter().filter_map(version).collect();
    Sight { environment, hazards, versions }
}
