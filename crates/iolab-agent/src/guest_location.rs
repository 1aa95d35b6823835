//! A virtual machine on this one as a place for an agent: for file systems that this kernel lacks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::location::{Here, Location, Started, SurveyError, devices_of, inspect_by, look_by};
use super::messages::{
    InspectOrder, Inspection, LookOrder, Objection, PlaceTerms, Sight, Subject, SurveyOrder,
};
use super::place_needs;
use super::transport::Transport;
use super::virtual_machine::VirtualMachine;
use iolab_io::place::vm::{self, Accelerator, Cache, Disk, Kernel, Machine, Setup};
use iolab_io::place::{self, Missing};
use iolab_model::catalog::{CacheState, Code, Fact, Factor, PlaceLevel};
use iolab_model::plan::{Facts, Plan};
use iolab_model::result::{Environment, Fault, Warning};

/// Where the agent works in the guest: in its memory.
const DIRECTORY: &str = "/tmp";
/// Memory of the guest beside what files need to be warm.
const GUEST_BYTES: u64 = 1 << 30;
/// Its processors.
const PROCESSORS: u32 = 1;

/// A virtual machine on this one, booted for each plan.
#[derive(Debug)]
pub struct Guest {
    kernel: Kernel,
}

impl Guest {
    /// A guest with this kernel, or the one that is found.
    ///
    /// # Errors
    /// The machine or the kernel is missing, and what would help.
    pub fn find(kernel: Option<&Path>, modules: Option<&Path>) -> Result<Guest, Missing> {
        vm::available()?;
        Kernel::find(kernel, modules).map(|kernel| Guest { kernel })
    }

    /// The guest that is taken without being asked for: where it is the only way to have a file
    /// system that is named, can be had, and has all of the others too. Then *all* places are in
    /// it: like meets like.
    pub fn taken_for(places: &[PlaceLevel], modules: Option<&Path>) -> Option<Guest> {
        let lacks = |level: &PlaceLevel| {
            place::file_system_named(&level.kind).is_some_and(|kind| kind.in_kernel().is_err())
        };
        let all_can = places.iter().all(|level| why_not(level).is_none());
        (all_can && places.iter().any(lacks)).then(|| Guest::find(None, modules).ok()).flatten()
    }

    /// The machine with a disk for each place of the plan; completes the terms for its agent.
    fn setup(&self, plan: &Plan, terms: &mut PlaceTerms) -> Result<Setup, Fault> {
        let (mut disks, mut file_systems) = (Vec::new(), Vec::new());
        let used = |text: &str| {
            let mut places = plan.instances.iter().flat_map(|i| i.place.iter().chain(&i.targets));
            places.any(|place| place == text)
        };
        let named = place_needs::named(&plan.factors);
        for level in named.iter().filter(|level| used(&level.to_string())) {
            let Some(kind) = place::file_system_named(&level.kind) else { continue };
            terms.disks.insert(level.to_string(), vm::disk_name(disks.len()));
            disks.push(Disk::make(level, &plan.directory, terms.image_bytes)?);
            // ext2 and ext3 are in the module of ext4.
            file_systems.push(kind.module.to_owned());
        }
        let each = if plan.copies { 2 } else { 1 };
        let files: u64 = plan.instances.iter().map(|instance| each * instance.bytes).sum();
        let memory_bytes = GUEST_BYTES.saturating_add(files);
        Ok(Setup { file_systems, disks, memory_bytes, ..self.bare() })
    }

    /// A machine without disks.
    fn bare(&self) -> Setup {
        Setup {
            kernel: self.kernel.clone(),
            // Not /proc/self: the loader that lists our libraries would find itself there.
            program: PathBuf::from(format!("/proc/{}/exe", std::process::id())),
            arguments: Vec::new(),
            file_systems: Vec::new(),
            disks: Vec::new(),
            memory_bytes: GUEST_BYTES,
            processors: PROCESSORS,
            cache: Cache::None,
        }
    }
}

impl Location for Guest {
    fn connect(&self) -> Result<Box<dyn Transport>, Fault> {
        Ok(Box::new(boot(self.bare())?))
    }

