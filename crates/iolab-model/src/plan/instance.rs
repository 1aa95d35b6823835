//! Which file each cell works on, and whether that can be had: skipped with the reason, or refused.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::contender;
use super::draft::{Does, Draft};
use super::misfit::{bypass_misfit, limit_misfit, remount_misfit, warm_misfit};
use super::needs::missing;
use super::{Facts, FileUse, Instance, PlaceNeeds, SharedBy, TreeFacts, space_of};
use crate::catalog::{
    Capability, Factor, Level, Share, Target, bytes_text, is_shared, mix, path_to_text,
};
use crate::spec::Experiment;
use crate::tree::{NoTree, RecordedFiles, Tree, TreeOrder};

/// The file for calls that need one but have no size of their own.
const CALL_FILE_BYTES: u64 = 1 << 20;

/// The stream of the seed that trees are drawn from: all trees of a run that are described alike
/// are alike.
const TREE_STREAM: u64 = 0x7ee5;

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
    /// Whether each trial leaves a copy as large as its file.
    pub copies: bool,
    /// The largest copy that goes to the directory under test itself.
    pub largest_copy_bytes: u64,
    /// Bytes and inodes of the largest copy that a trial makes and removes.
    pub copied: (u64, u64),
}

/// What makes two cells share a file.
#[derive(Default)]
struct Wanted {
    path: Option<PathBuf>,
    bytes: u64,
    files: Option<u64>,
    host: Option<String>,
    place: Option<String>,
    used: FileUse,
    sparse: bool,
    tree: Option<TreeOrder>,
    attributes: bool,
    shared: Option<SharedBy>,
}

impl Wanted {
    fn space_bytes(&self) -> u64 {
        space_of(self.tree.as_ref(), self.files, self.bytes)
    }
}

impl Instances {
    /// The instance of a cell (`None`: it needs no file), or why it cannot be measured.
    pub fn place(
        &mut self,
        draft: &Draft,
        experiment: &Experiment,
        facts: &Facts,
    ) -> Result<Option<usize>, Skip> {
        let mut wanted = wanted(draft, experiment, facts, self.copies)?;
        if let Some(wanted) = &mut wanted {
            wanted.shared = shared_by(draft, experiment, wanted);
        }
        let impossible = || facts.impossible.and_then(|why| why(&experiment.workload, &draft.full));
        if let Some(reason) = missing(&draft.full, draft.part, facts).or_else(impossible) {
            return Err(Skip { reason, too_small: false });
        }
        let Some(wanted) = wanted else { return Ok(None) };
        let host = draft.full.text(Factor::Host).map(str::to_owned);
        let wanted = Wanted { host, ..wanted };
        can_be_reached(draft, &wanted, facts)?;
        let copy_to = if self.copies { draft.full.text(Factor::Place) } else { None };
        self.fits_places(&wanted, copy_to, facts)?;
        if let (Does { reads: true, writes: true }, Some(tree), None) =
            (draft.does, &wanted.tree, &wanted.place)
        {
            let (bytes, inodes) = self.copied;
            self.copied = (bytes.max(wanted.space_bytes()), inodes.max(tree.inodes()));
        }
        let bytes = wanted.bytes;
        let id = self.share(wanted, experiment.protocol.content_seed());
        match copy_to {
            Some(place) => self.goes_to(id, place),
            None if self.copies => self.largest_copy_bytes = self.largest_copy_bytes.max(bytes),
            None => {}
        }
        Ok(Some(id))
    }

    /// A copy of this file goes to that place.
    fn goes_to(&mut self, id: usize, place: &str) {
        let instance = &mut self.all[id];
        if instance.place.as_deref() != Some(place) && !instance.targets.iter().any(|t| t == place)
        {
            instance.targets.push(place.to_owned());
        }
    }

    fn share(&mut self, wanted: Wanted, seed: u64) -> usize {
        let same = |i: &&Instance| {
            i.path == wanted.path
                && i.bytes == wanted.bytes
                && i.files == wanted.files
                && i.host == wanted.host
                && i.place == wanted.place
                && i.used == wanted.used
                && i.sparse == wanted.sparse
                && i.tree == wanted.tree
                && i.attributes == wanted.attributes
                && i.shared == wanted.shared
        };
        if let Some(instance) = self.all.iter().find(same) {
            return instance.id;
        }
        let id = self.all.len();
        let Wanted { path, bytes, files, host, place, used, sparse, tree, attributes, shared } =
            wanted;
        self.all.push(Instance {
            id,
            path,
            bytes,
            files,
            host,
            place,
            seed: mix(seed, id as u64),
            used,
            targets: Vec::new(),
            sparse,
            tree,
            attributes,
            shared,
        });
        id
    }

