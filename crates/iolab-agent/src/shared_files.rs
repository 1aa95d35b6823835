//! What the ranks of a job share: files that each makes a part of, in the scratch directory of the first
//! one, and files that a rank reads though another has made them.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use iolab_io::workload::{self, Subject, Trial, shift_of};
use iolab_model::catalog::{Factor, path_from_text, path_to_text};
use iolab_model::plan::SharedBy;
use iolab_model::result::Fault;

use super::instance::{Instance, PIECE_BYTES, fault, synced};
use super::messages::{Beacon, InstanceOrder, TrialRequest};
use super::rank::{Rank, seed_of};
use super::tree_instance::TreeInstance;

/// What this rank sees of the others.
#[derive(Debug, Default)]
pub struct SharedFiles {
    /// The scratch directories of all, by rank.
    directories: Vec<PathBuf>,
    /// What all were told to make.
    orders: BTreeMap<usize, InstanceOrder>,
    /// Files that another rank has made, by their number and that rank.
    lent: BTreeMap<(usize, u64), Instance>,
}

impl SharedFiles {
    /// Who the others are.
    pub fn meet(&mut self, beacon: &Beacon) {
        self.directories = beacon.all.iter().map(|text| path_from_text(text)).collect();
    }

    /// What all were told to make, each its own or its part.
    pub fn note(&mut self, order: &InstanceOrder) {
        self.lent.retain(|(id, _), _| *id != order.id);
        self.orders.insert(order.id, order.clone());
    }

    /// Where what is shared lies.
    pub fn directory(&self) -> Result<&Path, Fault> {
        self.directory_of(0)
    }

    fn directory_of(&self, rank: u64) -> Result<&Path, Fault> {
        let found = usize::try_from(rank).ok().and_then(|at| self.directories.get(at));
        let missing = || Fault::new("share files with other ranks", "they were not met");
        found.map(PathBuf::as_path).ok_or_else(missing)
    }

    fn path(&self, order: &InstanceOrder) -> Result<PathBuf, Fault> {
        Ok(self.directory()?.join(format!("file-{}", order.id)))
    }