    /// A guest is made for a plan: before there is one, this machine tells what it could give to
    /// one. Its disks lie in the directory under test.
    fn survey(&self, order: &SurveyOrder) -> Result<Facts, SurveyError> {
        if let Some(cpu) = order.cpus.iter().find(|cpu| **cpu >= PROCESSORS) {
            let cause = format!(
                "--cpus: the virtual machine has no processor {cpu}; leave --cpus out with --vm"
            );
            let objection = Objection::wrong(Subject::Processors, cause);
            return Err(SurveyError::Objected(objection));
        }
        let facts = Here.survey(&SurveyOrder { cpus: Vec::new(), ..order.clone() })?;
        Ok(in_guest(facts, order))
    }

    /// In the machine itself, whose directories are its own; the history stays on this side.
    fn inspect(&self, order: &InspectOrder) -> Result<Inspection, SurveyError> {
        let directory = order.directory.is_some().then(|| DIRECTORY.to_owned());
        inspect_by(&mut *self.connect()?, &InspectOrder { directory, state: None, ..order.clone() })
    }

    fn start(&self, plan: &Plan, terms: &PlaceTerms) -> Result<Started, Fault> {
        let mut terms = terms.clone();
        let guest = boot(self.setup(plan, &mut terms)?)?;
        let environment = guest.machine().map(facts_of).unwrap_or_default();
        let warnings = emulated(&environment).into_iter().collect();
        let directory = PathBuf::from(DIRECTORY);
        Ok(Started { agent: Box::new(guest), directory, terms, environment, warnings })
    }

    /// The facts of the guest; of this machine those of the ground that its disks lie on, for the
    /// directories under test are on this side.
    fn look(&self, agent: &mut dyn Transport, order: &LookOrder) -> Result<Sight, Fault> {
        let outside = look_by(&mut *Here.connect()?, order)?;
        let inside = LookOrder { work: order.work.clone(), ..LookOrder::default() };
        match order.before {
            // Of what changes meanwhile swapping alone is a hazard, and a guest has no swap.
            Some(_) => Ok(outside),
            None => Ok(both(look_by(agent, &inside)?, outside)),
        }
    }

    fn devices_shared(&self, paths: &[PathBuf]) -> Vec<u64> {
        devices_of(paths.iter().map(PathBuf::as_path))
    }
}

/// Facts that are those of the machine around a guest: which one it is, and what its disks lie on.
const OUTSIDE: [&str; 7] = ["host.", "swap.", "mount.", "device.", "space.", "fs.", "directory"];

/// The facts of both sides; a hazard that both have is told from inside.
fn both(inside: Sight, outside: Sight) -> Sight {
    let is_outside = |key: &str| OUTSIDE.iter().any(|begins| key.starts_with(begins));
    let mut facts = inside.environment.0;
    facts.retain(|key, _| !is_outside(key));
    facts.extend(outside.environment.0.into_iter().filter(|(key, _)| is_outside(key)));
    let mut hazards = inside.hazards;
    for hazard in outside.hazards {
        if hazards.iter().all(|known| known.code != hazard.code) {
            hazards.push(hazard);
        }
    }
    Sight { environment: Environment(facts), hazards, versions: BTreeMap::new() }
}

/// What this machine can have, as far as a guest on it can have it.
fn in_guest(facts: Facts, order: &SurveyOrder) -> Facts {
    let factors = order.factors();
    let places = place_needs::named(&factors);
    let missing = |level: &PlaceLevel| Some((level.to_string(), why_not(level)?));
    let mut unavailable: BTreeMap<String, String> = places.iter().filter_map(missing).collect();
    for level in factors.get(&Factor::Contender).into_iter().flatten() {
        let why = "commands of this machine are not in the virtual one".to_owned();
        unavailable.insert(level.to_string(), why);
    }
    if places.is_empty() {
        let why = "files of a guest are in its memory: name a file system with --place".to_owned();
        unavailable.insert(CacheState::Cold.word().to_owned(), why);
    }
    // The disks of a guest are no larger than they must be.
    let image_bytes = place_needs::image_bytes(&places, 0);
    let places = place_needs::of_all(&places, image_bytes);
    let direct_alignment_bytes = None;
    Facts {
        unavailable,
        processors: PROCESSORS,
        direct_alignment_bytes,
        places,
        image_bytes,
        ..facts
    }
}

