//! An agent in a virtual machine, spoken to through its port.

use std::io;
use std::time::Duration;

use super::frame::{read_frame, write_frame};
use super::messages::{Reply, Request};
use super::transport::Transport;
use iolab_io::place::vm::{Machine, Setup};

/// How long a guest may take to power off.
const END_GRACE: Duration = Duration::from_secs(20);

/// A machine that is booted from a setup, again where it was lost.
#[derive(Debug)]
pub struct VirtualMachine {
    setup: Setup,
    machine: Option<Machine>,
}

/// The words that the guest's first process is started with.
pub const GUEST_ARGUMENTS: [&str; 2] = ["agent", "--guest"];

impl VirtualMachine {
    /// Boots.
    ///
    /// # Errors
    /// It does not boot, with the last words of its console.
    pub fn boot(mut setup: Setup) -> io::Result<VirtualMachine> {
        setup.arguments = GUEST_ARGUMENTS.map(str::to_owned).to_vec();
        let machine = Machine::boot(&setup).map_err(io::Error::other)?;
        Ok(VirtualMachine { setup, machine: Some(machine) })
    }

    /// The machine, while it runs.
    pub fn machine(&self) -> Option<&Machine> {
        self.machine.as_ref()
    }
}

impl Transport for VirtualMachine {
    fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        let machine = self.machine.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let input = machine.input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let output = machine.output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        write_frame(input, request)?;
        read_frame(output)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.machine = None;
        // What the last guest wrote would be in the way of what is made in this one.
        let mut disks = self.setup.disks.iter_mut();
        disks.try_for_each(|disk| disk.make_anew()).map_err(io::Error::other)?;
        self.machine = Some(Machine::boot(&self.setup).map_err(io::Error::other)?);
        Ok(())
    }

    fn ending(&mut self) -> Option<String> {
        self.machine.as_mut()?.ending()
    }
}

impl Drop for VirtualMachine {
    fn drop(&mut self) {
        // A guest that was asked to end powers off; one that was not is killed at once.
        if let Some(mut machine) = self.machine.take() {
            machine.input = None;
            let _ = machine.wait(END_GRACE);
        }
    }
}
