//! Whose a file is: the person's, or of what it takes to start a program: loader, interpreter, wrapper.

use std::collections::{HashMap, HashSet};

use crate::call::{Call, CallKind, NONE, Result};
use crate::trace::Trace;

/// Directories of the system.
const SYSTEM: &[&[u8]] = &[
    b"/usr",
    b"/lib",
    b"/lib32",
    b"/lib64",
    b"/bin",
    b"/sbin",
    b"/etc",
    b"/proc",
    b"/sys",
    b"/dev",
    b"/nix/store",
    b"/snap",
];
/// Directories that interpreters and loaders keep modules in, wherever they stand.
const MODULES: &[&[u8]] = &[b"site-packages", b"dist-packages", b"__pycache__", b"glibc-hwcaps"];
/// Directories that belong to a program beside the one it is in.
const BESIDE: &[&[u8]] = &[
    b"bin", b"sbin", b"lib", b"lib32", b"lib64", b"libexec", b"share", b"include", b"etc", b"shims",
];
/// ENOENT.
const NOT_THERE: u32 = 2;

/// What belongs to the start of programs.
#[derive(Debug, Default)]
pub(super) struct Origins {
    of_start: Vec<bool>,
    /// The last part of the program's name that made most calls.
    pub(super) program: Vec<u8>,
    /// How many programs were started, that one included.
    pub(super) programs: usize,
    /// Threads of the program that made most calls; all where none was seen to start.
    pub(super) program_threads: usize,
}

impl Origins {
    pub(super) fn of(trace: &Trace) -> Origins {
        let images = Images::of(trace);
        let words = Words::of(trace);
        let prefixes = images.prefixes();
        let failed = searched(trace, &words, &prefixes);
        let whose = |(index, file): (usize, &crate::trace::File)| {
            let name = file.name.as_slice();
            if failed.contains(&(index as u32)) {
                return true;
            }
            if words.name(name) {
                return has_part(name, MODULES);
            }
            of_system(name, &prefixes) || images.only_wrappers.contains(&(index as u32))
        };
        let of_start = trace.files.iter().enumerate().map(whose).collect();
        let busiest = images.busiest();
        let last = busiest.and_then(|name| name.rsplit(|byte| *byte == b'/').next());
        Origins {
            of_start,
            program: last.map(<[u8]>::to_vec).unwrap_or_default(),
            programs: images.names.len(),
            program_threads: images.threads_of(trace, busiest),
        }
    }

    pub(super) fn is_of_start(&self, file: u32) -> bool {
        self.of_start.get(file as usize).copied().unwrap_or(false)
    }
}

/// Words of the command that name files, and the directory in which it was started.
struct Words {
    directory: Vec<u8>,
    named: Vec<Vec<u8>>,
}

impl Words {
    fn of(trace: &Trace) -> Words {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"'\"=;|<>()&,:".contains(byte);
        let words = trace.command.iter().skip(1).flat_map(|word| word.split(ends));
        let absolute = words.filter(|word| word.len() > 1).filter_map(|word| {
            let word = word.strip_suffix(b"/").unwrap_or(word);
            match word.first() {
                Some(b'/') => Some(word.to_vec()),
                _ => None,
            }
        });
        Words { directory: trace.directory.clone(), named: absolute.collect() }
    }

    /// Whether a person's own words lead to this name.
    fn name(&self, name: &[u8]) -> bool {
        let beside = self.directory.len() > 1 && is_below(name, &self.directory);
        // A program that a shell is told to start is no data of it.
        beside || self.named.iter().any(|word| is_below(name, word) && !is_in_bin(word))
    }
}

fn is_in_bin(word: &[u8]) -> bool {
    let mut parts = word.rsplit(|byte| *byte == b'/');
    parts.nth(1).is_some_and(|part| matches!(part, b"bin" | b"sbin"))
}

