//! Trees of files that trials work on: made in the scratch directory, only described, or the
//! person's. Of a cache state every file that a trial visits is brought into it, and proven.

use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use super::instance::fault;
use super::kept;
use super::messages::InstanceOrder;
use super::recorded;
use super::tree_proof::Sum;
use iolab_io::cache::{self, Prober};
use iolab_io::sys::remove::remove_tree;
use iolab_io::workload::Subject;
use iolab_io::workload::files::{
    Listing, MAKE_BLOCK, Opener, clear, make_directories_apart, make_files, scan,
};
use iolab_io::workload::replay::{self, Scene};
use iolab_model::catalog::{CacheState, mix, path_from_text, path_to_text};
use iolab_model::result::{CacheProof, Fault};
use iolab_model::tree::{Tree, TreeOrder};

/// Files of a tree that are looked at after every command; of a larger one at the end alone.
pub const MOST_LOOKED_AT: u64 = 10_000;

/// Mixes in what changes of a file or a directory when it is written to or replaced.
fn mark(digest: u64, about: &std::fs::Metadata) -> u64 {
    let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
    // Each file system counts the bytes of a directory as it likes; its times say enough.
    let bytes = if about.is_dir() { 0 } else { about.len() };
    let parts = times.map(|part| part as u64);
    [about.ino(), bytes].into_iter().chain(parts).fold(digest, mix)
}

/// A tree as an instance.
#[derive(Debug)]
pub struct TreeInstance {
    /// Its root, absolute or as the person wrote it.
    path: PathBuf,
    listing: Listing,
    bytes: u64,
    seed: u64,
    /// The place that it is on.
    place: Option<String>,
    stands: Stands,
    /// The trace that its files are those of.
    scene: Option<Scene>,
    /// Of a person's tree what it was like.
    known: (u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// Made by iolab.
    Made,
    /// Each trial makes its own.
    Nowhere,
    /// The person's.
    Theirs,
    /// Made for a trace: trials change it, and bring it back.
    Recorded,
    /// Made by iolab, in directories that are other ranks', too: they go with the first one's scratch.
    Among,
}

impl TreeInstance {
    /// Makes, describes or looks through what is ordered. `wanted` says whether to go on.
    pub fn new(
        order: &InstanceOrder,
        tree: &TreeOrder,
        directory: &Path,
        wanted: &dyn Fn() -> bool,
    ) -> Result<TreeInstance, Fault> {
        let of = |path: PathBuf, listing: Listing, stands: Stands| TreeInstance {
            path,
            bytes: listing.bytes(),
            listing,
            seed: order.seed,
            place: order.place.clone(),
            stands,
            scene: None,
            known: (0, 0),
        };
        let path = directory.join(format!("tree-{}", order.id));
        match (tree, &order.path) {
            (TreeOrder::Kept(tree), _) => {
                let tree = of(path, Listing::Made(tree.clone()), Stands::Made);
                if kept::take_tree(order, &tree.listing, &tree.path, wanted) {
                    return Ok(tree);
                }
                let made = tree.make(wanted);
                if made.is_err() {
                    // Space is given back at once: others may need it to say why this failed.
                    let _ = clear(&tree.listing, &tree.path, &tree.listing.whole());
                }
                made.map(|()| tree)
            }
            (TreeOrder::Each(tree), _) => {
                Ok(of(path, Listing::Made(tree.clone()), Stands::Nowhere))
            }
            (TreeOrder::Found(files), Some(text)) => {
                let path = path_from_text(text);
                let found = Listing::Found(scan(&path)?);
                let mut tree = of(path, found, Stands::Theirs);
                tree.compare(*files, order.bytes)?;
                tree.known = tree.fingerprint()?;
                Ok(tree)
            }
            (TreeOrder::Recorded(files), _) => {
                let trace = recorded::open(&path_from_text(&files.trace), &files.digest)?;
                let mut scene = Scene::new(trace, order.seed);
                scene.with_data = files.with_data;
                let made = replay::make(&scene, &path, wanted).and_then(|()| scan(&path));
                if made.is_err() {
                    // Space is given back at once: others may need it to say why this failed.
                    let _ = remove_tree(&path);
                }
                let tree = of(path, Listing::Found(made?), Stands::Recorded);
                Ok(TreeInstance { scene: Some(scene), ..tree })
            }
            (TreeOrder::Found(_), None) => {
                Err(Fault::new("look through a tree", "it was not said where it is"))
            }
        }
    }

    /// The directories of a tree that several ranks have files in.
    pub fn begin_shared(
        order: &InstanceOrder,
        tree: &TreeOrder,
        directory: &Path,
    ) -> Result<(), Fault> {
        let TreeOrder::Kept(tree) = tree else { return Ok(()) };
        let path = directory.join(format!("tree-{}", order.id));
        make_directories_apart(&Listing::Made(tree.clone()), &path)
    }

