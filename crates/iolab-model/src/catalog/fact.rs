//! The keys of facts about a machine, for those who write them and those who read them: a fact
//! that is read under a name that nobody writes does not compile.

use serde_json::Value;

macro_rules! facts {
    ($($fact:ident $key:literal,)*) => {
        /// A fact of a machine or a run with a key of its own, `kernel.release`. What is part of a
        /// name in other facts ([`Family`]) is known at run time only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fact {
            $(#[doc = concat!("`", $key, "`")] $fact,)*
        }

        impl Fact {
            /// Every fact.
            pub const ALL: &[Fact] = &[$(Fact::$fact),*];

            /// The key in records.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Fact::$fact => $key,)*
                }
            }
        }
    };
}

// `vm.` are the kernel's settings of its memory (/proc/sys/vm), `guest.` is the virtual machine
// that the agent ran in.
facts! {
    KernelName "kernel.name",
    KernelRelease "kernel.release",
    KernelVersion "kernel.version",
    KernelCmdline "kernel.cmdline",
    KernelIoUringDisabled "kernel.io_uring_disabled",
    KernelPerfEventParanoid "kernel.perf_event_paranoid",
    KernelUnprivilegedUsernsClone "kernel.unprivileged_userns_clone",
    HostName "host.name",
    HostMachine "host.machine",
    HostBootId "host.boot_id",
    ClockSource "clock.source",
    ClockAvailable "clock.available",
    ClockResolutionNs "clock.resolution_ns",
    ClockPairNs "clock.pair_ns",
    Virtualisation "virtualisation",
    Container "container",
    IolabVersion "iolab.version",
    IolabBuild "iolab.build",
    Libc "libc",
    Allocator "allocator",
    PageBytes "page_bytes",
    CpuModel "cpu.model",
    CpuMhz "cpu.mhz",
    CpuCount "cpu.count",
    CpuAllowed "cpu.allowed",
    CpuIsolated "cpu.isolated",
    CpuSmt "cpu.smt",
    CpuSmtActive "cpu.smt_active",
    CpuGovernor "cpu.governor",
    CpuBoost "cpu.boost",
    CpuL1iBytes "cpu.l1i_bytes",
    CpuL1dBytes "cpu.l1d_bytes",
    CpuL2Bytes "cpu.l2_bytes",
    CpuL3Bytes "cpu.l3_bytes",
    CpuL4Bytes "cpu.l4_bytes",
    CpuLlcBytes "cpu.llc_bytes",
    CpuStealShare "cpu.steal_share",
    NumaNodes "numa.nodes",
    NumaBalancing "numa.balancing",
    MemoryTotalBytes "memory.total_bytes",
    MemoryAvailableBytes "memory.available_bytes",
    MemoryFreeBytes "memory.free_bytes",
    MemoryDirtyBytes "memory.dirty_bytes",
    MemoryHugepageBytes "memory.hugepage_bytes",
    MemoryPageReportingOrder "memory.page_reporting_order",
    SwapTotalBytes "swap.total_bytes",
    SwapFreeBytes "swap.free_bytes",
    SwapInPages "swap.pswpin_pages",
    SwapOutPages "swap.pswpout_pages",
    ThpEnabled "thp.enabled",
    ThpDefrag "thp.defrag",
    ThpShmemEnabled "thp.shmem_enabled",
    VmDirtyRatio "vm.dirty_ratio",
    VmDirtyBackgroundRatio "vm.dirty_background_ratio",
    VmDirtyBytes "vm.dirty_bytes",
    VmDirtyBackgroundBytes "vm.dirty_background_bytes",
    VmDirtyExpireCentisecs "vm.dirty_expire_centisecs",
    VmDirtyWritebackCentisecs "vm.dirty_writeback_centisecs",
    VmSwappiness "vm.swappiness",
    VmVfsCachePressure "vm.vfs_cache_pressure",
    VmMinFreeKbytes "vm.min_free_kbytes",
    CgroupVersion "cgroup.version",
    CgroupMemoryLimitBytes "cgroup.memory_limit_bytes",
    CgroupCpuLimit "cgroup.cpu_limit",
    CgroupIoLimit "cgroup.io_limit",
    LimitNofile "limits.nofile",
    LimitFsizeBytes "limits.fsize_bytes",
    LimitMemlockBytes "limits.memlock_bytes",
    LimitAddressSpaceBytes "limits.address_space_bytes",
    LimitProcesses "limits.processes",
    ProcessCapabilities "process.capabilities",
    ProcessSeccomp "process.seccomp",
    ProcessNoNewPrivileges "process.no_new_privileges",
    ProcessUid "process.uid",
    Load1 "load.1",
    Load5 "load.5",
    Load15 "load.15",
    LoadRunning "load.running",
    LoadBlocked "load.blocked",
    LoadOthers "load.others",
    LoadOthersBlocked "load.others_blocked",
    PsiCpuPercent "psi.cpu_some_avg10_percent",
    PsiIoPercent "psi.io_some_avg10_percent",
    PsiMemoryPercent "psi.memory_some_avg10_percent",
    Directory "directory",
    MountJournal "mount.journal",
    MountFsType "mount.fs_type",
    MountSource "mount.source",
    MountPoint "mount.point",
    MountOptions "mount.options",
    MountSuperOptions "mount.super_options",
    SpaceFreeBytes "space.free_bytes",
    SpaceReserveBytes "space.reserve_bytes",
    SpaceFreeInodes "space.free_inodes",
    FsBlockBytes "fs.block_bytes",
    FsTotalBytes "fs.total_bytes",
    FsPreferredIoBytes "fs.preferred_io_bytes",
    DioMemoryAlignBytes "dio.memory_align_bytes",
    DioOffsetAlignBytes "dio.offset_align_bytes",
    DeviceName "device.name",
    DeviceModel "device.model",
    DeviceBytes "device.bytes",
    DeviceScheduler "device.scheduler",
    DeviceRotational "device.rotational",
    DeviceReadAheadBytes "device.read_ahead_bytes",
    DeviceWriteCache "device.write_cache",
    DeviceNrRequests "device.nr_requests",
    DeviceLogicalBlockBytes "device.logical_block_bytes",
    DevicePhysicalBlockBytes "device.physical_block_bytes",
    DeviceMaxRequestBytes "device.max_request_bytes",
    DeviceThrottleLatencyUs "device.throttle_latency_us",
    DeviceLoopDirect "device.loop_direct",
    DeviceLoopFile "device.loop_file",
    DeviceBelow "device.below",
    GuestAccelerator "guest.accelerator",
    GuestKernel "guest.kernel",
    GuestDiskCache "guest.disk_cache",
    GuestBootNs "guest.boot_ns",
    GuestNote "guest.note",
    RunWorkingDirectory "run.working_directory",
    RunHost "run.host",
    RunRanks "run.ranks",
    RunNodes "run.nodes",
    RunMachines "run.machines",
    RunMpi "run.mpi",
    ImportTool "import.tool",
    ImportFile "import.file",
}

