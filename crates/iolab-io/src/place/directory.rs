//! The plain place: a directory of the person's, used as it is.

use std::io;
use std::path::Path;

use super::file_system::ALL_CAPABILITIES;
use super::kind::{Kind, Missing, Place, PlaceOrder};
use super::{Scratch, sweep};
use crate::sys::mount::{Mounted, mounts};
use iolab_model::catalog::{Part, PlaceLevel};
use iolab_model::result::{Fault, PlaceFacts};

/// The kind.
#[derive(Debug)]
pub struct Directory;

impl Directory {
    /// How it describes itself.
    pub const fn part(&self) -> Part {
        Part::place(
            "dir",
            "dir:PATH, or /PATH: a directory as it is, on whatever file system it is on",
        )
        .with(ALL_CAPABILITIES)
    }
}

impl Kind for Directory {
    fn part(&self) -> Part {
        Directory::part(self)
    }

    fn available(&self) -> Result<(), Missing> {
        Ok(())
    }

    fn has(&self, level: &PlaceLevel) -> Result<(), Missing> {
        let Some(path) = &level.path else { return Ok(()) };
        let name = path.display();
        let remedy = "make it first, or name a directory that exists";
        match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Missing::new(format!("{name} does not exist"), remedy))
            }
            Err(error) => Err(Missing::new(format!("{name}: {error}"), remedy)),
            Ok(about) if !about.is_dir() => {
                Err(Missing::new(format!("{name} is no directory"), remedy))
            }
            Ok(_) => Ok(()),
        }
    }

    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
        let Some(path) = &order.level.path else {
            let missing = Missing::new("no path", "write dir:PATH");
            return Err(missing.fault(format!("use the place {}", order.level)));
        };
        // What a killed run has left there; that it cannot be removed is no reason to stop.
        let _ = sweep(path);
        let scratch = Scratch::make(path)?;
        let facts = facts(order, scratch.path());
        Ok(Box::new(DirectoryPlace {
            path: scratch.path().to_owned(),
            scratch: Some(scratch),
            facts,
        }))
    }
}

fn facts(order: &PlaceOrder<'_>, path: &Path) -> PlaceFacts {
    let mut facts = PlaceFacts { asked: order.level.to_string(), ..PlaceFacts::default() };
    if let Some(mounted) = mount_of(path) {
        facts.driver.clone_from(&mounted.fs_type);
        facts.file_system = mounted.fs_type;
        facts.mount_options = mounted.options;
        facts.file_system_options = mounted.fs_options;
    }
    facts
}

/// The mount that a path lies on: the one with the longest target above it.
pub fn mount_of(path: &Path) -> Option<Mounted> {
    let path = path.canonicalize().ok()?;
    let above = mounts().ok()?.into_iter().filter(|mounted| path.starts_with(&mounted.target));
    // Of two mounts on one target the later one is seen, and `max_by_key` gives the last.
    above.max_by_key(|mounted| mounted.target.as_os_str().len())
}

#[derive(Debug)]
struct DirectoryPlace {
    path: std::path::PathBuf,
    scratch: Option<Scratch>,
    facts: PlaceFacts,
}

impl Place for DirectoryPlace {
    fn root(&self) -> &Path {
        &self.path
    }

    fn facts(&self) -> &PlaceFacts {
        &self.facts
    }

    fn remount(&mut self) -> Result<(), Fault> {
        let missing = Missing::new(
            "iolab does not unmount a directory of yours",
            "use --cache cold, or a place that iolab mounts: --place ext4",
        );
        Err(missing.fault(format!("remount {}", self.path.display())))
    }

    fn take_down(&mut self) -> Result<(), Fault> {
        self.scratch.take().map_or(Ok(()), Scratch::remove)
    }
}
