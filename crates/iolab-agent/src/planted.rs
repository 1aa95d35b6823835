//! Trees of files that metadata calls are made on, as instances: of one machine, or of the ranks of a job
//! in the same directories.

use std::io;
use std::path::{Path, PathBuf};

use super::instance::{Instance, fault};
use super::messages::InstanceOrder;
use super::rank::seed_of;
use iolab_io::workload::meta::{Among, Tree};
use iolab_model::catalog::path_to_text;
use iolab_model::result::Fault;

impl Instance {
    /// Files of its own.
    pub(super) fn plant(
        root: PathBuf,
        files: u64,
        order: &InstanceOrder,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Instance, Fault> {
        let &InstanceOrder { bytes, seed, attributes, .. } = order;
        let tree = Tree { root, files, bytes, seed, attributes, among: None };
        let made = tree.make(wanted).and_then(|()| Instance::planted(order, &tree));
        made.map_err(|error| {
            let _ = tree.remove();
            unplanted(&tree, &error)
        })
    }

    /// The directories of a tree that several ranks make files in.
    pub fn begin_planted(order: &InstanceOrder, directory: &Path) -> Result<(), Fault> {
        let tree = part_of(order, directory, 0);
        tree.begin().map_err(|error| unplanted(&tree, &error))
    }

    /// The files of one rank in them.
    pub fn plant_among(
        order: &InstanceOrder,
        directory: &Path,
        rank: u64,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Instance, Fault> {
        let tree = part_of(order, directory, rank);
        let made = tree.fill(wanted).and_then(|()| Instance::planted(order, &tree));
        made.map_err(|error| unplanted(&tree, &error))
    }

    fn planted(order: &InstanceOrder, tree: &Tree) -> io::Result<Instance> {
        let mut opened = Instance::opened(tree.root.clone(), order, Some(order.content))?;
        opened.tree = Some(tree.clone());
        Ok(opened)
    }

    /// Takes the files of its tree away. Those on a file system that cannot be written to stay.
    pub fn set_aside(&self) -> Result<(), Fault> {
        self.anew(Tree::set_aside)
    }

    /// Makes the files of its tree again.
    pub fn make_again(&self) -> Result<(), Fault> {
        self.anew(Tree::make_again)
    }

    fn anew(&self, step: fn(&Tree) -> io::Result<()>) -> Result<(), Fault> {
        let Some(tree) = &self.tree else { return Ok(()) };
        match step(tree) {
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok(()),
            other => other.map_err(|e| fault("make a tree of files anew", &e)),
        }
    }
}

/// The files of a rank among those of others; one that never works on them has none.
fn part_of(order: &InstanceOrder, directory: &Path, rank: u64) -> Tree {
    let ranks = order.shared.map_or(1, |shared| shared.ranks);
    let files = order.files.filter(|_| rank < ranks).unwrap_or(0);
    let &InstanceOrder { bytes, attributes, .. } = order;
    let (root, seed) = (directory.join(format!("tree-{}", order.id)), seed_of(order.seed, rank));
    Tree { root, files, bytes, seed, attributes, among: Some(Among { rank, ranks }) }
}

fn unplanted(tree: &Tree, error: &io::Error) -> Fault {
    let (path, Tree { files, bytes, .. }) = (path_to_text(&tree.root), tree);
    fault(format!("make {files} files of {bytes} bytes in {path}"), error)
}
