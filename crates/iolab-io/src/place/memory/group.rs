//! A limited group: entered by trials, asked for the proof, removed.

use std::fs;
use std::io;
use std::path::Path;

use super::LEAST_LIMIT_BYTES;
use super::cgroup_backend::{CgroupBackend, Group, cgroup_backend, make_group};
use crate::place::fault;
use crate::place::kind::Missing;
use iolab_model::catalog::bytes_text;
use iolab_model::result::Fault;

/// A memory limit. Dropped in the process that made it, its group is removed.
#[derive(Debug)]
pub struct Limit {
    group: Group,
    v2: bool,
    limit_bytes: u64,
    owner: u32,
}

/// What the kernel counted in the group. Two readings around a trial prove that the limit took
/// part in it: pages came back that had been evicted for the lack of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Most that was charged at a time; the limit was kept where it is not above it.
    pub peak_bytes: u64,
    /// Charged now.
    pub usage_bytes: u64,
    /// Pages of files that were read again after they had been evicted.
    pub refaults: u64,
    /// Processes killed for it.
    pub kills: u64,
}

impl Limit {
    /// Makes a group with this limit.
    ///
    /// # Errors
    /// The limit is too small for the trial itself, or no group can be made here.
    pub fn make(limit_bytes: u64) -> Result<Limit, Fault> {
        let doing = || format!("limit memory to {}", bytes_text(limit_bytes));
        if limit_bytes < LEAST_LIMIT_BYTES {
            let least = bytes_text(LEAST_LIMIT_BYTES);
            let reason = "the trial itself would not fit";
            return Err(Missing::new(reason, format!("give {least} or more")).fault(doing()));
        }
        let way = cgroup_backend().map_err(|missing| missing.fault(doing()))?;
        if way == CgroupBackend::Scope {
            let reason = "only systemd can set a limit here, when the agent starts";
            return Err(Missing::new(reason, "run as root").fault(doing()));
        }
        let group = make_group(&way, limit_bytes).map_err(|e| fault(doing(), &e, ""))?;
        let v2 = matches!(way, CgroupBackend::V2(_));
        Ok(Limit { group, v2, limit_bytes, owner: std::process::id() })
    }

    /// The limit.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Its directory.
    pub fn group(&self) -> &Path {
        &self.group.path
    }

    /// Takes this process in, for good: meant for a forked trial. Pages of its files that are in
    /// the page cache already stay charged elsewhere and are not limited: evict them before.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn enter(&self) -> Result<(), Fault> {
        let doing = || format!("enter the memory limit {}", self.group.path.display());
        fs::write(self.group.path.join("cgroup.procs"), "0").map_err(|e| fault(doing(), &e, ""))
    }

    /// What the kernel has counted so far.
    ///
    /// # Errors
    /// The group cannot be read.
    pub fn evidence(&self) -> Result<Evidence, Fault> {
        self.read().map_err(|e| {
            fault(format!("read the memory counters of {}", self.group.path.display()), &e, "")
        })
    }

    fn read(&self) -> io::Result<Evidence> {
        let stat = fs::read_to_string(self.group.path.join("memory.stat"))?;
        let number = |name: &str| {
            let text = fs::read_to_string(self.group.path.join(name)).unwrap_or_default();
            text.trim().parse().unwrap_or(0)
        };
        let refaults = field(&stat, "workingset_refault_file");
        if self.v2 {
            let events =
                fs::read_to_string(self.group.path.join("memory.events")).unwrap_or_default();
            return Ok(Evidence {
                peak_bytes: number("memory.peak"),
                usage_bytes: number("memory.current"),
                refaults,
                kills: field(&events, "oom_kill"),
            });
        }
        let control =
            fs::read_to_string(self.group.path.join("memory.oom_control")).unwrap_or_default();
        Ok(Evidence {
            peak_bytes: number("memory.max_usage_in_bytes"),
            usage_bytes: number("memory.usage_in_bytes"),
            refaults,
            kills: field(&control, "oom_kill"),
        })
    }

    /// Removes the group; the processes in it must have ended.
    ///
    /// # Errors
    /// One has not.
    pub fn remove(mut self) -> Result<(), Fault> {
        self.take_away().map_err(|e| {
            let doing = format!("remove the memory limit {}", self.group.path.display());
            fault(doing, &e, "end the processes in its cgroup.procs")
        })
    }

    fn take_away(&mut self) -> io::Result<()> {
        // A forked trial inherits the value and must not act on it.
        if self.owner != std::process::id() {
            return Ok(());
        }
        self.owner = 0;
        self.group.remove()
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        let _ = self.take_away();
    }
}

/// A number behind a name, on a line of its own.
fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}
