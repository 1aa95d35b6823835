//! Going on with a run: one that was interrupted or killed, or one that left something open.

use super::error::Error;
use iolab_model::catalog::{Fact, Family, host_text};
use iolab_model::plan::Plan;
use iolab_model::result::{CellRecord, Document, Environment, Sample, Twin};
use iolab_run::{CellOutcome, History, Left, TwinTrial};
use serde_json::Value;

/// A run that is gone on with.
#[derive(Debug)]
pub struct Resumed {
    /// As it was recorded.
    pub document: Document,
    /// Its samples.
    pub history: History,
}

/// What is known of the run, for a plan that must be the same.
///
/// # Errors
/// The plan of today has other cells: a file or the machine has changed.
pub fn resumed(document: Document, plan: &Plan) -> Result<Resumed, Error> {
    let same = document.cells.len() == plan.cells.len()
        && document.cells.iter().zip(&plan.cells).all(|(then, now)| then.factors == now.levels);
    if !same {
        return Err(Error::OtherCells(document.run.id));
    }
    let second_trial = |(id, sample): (&str, &Sample)| {
        let cell = document.cells.iter().position(|cell| cell.id == id)?;
        Some(TwinTrial { cell, sample: sample.clone() })
    };
    let history = History {
        cells: document.cells.iter().map(outcome).collect(),
        twin: document.twin.iter().flat_map(Twin::trials).filter_map(second_trial).collect(),
        epoch_rounds: document.experiment.protocol.epoch_rounds,
        elapsed_ns: elapsed_ns(&document),
    };
    Ok(Resumed { document, history })
}

impl Resumed {
    /// So much more time than the run had, and no end before it but its answers: what was recorded
    /// counts as the rounds of a first part, which is sound because every claim holds at every moment.
    pub fn extend(&mut self, plan: &mut Plan, more_ns: u64) {
        let spent_ns = self.document.experiment.protocol.budget_ns;
        plan.protocol.budget_ns = spent_ns.saturating_add(more_ns);
        self.history.elapsed_ns = spent_ns;
        if plan.protocol.rounds.take().is_some() {
            plan.eliminate = false;
        }
    }

    /// Whether it would go on where it was: on the same machine, kernel and file system, with the
    /// same files.
    ///
    /// # Errors
    /// What differs.
    pub fn fits(&self, now: &Environment) -> Result<(), Error> {
        let then = &self.document.environment;
        let differs: Vec<String> = differing(then, now);
        let run = self.document.run.id;
        if differs.is_empty() { Ok(()) } else { Err(Error::OtherGround { run, differs }) }
    }
}

/// Facts of the ground that a run stands on, beside those of the machine.
const GROUND: &[Fact] = &[
    Fact::KernelRelease,
    Fact::KernelVersion,
    Fact::IolabVersion,
    Fact::MountFsType,
    Fact::MountSource,
    Fact::GuestKernel,
];

/// What was known then and is another thing now, on each of the machines that were compared.
fn differing(then: &Environment, now: &Environment) -> Vec<String> {
    let hosts = then.hosts();
    if hosts.is_empty() || hosts != now.hosts() {
        return differing_on_one(then, now);
    }
    let on = |host: &&str| {
        let differs = differing_on_one(&then.of_host(host), &now.of_host(host));
        differs
            .into_iter()
            .map(|what| format!("on {}: {what}", host_text(host)))
            .collect::<Vec<_>>()
    };
    hosts.iter().flat_map(on).collect()
}

