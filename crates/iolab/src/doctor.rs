//! `iolab doctor`: what can be had and proven here, and how to get the rest.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::packages;
use super::place_args::MachineArgs;
use super::store_args::StoreArgs;
use super::terminal_io::{self, Ending};
use iolab_agent::{InspectOrder, Probe};
use iolab_controller::Error;

/// Show what can be had and proven on this machine, and how to get the rest
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab doctor\n  iolab doctor --install       the packages that are missing, in one command\n  iolab doctor /data --format json\n  iolab doctor --vm            in the virtual machine that --vm measures in"
)]
pub struct Doctor {
    /// The directory that will be measured; a small file is made there for a moment
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// What to write: table or json
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = ["table", "json"])]
    format: String,
    /// Print the command that installs everything missing, for Debian, Fedora and Arch; nothing is
    /// installed
    #[arg(long)]
    install: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

impl Doctor {
    /// Tries everything and prints a line for each.
    ///
    /// # Errors
    /// The directory does not exist, or no agent can be started.
    pub fn run(self) -> Ending {
        if self.install {
            return packages::install();
        }
        let state = self.store.directory();
        let order = InspectOrder::of_directory(&self.directory, state.as_deref());
        let seen =
            self.machine.placement().location_named()?.inspect(&order).map_err(Error::from)?;
        let probes = seen.probes;
        terminal_io::data(|out| match self.format.as_str() {
            "json" => write_json(out, &probes),
            _ => probes.iter().try_for_each(|probe| write_row(out, probe)),
        })
    }
}

fn write_row(out: &mut dyn Write, probe: &Probe) -> io::Result<()> {
    const INDENT: usize = 31;
    let state = if probe.ok { "ok" } else { "no" };
    let text = match probe.remedy.is_empty() {
        true => probe.found.clone(),
        false => format!("{}; {}", probe.found, probe.remedy),
    };
    for (number, line) in terminal_io::wrap(&text, 80 - INDENT).lines().enumerate() {
        match number {
            0 => writeln!(out, "{state}  {:<27}{line}", probe.id)?,
            _ => writeln!(out, "{:INDENT$}{line}", "")?,
        }
    }
    Ok(())
}

fn write_json(out: &mut dyn Write, probes: &[Probe]) -> io::Result<()> {
    let one = |p: &Probe| serde_json::json!({"id": p.id, "ok": p.ok, "found": p.found, "remedy": p.remedy});
    let all: Vec<_> = probes.iter().map(one).collect();
    serde_json::to_writer_pretty(&mut *out, &all)?;
    writeln!(out)
}
