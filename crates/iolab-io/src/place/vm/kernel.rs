//! A kernel to boot and the modules that belong to it: given, fetched, or installed.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::place::kind::Missing;

/// A bootable kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its version: `6.1.0-13-amd64`.
    pub version: String,
    /// The image: `vmlinuz-…`.
    pub image: PathBuf,
    /// Its directory of modules: `…/lib/modules/VERSION`.
    pub modules: PathBuf,
}

const REMEDY: &str = "scripts/fetch-kernel.sh fetches one on Debian; or --kernel and --modules";

impl Kernel {
    /// The kernel that was given, else the newest that `scripts/fetch-kernel.sh` has fetched, else
    /// the newest installed one that can be read.
    ///
    /// # Errors
    /// There is none; what would get one.
    pub fn find(image: Option<&Path>, modules: Option<&Path>) -> Result<Kernel, Missing> {
        if let Some(image) = image {
            return given(image, modules);
        }
        let mut roots: Vec<PathBuf> = Vec::new();
        for cache in fetched_under() {
            let mut fetched: Vec<PathBuf> = std::fs::read_dir(cache)
                .into_iter()
                .flatten()
                .flatten()
                .map(|e| e.path())
                .collect();
            fetched.sort();
            roots.extend(fetched.into_iter().rev());
        }
        roots.push(PathBuf::from("/"));
        let found = roots.iter().find_map(|root| newest_below(root));
        found.ok_or_else(|| Missing::new("no kernel to boot was found", REMEDY))
    }
}

/// Where the script puts kernels: a directory each.
fn fetched_under() -> Vec<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.or(home).map(|dir| dir.join("iolab/kernels")).into_iter().collect()
}

fn given(image: &Path, modules: Option<&Path>) -> Result<Kernel, Missing> {
    let name = image.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let version = name.split_once('-').map_or("", |(_, version)| version).to_owned();
    let beside = image.parent().and_then(Path::parent).map(|root| root.join("lib/modules"));
    let modules = match (modules, beside) {
        (Some(modules), _) => modules.to_owned(),
        (None, Some(beside)) => beside.join(&version),
        (None, None) => PathBuf::from("/lib/modules").join(&version),
    };
    File::open(image).map_err(|error| {
        Missing::new(format!("{} cannot be read ({error})", image.display()), REMEDY)
    })?;
    if !modules.join("kernel").is_dir() {
        let reason = format!("{} is no directory of modules", modules.display());
        return Err(Missing::new(reason, "--modules takes …/lib/modules/VERSION"));
    }
    Ok(Kernel { version, image: image.to_owned(), modules })
}

fn newest_below(root: &Path) -> Option<Kernel> {
    let entries = std::fs::read_dir(root.join("boot")).ok()?;
    let mut images: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    images.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("vmlinuz-") && readable(path)
    });
    images.sort();
    let modules = root.join("lib/modules");
    images.iter().rev().find_map(|image| {
        let name = image.file_name()?.to_str()?;
        let version = name.strip_prefix("vmlinuz-")?;
        given(image, Some(&modules.join(version))).ok()
    })
}

/// Some distributions hide the kernel from ordinary users.
fn readable(path: &Path) -> bool {
    File::open(path).and_then(|mut file| file.read_exact(&mut [0; 64])).is_ok()
}
