//! Memory: how much, how dirty it may get, what limits it.

use super::tree::{Facts, Tree, chosen, field, field_kib};
use iolab_model::catalog::Fact;

/// Gathers `memory.*`, `swap.*`, `thp.*`, `vm.*` and `cgroup.*`.
pub fn gather(tree: &Tree, facts: &mut Facts) {
    let info = tree.text("proc/meminfo").unwrap_or_default();
    for (fact, label) in [
        (Fact::MemoryTotalBytes, "MemTotal"),
        (Fact::MemoryAvailableBytes, "MemAvailable"),
        (Fact::MemoryFreeBytes, "MemFree"),
        (Fact::MemoryDirtyBytes, "Dirty"),
        (Fact::MemoryHugepageBytes, "Hugepagesize"),
        (Fact::SwapTotalBytes, "SwapTotal"),
        (Fact::SwapFreeBytes, "SwapFree"),
    ] {
        facts.put(fact, field_kib(&info, label));
    }
    for (fact, name) in [
        (Fact::ThpEnabled, "enabled"),
        (Fact::ThpDefrag, "defrag"),
        (Fact::ThpShmemEnabled, "shmem_enabled"),
    ] {
        let text = tree.text(format!("sys/kernel/mm/transparent_hugepage/{name}"));
        facts.put(fact, text.as_deref().and_then(chosen));
    }
    for (fact, name) in [
        (Fact::VmDirtyRatio, "dirty_ratio"),
        (Fact::VmDirtyBackgroundRatio, "dirty_background_ratio"),
        (Fact::VmDirtyBytes, "dirty_bytes"),
        (Fact::VmDirtyBackgroundBytes, "dirty_background_bytes"),
        (Fact::VmDirtyExpireCentisecs, "dirty_expire_centisecs"),
        (Fact::VmDirtyWritebackCentisecs, "dirty_writeback_centisecs"),
        (Fact::VmSwappiness, "swappiness"),
        (Fact::VmVfsCachePressure, "vfs_cache_pressure"),
        (Fact::VmMinFreeKbytes, "min_free_kbytes"),
    ] {
        facts.put(fact, tree.number(format!("proc/sys/vm/{name}")));
    }
    let swapped = tree.text("proc/vmstat");
    for (fact, name) in [(Fact::SwapInPages, "pswpin"), (Fact::SwapOutPages, "pswpout")] {
        let pages = swapped.as_deref().and_then(|text| field(text, name)?.parse::<u64>().ok());
        facts.put(fact, pages);
    }
    let groups = Groups::of(tree);
    facts.put(Fact::CgroupVersion, groups.version());
    facts.put(Fact::CgroupMemoryLimitBytes, groups.memory_limit_bytes(tree));
    facts.put(Fact::CgroupCpuLimit, groups.cpu_limit(tree));
    facts.put(Fact::CgroupIoLimit, groups.io_limit(tree));
}

/// Where the control groups of this process are, relative to the tree.
#[derive(Debug, Default)]
pub struct Groups {
    memory_v1: Option<String>,
    cpu_v1: Option<String>,
    unified: Option<String>,
}

