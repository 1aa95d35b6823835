//! Whether a copy is one: size, mode and every byte; and what it turned out to be: a clone, a copy
//! in the kernel, a copy through the program.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::target::{mode_of, paths};
use super::{no_file, read_levels};
use crate::method::consume::{CrcStream, Fold, Partial};
use crate::method::copy::Holes;
use crate::sys::extents::{EXTENT_SHARED, extents};
use crate::workload::{Extent, Trial};
use iolab_model::catalog::{Code, Consume, path_to_text};
use iolab_model::result::{CopyProof, CopyRoute, Digest, Fault, Measurement};

/// Bytes read at a time.
const READ_BYTES: usize = 256 << 10;

/// Reads every target back and puts what it is into the measurement. The digest is compared with
/// the source's by whoever knows that.
pub(super) fn verify(trial: &Trial<'_>, measurement: &mut Measurement) -> Result<(), Fault> {
    let (entry, holes, layout) = read_levels(trial)?;
    let subject = trial.subject.ok_or_else(no_file)?;
    let whole = matches!(trial.extent, Extent::Passes(_));
    let mut ranges = Vec::new();
    layout.each_range(|range| ranges.push(range));
    let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let wanted = Wanted {
        bytes: if whole { subject.bytes } else { end },
        mode: if whole { Some(mode_of(subject.path)?) } else { None },
        route: entry.route,
        holes,
        source_holes: if holes == Holes::AsItComes { 0 } else { hole_bytes_of(subject.path)? },
    };
    let mut digest: Option<Digest> = None;
    for path in paths(trial) {
        let (proof, one) = look(&path, &wanted, &ranges)
            .map_err(|e| Fault::of(format!("verify the copy {}", path_to_text(&path)), &e))?;
        let same = digest.as_ref().is_none_or(|first| first.hex == one.hex);
        let first = measurement.proof.copy.is_none();
        if first || !proof.matches || !same {
            measurement.proof.copy = Some(proof);
        }
        digest = Some(match same {
            true => one,
            false => Digest { matches: Some(false), ..one },
        });
        if !same {
            break;
        }
    }
    measurement.proof.digest = digest;
    if measurement.proof.copy.as_ref().is_some_and(|proof| !proof.matches) {
        measurement.flags.push(Code::CheckFailed);
    }
    Ok(())
}

/// What a target should be.
struct Wanted {
    bytes: u64,
    mode: Option<u32>,
    route: CopyRoute,
    holes: Holes,
    source_holes: u64,
}

fn look(
    path: &Path,
    wanted: &Wanted,
    ranges: &[Range<u64>],
) -> std::io::Result<(CopyProof, Digest)> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    let shared_bytes = shared(&file);
    let hole_bytes = match wanted.holes {
        Holes::AsItComes => 0,
        Holes::Keep | Holes::Fill => hole_bytes(&file, about.len())?,
    };
    let reason = difference(&about, hole_bytes, wanted);
    let proof = CopyProof {
        route: route(wanted.route, shared_bytes, about.len()),
        shared_bytes,
        stored_bytes: about.blocks() * 512,
        hole_bytes,
        matches: reason.is_none(),
        reason,
    };
    Ok((proof, digest(&file, ranges)?))
}

/// Shared extents are a clone, whatever was called.
fn route(asked: CopyRoute, shared_bytes: Option<u64>, bytes: u64) -> CopyRoute {
    match shared_bytes {
        Some(shared) if bytes > 0 && shared > bytes / 2 => CopyRoute::Cloned,
        _ => asked,
    }
}

fn difference(about: &std::fs::Metadata, hole_bytes: u64, wanted: &Wanted) -> Option<String> {
    if about.len() != wanted.bytes {
        return Some(format!("it has {} bytes instead of {}", about.len(), wanted.bytes));
    }
    if let Some(mode) = wanted.mode
        && about.mode() & 0o7777 != mode
    {
        return Some(format!("its mode is {:o} instead of {mode:o}", about.mode() & 0o7777));
    }
    match wanted.holes {
        // A file system without holes gives none, and no hole of the source may be lost otherwise:
        // half of them is far from either.
        Holes::Keep if wanted.mode.is_some() && hole_bytes < wanted.source_holes / 2 => {
            Some(format!("it has {hole_bytes} bytes of holes instead of {}", wanted.source_holes))
        }
        Holes::Fill if wanted.mode.is_some() && hole_bytes > 0 => {
            Some(format!("{hole_bytes} bytes of it are holes that were not filled"))
        }
        _ => None,
    }
}

/// Whether most of a file shares its extents with another one.
pub fn is_clone(file: &File) -> std::io::Result<Option<CopyProof>> {
    let about = file.metadata()?;
    let shared_bytes = shared(file);
    let cloned = shared_bytes.is_some_and(|shared| about.len() > 0 && shared > about.len() / 2);
    Ok(cloned.then(|| CopyProof {
        route: CopyRoute::Cloned,
        shared_bytes,
        stored_bytes: about.blocks() * 512,
        hole_bytes: 0,
        matches: true,
        reason: None,
    }))
}

/// Bytes in shared extents; `None` where the file system does not tell.
fn shared(file: &File) -> Option<u64> {
    let all = extents(file).ok()?;
    let shared = all.iter().filter(|extent| extent.flags & EXTENT_SHARED != 0);
    Some(shared.map(|extent| extent.length).sum())
}

fn hole_bytes_of(path: &Path) -> Result<u64, Fault> {
    let look = || {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        hole_bytes(&file, bytes)
    };
    look().map_err(|e| Fault::of(format!("look for holes in {}", path_to_text(path)), &e))
}

/// Bytes that are holes (SEEK_DATA, SEEK_HOLE).
pub fn hole_bytes(file: &File, bytes: u64) -> std::io::Result<u64> {
    use rustix::fs::{SeekFrom, seek};
    let (mut holes, mut at) = (0, 0);
    while at < bytes {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(bytes),
            Err(rustix::io::Errno::NXIO) => bytes,
            Err(errno) => return Err(errno.into()),
        };
        holes += data - at;
        if data >= bytes {
            break;
        }
        at = seek(file, SeekFrom::Hole(data))?.max(data + 1);
    }
    Ok(holes)
}

/// CRC-32C of these ranges, one after another: not timed, by calls of one kind.
fn digest(file: &File, ranges: &[Range<u64>]) -> std::io::Result<Digest> {
    let mut fold = CrcStream::default();
    let mut buffer = vec![0; READ_BYTES];
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            let want = (range.end - at).min(READ_BYTES as u64) as usize;
            let n = match file.read_at(&mut buffer[..want], at) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if n == 0 {
                break;
            }
            fold.block(at, &buffer[..n]);
            at += n as u64;
        }
    }
    fold.end_pass();
    let digest = fold.finish().as_ref().and_then(Partial::digest);
    let (kind, hex) = digest.unwrap_or((Consume::Crc32c.word(), String::new()));
    Ok(Digest { kind: kind.into(), hex, matches: None })
}
