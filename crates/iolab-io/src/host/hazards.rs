//! What on this machine can spoil or explain a result, in sentences that reason from its values.

use serde::{Deserialize, Serialize};

use super::mount::Mount;
use super::pressure::PRESSURES;
use iolab_model::catalog::{Code, Fact, bytes_text, so_many};
use iolab_model::result::{Environment, Warning};

/// What is going to be measured, as far as a hazard depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Levels of `block`, in bytes.
    pub block_bytes: Vec<u64>,
    /// Sizes of the files, in bytes.
    pub file_bytes: Vec<u64>,
    /// Some cells start cold.
    pub cold: bool,
    /// Some cells start warm.
    pub warm: bool,
    /// Some cells write or copy.
    pub writes: bool,
    /// The sizes are those of whole trees.
    pub trees: bool,
    /// The files are the person's, and as large as they are.
    #[serde(default)]
    pub theirs: bool,
    /// Trials make many files and remove them again.
    pub remakes: bool,
    /// Whether files are touched at all (a ladder of calls reads one byte).
    pub reads_files: bool,
}

/// The hazards of a directory whose facts `environment` holds under plain names.
pub fn hazards(environment: &Environment, work: &Work) -> Vec<Warning> {
    const CHECKS: [fn(&Environment, &Work) -> Option<Warning>; 14] = [
        page_reporting,
        smaller_than_cache,
        unaligned_block,
        dirty_throttling,
        network_fs,
        zram,
        no_cold_state,
        held_back,
        read_ahead,
        clock_source,
        steal,
        busy,
        container,
        virtual_machine,
    ];
    CHECKS.iter().filter_map(|check| check(environment, work)).collect()
}

/// Whether pages were swapped between two looks at the machine.
pub fn swapped(before: &Environment, after: &Environment) -> Option<Warning> {
    let pages = |fact| after.number(fact)?.checked_sub(before.number(fact)?);
    let (inward, outward) = (pages(Fact::SwapInPages)?, pages(Fact::SwapOutPages)?);
    (inward + outward > 0).then(|| {
        let text = format!(
            "{inward} pages were read from swap and {outward} written to it during the run: free \
             some memory, or take smaller files"
        );
        Warning { code: Code::SwapActive, text }
    })
}

fn warn(code: Code, text: String) -> Option<Warning> {
    Some(Warning { code, text })
}

fn page_reporting(known: &Environment, work: &Work) -> Option<Warning> {
    known.number(Fact::MemoryPageReportingOrder)?;
    if !(work.cold || work.writes) {
        return None;
    }
    let what = match (work.cold, work.writes) {
        (true, true) => "cold reads and writes",
        (true, false) => "cold reads",
        _ => "writes",
    };
    warn(
        Code::PageReporting,
        format!("{what} vary from run to run, ratios too: measure again in some minutes"),
    )
}

fn smaller_than_cache(known: &Environment, work: &Work) -> Option<Warning> {
    let cache = known.number(Fact::CpuLlcBytes)?;
    let smallest = *work.file_bytes.iter().filter(|bytes| **bytes < cache).min()?;
    // Of a tree of small files the calls take the time, and it is as large as it was asked to be.
    if work.trees || !(work.warm && work.reads_files) {
        return None;
    }
    let sizes = [smallest, cache].map(bytes_text);
    let [smallest, held] = &sizes;
    let text = if work.theirs {
        format!("{smallest} of {held}: warm reads may never reach memory; a larger one would")
    } else {
        // A power of two is written without a fraction, as the option wants it.
        let larger = bytes_text(cache.saturating_mul(2).min(1 << 62).next_power_of_two());
        format!(
            "{smallest} of {held}: warm reads may never reach memory; --file-size {} or more would",
            larger.replace(' ', "")
        )
    };
    warn(Code::SmallerThanCache, text)
}

