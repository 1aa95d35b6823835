//! Which operations cannot be had in a directory: each is tried on two files of its own.

use std::collections::BTreeMap;
use std::path::Path;

use super::operation::OPERATIONS;
use super::tree::Tree;
use super::{WORKLOAD, setup_teardown};
use crate::method::NoWindow;
use crate::workload::{Extent, Subject, Trial};
use iolab_model::catalog::{Factor, Level, Levels, Touch};
use iolab_model::result::Fault;

/// Operations that fail in `directory`, which is iolab's own: id → why, and the remedy.
///
/// # Errors
/// Not even files can be made.
pub fn impossible(directory: &Path) -> Result<BTreeMap<String, String>, Fault> {
    let tree = Tree {
        root: directory.join("attempt"),
        files: 2,
        bytes: 1,
        seed: 0,
        attributes: true,
        among: None,
    };
    let failed =
        |error: &std::io::Error| setup_teardown::fault("make two files to try calls on", error);
    tree.make(&|| true).map_err(|error| failed(&error))?;
    let all = || {
        let missing = OPERATIONS.iter().filter_map(|part| {
            let fault = attempt(part.id, &tree).err()?;
            Some((part.id.to_owned(), fault.cause))
        });
        missing.collect()
    };
    // A trial goes into its own directory, which is the thread's alone: in ours it would leave the
    // whole program in a directory that is gone.
    let missing = std::thread::scope(|scope| scope.spawn(all).join());
    let missing = missing.map_err(|_| Fault::new("try calls", "it panicked"))?;
    tree.remove().map_err(|error| failed(&error))?;
    Ok(missing)
}

fn attempt(id: &str, tree: &Tree) -> Result<(), Fault> {
    let levels = Levels::new()
        .with(Factor::Operation, Level::word(id))
        .with(Factor::Files, Level::Number(tree.files))
        .with(Factor::Pass, Level::word(Touch::First.word()));
    let subject = Some(Subject::file(&tree.root, tree.bytes, tree.seed));
    let extent = Extent::Passes(1);
    let trial = Trial { levels: &levels, extent, subject, scratch: &tree.root };
    let around = WORKLOAD.around;
    let ran = (around.prepare)(&trial).and_then(|()| {
        let mut seen = (WORKLOAD.run)(&trial, &mut NoWindow)?;
        (around.verify)(&trial, &mut seen)?;
        match seen.proof.effects.as_ref().and_then(|effects| effects.example.clone()) {
            None => Ok(()),
            Some(wrong) => Err(Fault::new("look at what it did", wrong)),
        }
    });
    (around.clear)(&trial).and(ran)
}
