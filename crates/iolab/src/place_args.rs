//! Where a run takes place, as options.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use iolab_controller::Placement;

/// What may be done to devices of the person's.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Places")]
pub struct PlaceArgs {
    /// Let --place device:PATH write to this device, where it is free and empty; may be repeated
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    allow_device: Vec<PathBuf>,
    /// The same, and what this device holds is lost; may be repeated
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    destroy: Vec<PathBuf>,
    #[command(flatten)]
    machine: MachineArgs,
}

impl PlaceArgs {
    /// The same place, with what `consent` allows and nothing else.
    #[must_use]
    pub fn allowing(mut self, consent: &PlaceArgs) -> PlaceArgs {
        self.allow_device.clone_from(&consent.allow_device);
        self.destroy.clone_from(&consent.destroy);
        if consent.machine.is_named() {
            self.machine = consent.machine.clone();
        }
        self
    }

    /// Whether paths are those of another machine.
    pub fn is_elsewhere(&self) -> bool {
        self.machine.on.is_some()
    }

    /// What was asked for.
    pub fn placement(&self) -> Placement {
        Placement {
            devices: self.allow_device.clone(),
            destroy: self.destroy.clone(),
            ..self.machine.placement()
        }
    }
}

/// On which machine to run.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Places")]
pub struct MachineArgs {
    /// Run on another machine, which `ssh HOST` reaches without a question; files and directories
    /// are those there, the record stays here. Several with commas are compared with each other, and
    /// `this` is this one: --on this,nas
    #[arg(long, value_name = "HOST", conflicts_with_all = ["vm", "kernel"])]
    on: Option<String>,
    /// The iolab there [default: a copy of this one, kept in ~/.cache/iolab there]
    #[arg(long, value_name = "PATH", requires = "on")]
    on_program: Option<String>,
    /// Measure with all ranks of an MPI job: mpirun -np 4 iolab write DIR --mpi; PATH is the relay that
    /// was built with this MPI [default: iolab-mpi beside iolab]
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "iolab-mpi", conflicts_with_all = ["vm", "kernel", "on"])]
    mpi: Option<String>,
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

impl MachineArgs {
    /// Where that is; nothing is written to there that is the person's.
    pub fn placement(&self) -> Placement {
        Placement {
            on: self.on.clone(),
            program: self.on_program.clone(),
            mpi: self.mpi.is_some(),
            vm: self.vm,
            kernel: self.kernel.clone(),
            modules: self.modules.clone(),
            ..Placement::default()
        }
    }

    fn is_named(&self) -> bool {
        self.on.is_some()
            || self.mpi.is_some()
            || self.vm
            || self.kernel.is_some()
            || self.modules.is_some()
    }
}