    /// The file without any of its bytes, or the directories of a tree.
    pub fn begin(&self, order: &InstanceOrder) -> Result<(), Fault> {
        if let Some(tree) = &order.tree {
            return TreeInstance::begin_shared(order, tree, self.directory()?);
        }
        if order.files.is_some() {
            return Instance::begin_planted(order, self.directory()?);
        }
        let path = self.path(order)?;
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&path);
        made.map(drop).map_err(|e| fault(format!("make {}", path_to_text(&path)), &e))
    }

    /// The part of it that this rank makes.
    pub fn fill(
        &self,
        order: &InstanceOrder,
        shared: SharedBy,
        rank: u64,
        wanted: &dyn Fn() -> bool,
    ) -> Result<(), Fault> {
        if rank >= shared.ranks {
            return Ok(());
        }
        let path = self.path(order)?;
        let fill = || -> io::Result<()> {
            let file = OpenOptions::new().write(true).open(&path)?;
            let mut buffer = Vec::new();
            for piece in pieces(order.bytes, shared, rank) {
                if !wanted() {
                    return Err(io::Error::other("the controller has gone"));
                }
                buffer.resize((piece.end - piece.start) as usize, 0);
                order.content.fill(order.seed, piece.start, &mut buffer);
                file.write_all_at(&buffer, piece.start)?;
            }
            synced(&file)
        };
        let doing = || {
            format!("make {} bytes, the part of this rank, of {}", order.bytes, path_to_text(&path))
        };
        fill().map_err(|e| fault(doing(), &e))
    }

    /// The whole, as all have made it.
    pub fn open(&self, order: &InstanceOrder, shared: SharedBy) -> Result<Instance, Fault> {
        let path = self.path(order)?;
        let doing = format!("open {}", path_to_text(&path));
        let whole = order.bytes.saturating_mul(shared.ranks);
        let opened = Instance::opened(path, order, Some(order.content));
        let instance = opened.map_err(|e| fault(doing.clone(), &e))?;
        if instance.bytes == whole {
            return Ok(instance);
        }
        let cause = format!("it has {} bytes of the {whole} that all made", instance.bytes);
        Err(Fault::new(doing, cause))
    }

    /// Which other rank's part a trial reads, where it does not read its own.
    pub fn lender(&self, request: &TrialRequest, rank: Option<&Rank>) -> Option<u64> {
        let (shift, rank) = (shift_of(&request.levels), rank?.number());
        let ranks = request.levels.number(Factor::Ranks)?.max(1);
        let lender = (rank + shift) % ranks;
        let made = request.levels.get(Factor::File).is_none();
        (made && lender != rank).then_some(lender)
    }

    /// The tree that another rank has made, as this one has made its own.
    pub fn lent_tree(&self, own: &TreeInstance, lender: u64) -> Result<TreeInstance, Fault> {
        let lent = own.lent_by(lender, self.directory_of(lender)?);
        let cause = "a trial has files of its own, or those of a person";
        lent.ok_or_else(|| Fault::new(format!("find the files of rank {lender}"), cause))
    }

    /// The file that another rank has made.
    pub fn lent(&mut self, id: usize, lender: u64) -> Result<&mut Instance, Fault> {
        if !self.lent.contains_key(&(id, lender)) {
            let opened = self.borrow(id, lender)?;
            self.lent.insert((id, lender), opened);
        }
        let lent = self.lent.get_mut(&(id, lender));
        lent.ok_or_else(|| Fault::new("read the file of another rank", "it is not there"))
    }

    fn borrow(&self, id: usize, lender: u64) -> Result<Instance, Fault> {
        let doing = format!("open the file of rank {lender}");
        let missing = || Fault::new(doing.clone(), format!("there is no instance {id}"));
        let order = self.orders.get(&id).ok_or_else(missing)?;
        let order = InstanceOrder { seed: seed_of(order.seed, lender), ..order.clone() };
        let path = self.directory_of(lender)?.join(format!("file-{id}"));
        Instance::opened(path, &order, Some(order.content)).map_err(|e| fault(doing.clone(), &e))
    }

    /// Lets go of what the others are about to remove.
    pub fn let_go(&mut self) {
        self.lent.clear();
    }
}

/// The pieces of a file that a rank makes.
fn pieces(bytes: u64, shared: SharedBy, rank: u64) -> Box<dyn Iterator<Item = Range<u64>>> {
    let cut = |range: Range<u64>, step: u64| {
        let end = range.end;
        range
            .step_by(usize::try_from(step).unwrap_or(usize::MAX))
            .map(move |at| at..end.min(at + step))
    };
    match shared.block_bytes {
        None => Box::new(cut(rank * bytes..(rank + 1) * bytes, PIECE_BYTES)),
        Some(block) => {
            let (ranks, whole) = (shared.ranks, bytes.saturating_mul(shared.ranks));
            let starts = (0..).map(move |turn: u64| (turn * ranks + rank) * block);
            let blocks = starts.take_while(move |at| *at < whole);
            Box::new(blocks.flat_map(move |at| cut(at..whole.min(at + block), PIECE_BYTES)))
        }
    }
}

/// A step around a trial that the ranks share, at the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Before any rank prepares.
    Lay,
    /// When all have cleared up.
    Lift,
}