fn unaligned_block(known: &Environment, work: &Work) -> Option<Warning> {
    let page = known.number(Fact::PageBytes)?;
    // Blocks that divide the page never straddle one.
    let straddles =
        |block: &&u64| **block > 0 && !block.is_multiple_of(page) && !page.is_multiple_of(**block);
    let odd: Vec<String> =
        work.block_bytes.iter().filter(straddles).map(|b| format!("{b} B")).collect();
    (!odd.is_empty()).then_some(())?;
    warn(
        Code::UnalignedBlock,
        format!("blocks of {} straddle pages of {}", odd.join(", "), bytes_text(page)),
    )
}

fn dirty_throttling(known: &Environment, work: &Work) -> Option<Warning> {
    let available = known.number(Fact::MemoryAvailableBytes)?;
    let bytes = known.number(Fact::VmDirtyBackgroundBytes).filter(|bytes| *bytes > 0);
    let ratio = known.number(Fact::VmDirtyBackgroundRatio);
    let share = |ratio: u64| (u128::from(available) * u128::from(ratio.min(100)) / 100) as u64;
    let start = bytes.or_else(|| ratio.map(share))?;
    (work.writes && work.file_bytes.iter().any(|size| *size < start)).then_some(())?;
    warn(
        Code::DirtyThrottling,
        format!(
            "the kernel starts to write back at about {} of dirty memory, so smaller buffered \
             writes run at the speed of memory: look at the durable time",
            bytes_text(start)
        ),
    )
}

fn network_fs(known: &Environment, work: &Work) -> Option<Warning> {
    let fs_type = known.text(Fact::MountFsType)?.to_owned();
    let mount = Mount { fs_type, ..Mount::default() };
    mount.is_remote().then_some(())?;
    let cold = if work.cold { "; cold means cold on this machine only" } else { "" };
    warn(
        Code::NetworkFs,
        format!("{} is served from elsewhere, whose caches cannot be seen{cold}", mount.fs_type),
    )
}

fn zram(known: &Environment, _: &Work) -> Option<Warning> {
    let device = known.text(Fact::DeviceName).filter(|name| name.starts_with("zram"))?;
    warn(
        Code::Zram,
        format!("{device} is compressed memory: speeds depend on how compressible the data is"),
    )
}

fn no_cold_state(known: &Environment, work: &Work) -> Option<Warning> {
    let fs = known.text(Fact::MountFsType).filter(|fs| ["tmpfs", "ramfs"].contains(fs))?;
    work.cold.then_some(())?;
    warn(
        Code::NoColdState,
        format!("{fs} keeps files in memory only, so there are no cold reads here"),
    )
}

fn held_back(known: &Environment, work: &Work) -> Option<Warning> {
    let journal = known.flag(Fact::MountJournal)?;
    (work.remakes && !journal).then_some(())?;
    let fs = known.text(Fact::MountFsType).unwrap_or("this file system");
    // A tree of theirs has as many files as it has.
    let fewer = if work.theirs { "--rounds (--rounds 10)" } else { "--rounds or --files" };
    warn(
        Code::InodesHeldBack,
        format!(
            "{fs} has no journal here, and for minutes passes over the inodes of removed files one by \
             one, so that making files may slow down over the rounds although iolab lays them apart: \
             take fewer {fewer}, or a directory whose file system has a journal"
        ),
    )
}

fn read_ahead(known: &Environment, work: &Work) -> Option<Warning> {
    let bytes = known.number(Fact::DeviceReadAheadBytes).filter(|bytes| *bytes >= 1 << 20)?;
    work.cold.then_some(())?;
    let device = known.text(Fact::DeviceName).unwrap_or("the device");
    warn(
        Code::ReadaheadLarge,
        format!(
            "{device} reads {} ahead (128 KiB is usual): a cold block smaller than that measures the \
             read-ahead and not the block, so small ones look as fast as large ones",
            bytes_text(bytes)
        ),
    )
}

/// Sources that are read without a system call, by architecture.
const FAST_CLOCKS: [&str; 8] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "tod",
    "riscv_clocksource",
    "Constant",
];

