//! What this process may do.

use rustix::process::{Resource, getrlimit};

use super::tree::{Facts, Tree, field};
use iolab_model::catalog::Fact;

/// Gathers `process.*`, `limits.*` and the sysctls that forbid things.
pub fn gather(tree: &Tree, facts: &mut Facts) {
    let status = tree.text("proc/self/status").unwrap_or_default();
    facts.put(Fact::ProcessCapabilities, field(&status, "CapEff"));
    facts.put(Fact::ProcessSeccomp, field(&status, "Seccomp").and_then(|n| n.parse::<u64>().ok()));
    let no_new = field(&status, "NoNewPrivs").map(|on| on == "1");
    facts.put(Fact::ProcessNoNewPrivileges, no_new);
    facts.put(Fact::ProcessUid, Some(rustix::process::geteuid().as_raw()));
    for (fact, resource) in LIMITS {
        // Absent: unlimited.
        facts.put(fact, getrlimit(resource).current);
    }
    for (fact, file) in [
        (Fact::KernelIoUringDisabled, "proc/sys/kernel/io_uring_disabled"),
        (Fact::KernelPerfEventParanoid, "proc/sys/kernel/perf_event_paranoid"),
        (Fact::KernelUnprivilegedUsernsClone, "proc/sys/kernel/unprivileged_userns_clone"),
    ] {
        facts.put(fact, tree.text(file).and_then(|text| text.parse::<i64>().ok()));
    }
}

/// The limits that a measurement may run into.
pub const LIMITS: [(Fact, Resource); 5] = [
    (Fact::LimitNofile, Resource::Nofile),
    (Fact::LimitFsizeBytes, Resource::Fsize),
    (Fact::LimitMemlockBytes, Resource::Memlock),
    (Fact::LimitAddressSpaceBytes, Resource::As),
    (Fact::LimitProcesses, Resource::Nproc),
];
