//! What `iolab doctor` shows: what can be had here, found by trying, and the remedy for the rest.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, OFlags, accessat};
use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use super::kernel::clock_source;
use super::memory::Groups;
use super::mount::Mount;
use super::tree::Tree;
use crate::cache::{self, Prober};
use crate::place::{KINDS, Scratch};
use crate::sys::machine::{try_io_uring, try_perf_clock, try_user_namespace};
use iolab_model::catalog::{CacheState, bytes_text};

/// One line of `iolab doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// A stable name: `cachestat`.
    pub id: String,
    /// Whether it can be had.
    pub ok: bool,
    /// What was found, in words.
    pub found: String,
    /// What to do where it cannot be had, or what goes without it; empty where all is well.
    pub remedy: String,
}

fn probe(id: &str, outcome: Result<String, String>, remedy: &str) -> Probe {
    let id = id.to_owned();
    match outcome {
        Ok(found) => Probe { id, ok: true, found, remedy: String::new() },
        Err(found) => Probe { id, ok: false, found, remedy: remedy.into() },
    }
}

/// Every kind of place that iolab makes itself.
fn places() -> Vec<Probe> {
    let kinds = KINDS.iter().filter(|kind| kind.part().id != "dir");
    let row = |kind: &&'static dyn crate::place::Kind| {
        let id = kind.part().id;
        match kind.available() {
            Ok(()) => probe(id, Ok("a place: --place can make it".into()), ""),
            Err(missing) => {
                probe(id, Err(format!("no place: {}", missing.reason)), &missing.remedy)
            }
        }
    };
    kinds.map(row).collect()
}

/// Tries everything, under `directory` where files are needed; `state` is where the history is
/// kept. Takes well under a second and leaves nothing behind.
pub fn probes(directory: &Path, state: Option<&Path>) -> Vec<Probe> {
    let tree = Tree::machine();
    let mut all = in_directory(&tree, directory);
    all.push(cold_privileged());
    all.extend([
        clock(&tree),
        perf(),
        namespaces(),
        io_uring(),
        loop_devices(),
        memory_group(&tree),
    ]);
    all.extend(places());
    all.push(pressure());
    all.extend(limits());
    all.extend(state.map(state_directory));
    all.push(page_reporting(&tree));
    all
}

fn in_directory(tree: &Tree, directory: &Path) -> Vec<Probe> {
    let fs = Mount::of(tree, directory).map_or_else(|| "?".into(), |mount| mount.fs_type);
    let scratch = match Scratch::make(directory) {
        Ok(scratch) => scratch,
        Err(fault) => {
            let found = format!("{fault}");
            return vec![probe("directory", Err(found), "run iolab where you may write")];
        }
    };
    let here = crate::place::space(directory)
        .map(|space| format!("{fs}, {} free beside a reserve", bytes_text(space.usable_bytes())));
    let here = here.map_err(|fault| fault.to_string());
    let mut all = vec![probe("directory", here, "name a directory on another file system")];
    match Prober::start(scratch.path()) {
        Ok(prober) => {
            all.extend(page_cache(&prober));
            all.extend(states(&prober, scratch.path()));
        }
        Err(fault) => {
            let remedy = "use --cache any; the state of the cache cannot be proven here";
            all.push(probe("page-cache", Err(fault.to_string()), remedy));
        }
    }
    all.push(direct(scratch.path()));
    all
}

fn page_cache(prober: &Prober) -> Vec<Probe> {
    let remedy = |which: cache::Probe| match which {
        cache::Probe::Cachestat => "needs Linux 6.5 and no overlay; mincore stands in",
        cache::Probe::Mincore => "cachestat stands in; files of others need rwf_nowait",
        cache::Probe::Nowait => "files that you may only read cannot be proven cold or warm here",
    };
    let judge = |which: cache::Probe| {
        let rejected = prober.rejected().iter().find(|rejected| rejected.probe == which);
        let seen = match rejected {
            Some(rejected) => Err(rejected.reason.clone()),
            None => Ok("saw a primed file and an evicted one as they were".into()),
        };
        probe(which.name(), seen, remedy(which))
    };
    cache::Probe::ALL.map(judge).into()
}

