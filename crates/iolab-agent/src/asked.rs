//! An experiment as far as what can be had depends on it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::catalog;
use super::messages::SurveyOrder;
use super::place_needs;
use iolab_io::workload::files;
use iolab_model::catalog::{Capability, Factor, Level, PlaceLevel, path_from_text};

/// An experiment as far as a survey depends on it.
pub struct Asked {
    /// `read`, `syscall`, …
    pub workload: String,
    /// The axes that were named.
    pub factors: BTreeMap<Factor, Vec<Level>>,
    /// The directory to work under.
    pub directory: PathBuf,
    /// The places that were named.
    pub places: Vec<PlaceLevel>,
}

impl Asked {
    /// What an order asks about.
    pub fn of(order: &SurveyOrder) -> Asked {
        let factors = order.factors();
        Asked {
            places: place_needs::named(&factors),
            workload: order.workload.clone(),
            directory: path_from_text(&order.directory),
            factors,
        }
    }

    /// The levels of an axis; none where it was not named.
    pub fn levels(&self, factor: Factor) -> &[Level] {
        self.factors.get(&factor).map_or(&[], Vec::as_slice)
    }

    /// Whether a level is named on an axis.
    pub fn has(&self, factor: Factor, level: &Level) -> bool {
        self.levels(factor).contains(level)
    }

    /// The person's files or trees.
    pub fn theirs(&self) -> impl Iterator<Item = &PathBuf> {
        self.levels(Factor::File).iter().filter_map(|level| match level {
            Level::Path(path) => Some(path),
            _ => None,
        })
    }

    /// What is seen of each file or tree of the person's.
    pub fn by_path<T>(&self, look: &dyn Fn(&Path) -> T) -> BTreeMap<PathBuf, T> {
        self.theirs().map(|path| (path.clone(), look(path))).collect()
    }

    /// What is seen of each trace of the person's.
    pub fn traces<T>(&self, look: &dyn Fn(&Path) -> T) -> BTreeMap<PathBuf, T> {
        let paths = self.levels(Factor::Trace).iter().filter_map(|level| match level {
            Level::Path(path) => Some(path),
            _ => None,
        });
        paths.map(|path| (path.clone(), look(path))).collect()
    }

    /// What the workload needs of a method.
    pub fn capability(&self) -> Option<Capability> {
        catalog::capability(&self.workload)
    }

    /// Whether the person's files are whole trees.
    pub fn works_on_trees(&self) -> bool {
        self.capability() == Some(Capability::Files)
    }

    /// Whether copies are made beside what is read.
    pub fn copies(&self) -> bool {
        let writes = |level: &Level| {
            files::OPERATIONS
                .iter()
                .any(|part| *level == Level::word(part.id) && part.can(Capability::Write))
        };
        match self.capability() {
            Some(Capability::Copy) => true,
            Some(Capability::Files) => self.levels(Factor::Operation).iter().any(writes),
            _ => false,
        }
    }

    /// The directory whose file system is measured: that of the first file, else where files are
    /// made. In a tree of the person's nothing is tried but where it is all of its file system: what was
    /// made there and removed changed its time, and a run could not be gone on with.
    pub fn tested_directory(&self) -> PathBuf {
        let device = |path: &Path| std::fs::metadata(path).ok().map(|about| about.dev());
        match self.theirs().next() {
            Some(path)
                if self.works_on_trees() && path.parent().and_then(device) != device(path) =>
            {
                path.clone()
            }
            Some(path) => path.parent().unwrap_or(path).to_owned(),
            None => self.directory.clone(),
        }
    }
}