/// What was known then and is another thing now.
fn differing_on_one(then: &Environment, now: &Environment) -> Vec<String> {
    let machine = Fact::ALL.iter().filter(|fact| fact.is_of_machine());
    let mut facts: Vec<Fact> = machine.chain(GROUND).copied().collect();
    // Machines of one make have names; a container has a new one each time it is started.
    if then.get(Fact::HostBootId) != now.get(Fact::HostBootId) {
        facts.push(Fact::HostName);
    }
    let fact = |fact: &Fact| {
        let (first, second) = (then.get(*fact)?, now.get(*fact)?);
        let text = || Some(format!("{fact}: {} → {}", then.shown(*fact)?, now.shown(*fact)?));
        if fact.differs(first, second) { text() } else { None }
    };
    let file = |(key, first): (&String, &Value)| {
        let second = now.0.get(key);
        let is_file = Family::File.holds(key);
        let now = second.and_then(Value::as_str).unwrap_or("gone");
        (is_file && second != Some(first))
            .then(|| format!("{key}: {} → {now}", first.as_str().unwrap_or_default()))
    };
    let state = |of: &Environment, key: &String| {
        Some(of.0.get(key)?.get("data")?.get("state")?.as_str()?.to_owned())
    };
    let data = |key: &String| {
        let changed = Family::Trace.holds(key) && state(then, key) != state(now, key);
        changed.then(|| format!("{key}: what is in the files that it names has changed"))
    };
    let host = |of: &Environment| of.text(Fact::RunHost).unwrap_or("this machine").to_owned();
    let (first, second) = (host(then), host(now));
    let moved =
        (first != second).then(|| format!("{}: {first} → {second}; --on names it", Fact::RunHost));
    let facts = facts.iter().filter_map(fact);
    let files = then.0.iter().filter_map(file).chain(then.0.keys().filter_map(data));
    facts.chain(files).chain(moved).collect()
}

fn outcome(cell: &CellRecord) -> CellOutcome {
    let round = cell.samples.last().map_or(0, |sample| sample.round);
    let reason = cell.reason.clone().unwrap_or_default();
    let why = cell.exclusion_reason();
    CellOutcome { samples: cell.samples.clone(), left: why.map(|why| Left { round, why, reason }) }
}

/// The time that the trials took: what is known of a run that was killed.
fn elapsed_ns(document: &Document) -> u64 {
    let twins = document.twin.iter().flat_map(|twin| &twin.samples);
    let all = document.cells.iter().flat_map(|cell| &cell.samples).chain(twins);
    all.fold(0, |sum, sample| sum.saturating_add(sample.measurement.wall_ns))
}

#[cfg(test)]
mod tests {
    use super::differing;
    use iolab_model::catalog::{Fact, Family};
    use iolab_model::result::Environment;

    fn ground() -> Environment {
        let mut environment = Environment::default();
        environment.put(Fact::KernelRelease, "6.1");
        environment.put(Fact::CpuModel, "a processor");
        environment.put(Fact::MemoryTotalBytes, 1_000_000);
        environment.put(Fact::HostName, "one");
        environment.put(Fact::HostBootId, "x");
        environment.put(Fact::Load1, 0.5);
        environment.put_named(Family::File, "/f", "1 bytes, inode 2");
        environment
    }

    #[test]
    fn a_run_goes_on_only_where_it_was() {
        let then = ground();
        let differs = |change: &dyn Fn(&mut Environment)| {
            let mut now = ground();
            change(&mut now);
            differing(&then, &now)
        };
        assert!(differs(&|now| now.put(Fact::Load1, 7.5)).is_empty());
        assert!(differs(&|now| now.put(Fact::MemoryTotalBytes, 1_020_000)).is_empty());
        // A container has a new name; another machine was started at another time too.
        assert!(differs(&|now| now.put(Fact::HostName, "two")).is_empty());
        let renamed = differs(&|now| {
            now.put(Fact::HostName, "two");
            now.put(Fact::HostBootId, "y");
        });
        assert_eq!(renamed, ["host.name: one → two"]);
        assert_eq!(
            differs(&|now| now.put(Fact::KernelRelease, "6.2")),
            ["kernel.release: 6.1 → 6.2"]
        );
        assert_eq!(differs(&|now| now.put(Fact::CpuModel, "another")).len(), 1);
        assert_eq!(differs(&|now| now.put(Fact::MemoryTotalBytes, 2_000_000)).len(), 1);
        let file =
            |text: &'static str| differs(&move |now| now.put_named(Family::File, "/f", text));
        assert_eq!(file("9 bytes, inode 2"), ["file./f: 1 bytes, inode 2 → 9 bytes, inode 2"]);
        let gone = differs(&|now| drop(now.0.remove("file./f")));
        assert_eq!(gone, ["file./f: 1 bytes, inode 2 → gone"]);
        // What an older record does not know is no difference.
        assert!(differing(&Environment::default(), &ground()).is_empty());
    }
}