/// Takes it.
pub fn around(
    step: Step,
    request: &TrialRequest,
    subject: Option<Subject<'_>>,
    scratch: &Path,
) -> Result<(), Fault> {
    let doing = || format!("prepare a trial of {:?} for all ranks", request.workload);
    let workload = workload::find(&request.workload);
    let workload = workload.ok_or_else(|| Fault::new(doing(), "there is no such workload"))?;
    let (levels, extent) = (&request.levels, request.extent);
    let trial = Trial { levels, extent, subject, scratch };
    match step {
        Step::Lay => (workload.around.lay)(&trial),
        Step::Lift => (workload.around.lift)(&trial),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;

    use iolab_io::workload::Extent;
    use iolab_io::workload::files::Listing;
    use iolab_model::catalog::{Factor, Level, Levels, path_to_text};
    use iolab_model::plan::SharedBy;
    use iolab_model::tree::{Body, Shape, Tree, TreeOrder};

    use super::{Beacon, InstanceOrder, Rank, SharedFiles, TreeInstance, TrialRequest, pieces};

    const WANTED: &dyn Fn() -> bool = &|| true;

    fn tree_order(shared: Option<SharedBy>) -> InstanceOrder {
        let (sizes, shape) = ("100".parse().unwrap(), Shape::Shared);
        let tree = Tree { files: 5, sizes, shape, body: Body::Random, seed: 3, first: 0, rank: 0 };
        let tree = Some(TreeOrder::Kept(tree));
        InstanceOrder { bytes: 500, tree, shared, ..InstanceOrder::default() }
    }

    /// Whether every file of a tree lies below the root of another one, with the bytes of its own rank.
    fn intact(tree: &TreeInstance, at: &TreeInstance) -> bool {
        let (listing, root) = (tree.subject().tree.unwrap(), at.subject().path);
        let Listing::Made(made) = listing else { return false };
        (0..made.files).all(|file| {
            let mut expected = vec![0; made.size(file) as usize];
            made.content(0).fill(file, made.size(file), 0, &mut expected);
            std::fs::read(root.join(listing.path(file))).is_ok_and(|there| there == expected)
        })
    }

    /// A rank that read its own files all the same would find what it had written: they hold other bytes
    /// than those of any other.
    #[test]
    fn a_shifted_rank_is_lent_the_files_of_another() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let each = [0, 1, 2].map(|rank| directory.path().join(format!("scratch-{rank}")));
        each.iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let mut files = SharedFiles::default();
        let all = each.iter().map(|path| path_to_text(path)).collect();
        files.meet(&Beacon { all, ..Beacon::default() });
        for shared in [None, Some(SharedBy { ranks: 3, block_bytes: None })] {
            let mut order = tree_order(shared);
            order.id = usize::from(shared.is_some());
            let order_of = |rank| order.tree.clone().unwrap().of_rank(rank);
            if shared.is_some() {
                files.begin(&order).unwrap();
            }
            let trees: Vec<TreeInstance> = (0..3)
                .map(|rank| match shared {
                    None => {
                        TreeInstance::new(&order, &order_of(rank), &each[rank as usize], WANTED)
                    }
                    Some(_) => TreeInstance::among(&order, &each[0], rank, WANTED),
                })
                .map(Result::unwrap)
                .collect();
            let (_, line) = std::os::unix::net::UnixStream::pair().unwrap();
            let rank = Rank::of(2, line.into_raw_fd()).unwrap();
            let levels = Levels::new()
                .with(Factor::Ranks, Level::Number(3))
                .with(Factor::Shift, Level::Number(2));
            let (instance, extent) = (Some(order.id), Extent::Passes(1));
            let request =
                TrialRequest { workload: "files".into(), levels, instance, extent, limit_ns: 0 };
            assert_eq!(files.lender(&request, Some(&rank)), Some(1), "the second after the last");
            let lent = files.lent_tree(&trees[2], 1).unwrap();
            assert!(intact(&lent, &trees[1]) && intact(&trees[2], &trees[2]), "{shared:?}");
            assert_eq!(lent.subject().path, trees[1].subject().path);
            assert!(shared.is_some() || !intact(&lent, &trees[2]), "what it has made itself");
            lent.remove().unwrap();
            assert!(intact(&trees[1], &trees[1]), "it is for its maker to remove");
        }
    }

    /// A hole between two parts would be read as zeros that nobody wrote.
    #[test]
    fn the_parts_that_ranks_make_are_the_file_once() {
        for (bytes, ranks, block_bytes) in
            [(10, 3, None), (10 << 20, 2, None), (100, 3, Some(7)), (47_008 * 5, 4, Some(47_008))]
        {
            let shared = SharedBy { ranks, block_bytes };
            let mut all: Vec<_> = (0..ranks).flat_map(|rank| pieces(bytes, shared, rank)).collect();
            all.sort_by_key(|piece| piece.start);
            let mut at = 0;
            for piece in all {
                assert_eq!(piece.start, at, "{bytes} {ranks} {block_bytes:?}");
                at = piece.end;
            }
            assert_eq!(at, bytes * ranks);
        }
    }
}
