//! Names of a trace as names of our own: each component has a number, and is named by it. Whatever a
//! trace calls its files, nothing but these names is ever given to a kernel.

use std::collections::HashMap;
use std::ffi::CString;

use crate::trace::Trace;

/// Bytes of a name in a directory, and of a whole path, at most (NAME_MAX, and PATH_MAX with room).
const LONGEST_COMPONENT: usize = 255;
const LONGEST_PATH: usize = 4000;

/// Where names stand whose directory is not known.
const NOWHERE: &[u8] = b"(somewhere)";

/// The names of a trace.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The components of each file's name; nothing where it is no name that can be had.
    pub(super) components: Vec<Option<Box<[u32]>>>,
    /// The generated name of each component.
    generated: Vec<Vec<u8>>,
}

impl Names {
    pub(super) fn of(trace: &Trace) -> Names {
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut names = Names::default();
        for file in &trace.files {
            let start = if file.name.starts_with(b"/") { None } else { Some(NOWHERE) };
            let parts = file.name.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
            let parts: Vec<&[u8]> = start.into_iter().chain(parts).collect();
            let is_odd = parts.iter().any(|part| matches!(*part, b"." | b".."));
            let mut number = |part| {
                *known.entry(part).or_insert_with(|| {
                    names.generated.push(generated(names.generated.len(), part.len()));
                    names.generated.len() as u32 - 1
                })
            };
            let numbers: Option<Box<[u32]>> =
                (!is_odd).then(|| parts.into_iter().map(&mut number).collect());
            names.components.push(numbers);
        }
        for at in 0..names.components.len() {
            let too_long = names.components[at].as_ref().is_some_and(|parts| {
                parts.iter().map(|part| names.generated[*part as usize].len() + 1).sum::<usize>()
                    > LONGEST_PATH
            });
            if too_long {
                names.components[at] = None;
            }
        }
        names
    }

    /// A path of ours, relative to the directory of all copies.
    pub(super) fn path(&self, components: &[u32]) -> CString {
        let mut path = Vec::new();
        for part in components {
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(&self.generated[*part as usize]);
        }
        if path.is_empty() {
            path.push(b'.');
        }
        // Letters, digits and underscores have no NUL.
        CString::new(path).unwrap_or_default()
    }

    /// A component of our own that no name of the trace has.
    pub(super) fn filler(&mut self, length: usize) -> u32 {
        self.generated.push(generated(self.generated.len(), length));
        self.generated.len() as u32 - 1
    }
}

/// As long as the recorded one where that is possible: directories take as much space.
fn generated(number: usize, length: usize) -> Vec<u8> {
    let mut name = format!("n{number}").into_bytes();
    if name.len() < length {
        name.resize(length.min(LONGEST_COMPONENT), b'_');
    }
    name
}
