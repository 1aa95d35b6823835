//! What an overlay lies on: a lower directory, and fresh upper and work directories, on one file
//! system or on two.

use std::io;
use std::path::{Path, PathBuf};

use super::kind::{Missing, Place, PlaceOrder};
use super::{fault, make, spot};
use crate::sys::remove::remove_tree;
use iolab_model::result::{Fault, PlaceFacts};

/// The layers. Field order is the order of dropping.
#[derive(Debug)]
pub struct Layers {
    lower: PathBuf,
    upper: PathBuf,
    work: PathBuf,
    upper_root: PathBuf,
    generation: u32,
    /// Directories of the ground, where no place was made for them.
    plain: Option<PathBuf>,
    places: Vec<Box<dyn Place>>,
}

impl Layers {
    /// Makes the places named `on=`, or `lower=` and `upper=`, or takes the ground.
    ///
    /// # Errors
    /// A layer that cannot be made, or `on=` beside the others.
    pub fn make(order: &PlaceOrder<'_>) -> Result<Layers, Fault> {
        let level = order.level;
        let refuse = |reason: &str, remedy: &str| {
            Missing::new(reason, remedy).fault(format!("make the layers of {level}"))
        };
        let (on, lower, upper) = (level.layer("on"), level.layer("lower"), level.layer("upper"));
        let (mut places, mut plain) = (Vec::new(), None);
        let (lower_root, upper_root) = match (on, lower, upper) {
            (Some(on), None, None) => {
                places.push(make(&PlaceOrder { level: on, ..*order })?);
                (places[0].root().to_owned(), places[0].root().to_owned())
            }
            (None, Some(lower), Some(upper)) => {
                places.push(make(&PlaceOrder { level: lower, ..*order })?);
                places.push(make(&PlaceOrder { level: upper, ..*order })?);
                (places[0].root().to_owned(), places[1].root().to_owned())
            }
            (None, None, None) => {
                let ground = spot(order.ground, level)?;
                plain = Some(ground.clone());
                (ground.clone(), ground)
            }
            (Some(_), ..) => {
                return Err(refuse("on= names both layers", "leave lower= and upper= out"));
            }
            _ => return Err(refuse("one layer has no place", "name lower= and upper=, or on=")),
        };
        let mut layers = Layers {
            lower: lower_root.join("lower"),
            upper: PathBuf::new(),
            work: PathBuf::new(),
            upper_root,
            generation: 0,
            plain,
            places,
        };
        std::fs::create_dir(&layers.lower).map_err(|e| broken("make", &layers.lower, &e))?;
        layers.fresh()?;
        Ok(layers)
    }

    /// The directory below.
    pub fn lower(&self) -> &Path {
        &self.lower
    }

    /// The directory that takes the changes.
    pub fn upper(&self) -> &Path {
        &self.upper
    }

    /// The directory that overlayfs works in.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Facts of the places below: one, or lower and upper.
    pub fn facts(&self) -> Vec<PlaceFacts> {
        self.places.iter().map(|place| place.facts().clone()).collect()
    }

    /// Where the layers are, where no place was made for them.
    pub fn note(&self) -> Option<String> {
        self.plain.as_ref().map(|_| "both layers lie in the directory under test".to_owned())
    }

    /// Removes the upper layer and makes an empty one.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn renew(&mut self) -> Result<(), Fault> {
        for old in [&self.upper, &self.work] {
            remove_tree(old).map_err(|e| broken("remove", old, &e))?;
        }
        self.fresh()
    }

    fn fresh(&mut self) -> Result<(), Fault> {
        self.upper = self.upper_root.join(format!("upper-{}", self.generation));
        self.work = self.upper_root.join(format!("work-{}", self.generation));
        self.generation += 1;
        for new in [&self.upper, &self.work] {
            std::fs::create_dir(new).map_err(|e| broken("make", new, &e))?;
        }
        Ok(())
    }

    /// Remounts the places below.
    ///
    /// # Errors
    /// They are directories of the file system under test, which iolab does not unmount.
    pub fn remount(&mut self) -> Result<(), Fault> {
        if self.plain.is_some() {
            let missing = Missing::new(
                "the layers lie in your directory, whose cache a remount of the overlay keeps",
                "put them on a place: overlay:on=ext4",
            );
            return Err(missing.fault("remount the layers of the overlay"));
        }
        self.places.iter_mut().try_for_each(|place| place.remount())
    }

    /// Drops what is cached below the places below.
    ///
    /// # Errors
    /// It could not be written back.
    pub fn evict_below(&mut self) -> Result<(), Fault> {
        self.places.iter_mut().try_for_each(|place| place.evict_below())
    }

    /// A volatile overlay refuses to be mounted again over the same upper layer, for it may be
    /// incomplete after a crash. There was none: the layer was unmounted or synced in between.
    ///
    /// # Errors
    /// The mark cannot be removed.
    pub fn forget_volatile(&self) -> Result<(), Fault> {
        let mark = self.work.join("work/incompat");
        match remove_tree(&mark) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(broken("remove", &mark, &e)),
            _ => Ok(()),
        }
    }

    /// Takes all of it down.
    ///
    /// # Errors
    /// The first thing that is left.
    pub fn take_down(&mut self) -> Result<(), Fault> {
        let plain = self
            .plain
            .take()
            .map_or(Ok(()), |path| remove_tree(&path).map_err(|e| broken("remove", &path, &e)));
        let places: Vec<_> = self.places.drain(..).map(|mut place| place.take_down()).collect();
        places.into_iter().fold(plain, Result::and)
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}

fn broken(what: &str, path: &Path, error: &io::Error) -> Fault {
    fault(format!("{what} the layer {}", path.display()), error, "")
}