/// Both states reached and proven on a file of 1 MiB.
fn states(prober: &Prober, scratch: &Path) -> [Probe; 2] {
    let path = scratch.join("probe");
    let outcome = |state| {
        let proof = trial(state, prober, &path).map_err(|e| format!("could not be tried: {e}"))?;
        match proof.reason {
            None => Ok(format!("reached by {} and proven twice on 1 MiB", proof.how)),
            Some(reason) => Err(reason),
        }
    };
    if let Err(error) = std::fs::write(&path, vec![0x5a; 1 << 20]) {
        let why = || Err(format!("a file of 1 MiB cannot be written: {error}"));
        let both = [CacheState::Warm, CacheState::Cold];
        return both.map(|state| probe(state.word(), why(), "free some space"));
    }
    [
        probe(
            CacheState::Warm.word(),
            outcome(CacheState::Warm),
            "free some memory; look for what reads this disk",
        ),
        probe(
            CacheState::Cold.word(),
            outcome(CacheState::Cold),
            "name a directory on a local disk, or use --cache any",
        ),
    ]
}

fn trial(
    state: CacheState,
    prober: &Prober,
    path: &Path,
) -> io::Result<iolab_model::result::CacheProof> {
    let file = File::open(path)?;
    let mut proof = cache::prepare(state, &file, prober).map_err(io::Error::other)?;
    let baseline = crate::sys::usage::usage();
    let before = cache::device_read_bytes();
    let mut fresh = File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    while fresh.read(&mut buffer)? > 0 {}
    let delivered = cache::device_read_bytes().zip(before).map(|(after, before)| after - before);
    let faults = crate::sys::usage::usage().major_faults - baseline.major_faults;
    cache::conclude(&mut proof, None, delivered, faults, 0);
    Ok(proof)
}

fn direct(scratch: &Path) -> Probe {
    let path = scratch.join("direct");
    let outcome = try_direct(&path).map(|()| "4 KiB were read past the page cache".into());
    let remedy = "cells with direct I/O are skipped here; name a directory on a disk";
    probe("o-direct", outcome.map_err(|error| error.to_string()), remedy)
}

fn try_direct(path: &Path) -> io::Result<()> {
    const BYTES: usize = 4096;
    std::fs::write(path, [0x5a; BYTES])?;
    let flags = OFlags::DIRECT.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut memory = vec![0; 2 * BYTES];
    let start = memory.as_ptr().align_offset(BYTES);
    let count = file.read_at(&mut memory[start..start + BYTES], 0)?;
    let same = count == BYTES && memory[start..start + BYTES].iter().all(|byte| *byte == 0x5a);
    if same { Ok(()) } else { Err(io::Error::other("the bytes read are not those written")) }
}