fn clock_source(known: &Environment, _: &Work) -> Option<Warning> {
    let source = known.text(Fact::ClockSource).filter(|name| !FAST_CLOCKS.contains(name))?;
    let cost = known.real(Fact::ClockPairNs).unwrap_or(0.0);
    let fast = known.text(Fact::ClockAvailable).unwrap_or_default();
    let remedy = match fast.split(' ').find(|name| FAST_CLOCKS.contains(name)) {
        Some(name) => format!("; {name} is there, boot with clocksource={name}"),
        None => String::new(),
    };
    warn(
        Code::ClockSource,
        format!("the clock source {source} costs {cost:.0} ns a reading{remedy}"),
    )
}

fn steal(known: &Environment, _: &Work) -> Option<Warning> {
    let share = known.real(Fact::CpuStealShare).filter(|share| *share > 0.01)?;
    warn(
        Code::StealHigh,
        format!("the host has taken {:.1} % of the processor time since boot", share * 100.0),
    )
}

/// Other programs: averages that nobody adds to at this moment are what iolab did a while ago.
fn busy(known: &Environment, _: &Work) -> Option<Warning> {
    let processors = known.number(Fact::CpuCount).unwrap_or(1).max(1) as f64;
    if let Some(running) = known.real(Fact::LoadOthers) {
        return busy_now(known, running, processors);
    }
    let now = |fact| known.number(fact).is_none_or(|tasks| tasks > 0);
    if !now(Fact::LoadRunning) && !now(Fact::LoadBlocked) {
        return None;
    }
    let load = known.real(Fact::Load1).filter(|load| *load >= (processors / 2.0).max(1.0));
    let pressed = PRESSURES.into_iter().find_map(|(fact, resource)| {
        let percent = known.real(fact)?;
        (percent > 10.0).then(|| format!("tasks waited for {resource} {percent:.0} % of the time"))
    });
    let load = load.map(|load| format!("the load is {load:.1} on {processors} processors"));
    let what: Vec<String> = [load, pressed].into_iter().flatten().collect();
    (!what.is_empty()).then_some(())?;
    warn(
        Code::BusyMachine,
        format!("{}, before iolab began: intervals will be wider", what.join(" and ")),
    )
}

/// What others do at this moment: averages of the last minute, and pressure of the last ten seconds, are
/// as much of what iolab itself did then.
fn busy_now(known: &Environment, running: f64, processors: f64) -> Option<Warning> {
    let blocked = known.real(Fact::LoadOthersBlocked).unwrap_or(0.0);
    let tasks = |n: f64| so_many(n.round().max(1.0) as usize, "task");
    let busy = (running >= (processors / 2.0).max(1.0))
        .then(|| format!("{} of others running on {processors} processors", tasks(running)));
    let waits =
        (blocked >= 1.0).then(|| format!("{} of others waiting for a disk", tasks(blocked)));
    let what: Vec<String> = [busy, waits].into_iter().flatten().collect();
    (!what.is_empty()).then_some(())?;
    let what = what.join(" and ");
    warn(Code::BusyMachine, format!("{what}, before iolab began: intervals will be wider"))
}

fn container(known: &Environment, _: &Work) -> Option<Warning> {
    let engine = known.text(Fact::Container)?;
    let memory = known.number(Fact::CgroupMemoryLimitBytes);
    let share = known.real(Fact::CgroupCpuLimit).map(|n| format!("{n:.1} processors"));
    let memory = memory.map(|bytes| format!("{} of memory", bytes_text(bytes)));
    let limits: Vec<String> = [share, memory].into_iter().flatten().collect();
    let limits = if limits.is_empty() { "no limit seen".into() } else { limits.join(" and ") };
    warn(Code::Container, format!("this is a container ({engine}) with {limits}"))
}

