//! The kernel, its clock, the virtual machine or container around it, and this program.

use super::tree::{Facts, Tree, field};
use iolab_model::catalog::Fact;

/// Gathers `kernel.*`, `clock.*`, `virtualisation`, `container`, `iolab.*`, `libc`, `allocator`.
pub fn gather(tree: &Tree, facts: &mut Facts) {
    let system = rustix::system::uname();
    let word = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
    facts.put(Fact::KernelName, word(system.sysname()));
    facts.put(Fact::KernelRelease, word(system.release()));
    facts.put(Fact::KernelVersion, word(system.version()));
    facts.put(Fact::KernelCmdline, tree.text("proc/cmdline"));
    facts.put(Fact::HostName, word(system.nodename()));
    facts.put(Fact::HostMachine, word(system.machine()));
    facts.put(Fact::HostBootId, tree.text("proc/sys/kernel/random/boot_id"));

    facts.put(Fact::ClockSource, clock_source(tree));
    let available = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    facts.put(Fact::ClockAvailable, tree.text(available));
    let (resolution_ns, pair_ns) = crate::sys::clock::measure();
    facts.put(Fact::ClockResolutionNs, Some(resolution_ns));
    facts.put(Fact::ClockPairNs, Some(pair_ns));

    facts.put(Fact::Virtualisation, virtualisation(tree));
    facts.put(Fact::Container, container(tree));
    let reporting = "sys/module/page_reporting/parameters/page_reporting_order";
    facts.put(Fact::MemoryPageReportingOrder, tree.number(reporting));

    facts.put(Fact::IolabVersion, Some(env!("CARGO_PKG_VERSION")));
    facts.put(Fact::IolabBuild, Some(if cfg!(debug_assertions) { "debug" } else { "release" }));
    let (libc, allocator) = libc_and_allocator();
    facts.put(Fact::Libc, Some(libc));
    facts.put(Fact::Allocator, Some(allocator));
    facts.put(Fact::PageBytes, Some(crate::sys::page::page_bytes()));
}

/// The clock source in use.
pub fn clock_source(tree: &Tree) -> Option<String> {
    tree.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The hypervisor by the firmware's tables, else that there is one; absent on bare metal.
pub fn virtualisation(tree: &Tree) -> Option<String> {
    let flags = tree.text("proc/cpuinfo")?;
    let guest = field(&flags, "flags").is_some_and(|f| f.split(' ').any(|w| w == "hypervisor"));
    let dmi = |name: &str| tree.text(format!("sys/class/dmi/id/{name}"));
    let firmware = format!(
        "{} {}",
        dmi("sys_vendor").unwrap_or_default(),
        dmi("product_name").unwrap_or_default()
    );
    const KNOWN: [(&str, &str); 9] = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Microsoft Corporation Virtual", "hyper-v"),
        ("Xen", "xen"),
        ("Amazon EC2", "ec2"),
        ("Google", "gce"),
        ("Parallels", "parallels"),
    ];
    let named = KNOWN.into_iter().find(|(text, _)| firmware.contains(text)).map(|(_, id)| id);
    match (named, clock_source(tree).as_deref()) {
        // Clouds sell bare metal under the same name; the processor's flag decides there.
        (Some(id), _) if guest => Some(id.into()),
        (_, Some("kvm-clock")) => Some("kvm".into()),
        _ => guest.then(|| "unnamed hypervisor".into()),
    }
}

/// The container around this process, by the traces that the engines leave.
pub fn container(tree: &Tree) -> Option<String> {
    for (file, engine) in [(".dockerenv", "docker"), ("run/.containerenv", "podman")] {
        if tree.path(file).exists() {
            return Some(engine.into());
        }
    }
    if let Some(engine) = tree.text("run/systemd/container").filter(|name| !name.is_empty()) {
        return Some(engine);
    }
    let groups = tree.text("proc/self/cgroup")?;
    const KNOWN: [&str; 5] = ["kubepods", "docker", "libpod", "lxc", "containerd"];
    KNOWN.into_iter().find(|engine| groups.contains(engine)).map(str::to_owned)
}

fn libc_and_allocator() -> (String, &'static str) {
    match crate::sys::machine::libc_version() {
        Some(version) => (format!("glibc {version}"), "glibc malloc"),
        None if cfg!(target_env = "musl") => ("musl".into(), "musl malloc"),
        None => ("unknown".into(), "system"),
    }
}

#[cfg(test)]
mod tests {

    use super::{container, virtualisation};
    use crate::host::tree::Tree;

    #[test]
    fn machines_are_told_apart() {
        let vendor = ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        let (_metal, tree) = Tree::of_files(&[vendor, ("proc/cpuinfo", "flags\t: fpu vme\n")]);
        assert_eq!(virtualisation(&tree), None, "bare metal of a cloud");
        let (_guest, tree) =
            Tree::of_files(&[vendor, ("proc/cpuinfo", "flags\t: fpu hypervisor\n")]);
        assert_eq!(virtualisation(&tree).as_deref(), Some("ec2"));
    }

    #[test]
    fn containers_are_told_by_their_traces() {
        let (_a, tree) = Tree::of_files(&[(".dockerenv", "")]);
        assert_eq!(container(&tree).as_deref(), Some("docker"));
        let (_b, tree) = Tree::of_files(&[("proc/self/cgroup", "0::/kubepods.slice/pod1\n")]);
        assert_eq!(container(&tree).as_deref(), Some("kubepods"));
        let (_c, tree) = Tree::of_files(&[("proc/self/cgroup", "0::/user.slice\n")]);
        assert_eq!(container(&tree), None);
    }
}
