//! The places of an experiment: what the plan must know of them, and under which terms the agent
//! makes them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::terminal_io::Failure;
use super::vm::VmArgs;
use iolab_agent::PlaceTerms;
use iolab_io::place::vm::Kernel;
use iolab_io::place::{self, IMAGE_BYTES, PLACES};
use iolab_model::catalog::{
    Factor, Family, Level, PlaceLevel, common_size, parse_place, path_to_text,
};
use iolab_model::plan::{PlaceNeeds, Plan};
use iolab_model::result::{Environment, PlaceFacts};
use iolab_model::spec::Experiment;

/// Of an image so much is for files for sure; the rest may go to logs, tables and reserves.
const SHARE_FOR_FILES: u64 = 75;

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
    vm: VmArgs,
}

impl PlaceArgs {
    /// The same, with what a file says of the virtual machine where the command line says nothing.
    #[must_use]
    pub fn with_guest(
        &self,
        vm: bool,
        kernel: &Option<PathBuf>,
        modules: &Option<PathBuf>,
    ) -> PlaceArgs {
        PlaceArgs { vm: self.vm.or(vm, kernel, modules), ..self.clone() }
    }

    /// The kernel to boot, where the run is in a virtual machine.
    ///
    /// # Errors
    /// It was asked for and cannot be had.
    pub fn guest(&self, experiment: &Experiment) -> Result<Option<Kernel>, Failure> {
        self.vm.choose(experiment)
    }

    /// The terms for a plan.
    pub fn terms(&self, plan: &Plan) -> PlaceTerms {
        let levels = of_both(&plan.factors);
        let texts = |paths: &[PathBuf]| paths.iter().map(|path| path_to_text(path)).collect();
        PlaceTerms {
            image_bytes: common_size(&parsed(&levels)).unwrap_or(IMAGE_BYTES),
            devices: texts(&self.allow_device),
            destroy: texts(&self.destroy),
            disks: BTreeMap::new(),
        }
    }
}

/// The levels of the axis, read.
pub fn parsed(levels: &[Level]) -> Vec<PlaceLevel> {
    let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
    let texts = levels.iter().filter_map(|level| match level {
        Level::Word(text) => Some(text),
        _ => None,
    });
    texts.filter_map(|text| parse_place(text, &ids).ok()).collect()
}

/// The places that were named.
pub fn levels(experiment: &Experiment) -> Vec<PlaceLevel> {
    parsed(&of_both(&experiment.factors))
}

/// The levels of both axes of places, each once.
pub fn of_both(factors: &BTreeMap<Factor, Vec<Level>>) -> Vec<Level> {
    let mut all: Vec<Level> = Vec::new();
    for factor in [Factor::Place, Factor::SourcePlace] {
        for level in factors.get(&factor).into_iter().flatten() {
            if !all.contains(level) {
                all.push(level.clone());
            }
        }
    }
    all
}

/// Those that cannot be made here, with the reason and the remedy.
pub fn unavailable(places: &[PlaceLevel]) -> BTreeMap<String, String> {
    let missing =
        |level: &PlaceLevel| Some((level.to_string(), place::available(level).err()?.to_string()));
    places.iter().filter_map(missing).collect()
}

/// What each takes and holds.
pub fn needs(places: &[PlaceLevel]) -> BTreeMap<String, PlaceNeeds> {
    let image_bytes = common_size(places).unwrap_or(IMAGE_BYTES);
    let all = places.iter().map(|level| (level.to_string(), needs_of(level, image_bytes)));
    all.collect()
}

fn needs_of(level: &PlaceLevel, image_bytes: u64) -> PlaceNeeds {
    let ground = place::ground_of(level);
    let bytes = level.size_bytes.unwrap_or(image_bytes);
    let inner = level.layers.iter().map(|(_, layer)| needs_of(layer, image_bytes));
    let inner: Vec<PlaceNeeds> = inner.collect();
    let holds = match ground {
        place::Ground::Image | place::Ground::Memory => Some(bytes / 100 * SHARE_FOR_FILES),
        _ => inner.iter().filter_map(|needs| needs.holds_bytes).min(),
    };
    let own = if ground == place::Ground::Image { bytes } else { 0 };
    PlaceNeeds {
        disk_bytes: inner.iter().fold(own, |sum, needs| sum.saturating_add(needs.disk_bytes)),
        holds_bytes: holds,
        remounts: match ground {
            place::Ground::Layers => !inner.is_empty(),
            place::Ground::Memory | place::Ground::Directory => false,
            _ => true,
        },
        privilege: match ground {
            place::Ground::Directory => String::new(),
            _ => "mounts in a namespace of its own: root, or user namespaces".into(),
        },
    }
}

/// Records what the places turned out to be.
pub fn record(environment: &mut Environment, places: &[PlaceFacts]) {
    for facts in places {
        if let Ok(value) = serde_json::to_value(facts) {
            environment.put_named(Family::Place, &facts.asked, value);
        }
    }
}