fn virtual_machine(known: &Environment, _: &Work) -> Option<Warning> {
    let machine = known.text(Fact::Virtualisation)?;
    warn(
        Code::Virtualised,
        format!("a virtual machine ({machine}): a host and its other guests share in every figure"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Work, hazards, swapped};
    use iolab_model::catalog::Code;
    use iolab_model::result::Environment;

    fn machine(facts: &Value) -> Environment {
        serde_json::from_value(facts.clone()).unwrap()
    }

    fn all() -> Work {
        Work {
            block_bytes: vec![1000, 4096],
            file_bytes: vec![1 << 20],
            cold: true,
            warm: true,
            writes: true,
            trees: false,
            theirs: false,
            remakes: true,
            reads_files: true,
        }
    }

    fn codes(facts: &Value, work: &Work) -> Vec<Code> {
        hazards(&machine(facts), work).iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_quiet_plain_machine_has_none() {
        let facts = json!({"page_bytes": 4096, "cpu.llc_bytes": 8 << 20, "cpu.count": 8,
            "load.1": 0.3, "clock.source": "tsc", "mount.fs_type": "ext4", "mount.journal": true, "device.name": "sda",
            "device.read_ahead_bytes": 131_072, "psi.io_some_avg10_percent": 0.5,
            "cpu.steal_share": 0.001, "memory.available_bytes": 1 << 30,
            "vm.dirty_background_ratio": 10});
        let (block_bytes, file_bytes) = (vec![512, 4096, 65536], vec![64 << 20]);
        let work = Work { block_bytes, file_bytes, writes: false, ..all() };
        assert_eq!(hazards(&machine(&facts), &work), []);
    }

    #[test]
    fn each_hazard_is_named_with_this_machines_values() {
        for (facts, code, words) in [
            (json!({"memory.page_reporting_order": 9}), Code::PageReporting, "ratios too"),
            (json!({"cpu.llc_bytes": 8 << 20}), Code::SmallerThanCache, "8 MiB"),
            (json!({"page_bytes": 4096}), Code::UnalignedBlock, "1000 B"),
            (
                json!({"memory.available_bytes": 10_u64 << 30, "vm.dirty_background_ratio": 10,
                    "vm.dirty_background_bytes": 0}),
                Code::DirtyThrottling,
                "1 GiB",
            ),
            (json!({"mount.fs_type": "nfs4"}), Code::NetworkFs, "nfs4"),
            (json!({"device.name": "zram1"}), Code::Zram, "zram1"),
            (json!({"mount.fs_type": "tmpfs"}), Code::NoColdState, "tmpfs"),
            (
                json!({"device.read_ahead_bytes": 8 << 20, "device.name": "vdb"}),
                Code::ReadaheadLarge,
                "vdb reads 8 MiB",
            ),
            (
                json!({"clock.source": "hpet", "clock.pair_ns": 1200.0,
                    "clock.available": "tsc hpet"}),
                Code::ClockSource,
                "clocksource=tsc",
            ),
            (
                json!({"mount.fs_type": "ext4", "mount.journal": false}),
                Code::InodesHeldBack,
                "a directory whose file system has a journal",
            ),
            (json!({"cpu.steal_share": 0.034}), Code::StealHigh, "3.4 %"),
            (json!({"cpu.count": 4, "load.1": 3.2}), Code::BusyMachine, "3.2 on 4"),
            (
                json!({"cpu.count": 4, "load.1": 3.2, "load.running": 2, "load.blocked": 0}),
                Code::BusyMachine,
                "3.2 on 4",
            ),
            (
                json!({"cpu.count": 2, "load.1": 0.1, "load.others": 1.0}),
                Code::BusyMachine,
                "1 task of others running on 2",
            ),
            (
                json!({"cpu.count": 2, "load.others": 0.0, "load.others_blocked": 2.0}),
                Code::BusyMachine,
                "2 tasks of others waiting for a disk",
            ),
            (json!({"psi.io_some_avg10_percent": 30.0}), Code::BusyMachine, "io 30 %"),
            (
                json!({"container": "podman", "cgroup.memory_limit_bytes": 1 << 30}),
                Code::Container,
                "1 GiB",
            ),
            (json!({"virtualisation": "kvm"}), Code::Virtualised, "kvm"),
        ] {
            let found = hazards(&machine(&facts), &all());
            assert_eq!(found.len(), 1, "{facts} gives {found:?}");
            assert_eq!(found[0].code, code);
            assert!(found[0].text.contains(words), "{words:?} is missing: {}", found[0].text);
        }
    }

    /// Fewer --files were advised of a tree that the person has.
    #[test]
    fn nobody_is_told_to_have_fewer_files() {
        let facts = json!({"mount.fs_type": "ext4", "mount.journal": false});
        let said = |theirs| hazards(&machine(&facts), &Work { theirs, ..all() })[0].text.clone();
        assert!(said(false).contains("fewer --rounds or --files"), "{}", said(false));
        assert!(!said(true).contains("--files"), "{}", said(true));
        assert!(said(true).contains("--rounds 10"), "{}", said(true));
    }

    /// The load of a run that ended a moment ago was once told as another program's.
    #[test]
    fn what_iolab_did_before_is_no_other_program() {
        let facts = json!({"cpu.count": 2, "load.1": 4.9, "psi.io_some_avg10_percent": 40.0,
            "load.running": 0, "load.blocked": 0});
        assert_eq!(codes(&facts, &all()), []);
        // One thread of the kernel was awake at the first look, and asleep at the others.
        let facts = json!({"cpu.count": 2, "load.1": 4.9, "psi.io_some_avg10_percent": 40.0,
            "load.running": 1, "load.blocked": 1, "load.others": 0.0, "load.others_blocked": 0.0});
        assert_eq!(codes(&facts, &all()), []);
    }

    #[test]
    fn a_tree_of_small_files_is_as_large_as_it_was_asked_to_be() {
        let facts = machine(&json!({"cpu.llc_bytes": 8 << 20}));
        let raised = |trees| hazards(&facts, &Work { trees, ..all() }).len();
        assert_eq!((raised(true), raised(false)), (0, 1));
    }

    /// Who ran on ext4 was told to take ext4, and who named a file to make it larger by an option that
    /// makes another file.
    #[test]
    fn no_advice_is_given_that_cannot_be_followed_there() {
        let facts = json!({"mount.fs_type": "ext4", "mount.journal": false});
        let text = hazards(&machine(&facts), &all()).remove(0).text;
        assert!(
            text.starts_with("ext4 has no journal here") && !text.contains("--place"),
            "{text}"
        );
        let facts = machine(&json!({"cpu.llc_bytes": 8 << 20}));
        let text = |theirs| hazards(&facts, &Work { theirs, ..all() }).remove(0).text;
        assert!(text(false).contains("--file-size"), "{}", text(false));
        assert!(!text(true).contains("--file-size") && text(true).contains("a larger one"));
    }

    #[test]
    fn what_the_work_does_not_touch_is_not_said() {
        let facts = json!({"memory.page_reporting_order": 9, "cpu.llc_bytes": 8 << 20,
            "mount.fs_type": "tmpfs", "device.read_ahead_bytes": 8 << 20,
            "mount.journal": false});
        let calls = Work { warm: true, file_bytes: vec![1], ..Work::default() };
        assert_eq!(codes(&facts, &calls), []);
    }

    #[test]
    fn facts_of_an_odd_type_are_passed_over() {
        let facts = json!({"cpu.llc_bytes": "x", "load.1": [], "page_bytes": null,
            "memory.page_reporting_order": -1, "device.read_ahead_bytes": {}, "container": 3});
        assert_eq!(codes(&facts, &all()), []);
    }

    #[test]
    fn swapping_is_a_difference() {
        let at = |n| machine(&json!({"swap.pswpin_pages": n, "swap.pswpout_pages": 5}));
        assert_eq!(swapped(&at(3), &at(3)), None);
        assert!(swapped(&at(3), &at(7)).unwrap().text.starts_with("4 pages"));
    }
}