fn is_below(name: &[u8], directory: &[u8]) -> bool {
    name.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

fn has_part(name: &[u8], parts: &[&[u8]]) -> bool {
    name.split(|byte| *byte == b'/').any(|part| parts.contains(&part))
}

fn of_system(name: &[u8], prefixes: &[Vec<u8>]) -> bool {
    let in_prefix = |prefix: &Vec<u8>| {
        let rest = name.strip_prefix(prefix.as_slice()).and_then(|rest| rest.strip_prefix(b"/"));
        let part = rest.and_then(|rest| rest.split(|byte| *byte == b'/').next());
        part.is_some_and(|part| BESIDE.contains(&part))
    };
    SYSTEM.iter().any(|directory| is_below(name, directory))
        || has_part(name, MODULES)
        || prefixes.iter().any(in_prefix)
}

/// Names that are not there, and that were sought by their last part in the system's directories, too:
/// a search path, whose first place may be the person's directory.
fn searched(trace: &Trace, words: &Words, prefixes: &[Vec<u8>]) -> HashSet<u32> {
    let (mut failed, mut found) = (HashSet::new(), HashSet::new());
    for call in trace.calls.iter().filter(|call| call.file != NONE) {
        match call.outcome() {
            Result::Failed(NOT_THERE) => failed.insert(call.file),
            Result::Failed(_) | Result::Unknown => false,
            Result::Done(_) => found.insert(call.file),
        };
    }
    let name = |file: u32| trace.file(file).map_or(&[][..], |file| file.name.as_slice());
    let stem = |file: u32| {
        let last = name(file).rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        last.split(|byte| *byte == b'.').next().unwrap_or_default()
    };
    // A module that is sought beside a script is found, or sought again, where modules are.
    let sought = failed.iter().chain(&found).copied();
    let elsewhere: HashSet<&[u8]> = sought
        .filter(|file| !words.name(name(*file)) && of_system(name(*file), prefixes))
        .map(stem)
        .collect();
    failed.retain(|file| !found.contains(file));
    let of_search: HashSet<u32> =
        failed.iter().copied().filter(|file| elsewhere.contains(stem(*file))).collect();
    // A loader asks for the directories of its search path, too.
    let parent = |file: &u32| {
        let name = name(*file);
        name.iter().rposition(|byte| *byte == b'/').map(|at| &name[..at])
    };
    let directories: HashSet<&[u8]> = of_search.iter().filter_map(parent).collect();
    failed.retain(|file| of_search.contains(file) || directories.contains(name(*file)));
    failed
}

/// Programs that ran, one after another in each process.
struct Images {
    /// The file of each program with its calls on files.
    names: HashMap<Vec<u8>, u64>,
    /// The one that ran last in each process.
    last: HashMap<u32, Vec<u8>>,
    /// Files that only programs touched which then became another.
    only_wrappers: HashSet<u32>,
}

impl Images {
    fn of(trace: &Trace) -> Images {
        // The program that runs in a process; all before that it made way for.
        let mut programs: HashMap<u32, Vec<u8>> = HashMap::new();
        let mut names: HashMap<Vec<u8>, u64> = HashMap::new();
        let (mut touched, mut kept) = (HashMap::<u32, HashSet<u32>>::new(), HashSet::new());
        let mut wrapped = HashSet::new();
        for call in &trace.calls {
            let process = |thread: u32| trace.threads.get(thread as usize).map(|t| t.process);
            let Some(of) = process(call.thread) else { continue };
            match call.kind {
                CallKind::Fork => {
                    let program = programs.get(&of).cloned();
                    if let (Some(child), Some(program)) = (process(call.other), program)
                        && child != of
                    {
                        programs.entry(child).or_insert(program);
                    }
                }
                CallKind::Execute if succeeded(call) => {
                    let name = trace.file(call.file).map(|file| file.name.clone());
                    names.entry(name.clone().unwrap_or_default()).or_default();
                    programs.insert(of, name.unwrap_or_default());
                    wrapped.extend(touched.remove(&of).unwrap_or_default());
                }
                kind if kind.is_of_processes() || call.file == NONE => (),
                _ => {
                    let program = programs.get(&of).and_then(|name| names.get_mut(name));
                    program.into_iter().for_each(|calls| *calls += 1);
                    touched.entry(of).or_default().insert(call.file);
                }
            }
        }
        kept.extend(touched.into_values().flatten());
        wrapped.retain(|file| !kept.contains(file));
        Images { names, last: programs, only_wrappers: wrapped }
    }

    /// Where programs and what belongs to them are installed: `/opt/python` of `/opt/python/bin/python3`.
    fn prefixes(&self) -> Vec<Vec<u8>> {
        let prefix = |name: &Vec<u8>| {
            let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
            let (_, directories) = parts.split_last()?;
            let (last, before) = directories.split_last()?;
            let is_installed = matches!(*last, b"bin" | b"sbin" | b"libexec" | b"shims");
            (is_installed && before.len() > 1).then(|| before.join(&b'/'))
        };
        self.names.keys().filter_map(prefix).collect()
    }

    fn busiest(&self) -> Option<&[u8]> {
        let busiest = self.names.iter().max_by_key(|(name, calls)| (**calls, *name));
        busiest.map(|(name, _)| name.as_slice())
    }

    /// Threads of the processes in which this program was the last to run.
    fn threads_of(&self, trace: &Trace, program: Option<&[u8]>) -> usize {
        let Some(program) = program else { return trace.threads.len() };
        let runs = |process: &u32| self.last.get(process).is_some_and(|name| name == program);
        trace.threads.iter().filter(|thread| runs(&thread.process)).count()
    }
}

fn succeeded(call: &Call) -> bool {
    matches!(call.outcome(), Result::Done(_))
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
