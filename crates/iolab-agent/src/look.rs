//! The machine as the agent sees it: facts, what of them can spoil a result, versions of programs.

use std::path::{Path, PathBuf};

use super::instance::Identity;
use super::messages::{LookOrder, Sight};
use iolab_io::host;
use iolab_model::catalog::{Family, path_from_text};

/// Looks at this machine.
pub fn look(order: &LookOrder) -> Sight {
    let directories: Vec<PathBuf> =
        order.directories.iter().map(|text| path_from_text(text)).collect();
    let directories: Vec<&Path> = directories.iter().map(PathBuf::as_path).collect();
    let mut environment = host::environment(&directories);
    for name in &order.files {
        if let Ok(about) = std::fs::metadata(path_from_text(name)) {
            environment.put_named(Family::File, name, Identity::of(&about).to_string());
        }
    }
    let hazards = match &order.before {
        None => host::hazards(&environment, &order.work),
        Some(before) => host::swapped(before, &environment).into_iter().collect(),
    };
    let version = |name: &String| {
        let line = host::find_program(name).and_then(|program| host::version_line(&program))?;
        Some((name.clone(), line))
    };
    let versions = order.programs.iter().filter_map(version).collect();
    Sight { environment, hazards, versions }
}
