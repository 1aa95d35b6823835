//! What a trial on an overlay has copied up, counted in the upper layer itself: what the mount says
//! of a file does not tell where its bytes are.

use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::instance::fault;
use iolab_io::sys::usage::usage;
use iolab_model::catalog::path_to_text;
use iolab_model::result::{Fault, Measurement};

/// Marks a file whose data still lie in the lower layer (the kernel's fs/overlayfs/overlayfs.h);
/// in a user namespace the second.
const MARKS: [&str; 2] = ["trusted.overlay.metacopy", "user.overlay.metacopy"];

/// What lies in an upper layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Files, directories and whatever else, the layer's own root left out.
    inodes: u64,
    /// Regular files whose data are here: their sizes.
    bytes: u64,
    /// What all of it takes on the device.
    allocated_bytes: u64,
    /// Files of which only the metadata are here.
    metacopies: u64,
    /// Character devices 0/0: a name of the lower layer that was removed.
    whiteouts: u64,
}

/// Counts what lies in an upper layer.
pub fn count(upper: &Path) -> Result<Layer, Fault> {
    let mut layer = Layer::default();
    let doing = || format!("count what was copied up to {}", path_to_text(upper));
    walk(upper, &mut layer).map_err(|error| fault(doing(), &error))?;
    Ok(layer)
}

fn walk(directory: &Path, layer: &mut Layer) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        add(&entry, layer)?;
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), layer)?;
        }
    }
    Ok(())
}

fn add(entry: &DirEntry, layer: &mut Layer) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let about = entry.metadata()?;
    layer.inodes += 1;
    layer.allocated_bytes += about.blocks() * 512;
    let path = entry.path();
    let marked =
        || MARKS.iter().any(|mark| rustix::fs::lgetxattr(&path, *mark, &mut [0_u8; 256]).is_ok());
    match about.file_type() {
        kind if kind.is_file() && marked() => layer.metacopies += 1,
        kind if kind.is_file() => layer.bytes += about.len(),
        kind if kind.is_char_device() && about.rdev() == 0 => layer.whiteouts += 1,
        _ => {}
    }
    Ok(())
}

/// Files that nothing else uses: empty, so that no data can be synced.
const PROBES: [&str; 3] = [".iolab-probe-0", ".iolab-probe-1", ".iolab-probe-2"];

/// Puts empty files into a lower layer that is not mounted yet.
pub fn lay_probes(lower: &Path) -> Result<(), Fault> {
    let lay = |name: &&str| std::fs::write(lower.join(name), []);
    let doing = || format!("make empty files in {}", path_to_text(lower));
    PROBES.iter().try_for_each(lay).map_err(|error| fault(doing(), &error))
}

/// Whether a change of metadata waits for the device though no data are copied up: kernels since
/// 6.12 sync the copied inode where metacopy is off (fs/overlayfs/copy_up.c). Who waits gives the
/// processor up, every time.
pub fn syncs(merged: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let mut waited = 0;
    for name in PROBES {
        let path = merged.join(name);
        // Looked up before, so that nothing is read from the device below.
        std::fs::metadata(&path)?;
        let before = usage().voluntary_switches;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640))?;
        waited += u64::from(usage().voluntary_switches > before);
    }
    Ok(waited == PROBES.len() as u64)
}

/// Adds what the trial has copied up.
pub fn record(measurement: &mut Measurement, before: Layer, after: Layer) {
    let mut put = |id: &str, before: u64, after: u64| {
        measurement.metrics.insert(id.into(), after.saturating_sub(before) as f64);
    };
    put("copy_up_inodes", before.inodes, after.inodes);
    put("copy_up_bytes", before.bytes, after.bytes);
    put("copy_up_allocated_bytes", before.allocated_bytes, after.allocated_bytes);
    put("copy_up_metacopies", before.metacopies, after.metacopies);
    put("copy_up_whiteouts", before.whiteouts, after.whiteouts);
}
