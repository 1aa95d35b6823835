//! The virtual machine as a way to run: chosen, set up, and said in the record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use super::places;
use super::terminal_io::Failure;
use iolab_agent::{PlaceTerms, VirtualMachine};
use iolab_io::place;
use iolab_io::place::vm::{self, Accelerator, Cache, Disk, Kernel, Machine, Setup};
use iolab_model::catalog::{Code, Fact, Factor, PlaceLevel};
use iolab_model::plan::Plan;
use iolab_model::result::{Environment, Warning};
use iolab_model::spec::Experiment;

/// Where the agent works in the guest: in its memory.
pub const DIRECTORY: &str = "/tmp";
/// Memory of the guest beside what files need to be warm.
const GUEST_BYTES: u64 = 1 << 30;

/// Whether to run in a virtual machine.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Places")]
pub struct VmArgs {
    /// Run every cell in a small virtual machine; taken by itself where this kernel lacks a file
    /// system that is named
    #[arg(long)]
    vm: bool,
    /// The kernel to boot [default: fetched by scripts/fetch-kernel.sh, or installed]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kernel: Option<PathBuf>,
    /// Its modules: …/lib/modules/VERSION
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    modules: Option<PathBuf>,
}

impl VmArgs {
    /// These, and where they say nothing, those.
    #[must_use]
    pub fn or(&self, vm: bool, kernel: &Option<PathBuf>, modules: &Option<PathBuf>) -> VmArgs {
        VmArgs {
            vm: self.vm || vm,
            kernel: self.kernel.clone().or_else(|| kernel.clone()),
            modules: self.modules.clone().or_else(|| modules.clone()),
        }
    }

    /// The kernel to boot, where a virtual machine is asked for, or is the only way to have a file
    /// system that is named and can be had. Then *all* places are in it: like meets like.
    ///
    /// # Errors
    /// `--vm` was given and cannot be had.
    pub fn choose(&self, experiment: &Experiment) -> Result<Option<Kernel>, Failure> {
        let find = || {
            vm::available()?;
            Kernel::find(self.kernel.as_deref(), self.modules.as_deref())
        };
        let theirs = experiment.factors.contains_key(&Factor::File);
        if self.vm || self.kernel.is_some() {
            if theirs {
                let why = "--vm: a file of yours is not in the machine; give --file-size instead";
                return Err(Failure::usage(why));
            }
            return find().map(Some).map_err(|e| Failure::usage(format!("--vm: {e}")));
        }
        let lacks = |level: &PlaceLevel| {
            place::file_system_named(&level.kind).is_some_and(|kind| kind.in_kernel().is_err())
        };
        let named = places::levels(experiment);
        let all_can = !theirs && named.iter().all(|level| in_guest(level).is_ok());
        Ok((all_can && named.iter().any(lacks)).then(find).and_then(Result::ok))
    }
}

/// Whether a place can be had in a guest.
///
/// # Errors
/// Why not, and what can.
pub fn in_guest(level: &PlaceLevel) -> Result<(), String> {
    match place::file_system_named(&level.kind) {
        Some(kind) => kind.mkfs.find().map(drop).map_err(|missing| missing.to_string()),
        None if level.kind == "tmpfs" => Ok(()),
        None => Err(format!("{} cannot be had in a VM; ext4, xfs, jfs, … can", level.kind)),
    }
}

/// What can be had of these in a guest: the rest with its reason.
pub fn unavailable(places: &[PlaceLevel]) -> BTreeMap<String, String> {
    let missing = |level: &PlaceLevel| Some((level.to_string(), in_guest(level).err()?));
    places.iter().filter_map(missing).collect()
}

/// Boots a guest with a disk for each place of the plan, and completes the terms for its agent.
///
/// # Errors
/// A disk cannot be made, or nothing boots.
pub fn boot(
    kernel: &Kernel,
    plan: &Plan,
    terms: &mut PlaceTerms,
) -> Result<VirtualMachine, Failure> {
    let levels = places::of_both(&plan.factors);
    let (mut disks, mut file_systems) = (Vec::new(), Vec::new());
    let used = |text: &str| {
        let mut places = plan.instances.iter().flat_map(|i| i.place.iter().chain(&i.targets));
        places.any(|place| place == text)
    };
    for level in places::parsed(&levels).iter().filter(|level| used(&level.to_string())) {
        let Some(kind) = place::file_system_named(&level.kind) else { continue };
        terms.disks.insert(level.to_string(), vm::disk_name(disks.len()));
        disks.push(disk(level, &plan.directory, terms.image_bytes)?);
        // ext2 and ext3 are in the module of ext4.
        file_systems.push(kind.module.to_owned());
    }
    let each = if plan.copies { 2 } else { 1 };
    let files: u64 = plan.instances.iter().map(|instance| each * instance.bytes).sum();
    let setup = Setup {
        kernel: kernel.clone(),
        // Not /proc/self: the loader that lists our libraries would find itself there.
        program: PathBuf::from(format!("/proc/{}/exe", std::process::id())),
        arguments: Vec::new(),
        file_systems,
        disks,
        memory_bytes: GUEST_BYTES.saturating_add(files),
        processors: 1,
        cache: Cache::None,
    };
    VirtualMachine::boot(setup).map_err(Failure::internal)
}

fn disk(level: &PlaceLevel, ground: &Path, image_bytes: u64) -> Result<Disk, Failure> {
    Disk::make(level, ground, image_bytes).map_err(|fault| match fault.errno {
        Some(28) => Failure::refused(fault),
        _ => Failure::internal(fault),
    })
}

/// Records the machine.
pub fn record(machine: &Machine, environment: &mut Environment) {
    environment.put(Fact::GuestAccelerator, machine.accelerator.name());
    environment.put(Fact::GuestKernel, machine.kernel.clone());
    environment.put(Fact::GuestDiskCache, Cache::None.name());
    environment.put(Fact::GuestBootNs, machine.boot_ns);
    if let Some(note) = &machine.note {
        environment.put(Fact::GuestNote, note.clone());
    }
}

/// The warning of a machine that is a program.
pub fn warning(environment: &Environment) -> Option<Warning> {
    if environment.text(Fact::GuestAccelerator)? != Accelerator::Emulated.name() {
        return None;
    }
    let why = environment.text(Fact::GuestNote).unwrap_or("no KVM");
    let text = format!("every cell ran in an emulated machine ({why})");
    Some(Warning { code: Code::Emulated, text })
}