    /// The files of one rank in them.
    pub fn among(
        order: &InstanceOrder,
        directory: &Path,
        rank: u64,
        wanted: &dyn Fn() -> bool,
    ) -> Result<TreeInstance, Fault> {
        let (made, stands) = match &order.tree {
            Some(TreeOrder::Kept(made)) => (made, Stands::Among),
            Some(TreeOrder::Each(made)) => (made, Stands::Nowhere),
            _ => return Err(Fault::new("share a tree", "only one that iolab makes is shared")),
        };
        let made = Tree { first: rank * made.files, rank, ..made.clone() };
        let tree = TreeInstance {
            path: directory.join(format!("tree-{}", order.id)),
            bytes: made.bytes(),
            listing: Listing::Made(made),
            seed: order.seed,
            place: None,
            stands,
            scene: None,
            known: (0, 0),
        };
        if stands == Stands::Among {
            tree.fill(wanted)?;
        }
        Ok(tree)
    }

    /// That of another rank, where this one's was made and stays: in a directory of that one's, or beside
    /// this one's files.
    pub fn lent_by(&self, rank: u64, directory: &Path) -> Option<TreeInstance> {
        let Listing::Made(own) = &self.listing else { return None };
        let (path, first) = match self.stands {
            Stands::Made => (directory.join(self.path.file_name()?), 0),
            Stands::Among => (self.path.clone(), rank * own.files),
            Stands::Nowhere | Stands::Theirs | Stands::Recorded => return None,
        };
        Some(TreeInstance {
            path,
            listing: Listing::Made(Tree { first, rank, ..own.clone() }),
            bytes: self.bytes,
            seed: self.seed,
            place: None,
            stands: Stands::Among,
            scene: None,
            known: (0, 0),
        })
    }

    fn compare(&self, files: u64, bytes: u64) -> Result<(), Fault> {
        if (self.listing.files(), self.bytes) == (files, bytes) {
            return Ok(());
        }
        let cause = format!(
            "it had {files} files and {bytes} bytes, and now has {} and {}: something writes to it",
            self.listing.files(),
            self.bytes
        );
        Err(Fault::new(format!("look through {}", path_to_text(&self.path)), cause))
    }

    fn make(&self, wanted: &dyn Fn() -> bool) -> Result<(), Fault> {
        make_directories_apart(&self.listing, &self.path)?;
        self.fill(wanted)
    }

    fn fill(&self, wanted: &dyn Fn() -> bool) -> Result<(), Fault> {
        let Listing::Made(tree) = &self.listing else { return Ok(()) };
        let mut content = tree.content(MAKE_BLOCK);
        make_files(&self.listing, &self.path, 0..tree.files, &mut content, wanted)?;
        // Dirty pages would be written back beside the first trials; and a full disk shows here.
        self.write_back()
    }

    /// All at once: file by file each would wait for a flush of the device.
    fn write_back(&self) -> Result<(), Fault> {
        if self.stands == Stands::Nowhere {
            return Ok(());
        }
        let root = File::open(&self.path).map_err(|e| fault("open a tree", &e))?;
        rustix::fs::syncfs(&root).map_err(|e| fault("write a tree back", &e.into()))
    }

    /// What a trial is told of it.
    pub fn subject(&self) -> Subject<'_> {
        let tree = Some(&self.listing);
        let replay = self.scene.as_ref();
        Subject { tree, replay, ..Subject::file(&self.path, self.bytes, self.seed) }
    }