fn may_write(path: &Path) -> bool {
    accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Whether the page cache of the whole machine can be dropped by this user.
pub fn may_drop_caches() -> bool {
    may_write(Path::new("/proc/sys/vm/drop_caches"))
}

fn cold_privileged() -> Probe {
    let outcome = match may_drop_caches() {
        true => {
            Ok("caches of the whole machine can be dropped once a run, as a last resort".into())
        }
        false => Err("the machine's caches may not be dropped".into()),
    };
    probe("drop-caches", outcome, "not needed: files are evicted one by one; root has it")
}

fn clock(tree: &Tree) -> Probe {
    let source = clock_source(tree).unwrap_or_else(|| "unknown".into());
    let outcome = match crate::sys::clock::check() {
        Ok(clock) if clock.pair_cost_ns < 500.0 => Ok(format!(
            "{source}: steps of {:.0} ns, {:.0} ns a reading",
            clock.resolution_ns, clock.pair_cost_ns
        )),
        Ok(clock) => Err(format!("{source} costs {:.0} ns a reading", clock.pair_cost_ns)),
        Err(unsteady) => Err(format!("{source}: {unsteady}")),
    };
    probe("clock", outcome, "boot with clocksource=tsc, or kvm-clock in a guest")
}

fn perf() -> Probe {
    let outcome = try_perf_clock().map(|()| "a software counter opens".into());
    let remedy = "optional: kernel.perf_event_paranoid at 2 or less allows it";
    probe("perf", outcome.map_err(|error| error.to_string()), remedy)
}

fn namespaces() -> Probe {
    let outcome = try_user_namespace().map(|()| "a user and a mount namespace can be made".into());
    let remedy = "mounts then need root; user.max_user_namespaces or AppArmor forbids them";
    probe("user-namespace", outcome.map_err(|error| error.to_string()), remedy)
}

fn io_uring() -> Probe {
    let outcome = try_io_uring().map(|()| "a ring can be set up".into());
    let remedy = "cells with io_uring are skipped: kernel.io_uring_disabled or a container's \
                  seccomp filter forbids it, or the kernel lacks it";
    probe("io_uring", outcome.map_err(|error| error.to_string()), remedy)
}

fn loop_devices() -> Probe {
    let outcome = match OpenOptions::new().read(true).write(true).open("/dev/loop-control") {
        Ok(_) => Ok("/dev/loop-control opens".into()),
        Err(error) => Err(format!("/dev/loop-control: {error}")),
    };
    probe("loop-device", outcome, "file systems in images need root and the loop driver")
}

fn memory_group(tree: &Tree) -> Probe {
    let groups = Groups::of(tree);
    let outcome = match groups.memory_knob(tree) {
        Some(knob) if may_write(&knob) => Ok(format!("limits can be set ({})", knob.display())),
        Some(knob) => Err(format!("{} may not be written", knob.display())),
        None => Err("no memory controller is seen".into()),
    };
    let remedy = "memory-limited cells are skipped: run as root, or in a scope of \
                  `systemd-run --user --scope -p Delegate=yes`";
    probe("memory-cgroup", outcome, remedy)
}

fn pressure() -> Probe {
    let outcome = match std::fs::read("/proc/pressure/io") {
        Ok(_) => Ok("stalls of the machine are counted".into()),
        Err(error) => Err(format!("/proc/pressure/io: {error}")),
    };
    probe("pressure", outcome, "optional: boot with psi=1")
}

/// Limits that a run needs to be above: descriptors, the size of a file.
fn limits() -> [Probe; 3] {
    let rows = [
        ("rlimit-nofile", Resource::Nofile, 64, "raise it: ulimit -n 1024"),
        (
            "rlimit-fsize",
            Resource::Fsize,
            1 << 31,
            "raise it (ulimit -f unlimited) or use a smaller --file-size",
        ),
        ("rlimit-memlock", Resource::Memlock, 64 << 10, "registered buffers need more: ulimit -l"),
    ];
    rows.map(|(id, resource, least, remedy)| {
        let current = getrlimit(resource).current;
        let words = match current {
            None => "unlimited".into(),
            Some(n) if resource == Resource::Nofile => n.to_string(),
            Some(bytes) => bytes_text(bytes),
        };
        let enough = current.is_none_or(|limit| limit >= least);
        probe(id, if enough { Ok(words) } else { Err(words) }, remedy)
    })
}

/// The directory, or the nearest one above it that exists, can be written to.
fn state_directory(state: &Path) -> Probe {
    let there = state.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let outcome = match (there.is_dir() && may_write(there), there == state) {
        (true, true) => Ok(format!("{} can be written", state.display())),
        (true, false) => Ok(format!("{} can be made", state.display())),
        (false, _) => Err(format!("{} may not be written", there.display())),
    };
    probe("state-directory", outcome, "runs are then not recorded: give --store PATH")
}

fn page_reporting(tree: &Tree) -> Probe {
    let order = tree.number("sys/module/page_reporting/parameters/page_reporting_order");
    let outcome = match order {
        None => Ok("free memory stays with this machine".into()),
        Some(order) => Err(format!("free blocks of order {order} go back to the host")),
    };
    let remedy = "cold reads and writes vary for it: compare within a run only \
                  (iolab explain PAGE_REPORTING)";
    probe("page-reporting", outcome, remedy)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::probes;
    use crate::sys::testing::{as_nobody, open_directory};

    fn assert_sound(all: &[super::Probe]) {
        for (at, probe) in all.iter().enumerate() {
            assert!(!probe.found.is_empty() && probe.ok == probe.remedy.is_empty(), "{probe:?}");
            assert_eq!(all.iter().position(|p| p.id == probe.id), Some(at), "{} twice", probe.id);
            assert!(!probe.found.contains('\n') && !probe.remedy.contains("  "), "{probe:?}");
        }
    }

    #[test]
    fn every_probe_says_what_it_found_and_leaves_nothing() {
        let dir = open_directory();
        let all = probes(dir.path(), Some(&dir.path().join("state/iolab")));
        assert_sound(&all);
        for id in ["warm", "clock", "io_uring", "o-direct", "state-directory", "rlimit-fsize"] {
            assert!(all.iter().any(|probe| probe.id == id), "{id} is missing");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_is_not_there_is_one_line_and_the_rest_still_runs() {
        let all = probes(Path::new("/no/such"), None);
        assert_sound(&all);
        assert!(!all[0].ok && all[0].id == "directory" && all.len() > 8);
    }

    #[test]
    fn an_ordinary_user_sees_what_is_forbidden() {
        let test = "host::probes::tests::an_ordinary_user_sees_what_is_forbidden";
        let Some(dir) = as_nobody(test, |_| {}) else { return };
        let all = probes(&dir, Some(Path::new("/root/.local/state/iolab")));
        assert_sound(&all);
        for id in ["drop-caches", "state-directory"] {
            assert!(!all.iter().find(|probe| probe.id == id).unwrap().ok, "{id}: {all:?}");
        }
    }
}
