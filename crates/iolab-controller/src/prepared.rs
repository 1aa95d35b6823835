//! From an experiment to a plan and the place where it runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::access_times;
use super::error::Error;
use super::hosts;
use super::placement::Placement;
use super::ranks;
use super::shift;
use iolab_agent::{Location, PlaceTerms, Subject, SurveyOrder, catalog};
use iolab_model::catalog::{Contender, Factor, Level, with_program};
use iolab_model::plan::{self, Plan};
use iolab_model::spec::Experiment;
use iolab_model::spec::file::Written;

/// An experiment that can be measured.
#[derive(Debug)]
pub struct Prepared {
    /// What is measured.
    pub plan: Plan,
    /// Where.
    pub location: Box<dyn Location>,
    /// Under which terms places are made there.
    pub places: PlaceTerms,
    /// The levels that were asked for by name.
    pub named: BTreeMap<Factor, Vec<Level>>,
}

impl Prepared {
    /// An experiment, with the place that was asked for or that it needs.
    ///
    /// # Errors
    /// What was asked wrongly or cannot be had.
    pub fn of(experiment: &Experiment, placement: &Placement) -> Result<Prepared, Error> {
        let location = placement.location(experiment)?;
        let experiment = &ranks::settle(experiment, &*location)?;
        let experiment = &hosts::settle(experiment, &*location)?;
        let mut plan = plan_at(&*location, experiment)?;
        ranks::spread(&mut plan);
        plan.notes.splice(0..0, location.note());
        plan.notes.extend(shift::note(&plan, &location.machines_of_ranks()));
        plan.notes.extend(access_times::warning(&plan).map(|warning| warning.text));
        let places = placement.terms(&plan);
        Ok(Prepared { plan, location, places, named: experiment.factors.clone() })
    }

    /// An experiment of a file.
    ///
    /// # Errors
    /// What cannot be had, with the place in the file.
    pub fn of_file(written: &Written, placement: &Placement) -> Result<Prepared, Error> {
        let prepare =
            || Prepared::of(&anchored(&written.experiment)?, &placement.or_as_written(written));
        let directory = written.directory_place.as_ref().unwrap_or(&written.place);
        prepare().map_err(|error| match &error {
            Error::Objected(objection) if objection.subject == Subject::Directory => {
                error.at(directory)
            }
            _ => error.at(&written.place),
        })
    }
}

/// The plan of an experiment where it is going to run: what can be had there, that agent says.
///
/// # Errors
/// What was asked wrongly or cannot be had.
pub fn plan_at(location: &dyn Location, experiment: &Experiment) -> Result<Plan, Error> {
    let unknown = || Error::NoWorkload(experiment.workload.clone());
    let info = catalog::workload(&experiment.workload).ok_or_else(unknown)?;
    catalog::check(experiment, info)?;
    let mut facts = location.survey(&SurveyOrder::of(experiment))?;
    facts.impossible = Some(catalog::impossible);
    for facts in facts.hosts.values_mut() {
        facts.impossible = Some(catalog::impossible);
    }
    Ok(plan::make(experiment, info, catalog::all(), &facts)?)
}

/// Relative names start in the working directory, as on the command line.
fn anchored(experiment: &Experiment) -> Result<Experiment, Error> {
    let mut experiment = experiment.clone();
    experiment.directory = absolute(&experiment.directory)?;
    let named = [Factor::File, Factor::Trace];
    let paths = experiment.factors.iter_mut().filter(|(factor, _)| named.contains(factor));
    for level in paths.flat_map(|(_, levels)| levels) {
        if let Level::Path(path) = level {
            *path = absolute(path)?;
        }
    }
    anchor_programs(&mut experiment.factors, &experiment.workload)?;
    Ok(experiment)
}

/// Each relative path of a program among the commands from the root: a command runs in a directory of
/// its own, and means the one in which it was typed.
///
/// # Errors
/// The working directory is gone, or has no name that a command can be written with.
pub fn anchor_programs(
    factors: &mut BTreeMap<Factor, Vec<Level>>,
    workload: &str,
) -> Result<(), Error> {
    for level in factors.get_mut(&Factor::Contender).into_iter().flatten() {
        let Level::Word(text) = level else { continue };
        let Some(path) = relative_program(text, workload) else { continue };
        let whole = absolute(&path)?;
        let unwritable =
            || std::io::Error::other("its directory has no name in UTF-8; name another");
        let named = whole.to_str().ok_or_else(|| Error::NoPath { path, error: unwritable() })?;
        *text = with_program(text, named);
    }
    Ok(())
}

/// The program of a command, where it is written as a path that does not start at the root.
pub fn relative_program(text: &str, workload: &str) -> Option<PathBuf> {
    let command = Contender::parse(text, catalog::capability(workload)?).ok()?;
    command.program_path().map(PathBuf::from).filter(|path| path.is_relative())
}

/// The path from the root, for the agent need not have this working directory.
fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|error| Error::NoPath { path: path.to_owned(), error })
}
