//! A guest boots, serves the same agent through its port, and mounts file systems that this kernel
//! may lack. Skipped where qemu or a kernel is missing: `make vm` gets both on Debian.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolab::agent::{InstanceOrder, Reply, Request, Transport, VirtualMachine};
use iolab::catalog::PlaceLevel;
use iolab::place::vm::{self, Accelerator, Cache, Disk, Kernel, Setup};
use iolab::place::{Consent, LEAST_IMAGE_BYTES, Mounts, Order};

fn kernel(test: &str) -> Option<Kernel> {
    let found = vm::available().and_then(|()| Kernel::find(None, None));
    found.map_err(|missing| eprintln!("SKIP {test}: {missing}")).ok()
}

fn setup(kernel: Kernel, ground: &Path, file_systems: &[&str]) -> Setup {
    let consent = Consent::default();
    let disk = |name: &&str| {
        let level = PlaceLevel::plain(name);
        // The image is made as a file; nothing is mounted on this side.
        let mounts = Mounts::enter().unwrap();
        let image_bytes = LEAST_IMAGE_BYTES;
        Disk::make(&Order { level: &level, ground, image_bytes, consent: &consent, mounts })
            .unwrap()
    };
    Setup {
        kernel,
        program: PathBuf::from(env!("CARGO_BIN_EXE_iolab")),
        arguments: Vec::new(),
        file_systems: file_systems.iter().map(|name| (*name).to_owned()).collect(),
        disks: file_systems.iter().map(disk).collect(),
        memory_bytes: 1 << 30,
        processors: 1,
        cache: Cache::None,
        console: ground.join("console"),
    }
}

#[test]
fn a_guest_boots_and_speaks_in_time() {
    let Some(kernel) = kernel("a_guest_boots_and_speaks_in_time") else { return };
    let ground = tempfile::Builder::new().prefix("iolab-vm-").tempdir_in("/var/tmp").unwrap();
    let setup = setup(kernel, ground.path(), &["jfs", "bfs"]);
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
        cpus: Vec::new(),
    };
    let Reply::Started { scratch, .. } = guest.ask(&start).unwrap() else { panic!("not started") };
    assert!(scratch.starts_with("/tmp/"), "{scratch}");
    let order = InstanceOrder {
        id: 0,
        path: None,
        bytes: 1 << 16,
        seed: 1,
        content: iolab::agent::Content::default(),
    };
    assert_eq!(guest.ask(&Request::Make(order)).unwrap(), Reply::Done);
    assert_eq!(guest.ask(&Request::End).unwrap(), Reply::Done);
    let _: (BTreeMap<u8, u8>, Duration) = Default::default();
}
