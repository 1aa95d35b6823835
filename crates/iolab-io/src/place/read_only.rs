//! Read-only file systems: filled as a directory, built by a tool when sealed, mounted from a loop.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::file_system::{ImagePlace, refuse_layers};
use super::image::{Image, LoopDevice, loop_available};
use super::kind::{Kind, Missing, Place, PlaceOrder};
use super::mounts::{Mounts, may_mount_as_root};
use super::tool::Tool;
use super::{fault, space, spot};
use crate::sys::mount::has_file_system;
use crate::sys::remove::remove_tree;
use iolab_model::catalog::{Capability, Part, PlaceLevel};
use iolab_model::result::{Fault, PlaceFacts};

/// squashfs: compressed, read-only, of live media and containers.
pub static SQUASHFS: ReadOnly = ReadOnly {
    id: "squashfs",
    summary: "read-only and compressed, built from the files",
    tool: Tool { command: "mksquashfs", package: "squashfs-tools" },
    arguments: &["-noappend", "-no-progress", "-quiet"],
    image_first: false,
};

/// EROFS: read-only, made for fast random reads; not compressed unless asked for.
pub static EROFS: ReadOnly = ReadOnly {
    id: "erofs",
    summary: "read-only, uncompressed unless mkfs=[-zlz4], built from the files",
    tool: Tool { command: "mkfs.erofs", package: "erofs-utils" },
    arguments: &["--quiet"],
    image_first: true,
};

/// A read-only file system.
#[derive(Debug)]
pub struct ReadOnly {
    id: &'static str,
    summary: &'static str,
    pub(super) tool: Tool,
    arguments: &'static [&'static str],
    /// The image stands before the tree among the words of the tool.
    image_first: bool,
}

impl ReadOnly {
    /// How it describes itself.
    pub const fn part(&self) -> Part {
        Part::place(self.id, self.summary)
            .with(&[Capability::Read])
            .needing("root, a loop device and its tool")
    }

    /// Builds an image of `tree` without a name.
    fn build(&self, tree: &Path, level: &PlaceLevel) -> Result<(Image, Vec<String>), Fault> {
        let at = tree.with_extension("image");
        let mut words: Vec<&OsStr> = Vec::new();
        if self.image_first {
            words.extend(self.arguments.iter().map(OsStr::new));
            words.extend(level.mkfs.iter().map(OsStr::new));
            words.extend([at.as_os_str(), tree.as_os_str()]);
        } else {
            words.extend([tree.as_os_str(), at.as_os_str()]);
            words.extend(self.arguments.iter().map(OsStr::new));
            words.extend(level.mkfs.iter().map(OsStr::new));
        }
        let made = self.tool.run(&words);
        let opened = File::options().read(true).write(true).open(&at);
        // Whether the tool succeeded or not, its file loses its name here.
        let _ = std::fs::remove_file(&at);
        let doing = || format!("open the image of {}", self.id);
        let words = made?;
        let image = opened.and_then(|file| {
            // What has not reached the disk would be read from memory through the loop device.
            file.sync_all()?;
            Image::of(file)
        });
        Ok((image.map_err(|e| fault(doing(), &e, ""))?, words))
    }
}

impl Kind for ReadOnly {
    fn part(&self) -> Part {
        ReadOnly::part(self)
    }

    fn available(&self) -> Result<(), Missing> {
        may_mount_as_root()?;
        has_file_system(self.id).map_err(|_| {
            let remedy = format!("`modprobe {}` where the kernel's package has it", self.id);
            Missing::new(format!("this kernel has no {}", self.id), remedy)
        })?;
        self.tool.find()?;
        loop_available()
    }

    fn make(&self, order: &PlaceOrder<'_>) -> Result<Box<dyn Place>, Fault> {
        // The kinds are statics, so a place may point back at its own.
        let kind = if self.id == SQUASHFS.id { &SQUASHFS } else { &EROFS };
        let doing = || format!("make a place {}", self.id);
        self.available().map_err(|missing| missing.fault(doing()))?;
        refuse_layers(order.level)?;
        let tree = spot(order.ground, order.level)?;
        Ok(Box::new(ReadOnlyPlace {
            kind,
            level: order.level.clone(),
            ground: order.ground.to_owned(),
            facts: PlaceFacts { asked: order.level.to_string(), ..PlaceFacts::default() },
            mounts: order.mounts,
            tree: Some(tree),
            mounted: None,
        }))
    }
}

#[derive(Debug)]
struct ReadOnlyPlace {
    kind: &'static ReadOnly,
    level: PlaceLevel,
    ground: PathBuf,
    facts: PlaceFacts,
    mounts: Mounts,
    tree: Option<PathBuf>,
    mounted: Option<ImagePlace>,
}

impl ReadOnlyPlace {
    fn remove_tree(&mut self) -> Result<(), Fault> {
        let Some(tree) = self.tree.take() else { return Ok(()) };
        let doing = || format!("remove {}", tree.display());
        remove_tree(&tree).map_err(|e| fault(doing(), &e, ""))
    }
}

impl Place for ReadOnlyPlace {
    fn root(&self) -> &Path {
        match (&self.mounted, &self.tree) {
            (Some(place), _) => place.root(),
            (None, Some(tree)) => tree,
            (None, None) => &self.ground,
        }
    }

    fn facts(&self) -> &PlaceFacts {
        &self.facts
    }

    fn seal(&mut self) -> Result<(), Fault> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let _ = space(&self.ground)?;
        let (image, words) = self.kind.build(tree, &self.level)?;
        self.remove_tree()?;
        let device = LoopDevice::attach(&image, true, 4096)?;
        let mut level = self.level.clone();
        level.options.insert(0, ("ro".to_owned(), None));
        let how = (self.ground.as_path(), &level, self.mounts);
        let mut place = ImagePlace::mount(how, image, device, self.kind.id)?;
        place.facts_mut().mkfs = words;
        place.facts_mut().asked = self.level.to_string();
        self.facts = place.facts().clone();
        self.mounted = Some(place);
        Ok(())
    }

    fn remount(&mut self) -> Result<(), Fault> {
        match &mut self.mounted {
            Some(place) => place.remount(),
            None => Err(Missing::new("it is not built yet", "fill and seal it first")
                .fault(format!("remount {}", self.kind.id))),
        }
    }

    fn evict_below(&mut self) -> Result<(), Fault> {
        self.mounted.as_mut().map_or(Ok(()), Place::evict_below)
    }

    fn take_down(&mut self) -> Result<(), Fault> {
        let tree = self.remove_tree();
        let mount = self.mounted.as_mut().map_or(Ok(()), Place::take_down);
        tree.and(mount)
    }
}

impl Drop for ReadOnlyPlace {
    fn drop(&mut self) {
        let _ = self.take_down();
    }
}
