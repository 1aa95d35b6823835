//! What else runs on this machine.

use super::tree::{Facts, Tree};
use iolab_model::catalog::Fact;

/// What tasks may wait for, as /proc/pressure names it.
pub const PRESSURES: [(Fact, &str); 3] =
    [(Fact::PsiCpuPercent, "cpu"), (Fact::PsiIoPercent, "io"), (Fact::PsiMemoryPercent, "memory")];

/// Gathers `load.*` (tasks without this one), `psi.*` and `cpu.steal_share` (since boot).
pub fn gather(tree: &Tree, facts: &mut Facts) {
    let load = tree.text("proc/loadavg").unwrap_or_default();
    for (fact, value) in [Fact::Load1, Fact::Load5, Fact::Load15].into_iter().zip(load.split(' ')) {
        facts.put(fact, value.parse::<f64>().ok().filter(|load| load.is_finite()));
    }
    // A load average still holds what iolab itself did a minute ago; these are of this moment.
    let stat = tree.text("proc/stat").unwrap_or_default();
    let tasks = |key: &str| {
        stat.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok())
    };
    facts.put(Fact::LoadRunning, tasks("procs_running ").map(|all| all.saturating_sub(1)));
    facts.put(Fact::LoadBlocked, tasks("procs_blocked "));
    for (fact, resource) in PRESSURES {
        let text = tree.text(format!("proc/pressure/{resource}"));
        let percent = text.as_deref().and_then(some_avg10);
        facts.put(fact, percent);
    }
    facts.put(Fact::CpuStealShare, steal_share(tree));
}

/// Percent of the last ten seconds in which some task waited.
fn some_avg10(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let value = line.split(' ').find_map(|word| word.strip_prefix("avg10="))?;
    value.parse::<f64>().ok().filter(|percent| percent.is_finite())
}

/// The share of processor time since boot that the host took.
fn steal_share(tree: &Tree) -> Option<f64> {
    let text = tree.text("proc/stat")?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = line.split_whitespace().filter_map(|n| n.parse().ok()).take(8).collect();
    let all: f64 = ticks.iter().sum();
    let share = ticks.get(7)? / all;
    share.is_finite().then_some(share)
}
