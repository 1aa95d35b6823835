//! What this process may do.

use rustix::process::{Resource, getrlimit};

use super::tree::{Facts, Tree, field};

/// Gathers `process.*`, `limits.*` and the sysctls that forbid things.
pub fn gather(tree: &Tree, facts: &mut Facts) {
    let status = tree.text("proc/self/status").unwrap_or_default();
    facts.put("process.capabilities", field(&status, "CapEff"));
    facts.put("process.seccomp", field(&status, "Seccomp").and_then(|n| n.parse::<u64>().ok()));
    let no_new = field(&status, "NoNewPrivs").map(|on| on == "1");
    facts.put("process.no_new_privileges", no_new);
    facts.put("process.uid", Some(rustix::process::geteuid().as_raw()));
    for (name, resource) in LIMITS {
        // Absent: unlimited.
        facts.put(&format!("limits.{name}"), getrlimit(resource).current);
    }
    for (name, file) in [
        ("kernel.io_uring_disabled", "proc/sys/kernel/io_uring_disabled"),
        ("kernel.perf_event_paranoid", "proc/sys/kernel/perf_event_paranoid"),
        ("kernel.unprivileged_userns_clone", "proc/sys/kernel/unprivileged_userns_clone"),
    ] {
        facts.put(name, tree.text(file).and_then(|text| text.parse::<i64>().ok()));
    }
}

/// The limits that a measurement may run into.
pub const LIMITS: [(&str, Resource); 5] = [
    ("nofile", Resource::Nofile),
    ("fsize_bytes", Resource::Fsize),
    ("memlock_bytes", Resource::Memlock),
    ("address_space_bytes", Resource::As),
    ("processes", Resource::Nproc),
];
