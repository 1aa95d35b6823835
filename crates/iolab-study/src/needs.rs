//! What a machine must have that a claim can be asked there.

use super::shown::lacking;
use iolab_model::catalog::{Fact, Factor, bytes_text};
use iolab_model::result::{CellRecord, Document};

/// What is needed; nothing where all of it is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Processors.
    pub processors: Option<u64>,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// File systems that a cell must have been measured on.
    pub file_systems: Vec<String>,
    /// What no machine has, because the product cannot do it.
    pub also: Option<String>,
}

impl Needs {
    /// What is missing where a run was made. A fact that the record does not hold is no reason:
    /// old records are judged as they always were.
    pub(super) fn missing(&self, run: &Document) -> Option<String> {
        let fact = |fact: Fact| run.environment.number(fact);
        let bound = Some(run.experiment.protocol.cpus.len() as u64).filter(|bound| *bound > 0);
        let processors = bound.or_else(|| fact(Fact::CpuCount));
        if let (Some(needed), Some(has)) = (self.processors, processors)
            && has < needed
        {
            return Some(format!("it needs {needed} processors, and here are {has}"));
        }
        if let (Some(needed), Some(has)) = (self.memory_bytes, fact(Fact::MemoryTotalBytes))
            && has < needed
        {
            let (needed, has) = (bytes_text(needed), bytes_text(has));
            return Some(format!("it needs {needed} of memory, and here are {has}"));
        }
        if let Some(why) = self.file_systems.iter().find_map(|name| without_place(run, name)) {
            return Some(why);
        }
        self.also.as_ref().map(|also| format!("it needs {also}"))
    }

    /// The whole list in words; empty where nothing is needed.
    pub(super) fn text(&self) -> String {
        let processors = self.processors.map(|n| format!("{n} processors"));
        let memory = self.memory_bytes.map(|n| format!("{} of memory", bytes_text(n)));
        let mut all: Vec<String> = processors.into_iter().chain(memory).collect();
        all.extend(self.file_systems.iter().cloned());
        all.extend(self.also.clone());
        all.join(", ")
    }
}

/// Why nothing was measured on a file system; nothing where something was.
fn without_place(run: &Document, name: &str) -> Option<String> {
    let is_there = |cell: &&CellRecord| {
        let place = cell.factors.text(Factor::Place).unwrap_or_default();
        let rest = place.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let cells: Vec<&CellRecord> = run.cells.iter().filter(is_there).collect();
    let whys: Vec<String> = cells.iter().filter_map(|cell| lacking(cell)).collect();
    match (whys.len() == cells.len(), whys.first()) {
        (false, _) => None,
        (true, Some(why)) => Some(format!("it needs {name}: {why}")),
        (true, None) => Some(format!("it needs {name}, and no cell of the run was on one")),
    }
}
