//! Which file each cell works on, and whether that can be had: skipped with the reason, or refused.

use std::path::PathBuf;

use super::cells::Draft;
use super::{Facts, Instance};
use crate::catalog::{Factor, Level, Levels, bytes_text};
use crate::spec::Experiment;

/// The file for calls that need one but have no size of their own.
const CALL_FILE_BYTES: u64 = 1 << 20;

/// Why a cell is not measured.
pub(super) struct Skip {
    /// Why, and the remedy.
    pub reason: String,
    /// True where the machine is too small for it.
    pub too_small: bool,
}

/// Files without repetition, in the order of first use.
#[derive(Default)]
pub(super) struct Instances {
    pub all: Vec<Instance>,
}

/// What makes two cells share a file.
struct Wanted {
    path: Option<PathBuf>,
    bytes: u64,
    place: Option<String>,
}

impl Instances {
    /// The instance of a cell (`None`: it needs no file), or why it cannot be measured.
    pub fn place(
        &mut self,
        draft: &Draft,
        experiment: &Experiment,
        facts: &Facts,
    ) -> Result<Option<usize>, Skip> {
        let wanted = wanted(draft, facts)?;
        if let Some(reason) = unavailable(&draft.full, facts) {
            return Err(Skip { reason, too_small: false });
        }
        let Some(wanted) = wanted else { return Ok(None) };
        warm_fits(&draft.levels, wanted.bytes, facts)?;
        Ok(Some(self.share(wanted, experiment.protocol.seed)))
    }

    fn share(&mut self, wanted: Wanted, seed: u64) -> usize {
        let same = |i: &&Instance| {
            i.path == wanted.path && i.bytes == wanted.bytes && i.place == wanted.place
        };
        if let Some(instance) = self.all.iter().find(same) {
            return instance.id;
        }
        let id = self.all.len();
        let Wanted { path, bytes, place } = wanted;
        self.all.push(Instance { id, path, bytes, place, seed: mix(seed, id as u64) });
        id
    }

    /// Bytes of the files that iolab makes.
    pub fn made_bytes(&self) -> u64 {
        let made = self.all.iter().filter(|instance| instance.path.is_none());
        made.fold(0, |sum, instance| sum.saturating_add(instance.bytes))
    }
}

fn unavailable(levels: &Levels, facts: &Facts) -> Option<String> {
    levels.iter().find_map(|(_, level)| match level {
        Level::Word(word) => facts.unavailable.get(word).map(|why| format!("{word}: {why}")),
        _ => None,
    })
}

fn wanted(draft: &Draft, facts: &Facts) -> Result<Option<Wanted>, Skip> {
    let place = draft.full.text(Factor::Place).map(str::to_owned);
    if let Some(path) = draft.full.path(Factor::File) {
        let refuse = |reason: String| Err(Skip { reason, too_small: false });
        let name = || crate::catalog::path_to_text(path);
        return match facts.files.get(path) {
            Some(Ok(0)) => refuse(format!("{} is empty: name a file with bytes", name())),
            Some(Ok(bytes)) => {
                Ok(Some(Wanted { path: Some(path.into()), bytes: *bytes, place: None }))
            }
            Some(Err(why)) => refuse(why.clone()),
            None => refuse(format!("nothing is known of {}", name())),
        };
    }
    let bytes = match draft.full.number(Factor::FileSize) {
        Some(bytes) => bytes,
        None => CALL_FILE_BYTES.max(draft.full.number(Factor::Block).unwrap_or(0)),
    };
    Ok(Some(Wanted { path: None, bytes, place }))
}

fn warm_fits(levels: &Levels, bytes: u64, facts: &Facts) -> Result<(), Skip> {
    if levels.text(Factor::Cache) != Some("warm") || bytes <= facts.available_memory_bytes {
        return Ok(());
    }
    let reason = format!(
        "a file of {} cannot be warm in {} of memory; take --cache cold or --cache any, or a smaller file",
        bytes_text(bytes),
        bytes_text(facts.available_memory_bytes)
    );
    Err(Skip { reason, too_small: true })
}

/// SplitMix64's output function (Steele, Lea & Flood 2014): seeds that differ in one bit give
/// contents that have nothing in common.
fn mix(seed: u64, id: u64) -> u64 {
    let mut z = seed.wrapping_add(id.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