/// Why a place cannot be had in a guest, and what can.
fn why_not(level: &PlaceLevel) -> Option<String> {
    match place::file_system_named(&level.kind) {
        Some(kind) => kind.mkfs.find().err().map(|missing| missing.to_string()),
        None if level.kind == "tmpfs" => None,
        None => Some(format!("{} cannot be had in a VM; ext4, xfs, jfs, … can", level.kind)),
    }
}

fn boot(setup: Setup) -> Result<VirtualMachine, Fault> {
    VirtualMachine::boot(setup).map_err(|error| Fault::of("boot the virtual machine", &error))
}

/// What runs the guest.
fn facts_of(machine: &Machine) -> Environment {
    let mut facts = Environment::default();
    facts.put(Fact::GuestAccelerator, machine.accelerator.name());
    facts.put(Fact::GuestKernel, machine.kernel.clone());
    facts.put(Fact::GuestDiskCache, Cache::None.name());
    facts.put(Fact::GuestBootNs, machine.boot_ns);
    if let Some(note) = &machine.note {
        facts.put(Fact::GuestNote, note.clone());
    }
    facts
}

/// The warning of a machine that is a program.
fn emulated(environment: &Environment) -> Option<Warning> {
    if environment.text(Fact::GuestAccelerator)? != Accelerator::Emulated.name() {
        return None;
    }
    let why = environment.text(Fact::GuestNote).unwrap_or("no KVM");
    let text = format!("every cell ran in an emulated machine ({why})");
    Some(Warning { code: Code::Emulated, text })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{both, in_guest};
    use crate::messages::{Sight, SurveyOrder};
    use iolab_model::catalog::{Code, Factor, Level, Levels};
    use iolab_model::plan::Facts;
    use iolab_model::result::Warning;

    fn sight(facts: serde_json::Value, hazards: &[(Code, &str)]) -> Sight {
        let hazard =
            |(code, text): &(Code, &str)| Warning { code: *code, text: (*text).to_owned() };
        Sight {
            environment: serde_json::from_value(facts).unwrap(),
            hazards: hazards.iter().map(hazard).collect(),
            ..Sight::default()
        }
    }

    /// A run in a guest once bore the kernel and the processors of the machine around it.
    #[test]
    fn a_guest_is_described_by_its_own_facts_on_the_ground_of_its_disks() {
        let inside = sight(
            json!({"kernel.release": "6.1.0", "cpu.count": 1, "mount.fs_type": "rootfs",
                "host.name": "(none)"}),
            &[(Code::Virtualised, "qemu")],
        );
        let outside = sight(
            json!({"kernel.release": "6.18.4", "cpu.count": 16, "mount.fs_type": "ext4",
                "host.name": "bench1", "device.name": "vda"}),
            &[(Code::Virtualised, "kvm"), (Code::BusyMachine, "load 9")],
        );
        let sight = both(inside, outside);
        let facts = serde_json::to_value(&sight.environment).unwrap();
        let expected = json!({"kernel.release": "6.1.0", "cpu.count": 1, "mount.fs_type": "ext4",
            "host.name": "bench1", "device.name": "vda"});
        assert_eq!(facts, expected);
        let told: Vec<&str> = sight.hazards.iter().map(|hazard| hazard.text.as_str()).collect();
        assert_eq!(told, ["qemu", "load 9"]);
    }

    #[test]
    fn what_this_machine_lacks_says_nothing_of_a_guest() {
        let mut here = Facts { processors: 16, ..Facts::default() };
        here.unavailable.insert("io_uring".to_owned(), "seccomp".to_owned());
        let order = |levels: Vec<Levels>| SurveyOrder {
            version: String::new(),
            workload: "read".to_owned(),
            directory: "/data".to_owned(),
            levels,
            cpus: Vec::new(),
        };
        let facts = in_guest(here.clone(), &order(Vec::new()));
        assert_eq!(facts.unavailable.keys().collect::<Vec<_>>(), ["cold"]);
        assert_eq!(facts.processors, 1);
        let named = Levels::new().with(Factor::Place, Level::word("overlay"));
        let facts = in_guest(here, &order(vec![named]));
        assert!(facts.unavailable["overlay"].contains("cannot be had in a VM"));
    }
}
