//! Programs of commands that run as cells: those of the directory in which the command was typed.

use std::collections::BTreeMap;
use std::path::Path;

use super::terminal_io::Failure;
use iolab_controller::{anchor_programs, relative_program};
use iolab_io::host::find_program;
use iolab_model::catalog::{
    Capability, Contender, Factor, Level, WorkloadInfo, command_label, package_of, path_to_text,
};

/// Relative paths of programs from the root, and nothing is measured where one cannot be started. On
/// another machine its agent knows which there are.
///
/// # Errors
/// A program that is not there, or a relative path for another machine.
pub fn settle(
    factors: &mut BTreeMap<Factor, Vec<Level>>,
    info: &WorkloadInfo,
    elsewhere: bool,
) -> Result<(), Failure> {
    let levels = factors.get(&Factor::Contender).into_iter().flatten();
    let texts = levels.filter_map(|level| match level {
        Level::Word(text) => Some(text.as_str()),
        _ => None,
    });
    let relative = texts.filter_map(|text| relative_program(text, info.part.id)).next();
    match relative.filter(|_| elsewhere) {
        Some(path) => Err(Failure::usage(format!(
            "--contender: {}: which directory is meant on another machine is not known; write the \
             whole path",
            path_to_text(&path)
        ))),
        None if elsewhere => Ok(()),
        None => {
            anchor_programs(factors, info.part.id)?;
            look_for(factors, info.capability)
        }
    }
}

/// Nothing is measured where a program that was asked for by name cannot be started.
///
/// # Errors
/// Every program that is not there or is no program, where it was looked for, and the fix.
fn look_for(factors: &BTreeMap<Factor, Vec<Level>>, capability: Capability) -> Result<(), Failure> {
    let texts = factors.get(&Factor::Contender).into_iter().flatten();
    let texts = texts.filter_map(|level| match level {
        Level::Word(text) => Some(text.as_str()),
        _ => None,
    });
    let lacking: Vec<String> = texts.filter_map(|text| lacks(text, capability)).collect();
    match lacking.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("--contender: {}", lacking.join("; ")))),
    }
}

/// Why the program of a command cannot be started, and the fix.
fn lacks(text: &str, capability: Capability) -> Option<String> {
    let command = Contender::parse(text, capability).ok()?;
    let Some(path) = command.program_path() else {
        let program = command.program();
        let known = program.contains('/') || find_program(&program).is_some();
        return (!known).then(|| not_on_path(&program));
    };
    if find_program(&path).is_some() {
        return None;
    }
    let (whole, name) = (Path::new(&path), command_label(text));
    let directory = path_to_text(whole.parent().unwrap_or(Path::new("/")));
    Some(match std::fs::metadata(whole) {
        Ok(about) if about.is_dir() => format!("{path} is a directory: write the program in it"),
        Ok(_) => format!("{path} is not executable: make it so (chmod +x {path})"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!(
                "there is no program {name} in {directory}: check its name, or write its whole path"
            )
        }
        Err(error) => format!("{name} in {directory} cannot be looked at: {error}"),
    })
}

fn not_on_path(program: &str) -> String {
    let here = Path::new(".").join(program);
    if find_program(&path_to_text(&here)).is_some() {
        return format!(
            "{program} is not on PATH: write ./{program} for the one in this directory"
        );
    }
    match package_of(program) {
        Some(package) => format!("{program} is not on PATH: install the package {package}"),
        None => format!("{program} is not on PATH: install it, or write its whole path"),
    }
}