impl Groups {
    /// From /proc/self/cgroup and the usual mount points.
    pub fn of(tree: &Tree) -> Groups {
        let mut groups = Groups::default();
        for line in tree.text("proc/self/cgroup").unwrap_or_default().lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(names), Some(path)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let path = path.trim_start_matches('/').trim_end_matches('/');
            for name in names.split(',') {
                match name {
                    "memory" => groups.memory_v1 = Some(format!("sys/fs/cgroup/memory/{path}")),
                    "cpu" => groups.cpu_v1 = Some(format!("sys/fs/cgroup/cpu/{path}")),
                    "" => groups.unified = unified(tree, path),
                    _ => {}
                }
            }
        }
        groups
    }

    fn version(&self) -> Option<u64> {
        match (&self.memory_v1, &self.unified) {
            (Some(_), _) => Some(1),
            (None, Some(_)) => Some(2),
            (None, None) => None,
        }
    }

    /// The tightest memory limit on the way up; absent where there is none.
    pub fn memory_limit_bytes(&self, tree: &Tree) -> Option<u64> {
        // "No limit" is the largest multiple of the page in v1 and `max` in v2.
        const NO_LIMIT: u64 = 1 << 60;
        let v1 = levels(self.memory_v1.as_deref(), "sys/fs/cgroup/memory")
            .filter_map(|group| tree.number(format!("{group}/memory.limit_in_bytes")));
        let v2 = levels(self.unified.as_deref(), "sys/fs/cgroup").flat_map(|group| {
            ["max", "high"].map(|name| tree.number(format!("{group}/memory.{name}")))
        });
        v1.chain(v2.flatten()).filter(|bytes| *bytes < NO_LIMIT).min()
    }

    /// The tightest limit of processor time on the way up, in processors.
    pub fn cpu_limit(&self, tree: &Tree) -> Option<f64> {
        let share =
            |quota: f64, period: f64| (quota > 0.0 && period > 0.0).then_some(quota / period);
        let v1 = levels(self.cpu_v1.as_deref(), "sys/fs/cgroup/cpu").filter_map(|group| {
            let read = |name: &str| tree.text(format!("{group}/cpu.cfs_{name}_us"))?.parse().ok();
            share(read("quota")?, read("period")?)
        });
        let v2 = levels(self.unified.as_deref(), "sys/fs/cgroup").filter_map(|group| {
            let text = tree.text(format!("{group}/cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            share(quota.parse().ok()?, period.parse().ok()?)
        });
        v1.chain(v2).min_by(f64::total_cmp)
    }

    /// The file in which a memory limit would be set for a group made below this one.
    pub fn memory_knob(&self, tree: &Tree) -> Option<std::path::PathBuf> {
        let v1 = self.memory_v1.as_ref().map(|group| tree.path(group));
        let v2 = self.unified.as_ref().map(|group| tree.path(group)).filter(|group| {
            let controllers = std::fs::read_to_string(group.join("cgroup.controllers"));
            controllers.is_ok_and(|names| names.split_whitespace().any(|name| name == "memory"))
        });
        // In a container the path may be the host's; then the mount point is the group.
        let v1 =
            v1.map(|group| if group.exists() { group } else { tree.path("sys/fs/cgroup/memory") });
        v1.filter(|group| group.exists()).or(v2)
    }

    fn io_limit(&self, tree: &Tree) -> Option<String> {
        let group = self.unified.as_ref()?;
        tree.text(format!("{group}/io.max")).filter(|limits| !limits.is_empty())
    }
}

/// Version 2 is mounted at the root, or beside version 1 under `unified`.
fn unified(tree: &Tree, path: &str) -> Option<String> {
    ["sys/fs/cgroup", "sys/fs/cgroup/unified"]
        .into_iter()
        .find(|mount| tree.path(format!("{mount}/cgroup.controllers")).exists())
        .map(|mount| format!("{mount}/{path}"))
}

/// A group and those around it, up to the mount point. In a container the path may be one of the
/// host's that is not there; the mount point is its own group then.
fn levels<'a>(group: Option<&'a str>, top: &'a str) -> impl Iterator<Item = &'a str> {
    let up = |path: &&'a str| path.rsplit_once('/').map(|(parent, _)| parent);
    std::iter::successors(group, up).take_while(move |path| path.starts_with(top))
}

#[cfg(test)]
mod tests {

    use super::Groups;
    use crate::host::tree::Tree;

    #[test]
    fn version_2_limits_are_the_tightest_on_the_way_up() {
        let (_dir, tree) = Tree::of_files(&[
            ("proc/self/cgroup", "0::/user.slice/a.scope\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
            ("sys/fs/cgroup/user.slice/memory.max", "1000000\n"),
            ("sys/fs/cgroup/user.slice/a.scope/memory.max", "max\n"),
            ("sys/fs/cgroup/user.slice/a.scope/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
        ]);
        let groups = Groups::of(&tree);
        assert_eq!(groups.version(), Some(2));
        assert_eq!(groups.memory_limit_bytes(&tree), Some(1_000_000));
        assert_eq!(groups.cpu_limit(&tree), Some(1.5));
    }

    #[test]
    fn version_1_and_a_containers_view_of_it() {
        let (_dir, tree) = Tree::of_files(&[
            ("proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        let groups = Groups::of(&tree);
        assert_eq!(groups.version(), Some(1));
        assert_eq!(groups.memory_limit_bytes(&tree), Some(2_000_000));
        assert_eq!(groups.cpu_limit(&tree), None);
    }

    #[test]
    fn no_limit_is_no_fact() {
        let (_dir, tree) = Tree::of_files(&[
            ("proc/self/cgroup", "4:memory:/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(Groups::of(&tree).memory_limit_bytes(&tree), None);
    }
}
