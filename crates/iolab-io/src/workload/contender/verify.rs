//! Whether a command made what it was to make: a file of the right size, with the bytes of its
//! source. What is wrong costs the trial, for the command has not done the work.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::method::open_for_reading;
use crate::tool::{Walk, compare_trees};
use iolab_model::catalog::{Capability, Code, Consume, FileOperation, shell_text, so_many};
use iolab_model::result::{Digest, Fault, Measurement};

use super::super::Trial;
use super::super::copy::{hole_bytes, is_clone};
use super::super::piece_choice::{PieceChoice, draw, tell};
use super::order::{CommandOrder, failed};

/// Bytes compared at a time.
const PIECE_BYTES: u64 = 256 << 10;

/// The whole command stands in the plan: here it would push the reason off the screen.
fn checking(order: &CommandOrder) -> String {
    let program = order.argv.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    format!("check what {} made", shell_text(&[program.to_owned()]))
}

/// Looks at the file that a command was to make.
pub fn file(
    capability: Capability,
    trial: &Trial<'_>,
    measurement: &mut Measurement,
) -> Result<(), Fault> {
    let order = CommandOrder::new(capability, trial)?;
    let wrong = |cause: String| Err(Fault::new(checking(&order), cause));
    let about = match fs::symlink_metadata(&order.target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return wrong("it made no {target}, though it ended well".into());
        }
        other => other.map_err(|error| failed("look at", &order.target, &error))?,
    };
    if !about.is_file() {
        return wrong("its {target} is no regular file".into());
    }
    if about.len() != order.bytes {
        return wrong(format!(
            "its {{target}} has {} bytes instead of {}",
            about.len(),
            order.bytes
        ));
    }
    if !order.from_source {
        return is_written(&order, measurement);
    }
    let pieces = order.bytes.div_ceil(PIECE_BYTES);
    let seed = trial.subject.map_or(0, |subject| subject.seed);
    let choice = PieceChoice::new(order.bytes, draw(seed, measurement));
    let (mut crc, mut checked_bytes) = (0, 0);
    let (source, target) = (open(&order.source)?, open(&order.target)?);
    for piece in (0..pieces).filter(|piece| choice.takes(*piece)) {
        let at = piece * PIECE_BYTES;
        let length = PIECE_BYTES.min(order.bytes - at) as usize;
        let mut pair = (vec![0; length], vec![0; length]);
        source
            .read_exact_at(&mut pair.0, at)
            .map_err(|error| failed("read", &order.source, &error))?;
        target
            .read_exact_at(&mut pair.1, at)
            .map_err(|error| failed("read back", &order.target, &error))?;
        if let Some(offset) = pair.0.iter().zip(&pair.1).position(|(a, b)| a != b) {
            let at = at + offset as u64;
            return wrong(format!("its {{target}} differs from {{source}} at byte {at}"));
        }
        crc = crc32c::crc32c_append(crc, &pair.1);
        checked_bytes += length as u64;
    }
    // What shares its extents with the source is no copy, whatever the command is called.
    measurement.proof.copy =
        is_clone(&target).map_err(|error| failed("look at", &order.target, &error))?;
    let (kind, hex) = (Consume::Crc32c.word().into(), format!("{crc:08x}"));
    measurement.proof.digest = Some(Digest { kind, hex, matches: Some(true) });
    tell(measurement, checked_bytes, order.bytes);
    Ok(())
}

/// What a command wrote is not known, but that it wrote is: a file that only has its size is made at
/// once, by `truncate` or `fallocate`.
fn is_written(order: &CommandOrder, measurement: &mut Measurement) -> Result<(), Fault> {
    let holes = hole_bytes(&open(&order.target)?, order.bytes)
        .map_err(|error| failed("look for holes in", &order.target, &error))?;
    if holes > order.bytes / 2 {
        measurement.flags.push(Code::OnlySize);
    }
    Ok(())
}

/// Compares the tree that a command has copied with its source.
pub fn tree(trial: &Trial<'_>) -> Result<(), Fault> {
    let order = CommandOrder::new(Capability::Files, trial)?;
    if trial.levels.word() != Some(FileOperation::Copy) {
        return Ok(());
    }
    let mut first = None;
    let mut tell = |line: &str| {
        first.get_or_insert_with(|| line.to_owned());
    };
    let mut walk = Walk::new(&mut tell);
    compare_trees(&order.source, &order.target, &mut walk);
    let differences = walk.differences;
    match first {
        None => Ok(()),
        Some(line) => {
            let cause = format!(
                "{}, the first: {line}; the copy must be at {{target}}, as cp -R makes it",
                so_many(differences as usize, "difference")
            );
            Err(Fault::new(checking(&order), cause))
        }
    }
}

fn open(path: &std::path::Path) -> Result<File, Fault> {
    let opened = open_for_reading(path).map_err(io::Error::from);
    opened.map(File::from).map_err(|error| failed("open", path, &error))
}
