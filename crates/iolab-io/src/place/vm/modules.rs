//! The modules that a guest needs, with what they depend on, in the order of loading. Packages
//! carry no `modules.dep` (it is made when they are installed), so each module is asked itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cpio::Archive;
use super::kernel::Kernel;
use crate::place::fault;
use crate::place::kind::Missing;
use iolab_model::result::Fault;

/// Where the guest finds the order of loading.
pub const ORDER: &str = "iolab/modules";
/// What every guest needs: disks and the port.
const BASE: [&str; 3] = ["virtio_pci", "virtio_blk", "virtio_console"];
/// Soft dependencies name algorithms; these modules have them.
const ALGORITHMS: [(&str, &str); 6] = [
    ("crypto-crc32c", "crc32c_generic"),
    ("crc32c", "crc32c_generic"),
    ("crc32", "crc32_generic"),
    ("blake2b-256", "blake2b_generic"),
    ("sha256", "sha256_generic"),
    ("xxhash64", "xxhash_generic"),
];

/// Puts the modules for these file systems into an archive and returns their paths in the order of
/// loading. What is built into the kernel is left out.
///
/// # Errors
/// The kernel has no such file system.
pub fn put(
    archive: &mut Archive,
    kernel: &Kernel,
    file_systems: &[String],
) -> Result<Vec<String>, Fault> {
    let files = index(&kernel.modules);
    let built_in = built_in(&kernel.modules);
    let mut closure = Closure { files: &files, built_in: &built_in, done: Vec::new() };
    let names = BASE.iter().map(|name| (*name).to_owned()).chain(file_systems.iter().cloned());
    for name in names {
        closure.add(&name).map_err(|cause| {
            Missing::new(cause, "give another kernel (--kernel, --modules)")
                .fault(format!("pack the modules of {}", kernel.version))
        })?;
    }
    let mut order = Vec::new();
    for (name, content) in closure.done {
        let path = format!("iolab/{name}.ko");
        archive.file(&path, 0o644, &content);
        order.push(format!("/{path}"));
    }
    Ok(order)
}

struct Closure<'a> {
    files: &'a BTreeMap<String, PathBuf>,
    built_in: &'a [String],
    done: Vec<(String, Vec<u8>)>,
}

impl Closure<'_> {
    /// A module after everything it depends on.
    fn add(&mut self, name: &str) -> Result<(), String> {
        let name = name.replace('-', "_");
        if self.done.iter().any(|(done, _)| *done == name) || self.built_in.contains(&name) {
            return Ok(());
        }
        let file = self.files.get(&name).ok_or(format!("the kernel has no module {name}"))?;
        let content = read_module(file).map_err(|fault| fault.to_string())?;
        for soft in information(&content, "softdep=").filter_map(|text| text.strip_prefix("pre: "))
        {
            for algorithm in soft.split_ascii_whitespace() {
                let module = ALGORITHMS.iter().find(|(name, _)| *name == algorithm);
                // Soft means that it may be missing.
                let _ = module.map(|(_, module)| self.add(module));
            }
        }
        let hard: Vec<&str> =
            information(&content, "depends=").flat_map(|t| t.split(',')).collect();
        for needed in hard.into_iter().filter(|needed| !needed.is_empty()) {
            self.add(needed)?;
        }
        self.done.push((name, content));
        Ok(())
    }
}

/// Values of a key in the section `.modinfo`: `key=value`, each ended by a zero byte.
fn information<'a>(module: &'a [u8], key: &'a str) -> impl Iterator<Item = &'a str> {
    let strings = module.split(|byte| *byte == 0);
    strings.filter_map(move |text| std::str::from_utf8(text).ok()?.strip_prefix(key))
}

/// Every module below a directory, by name.
fn index(modules: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![modules.join("kernel")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if let Some((name, _)) =
                path.file_name().and_then(|name| name.to_str()?.split_once(".ko"))
            {
                found.insert(name.replace('-', "_"), path);
            }
        }
    }
    found
}

fn built_in(modules: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(modules.join("modules.builtin")).unwrap_or_default();
    let names = text.lines().filter_map(|line| line.rsplit('/').next()?.strip_suffix(".ko"));
    names.map(|name| name.replace('-', "_")).collect()
}

/// The module, unpacked where the distribution packs it.
fn read_module(file: &Path) -> Result<Vec<u8>, Fault> {
    let doing = || format!("read the module {}", file.display());
    let unpack = match file.extension().and_then(|e| e.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return std::fs::read(file).map_err(|e| fault(doing(), &e, "")),
    };
    let mut command = Command::new(unpack);
    command.args(["-d", "-c"]).arg(file).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|e| fault(doing(), &e, &format!("install the package of {unpack}")))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Missing::new(format!("{unpack} failed"), "check the file").fault(doing())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Closure, information};

    #[test]
    fn dependencies_come_first_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = BTreeMap::new();
        let mut module = |name: &str, text: &str| {
            let path = dir.path().join(format!("{name}.ko"));
            std::fs::write(&path, text).unwrap();
            files.insert(name.to_owned(), path);
        };
        module("a", "x\0depends=b,c-d\0softdep=pre: crc32c nosuch\0");
        module("b", "depends=c_d,built\0");
        module("c_d", "depends=\0");
        module("crc32c_generic", "depends=\0");
        module("broken", "depends=missing\0");
        let built_in = ["built".to_owned()];
        let mut closure = Closure { files: &files, built_in: &built_in, done: Vec::new() };
        closure.add("a").unwrap();
        let order: Vec<&str> = closure.done.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(order, ["crc32c_generic", "c_d", "b", "a"]);
        assert!(closure.add("broken").unwrap_err().contains("missing"));
        assert_eq!(information(b"\0depends=\0", "depends=").collect::<Vec<_>>(), [""]);
    }
}
