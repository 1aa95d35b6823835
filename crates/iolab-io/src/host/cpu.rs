//! The processor: model, caches, governor, mitigations.

use super::tree::{Facts, Tree, chosen, field, list_count, size};
use iolab_model::catalog::{Fact, Family};

const CPUS: &str = "sys/devices/system/cpu";

/// Gathers `cpu.*` and `numa.nodes`.
pub fn gather(tree: &Tree, facts: &mut Facts) {
    let info = tree.text("proc/cpuinfo").unwrap_or_default();
    let model = ["model name", "Model", "cpu model", "uarch"]
        .into_iter()
        .find_map(|name| field(&info, name).map(str::to_owned));
    facts.put(Fact::CpuModel, model);
    facts.put(Fact::CpuMhz, field(&info, "cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok()));
    let online = tree.text(format!("{CPUS}/online"));
    facts.put(Fact::CpuCount, online.as_deref().and_then(list_count).or_else(counted));
    facts.put(Fact::CpuAllowed, Some(allowed()));
    facts.put(Fact::CpuIsolated, tree.text(format!("{CPUS}/isolated")).filter(|l| !l.is_empty()));
    facts.put(Fact::CpuSmt, tree.text(format!("{CPUS}/smt/control")));
    facts.put(Fact::CpuSmtActive, tree.number(format!("{CPUS}/smt/active")).map(|on| on == 1));
    facts.put(Fact::CpuGovernor, tree.text(format!("{CPUS}/cpu0/cpufreq/scaling_governor")));
    let boost = tree.number(format!("{CPUS}/cpufreq/boost"));
    facts.put(Fact::CpuBoost, boost.map(|on| on == 1));
    for (level, kind, bytes) in caches(tree) {
        let fact = match (level, kind.as_str()) {
            (1, "Instruction") => Fact::CpuL1iBytes,
            (1, _) => Fact::CpuL1dBytes,
            (2, _) => Fact::CpuL2Bytes,
            (3, _) => Fact::CpuL3Bytes,
            (4, _) => Fact::CpuL4Bytes,
            _ => continue,
        };
        facts.put(fact, Some(bytes));
    }
    facts.put(Fact::CpuLlcBytes, last_level_cache_bytes(tree));
    for name in tree.names(format!("{CPUS}/vulnerabilities")) {
        let state = tree.text(format!("{CPUS}/vulnerabilities/{name}"));
        facts.put_named(Family::CpuVulnerability, &name, state);
    }
    let nodes = tree.names("sys/devices/system/node");
    let numbered =
        |name: &&String| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok());
    facts.put(Fact::NumaNodes, Some(nodes.iter().filter(numbered).count()).filter(|n| *n > 0));
    let balancing = tree.text("proc/sys/kernel/numa_balancing").as_deref().and_then(chosen);
    facts.put(Fact::NumaBalancing, balancing);
}

/// Level, type and size of each cache of the first processor.
fn caches(tree: &Tree) -> Vec<(u64, String, u64)> {
    let base = format!("{CPUS}/cpu0/cache");
    let read = |index: &String| {
        let file = |name: &str| tree.text(format!("{base}/{index}/{name}"));
        let level = file("level")?.parse().ok()?;
        Some((level, file("type").unwrap_or_default(), size(&file("size")?)?))
    };
    tree.names(&base).iter().filter(|name| name.starts_with("index")).filter_map(read).collect()
}

/// The largest-level cache that holds data, in bytes.
pub fn last_level_cache_bytes(tree: &Tree) -> Option<u64> {
    let holds_data = |kind: &str| kind != "Instruction";
    let caches = caches(tree).into_iter().filter(|(_, kind, _)| holds_data(kind));
    caches.max_by_key(|(level, ..)| *level).map(|(.., bytes)| bytes)
}

/// Processors that this process may run on.
pub fn allowed() -> u64 {
    let affinity = rustix::thread::sched_getaffinity(None).map(|set| set.count());
    affinity.map_or(1, u64::from).max(1)
}

fn counted() -> Option<u64> {
    std::thread::available_parallelism().ok().map(|n| n.get() as u64)
}
