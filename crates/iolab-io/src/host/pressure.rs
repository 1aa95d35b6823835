//! What else runs on this machine.

use std::time::Duration;

use super::tree::{Facts, Tree, field};
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
    let others = others(&mut || tree.text("proc/stat"));
    facts.put(Fact::LoadOthers, others.map(|tasks| tasks.running));
    facts.put(Fact::LoadOthersBlocked, others.map(|tasks| tasks.blocked));
    for (fact, resource) in PRESSURES {
        let text = tree.text(format!("proc/pressure/{resource}"));
        let percent = text.as_deref().and_then(some_avg10);
        facts.put(fact, percent);
    }
    facts.put(Fact::CpuStealShare, steal_share(tree));
}

/// Looks at what runs, and the time between two: one moment alone is often that of a thread of the
/// kernel that wakes and sleeps again.
const LOOKS: usize = 10;
const BETWEEN: Duration = Duration::from_millis(10);

/// Tasks of others, in the middle of several looks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Others {
    running: f64,
    blocked: f64,
}

/// What others do at this moment, from looks at /proc/stat; this process, which looks, is not counted.
fn others(look: &mut dyn FnMut() -> Option<String>) -> Option<Others> {
    let (mut running, mut blocked) = (Vec::new(), Vec::new());
    for at in 0..LOOKS {
        if at > 0 {
            std::thread::sleep(BETWEEN);
        }
        let stat = look()?;
        let tasks = |name: &str| field(&stat, name)?.parse::<f64>().ok();
        running.push((tasks("procs_running")? - 1.0).max(0.0));
        blocked.push(tasks("procs_blocked")?);
    }
    let middle = |all: &mut Vec<f64>| {
        all.sort_unstable_by(f64::total_cmp);
        (all[(LOOKS - 1) / 2] + all[LOOKS / 2]) / 2.0
    };
    Some(Others { running: middle(&mut running), blocked: middle(&mut blocked) })
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

#[cfg(test)]
mod tests {
    use super::{Others, others};

    fn seen(running: &[u32], blocked: u32) -> Option<Others> {
        let mut all = running.iter().cycle();
        others(&mut || {
            all.next().map(|n| format!("cpu 1\nprocs_running {n}\nprocs_blocked {blocked}\n"))
        })
    }

    /// A run that ended a moment ago left an average of 4.9, and one thread of the kernel that woke while
    /// it was looked at made it another program's load.
    #[test]
    fn who_wakes_for_a_moment_is_no_load() {
        assert_eq!(seen(&[1, 2, 1, 1, 1], 0), Some(Others { running: 0.0, blocked: 0.0 }));
        assert_eq!(seen(&[3, 3, 1, 3, 3], 1), Some(Others { running: 2.0, blocked: 1.0 }));
        assert_eq!(others(&mut || None), None);
        assert_eq!(others(&mut || Some("cpu 1".to_owned())), None);
    }
}
