//! Every fact of the machine that a reader of a result may need (linux-io's list).

use std::path::Path;

use super::tree::{Facts, Tree};
use super::{cpu, device, kernel, limits, memory, mount, pressure};
use iolab_model::catalog::directory_prefix;
use iolab_model::result::Environment;

/// The facts of this machine and of the directories' file systems and devices. Those of the first
/// directory have plain names (`mount.fs_type`), those of the n-th begin with `directory<n>.`.
/// What this machine does not tell is absent.
pub fn environment(directories: &[&Path]) -> Environment {
    of(&Tree::machine(), directories)
}

/// The same, of any tree.
pub fn of(tree: &Tree, directories: &[&Path]) -> Environment {
    let mut facts = Facts::default();
    kernel::gather(tree, &mut facts);
    cpu::gather(tree, &mut facts);
    memory::gather(tree, &mut facts);
    limits::gather(tree, &mut facts);
    pressure::gather(tree, &mut facts);
    for (at, directory) in directories.iter().enumerate() {
        facts.prefix(directory_prefix(at + 1));
        mount::gather(tree, directory, &mut facts);
        device::gather(tree, directory, &mut facts);
    }
    Environment(facts.into_map())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::{environment, of};
    use crate::host::tree::Tree;

    #[test]
    fn this_machine_tells_the_facts_that_every_linux_has() {
        let facts = environment(&[Path::new("/var/tmp"), Path::new("/proc")]).0;
        for name in [
            "kernel.release",
            "kernel.cmdline",
            "cpu.count",
            "cpu.allowed",
            "memory.total_bytes",
            "memory.available_bytes",
            "page_bytes",
            "mount.fs_type",
            "mount.options",
            "mount.point",
            "space.free_bytes",
            "iolab.version",
            "libc",
            "allocator",
            "limits.nofile",
            "process.capabilities",
            "process.uid",
            "load.1",
            "vm.dirty_ratio",
            "clock.resolution_ns",
            "directory2.mount.fs_type",
        ] {
            assert!(facts.contains_key(name), "{name} is missing of {facts:#?}");
        }
        assert_eq!(facts["directory2.mount.fs_type"], "proc");
    }

    /// Every file that is read, so that odd content can be put into each.
    const READ: &[&str] = &[
        "proc/meminfo",
        "proc/cpuinfo",
        "proc/loadavg",
        "proc/stat",
        "proc/self/mountinfo",
        "proc/self/cgroup",
        "proc/self/status",
        "proc/pressure/io",
        "proc/swaps",
        "proc/sys/vm/dirty_ratio",
        "proc/cmdline",
        "sys/kernel/mm/transparent_hugepage/enabled",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/smt/control",
        "sys/devices/system/cpu/cpu0/cache/index0/size",
        "sys/devices/system/cpu/cpu0/cache/index0/level",
        "sys/devices/system/cpu/vulnerabilities/meltdown",
        "sys/fs/cgroup/memory/memory.limit_in_bytes",
        "sys/fs/cgroup/memory.max",
        "sys/fs/cgroup/cpu.max",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn no_content_of_a_file_makes_it_panic(
            contents in proptest::collection::vec(
                prop_oneof![
                    "\\PC{0,80}",
                    "[0-9 :/\\[\\]a-z%=.\n\t-]{0,120}",
                    Just("18446744073709551615 18446744073709551615\n".repeat(4)),
                    Just("MemTotal: 99999999999999999999 kB\n".to_owned()),
                ],
                READ.len(),
            )
        ) {
            let dir = tempfile::tempdir().unwrap();
            for (name, content) in READ.iter().zip(&contents) {
                let path = dir.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            let facts = of(&Tree::fixture(dir.path()), &[Path::new("/"), Path::new("/no/such")]);
            prop_assert!(facts.0.contains_key("iolab.version"));
        }
    }
}