    /// A place holds all files that are made on it, and the copy of one at a time.
    fn fits_places(
        &self,
        wanted: &Wanted,
        copy_to: Option<&str>,
        facts: &Facts,
    ) -> Result<(), Skip> {
        let own = wanted.place.as_deref();
        for place in [own, copy_to.filter(|to| own != Some(*to))].into_iter().flatten() {
            let holds = facts.places.get(place).and_then(|needs| needs.holds_bytes);
            let there = |i: &&Instance| {
                let takes = i.used != FileUse::Absent;
                takes && i.place.as_deref() == Some(place) && i.bytes != wanted.bytes
            };
            let files = self.all.iter().filter(there).map(Instance::space_bytes);
            let file = if own == Some(place) { wanted.space_bytes() } else { 0 };
            let copy = if copy_to == Some(place) { wanted.space_bytes() } else { 0 };
            let all = files.chain([file, copy]).fold(0, u64::saturating_add);
            if let Some(holds) = holds.filter(|holds| all > *holds) {
                let (bytes, holds) = (bytes_text(wanted.bytes), bytes_text(holds));
                let copy = if copy > 0 { " with its copy" } else { "" };
                let what = match wanted.files {
                    Some(files) => format!("a tree of {files} files of {bytes}"),
                    None => format!("a file of {bytes}{copy}"),
                };
                let reason = format!(
                    "{what} does not fit into {place}, which holds {holds} for \
                     sure; give it size=, or take a smaller --file-size"
                );
                return Err(Skip { reason, too_small: true });
            }
        }
        Ok(())
    }

    fn places<'a>(&'a self, facts: &'a Facts) -> impl Iterator<Item = &'a PlaceNeeds> {
        let used: BTreeSet<&String> =
            self.all.iter().flat_map(|i| i.place.iter().chain(&i.targets)).collect();
        used.into_iter().filter_map(|place| facts.places.get(place))
    }

    /// Space that the images of the places take.
    pub fn places_bytes(&self, facts: &Facts) -> u64 {
        self.places(facts).fold(0, |sum, needs| sum.saturating_add(needs.disk_bytes))
    }

    /// What the places need, each once.
    pub fn privileges(&self, facts: &Facts) -> Vec<String> {
        let all: BTreeSet<String> = self.places(facts).map(|n| n.privilege.clone()).collect();
        all.into_iter().filter(|privilege| !privilege.is_empty()).collect()
    }

    /// Those of one of several machines.
    pub fn of_host(&self, host: &str) -> Instances {
        let its = self.all.iter().filter(|i| i.host.as_deref() == Some(host));
        Instances { all: its.cloned().collect(), ..*self }
    }

    /// Most bytes that iolab's files take at a time in the directory under test itself, the
    /// largest copy included.
    pub fn made_bytes(&self) -> u64 {
        let here = self.all.iter().filter(|i| i.place.is_none());
        space_bytes(here).saturating_add(self.largest_copy_bytes).saturating_add(self.copied.0)
    }

    /// Most files and directories that they are.
    pub fn made_inodes(&self) -> u64 {
        let here = self.all.iter().filter(|i| i.path.is_none() && i.place.is_none());
        let inodes = |i: &Instance| i.tree.as_ref().map_or(i.inodes(), TreeOrder::inodes);
        let stay = here.clone().filter(|i| i.used != FileUse::Absent).map(inodes);
        let turns = here.filter(|i| i.used == FileUse::Absent).map(inodes);
        stay.fold(turns.max().unwrap_or(0).max(self.copied.1), |sum, n| sum.saturating_add(n))
    }
}

/// Most bytes that files of iolab's own take at a time: those that stay, and the largest of those
/// that are written and removed in turn.
pub(super) fn space_bytes<'a>(instances: impl Iterator<Item = &'a Instance> + Clone) -> u64 {
    let made = instances.filter(|i| i.path.is_none());
    let stay = made.clone().filter(|i| i.used != FileUse::Absent);
    let turns = made.filter(|i| i.used == FileUse::Absent).map(Instance::space_bytes);
    stay.fold(turns.max().unwrap_or(0), |sum, i| sum.saturating_add(i.space_bytes()))
}