/// Facts that make another machine.
const MACHINE: &[Fact] = &[
    Fact::HostMachine,
    Fact::CpuModel,
    Fact::CpuCount,
    Fact::MemoryTotalBytes,
    Fact::DeviceModel,
    Fact::DeviceRotational,
    Fact::PageBytes,
    Fact::ClockSource,
    Fact::Libc,
    Fact::Allocator,
    Fact::IolabBuild,
    Fact::GuestAccelerator,
];

/// Total memory may differ by this share on one machine: the kernel keeps a part of it.
const MEMORY_SHARE: f64 = 0.03;

impl Fact {
    /// Whether two values of it make two machines: times measured there do not compare.
    pub fn is_of_machine(self) -> bool {
        MACHINE.contains(&self)
    }

    /// Whether two values of it are not the same thing.
    pub fn differs(self, first: &Value, second: &Value) -> bool {
        match (self, first.as_f64(), second.as_f64()) {
            (Fact::MemoryTotalBytes, Some(first), Some(second)) => {
                first.max(second) > first.min(second) * (1.0 + MEMORY_SHARE)
            }
            _ => first != second,
        }
    }
}

/// Facts whose keys end in a name that is found at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// What the kernel does against a hole of the processor, by the hole.
    CpuVulnerability,
    /// What a place turned out to be, by the place as it was asked for.
    Place,
    /// The words and the version of a command, by the command.
    Contender,
    /// What tells a person's file from another of its name, by the file.
    File,
    /// What a trace is and what of it is replayed, by its file.
    Trace,
    /// A fact that is another one on several machines that are compared, by the machine and the fact:
    /// `nas/kernel.release`. A machine's name has no slash.
    Host,
}

