//! Facts of machines that differ between runs, and what that does to a comparison.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use iolab_model::catalog::{Fact, is_of_later_directory, of_host};
use iolab_model::result::Document;

/// What a difference does to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// The hardware, the C library or the clock is another: times do not compare.
    Machine,
    /// Another machine of the same kind, or it is not known which.
    Kin,
    /// May be what is asked about (a kernel, a mount option), or what spoils it.
    Setting,
}

/// Whether runs come from one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// From one.
    Same,
    /// From several of one kind, or it is not known.
    Kin,
    /// From machines that differ.
    Other,
}

/// One fact with the values that it took.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Its name: `kernel.release`.
    pub fact: String,
    /// Distinct values in the order of the runs; `–` where a run does not know it.
    pub values: Vec<String>,
    /// What it does.
    pub weight: Weight,
}

impl Difference {
    /// `cpu.model: A → B`.
    pub fn text(&self) -> String {
        format!("{}: {}", self.fact, self.values.join(" → "))
    }
}

/// Facts that tell machines of one kind apart.
const KIN: &[Fact] = &[Fact::HostName, Fact::ImportTool];

/// Facts that change from minute to minute or say where and when, not what.
const PASSING: &[Fact] = &[
    Fact::KernelVersion,
    Fact::HostBootId,
    Fact::ClockResolutionNs,
    Fact::ClockPairNs,
    Fact::CpuMhz,
    Fact::CpuStealShare,
    Fact::MemoryAvailableBytes,
    Fact::MemoryFreeBytes,
    Fact::MemoryDirtyBytes,
    Fact::SwapTotalBytes,
    Fact::SwapFreeBytes,
    Fact::SwapInPages,
    Fact::SwapOutPages,
    Fact::VmMinFreeKbytes,
    Fact::LimitNofile,
    Fact::LimitFsizeBytes,
    Fact::LimitMemlockBytes,
    Fact::LimitAddressSpaceBytes,
    Fact::LimitProcesses,
    Fact::ProcessCapabilities,
    Fact::ProcessSeccomp,
    Fact::ProcessNoNewPrivileges,
    Fact::ProcessUid,
    Fact::Load1,
    Fact::Load5,
    Fact::Load15,
    Fact::LoadRunning,
    Fact::LoadBlocked,
    Fact::LoadOthers,
    Fact::LoadOthersBlocked,
    Fact::PsiCpuPercent,
    Fact::PsiIoPercent,
    Fact::PsiMemoryPercent,
    Fact::Directory,
    Fact::SpaceFreeBytes,
    Fact::SpaceReserveBytes,
    Fact::SpaceFreeInodes,
    Fact::FsTotalBytes,
    Fact::DeviceBytes,
    Fact::GuestBootNs,
    Fact::RunWorkingDirectory,
    Fact::ImportFile,
];

/// The facts that differ among runs, the gravest first.
pub fn differences(runs: &[&Document]) -> Vec<Difference> {
    let mut values: BTreeMap<&str, Vec<Option<&Value>>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for (fact, value) in &run.environment.0 {
            let all = values.entry(fact).or_insert_with(|| vec![None; runs.len()]);
            all[at] = Some(value).filter(|v| !v.is_null());
        }
    }
    let differs = |(fact, values): (&str, Vec<Option<&Value>>)| {
        let weight = weight(fact, &values)?;
        let mut shown: Vec<String> = Vec::new();
        for value in values {
            let text = value.map_or_else(|| "–".to_owned(), text);
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
        (shown.len() > 1).then(|| Difference { fact: fact.to_owned(), values: shown, weight })
    };
    let mut found: Vec<Difference> = values.into_iter().filter_map(differs).collect();
    found.sort_by_key(|d| d.weight);
    found
}

/// What the differences make of the runs.
pub fn likeness(differences: &[Difference]) -> Likeness {
    match differences.iter().map(|d| d.weight).min() {
        Some(Weight::Machine) => Likeness::Other,
        Some(Weight::Kin) => Likeness::Kin,
        Some(Weight::Setting) | None => Likeness::Same,
    }
}

/// What a difference in the fact with this key does; `None` where it is none.
fn weight(key: &str, values: &[Option<&Value>]) -> Option<Weight> {
    let key = of_host(key).map_or(key, |(_, key)| key);
    let fact = key.parse::<Fact>().ok();
    let among = |facts: &[Fact]| fact.is_some_and(|fact| facts.contains(&fact));
    if among(PASSING) || is_of_later_directory(key) {
        return None;
    }
    let unknown = values.iter().any(Option::is_none);
    let of_machine = fact.is_some_and(Fact::is_of_machine);
    match fact {
        // A machine of which this is not known is not proven another one.
        _ if of_machine && unknown => Some(Weight::Kin),
        Some(fact) if of_machine => differs(fact, values).then_some(Weight::Machine),
        _ if among(KIN) => Some(Weight::Kin),
        // What one iolab records and another does not is no difference of the machine.
        _ if unknown => None,
        _ => Some(Weight::Setting),
    }
}

fn differs(fact: Fact, values: &[Option<&Value>]) -> bool {
    let known = || values.iter().flatten();
    known().any(|first| known().any(|second| fact.differs(first, second)))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Likeness, Weight, likeness, weight};
    use serde_json::json;

    /// Three facts of passing worth once counted as settings: how long a guest took to boot, and
    /// what lies under a third directory. `vm.machine` made another machine, and nobody wrote it.
    #[test]
    fn a_guest_is_weighed_by_what_is_recorded_of_it() {
        let (a, b) = (json!("kvm"), json!("tcg"));
        let both = [Some(&a), Some(&b)];
        assert_eq!(weight("guest.accelerator", &both), Some(Weight::Machine));
        assert_eq!(weight("guest.kernel", &both), Some(Weight::Setting));
        assert_eq!(weight("guest.boot_ns", &both), None);
        assert_eq!(weight("directory3.mount.fs_type", &both), None);
    }

    #[test]
    fn facts_weigh_what_they_do() {
        let (a, b) = (json!("a"), json!("b"));
        let both = [Some(&a), Some(&b)];
        assert_eq!(weight("cpu.model", &both), Some(Weight::Machine));
        assert_eq!(weight("cpu.model", &[Some(&a), None]), Some(Weight::Kin));
        assert_eq!(weight("host.name", &both), Some(Weight::Kin));
        assert_eq!(weight("kernel.release", &both), Some(Weight::Setting));
        assert_eq!(weight("load.1", &both), None);
        assert_eq!(weight("vm.swappiness", &[Some(&a), None]), None);
        let (x, y, z) = (json!(1000), json!(1010), json!(2000));
        assert_eq!(weight("memory.total_bytes", &[Some(&x), Some(&y)]), None);
        assert_eq!(weight("memory.total_bytes", &[Some(&x), Some(&z)]), Some(Weight::Machine));
        assert_eq!(likeness(&[]), Likeness::Same);
    }
}
