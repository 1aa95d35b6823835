//! What a person says about where a run takes place, and what becomes of it.

use std::path::PathBuf;

use super::error::Error;
use iolab_agent::{Guest, Here, Host, Hosts, Location, PlaceTerms, Ranks, places_named};
use iolab_model::catalog::{Factor, THIS_HOST};
use iolab_model::plan::Plan;
use iolab_model::spec::Experiment;
use iolab_model::spec::file::Written;

/// Where a run takes place, and what it may write to there.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Devices that may be written to, where they are free and empty.
    pub devices: Vec<PathBuf>,
    /// Devices whose content may be lost.
    pub destroy: Vec<PathBuf>,
    /// On another machine, by the name that ssh knows it under; on several, with commas, each compared
    /// with the others.
    pub on: Option<String>,
    /// The iolab there; absent: a copy of this one.
    pub program: Option<String>,
    /// At the ranks of an MPI job.
    pub mpi: bool,
    /// In a virtual machine; taken by itself where nothing else has what is named.
    pub vm: bool,
    /// The kernel of the virtual machine; absent: the one that is found.
    pub kernel: Option<PathBuf>,
    /// Its modules.
    pub modules: Option<PathBuf>,
}

impl Placement {
    /// The same, with what a file says where the command line says nothing. A file never consents.
    #[must_use]
    pub fn or_as_written(&self, written: &Written) -> Placement {
        Placement {
            vm: self.vm || written.vm,
            kernel: self.kernel.clone().or_else(|| written.kernel.clone()),
            modules: self.modules.clone().or_else(|| written.modules.clone()),
            ..self.clone()
        }
    }

    /// Where an experiment runs.
    ///
    /// # Errors
    /// A virtual machine was asked for and cannot be had.
    pub fn location(&self, experiment: &Experiment) -> Result<Box<dyn Location>, Error> {
        let theirs = experiment.factors.contains_key(&Factor::File);
        if theirs && self.wants_guest() {
            let why = "--vm: a file of yours is not in the machine; give --file-size instead";
            return Err(Error::NoLocation(why.to_owned()));
        }
        let modules = self.modules.as_deref();
        if !theirs
            && !self.wants_guest()
            && self.on.is_none()
            && !self.mpi
            && let Some(guest) = Guest::taken_for(&places_named(&experiment.factors), modules)
        {
            return Ok(Box::new(guest));
        }
        if let Some(names) = self.compared() {
            let hosts = Hosts::new(&names, self.program.as_deref());
            let hosts = hosts.map_err(|fault| Error::NoLocation(format!("--on: {fault}")))?;
            return Ok(Box::new(hosts));
        }
        self.location_named()
    }

    /// The machines that are compared; nothing where it is one.
    pub fn compared(&self) -> Option<Vec<&str>> {
        let names: Vec<&str> = self.on.as_deref()?.split(',').map(str::trim).collect();
        (names.len() > 1).then_some(names)
    }

    /// Where it was said to be, whatever is going to be measured.
    ///
    /// # Errors
    /// A virtual machine was asked for and cannot be had.
    pub fn location_named(&self) -> Result<Box<dyn Location>, Error> {
        if self.compared().is_some() {
            let why = "--on: one machine at a time here; iolab read, write, files and their like \
                       compare several";
            return Err(Error::NoLocation(why.to_owned()));
        }
        if let Some(name) = self.on.as_ref().filter(|name| *name != THIS_HOST) {
            let host = Host::new(name, self.program.as_deref());
            let host = host.map_err(|fault| Error::NoLocation(format!("--on: {fault}")))?;
            return Ok(Box::new(host));
        }
        if self.mpi {
            let ranks = Ranks::join();
            let ranks = ranks.map_err(|fault| Error::NoLocation(format!("--mpi: {fault}")))?;
            return Ok(Box::new(ranks));
        }
        if !self.wants_guest() {
            return Ok(Box::new(Here));
        }
        let guest = Guest::find(self.kernel.as_deref(), self.modules.as_deref());
        let guest = guest.map_err(|missing| Error::NoLocation(format!("--vm: {missing}")))?;
        Ok(Box::new(guest))
    }

    fn wants_guest(&self) -> bool {
        self.vm || self.kernel.is_some()
    }

    /// Under which terms places are made for a plan.
    pub fn terms(&self, plan: &Plan) -> PlaceTerms {
        PlaceTerms::of(plan, &self.devices, &self.destroy)
    }
}
