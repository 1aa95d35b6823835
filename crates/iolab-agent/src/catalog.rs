//! All parts of the catalog in one place, for what lists, plans and checks them. They are the same
//! wherever an agent of this version runs; what of them can be had there it is asked.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use iolab_io::method::{METHODS, copy};
use iolab_io::place::PLACES;
use iolab_io::workload::{files, meta, operations, replay};
use iolab_model::catalog::{
    Capability, Contender, Factor, Level, MethodClass, Part, PartKind, PlaceLevel, WorkloadInfo,
    parse_place,
};
use iolab_model::spec::{Experiment, SpecError, Vocabulary};

pub use iolab_io::metric::METRICS;
pub use iolab_io::workload::{WORKLOADS, impossible};

static ALL: LazyLock<Vec<&'static Part>> = LazyLock::new(|| {
    let methods = METHODS.iter().chain(copy::METHODS).chain(copy::files_methods());
    let methods = methods.chain(replay::METHODS);
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

/// What a workload needs of a method.
pub fn capability(workload_id: &str) -> Option<Capability> {
    workload(workload_id).map(|info| info.capability)
}

/// Names of the methods that stand for their kind in a survey, of those that can do this.
pub fn surveyed(capability: Capability) -> impl Iterator<Item = &'static str> {
    let method = |part: &&&Part| part.kind == PartKind::Method;
    let stands = move |part: &&&Part| part.can(capability) && part.can(Capability::Surveyed);
    all().iter().filter(method).filter(stands).map(|part| part.id)
}

/// The loop that people write first, of those that can do this: calls, and nothing mapped.
pub fn plain(capability: Capability) -> &'static str {
    let calls = |id: &&str| MethodClass::of(id) == MethodClass::Calls;
    surveyed(capability).find(calls).unwrap_or_default()
}

/// Checks an experiment against what there is, before the machine is looked at.
///
/// # Errors
/// The first level or axis that does not exist.
pub fn check(experiment: &Experiment, info: &WorkloadInfo) -> Result<(), SpecError> {
    Vocabulary { info, parts: all() }.check(experiment)
}

/// The places among these levels.
pub fn places<'a>(levels: impl IntoIterator<Item = &'a Level>) -> Vec<PlaceLevel> {
    let ids: Vec<&str> = PLACES.iter().map(|part| part.id).collect();
    let texts = levels.into_iter().filter_map(|level| match level {
        Level::Word(text) => Some(text),
        _ => None,
    });
    texts.filter_map(|text| parse_place(text, &ids).ok()).collect()
}

/// The commands of the person's that are measured, with their texts.
pub fn commands<'a>(
    workload_id: &str,
    factors: &'a BTreeMap<Factor, Vec<Level>>,
) -> impl Iterator<Item = (&'a str, Contender)> {
    let capability = capability(workload_id);
    let levels = factors.get(&Factor::Contender).map_or(&[][..], Vec::as_slice);
    levels.iter().filter_map(move |level| match level {
        Level::Word(text) => Some((text.as_str(), Contender::parse(text, capability?).ok()?)),
        _ => None,
    })
}
