//! All parts of the catalog in one place, for what lists and checks them.

use std::sync::LazyLock;

use iolab_io::method::{METHODS, copy};
use iolab_io::place::PLACES;
use iolab_io::workload::{WORKLOADS, files, meta, operations};
use iolab_model::catalog::{Part, WorkloadInfo};
use iolab_model::spec::{Experiment, SpecError, Vocabulary};

static ALL: LazyLock<Vec<&'static Part>> = LazyLock::new(|| {
    let methods = METHODS.iter().chain(copy::METHODS).chain(files::METHODS);
    let operations = operations().iter().chain(meta::OPERATIONS).chain(files::OPERATIONS);
    methods.chain(operations).chain(PLACES).collect()
});

/// Every method, operation and place.
pub fn all() -> &'static [&'static Part] {
    &ALL
}

/// The workload of a name.
pub fn workload(id: &str) -> Option<&'static WorkloadInfo> {
    WORKLOADS.iter().find(|info| info.part.id == id)
}

/// Checks an experiment against what there is, before the machine is looked at.
///
/// # Errors
/// The first level or axis that does not exist.
pub fn check(experiment: &Experiment, info: &WorkloadInfo) -> Result<(), SpecError> {
    Vocabulary { info, parts: all() }.check(experiment)
}