    /// Goes where its place has gone.
    pub fn follow<'a>(&mut self, root: impl Fn(&str) -> Option<&'a Path>) {
        let root = self.place.as_deref().and_then(root);
        if let (Some(root), Some(name)) = (root, self.path.file_name()) {
            self.path = root.join(name);
        }
    }

    /// Takes all of it out of the page cache.
    pub fn evict(&self) -> Result<(), Fault> {
        self.write_back()?;
        self.each(&self.listing.whole(), cache::evict_written)
    }

    /// Brings all of it into the page cache, file after file.
    pub fn prime(&self) -> Result<(), Fault> {
        self.each(&self.listing.whole(), |file| cache::prime(file).map(drop))
    }

    /// Brings the files of these ranges into a state; the proof is that of all of them together.
    pub fn reach(
        &self,
        wanted: CacheState,
        ranges: &[Range<u64>],
        prober: &Prober,
    ) -> Result<Option<CacheProof>, Fault> {
        if self.stands == Stands::Nowhere {
            return Ok(None);
        }
        if wanted.is_cold() {
            self.write_back()?;
        }
        let mut sum = Sum::default();
        let reach = |file: &File| cache::prepare_written(wanted, file, prober);
        self.each(ranges, |file| reach(file).map(|one| sum.add(one)))?;
        Ok(sum.proof)
    }

    /// Brings names and attributes of the files of these ranges into the caches: whether the device
    /// is asked for any afterwards is seen after the window.
    pub fn look_at(&self, ranges: &[Range<u64>]) -> Result<Option<CacheProof>, Fault> {
        if self.stands == Stands::Nowhere {
            return Ok(None);
        }
        self.each(ranges, |_| Ok(()))?;
        Ok(Some(cache::looked_at()))
    }

    /// Opens each file of the ranges. What is gone by now, in a tree of the person's, is passed
    /// over: the trial will count it.
    fn each(
        &self,
        ranges: &[Range<u64>],
        mut visit: impl FnMut(&File) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.stands == Stands::Nowhere {
            return Ok(());
        }
        let failed = |errno: Errno| {
            fault(format!("reach a cache state of {}", path_to_text(&self.path)), &errno.into())
        };
        let root_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, &self.path, root_flags, Mode::empty()).map_err(failed)?;
        let mut opener = Opener::default();
        let mut directory: Option<(u64, Result<OwnedFd, Errno>)> = None;
        for range in ranges {
            let mut cursor = self.listing.cursor(range.clone());
            while let Some(file) = cursor.advance::<false>() {
                if directory.as_ref().is_none_or(|(number, _)| *number != file.directory) {
                    let opened = opener.open(&self.listing, root.as_fd(), file.directory);
                    directory = Some((file.directory, opened));
                }
                let Some((_, parent)) = &directory else { continue };
                let opened = parent.as_ref().map_err(|errno| *errno).and_then(|parent| {
                    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                    let open = |more| openat(parent, file.name, flags | more, Mode::empty());
                    // Probes read; the time of the last access is the person's (O_NOATIME, open(2)).
                    match open(OFlags::NONBLOCK | OFlags::NOATIME) {
                        Err(Errno::PERM) => open(OFlags::NONBLOCK),
                        other => other,
                    }
                });
                match opened {
                    Ok(opened) => visit(&File::from(opened))?,
                    Err(_) if self.stands == Stands::Theirs => {}
                    Err(errno) => return Err(failed(errno)),
                }
            }
        }
        Ok(())
    }

    /// Keeps what was made for later runs; where it cannot be, it is taken away as ever.
    pub fn keep(&self, order: &InstanceOrder) {
        if self.stands == Stands::Made {
            kept::put(order, &self.path);
        }
    }

    /// Whether a tree of the person's is as it was: names, sizes and times of its files. `after` says
    /// after what it is asked.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self, after: &str) -> Result<(), Fault> {
        if self.stands != Stands::Theirs || self.fingerprint()? == self.known {
            return Ok(());
        }
        let cause = format!(
            "files of it are not as they were: gone, new, written to, or with other attributes; {after}"
        );
        Err(Fault::new(format!("look through {}", path_to_text(&self.path)), cause))
    }

    /// Whether looking at all of it after every trial costs little.
    pub fn is_small(&self) -> bool {
        self.listing.files() <= MOST_LOOKED_AT
    }

    /// How many files, and a digest of what changes when one is written to, made or removed.
    fn fingerprint(&self) -> Result<(u64, u64), Fault> {
        let (mut files, mut digest) = (0_u64, 0_u64);
        self.each(&self.listing.whole(), |file| {
            let about = file.metadata().map_err(|e| fault("look at a file of a tree", &e))?;
            digest = mark(digest, &about);
            files += 1;
            Ok(())
        })?;
        let root = openat(CWD, &self.path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| fault("look at the root of a tree", &errno.into()))?;
        let mut opener = Opener::default();
        for directory in 0..=self.listing.directories() {
            // What may not be opened was not either when the tree was looked through.
            let opened = opener.open(&self.listing, root.as_fd(), directory).map(File::from);
            let about = opened.ok().and_then(|directory| directory.metadata().ok());
            digest = about.map_or_else(|| mix(digest, directory), |about| mark(digest, &about));
        }
        Ok((files, digest))
    }

    /// Takes away what was made.
    pub fn remove(self) -> Result<(), Fault> {
        match self.stands {
            Stands::Made => clear(&self.listing, &self.path, &self.listing.whole()),
            Stands::Recorded => self
                .scene
                .as_ref()
                .map_or_else(|| remove_tree(&self.path), |scene| replay::remove(scene, &self.path))
                .map_err(|error| fault(format!("remove {}", path_to_text(&self.path)), &error)),
            Stands::Nowhere | Stands::Theirs | Stands::Among => Ok(()),
        }
    }
}