fn wanted(
    draft: &Draft,
    experiment: &Experiment,
    facts: &Facts,
    copies: bool,
) -> Result<Option<Wanted>, Skip> {
    let does = draft.does;
    let source = draft.full.text(Factor::SourcePlace);
    let place = source.or(draft.full.text(Factor::Place)).map(str::to_owned);
    let sparse = copies && draft.full.get(Factor::Sparse).is_some();
    if let Some(path) = draft.full.path(Factor::File) {
        let refuse = |reason: String| Err(Skip { reason, too_small: false });
        let name = || path_to_text(path);
        if let Some(tree) = facts.trees.get(path) {
            return found(path, tree, does).map(Some);
        }
        return match facts.files.get(path) {
            Some(Ok(0)) => refuse(format!("{} is empty: name a file with bytes", name())),
            Some(Ok(bytes)) => {
                let (path, used, place) = (Some(path.into()), FileUse::Read, None);
                Ok(Some(Wanted { path, bytes: *bytes, place, used, ..Wanted::default() }))
            }
            Some(Err(why)) => refuse(why.clone()),
            None => refuse(format!("nothing is known of {}", name())),
        };
    }
    if let Some(path) = draft.full.path(Factor::Trace) {
        let with_data = draft.full.is_on(Factor::WithData);
        return recorded(path, place, with_data, facts).map(Some);
    }
    let invalid = |none: NoTree| Skip { reason: none.to_string(), too_small: false };
    let seed = mix(experiment.protocol.content_seed(), TREE_STREAM);
    if let Some(tree) = Tree::of(&draft.levels, seed).map_err(invalid)? {
        let bytes = tree.bytes();
        let (tree, used) = match does.reads {
            true => (TreeOrder::Kept(tree), FileUse::Read),
            false => (TreeOrder::Each(tree), FileUse::Absent),
        };
        let tree = Some(tree);
        return Ok(Some(Wanted { bytes, place, used, tree, ..Wanted::default() }));
    }
    // Touches are counted on the files of a tree.
    let touches = draft.full.get(Factor::Pass).is_some();
    let bytes = match draft.full.number(Factor::FileSize) {
        Some(bytes) => bytes,
        // A call that ignores how large its files are has empty ones.
        None if touches => 0,
        None => CALL_FILE_BYTES.max(draft.full.number(Factor::Block).unwrap_or(0)),
    };
    let used = match draft.full.word() {
        None => FileUse::Read,
        Some(Target::Overwrite) => FileUse::Overwrite,
        Some(_) if contender::reads_source(&draft.full) => FileUse::Read,
        Some(_) => FileUse::Absent,
    };
    let files = draft.full.number(Factor::Files).filter(|_| touches);
    let attributes = touches && draft.part.is_some_and(|part| part.can(Capability::Attributes));
    Ok(Some(Wanted { bytes, files, place, used, sparse, attributes, ..Wanted::default() }))
}

/// How the ranks make together what a trial finds there. A file that trials write and remove is made by
/// each of them.
fn shared_by(draft: &Draft, experiment: &Experiment, wanted: &Wanted) -> Option<SharedBy> {
    let stays = wanted.tree.is_some() || wanted.used != FileUse::Absent;
    let made = wanted.path.is_none() && stays;
    if !is_shared(&draft.full) || !made {
        return None;
    }
    let counts = experiment.factors.get(&Factor::Ranks).into_iter().flatten();
    let ranks = counts.filter_map(Level::number).max().unwrap_or(1);
    let strided = draft.full.word() == Some(Share::Strided);
    let block_bytes = draft.full.number(Factor::Block).filter(|_| strided);
    Some(SharedBy { ranks, block_bytes })
}

/// Whether the state and the limits that its levels ask for can be had with this file there.
fn can_be_reached(draft: &Draft, wanted: &Wanted, facts: &Facts) -> Result<(), Skip> {
    let (levels, place) = (&draft.levels, wanted.place.as_deref());
    let too_small = warm_misfit(levels, wanted.bytes, facts);
    let reason = too_small.clone().or_else(|| remount_misfit(levels, place, facts));
    let reason = reason.or_else(|| bypass_misfit(&draft.full, place, facts));
    let reason = reason.or_else(|| limit_misfit(&draft.full, wanted.bytes, facts));
    match reason {
        Some(reason) => Err(Skip { reason, too_small: too_small.is_some() }),
        None => Ok(()),
    }
}

/// The files of a trace.
fn recorded(
    path: &Path,
    place: Option<String>,
    with_data: bool,
    facts: &Facts,
) -> Result<Wanted, Skip> {
    let refuse = |reason: String| Skip { reason, too_small: false };
    let unknown = || refuse(format!("nothing is known of {}", path_to_text(path)));
    let trace = facts.traces.get(path).ok_or_else(unknown)?;
    let trace = trace.as_ref().map_err(|why| refuse(why.clone()))?;
    let files = RecordedFiles { with_data, ..trace.files.clone() };
    let tree = Some(TreeOrder::Recorded(files));
    Ok(Wanted { bytes: trace.bytes, place, tree, ..Wanted::default() })
}

/// A tree of the person's.
fn found(path: &Path, tree: &Result<TreeFacts, String>, does: Does) -> Result<Wanted, Skip> {
    let refuse = |reason: String| Skip { reason, too_small: false };
    let facts = tree.as_ref().map_err(|why| refuse(why.clone()))?;
    let name = path_to_text(path);
    if !does.reads {
        let reason = format!("{name} is never written to: give --files to have a tree made");
        return Err(refuse(reason));
    }
    if facts.files == 0 {
        return Err(refuse(format!("{name} holds no file that can be read: name another tree")));
    }
    let (path, bytes) = (Some(path.into()), facts.bytes);
    let tree = Some(TreeOrder::Found(facts.files));
    Ok(Wanted { path, bytes, tree, ..Wanted::default() })
}
