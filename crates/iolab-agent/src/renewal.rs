//! Instances anew: taken out of the page cache and brought in again, or made again, so that each lies
//! somewhere else than before.

use std::fs::File;

use super::instance::Instance;
use super::tree_instance::TreeInstance;
use iolab_io::cache;
use iolab_model::result::Fault;

/// One instance, as far as it is renewed.
pub enum Renewed<'a> {
    /// The pages of a file.
    File(&'a File),
    /// The pages of many files.
    Tree(&'a TreeInstance),
    /// Files that metadata calls are made on: where their inodes lie in memory and on the device stays
    /// with them, and made two equal trees differ by 8 % for a whole run.
    Planted(&'a Instance),
    /// Files below an overlay: they are its lower layer and stay.
    Fixed,
}

impl<'a> Renewed<'a> {
    /// What is renewed of an instance; `on_layers` says of a place whether it is an overlay.
    pub fn of(instance: &'a Instance, on_layers: &dyn Fn(&str) -> bool) -> Renewed<'a> {
        match (instance.is_planted(), instance.place()) {
            (false, _) => Renewed::File(&instance.file),
            (true, Some(place)) if on_layers(place) => Renewed::Fixed,
            (true, _) => Renewed::Planted(instance),
        }
    }

    fn take_out(&self) -> Result<(), Fault> {
        match self {
            Renewed::File(file) => cache::evict(file),
            Renewed::Tree(tree) => tree.evict(),
            Renewed::Planted(instance) => instance.set_aside(),
            Renewed::Fixed => Ok(()),
        }
    }

    fn bring_in(&self) -> Result<(), Fault> {
        match self {
            Renewed::File(file) => cache::prime(file).map(drop),
            Renewed::Tree(tree) => tree.prime(),
            Renewed::Planted(instance) => instance.make_again(),
            Renewed::Fixed => Ok(()),
        }
    }
}

/// Takes all of them out before the first is brought in, so that what one has left another may take.
///
/// # Errors
/// The first that could not be renewed.
pub fn renew_all(all: &[Renewed<'_>]) -> Result<(), Fault> {
    all.iter().try_for_each(Renewed::take_out)?;
    all.iter().try_for_each(Renewed::bring_in)
}