impl Family {
    /// Whether a key is that of one of them.
    pub fn holds(self, key: &str) -> bool {
        key.starts_with(&self.key(""))
    }

    /// The key in records.
    pub fn key(self, name: &str) -> String {
        let before = match self {
            Family::CpuVulnerability => "cpu.vulnerabilities",
            Family::Place => "place",
            Family::Contender => "contender",
            Family::File => "file",
            Family::Trace => "trace",
            Family::Host => "on",
        };
        format!("{before}.{name}")
    }
}

/// The machine and the plain key of a fact that differs among machines: `on.nas/kernel.release`.
pub fn of_host(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix("on.")?.split_once('/')
}

/// What keys of the n-th directory begin with; those of the first are plain.
pub fn directory_prefix(number: usize) -> String {
    match number {
        0 | 1 => String::new(),
        n => format!("{}{n}.", Fact::Directory.key()),
    }
}

/// Whether a key is that of a directory after the first.
pub fn is_of_later_directory(key: &str) -> bool {
    let rest = key.strip_prefix(Fact::Directory.key()).and_then(|rest| rest.split_once('.'));
    rest.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.key())
    }
}

impl std::str::FromStr for Fact {
    type Err = ();

    /// By its key, or by one that it had before: until the guest had a prefix of its own, its facts
    /// stood among the kernel's settings of memory.
    fn from_str(key: &str) -> Result<Fact, ()> {
        let find = |key: &str| Fact::ALL.iter().copied().find(|fact| fact.key() == key);
        let guest = || find(&format!("guest.{}", key.strip_prefix("vm.")?));
        find(key).or_else(guest).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Fact, Family, directory_prefix, is_of_later_directory};

    #[test]
    fn keys_are_unique_and_read_back() {
        let keys: BTreeSet<&str> = Fact::ALL.iter().map(|fact| fact.key()).collect();
        assert_eq!(keys.len(), Fact::ALL.len());
        for fact in Fact::ALL {
            assert_eq!(fact.key().parse(), Ok(*fact));
        }
        assert_eq!("file_system.type".parse::<Fact>(), Err(()));
        assert_eq!(Family::Place.key("ext4"), "place.ext4");
    }

    /// `vm.` once stood for the guest and for the kernel's sysctl alike.
    #[test]
    fn a_guest_and_the_settings_of_memory_have_prefixes_of_their_own() {
        assert_eq!("vm.accelerator".parse(), Ok(Fact::GuestAccelerator));
        assert_eq!("vm.kernel".parse(), Ok(Fact::GuestKernel));
        assert_eq!("vm.swappiness".parse(), Ok(Fact::VmSwappiness));
        assert_eq!("vm.machine".parse::<Fact>(), Err(()), "nobody ever wrote it");
    }

    #[test]
    fn keys_of_later_directories_are_known_by_their_number() {
        assert_eq!(directory_prefix(1), "");
        for number in [2, 3, 12] {
            let key = format!("{}{}", directory_prefix(number), Fact::MountFsType);
            assert!(is_of_later_directory(&key), "{key}");
        }
        assert!(!is_of_later_directory(Fact::Directory.key()));
        assert!(!is_of_later_directory("directory_of.x"));
    }
}
