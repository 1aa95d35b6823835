//! A guest boots, serves the same agent through its port, and mounts file systems that this kernel
//! may lack. Skipped where qemu or a kernel is missing: `make vm` gets both on Debian.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use iolab_agent::{
    Content, Extent, InstanceOrder, PlaceTerms, Reply, Request, Transport, TrialRequest,
    VirtualMachine,
};
use iolab_io::place::vm::{self, Accelerator, Cache, Disk, Kernel, Setup};
use iolab_io::place::{LEAST_IMAGE_BYTES, file_system_named};
use iolab_model::catalog::{Factor, Level, Levels, PlaceLevel};

fn kernel(test: &str) -> Option<Kernel> {
    let found = vm::available().and_then(|()| Kernel::find(None, None));
    found.map_err(|missing| eprintln!("SKIP {test}: {missing}")).ok()
}

fn setup(kernel: Kernel, ground: &Path, file_systems: &[&str]) -> Setup {
    let disk =
        |name: &&str| Disk::make(&PlaceLevel::plain(name), ground, LEAST_IMAGE_BYTES).unwrap();
    Setup {
        kernel,
        program: PathBuf::from(env!("CARGO_BIN_EXE_iolab")),
        arguments: Vec::new(),
        file_systems: file_systems.iter().map(|name| (*name).to_owned()).collect(),
        disks: file_systems.iter().map(disk).collect(),
        memory_bytes: 1 << 30,
        processors: 1,
        cache: Cache::None,
    }
}

#[test]
fn a_guest_boots_and_speaks_in_time() {
    let Some(kernel) = kernel("a_guest_boots_and_speaks_in_time") else { return };
    let ground = tempfile::Builder::new().prefix("iolab-vm-").tempdir_in("/var/tmp").unwrap();
    let mut names = vec!["jfs", "bfs", "nilfs2", "f2fs", "ext4"];
    names.retain(|name| file_system_named(name).unwrap().mkfs.find().is_ok());
    let setup = setup(kernel, ground.path(), &names);
    let mut guest = VirtualMachine::boot(setup).unwrap();
    let machine = guest.machine().unwrap();
    eprintln!(
        "{} under {} in {} ms ({:?})",
        machine.kernel,
        machine.accelerator.name(),
        machine.boot_ns / 1_000_000,
        machine.note
    );
    assert_eq!(machine.note.is_some(), machine.accelerator == Accelerator::Emulated);
    let start = Request::Start {
        version: env!("CARGO_PKG_VERSION").into(),
        directory: "/tmp".into(),
        only_reads: false,
        cpus: Vec::new(),
    };
    let Reply::Started { scratch, .. } = guest.ask(&start).unwrap() else { panic!("not started") };
    assert!(scratch.starts_with("/tmp/"), "{scratch}");
    let disks = names.iter().enumerate().map(|(at, name)| ((*name).into(), vm::disk_name(at)));
    let terms = PlaceTerms { disks: disks.collect(), ..PlaceTerms::default() };
    assert_eq!(guest.ask(&Request::Places(terms)).unwrap(), Reply::Done);
    for (id, name) in names.iter().enumerate() {
        let (content, place) = (Content::default(), Some((*name).to_owned()));
        let (bytes, targets) = (1 << 20, Vec::new());
        let order = InstanceOrder {
            id,
            host: None,
            path: None,
            bytes,
            seed: 1,
            content,
            place,
            targets,
            files: None,
            tree: None,
            attributes: false,
            keep_bytes: None,
            shared: None,
        };
        assert_eq!(guest.ask(&Request::Make(order)).unwrap(), Reply::Done, "{name}");
        let levels = Levels::new()
            .with(Factor::Method, Level::word("pread"))
            .with(Factor::Place, Level::word(*name))
            .with(Factor::Cache, Level::word("remount"));
        let trial = TrialRequest {
            workload: "read".into(),
            levels,
            instance: Some(id),
            extent: Extent::Passes(1),
            limit_ns: 60_000_000_000,
        };
        let Reply::Measured(measured) = guest.ask(&Request::Trial(Box::new(trial))).unwrap() else {
            panic!("{name}: not measured")
        };
        assert_eq!(measured.bytes, 1 << 20);
        assert_eq!(measured.proof.digest.as_ref().unwrap().matches, Some(true), "{name}");
        let proof = measured.proof.cache.as_ref().unwrap();
        assert!(proof.proven && proof.how.remounted, "{name}: {proof:?}");
    }
    let Reply::Described(facts) = guest.ask(&Request::Describe).unwrap() else { panic!() };
    let served: BTreeSet<&str> = facts.iter().map(|facts| facts.file_system.as_str()).collect();
    assert_eq!(served, names.into_iter().collect());
    assert_eq!(guest.ask(&Request::End).unwrap(), Reply::Done);
}
