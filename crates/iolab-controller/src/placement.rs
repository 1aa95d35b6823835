//! What a person says about where a run takes place, and what becomes of it.

use std::path::PathBuf;

use super::error::Error;
use iolab_agent::{Guest, Here, Location, PlaceTerms, places_named};
use iolab_model::catalog::Factor;
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
        let modules = self.modules.as_deref();
        if self.vm || self.kernel.is_some() {
            if theirs {
                let why = "--vm: a file of yours is not in the machine; give --file-size instead";
                return Err(Error::NoLocation(why.to_owned()));
            }
            let guest = Guest::find(self.kernel.as_deref(), modules);
            let guest = guest.map_err(|missing| Error::NoLocation(format!("--vm: {missing}")))?;
            return Ok(Box::new(guest));
        }
        if !theirs
            && let Some(guest) = Guest::taken_for(&places_named(&experiment.factors), modules)
        {
            return Ok(Box::new(guest));
        }
        Ok(Box::new(Here))
    }

    /// Under which terms places are made for a plan.
    pub fn terms(&self, plan: &Plan) -> PlaceTerms {
        PlaceTerms::of(plan, &self.devices, &self.destroy)
    }
}
