//! The agent for the guest: this program with the libraries that it is linked to, or alone where
//! it is static. Symbols for debugging stay outside: they are most of the file.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cpio::Archive;
use crate::place::fault;
use crate::place::kind::Missing;
use iolab_model::result::Fault;

/// Puts a program into an archive as `/init`, with its loader and libraries.
///
/// # Errors
/// It cannot be read, is no 64-bit program, or a library is missing.
pub fn put(archive: &mut Archive, program: &Path) -> Result<(), Fault> {
    for directory in ["dev", "proc", "sys", "tmp", "var/tmp"] {
        archive.directory(directory);
    }
    let whole = read(program)?;
    let elf = Elf::of(&whole).ok_or_else(|| {
        Missing::new("it is no 64-bit program", "build iolab for this machine")
            .fault(format!("pack {}", program.display()))
    })?;
    archive.file("init", 0o755, &elf.loaded);
    let Some(loader) = elf.interpreter else { return Ok(()) };
    archive.file(&loader.to_string_lossy(), 0o755, &read(&loader)?);
    for (name, path) in libraries(&loader, program)? {
        // Under its own name where the loader looks first: beside the program it would not.
        let at = path.with_file_name(name);
        archive.file(&at.to_string_lossy(), 0o755, &read(&path)?);
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    std::fs::read(path).map_err(|e| fault(format!("read {}", path.display()), &e, ""))
}

/// What the loader would load, as it says itself.
fn libraries(loader: &Path, program: &Path) -> Result<Vec<(String, PathBuf)>, Fault> {
    let doing = || format!("list the libraries of {}", program.display());
    let mut command = Command::new(loader);
    command.arg("--list").arg(program).stdin(Stdio::null());
    let output = command.output().map_err(|e| fault(doing(), &e, ""))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.trim().split_once(" => ") else { continue };
        if rest.contains("not found") {
            return Err(Missing::new(format!("{name} is missing"), "install it").fault(doing()));
        }
        let path = rest.rsplit_once(" (").map_or(rest, |(path, _)| path);
        found.push((name.to_owned(), PathBuf::from(path)));
    }
    Ok(found)
}

/// What of a program is needed to run it.
struct Elf {
    /// The file up to its last loaded byte.
    loaded: Vec<u8>,
    /// The loader of shared libraries; none where the program is static.
    interpreter: Option<PathBuf>,
}

const HEADER_BYTES: usize = 64;
const PROGRAM_HEADER_BYTES: usize = 56;
const PT_LOAD: u64 = 1;
const PT_INTERP: u64 = 3;

impl Elf {
    /// Reads the program headers of a little-endian 64-bit ELF file (elf(5)).
    fn of(file: &[u8]) -> Option<Elf> {
        if file.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let start = usize::try_from(number(file, 32, 8)?).ok()?;
        let count = usize::try_from(number(file, 56, 2)?).ok()?;
        let mut end = HEADER_BYTES.max(start.checked_add(count * PROGRAM_HEADER_BYTES)?);
        let mut interpreter = None;
        for at in (0..count).map(|n| start + n * PROGRAM_HEADER_BYTES) {
            let kind = number(file, at, 4)?;
            let from = usize::try_from(number(file, at + 8, 8)?).ok()?;
            let to = from.checked_add(usize::try_from(number(file, at + 32, 8)?).ok()?)?;
            if kind == PT_LOAD {
                end = end.max(to);
            } else if kind == PT_INTERP {
                let text = file.get(from..to)?.split(|byte| *byte == 0).next()?;
                interpreter = Some(PathBuf::from(std::str::from_utf8(text).ok()?));
            }
        }
        let mut loaded = file.get(..end)?.to_vec();
        // No section headers: they lie behind.
        loaded[40..48].fill(0);
        loaded[60..64].fill(0);
        Some(Elf { loaded, interpreter })
    }
}

fn number(file: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let field = file.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::Elf;

    #[test]
    fn a_trimmed_program_runs() {
        let whole = std::fs::read("/bin/true").unwrap();
        let elf = Elf::of(&whole).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        std::fs::write(&path, &elf.loaded).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(std::process::Command::new(&path).status().unwrap().success());
        assert!(Elf::of(b"#!/bin/sh").is_none());
    }

    proptest! {
        #[test]
        fn odd_files_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut file = b"\x7fELF\x02\x01".to_vec();
            file.extend(tail);
            let _ = Elf::of(&file);
        }
    }
}
