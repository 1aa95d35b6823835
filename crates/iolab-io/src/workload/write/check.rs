//! Whether the file holds what was to be written: its size, and its bytes read back.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::method::Pool;
use crate::method::consume::{CrcStream, Fold};
use crate::sys::resident::{cachestat, mincore_pages};
use iolab_model::catalog::Code;
use iolab_model::result::{Digest, Fault, Measurement};

use super::super::Trial;
use super::super::piece_choice::{PieceChoice, draw, tell};
use super::task::Task;

/// Bytes read at a time.
const PIECE_BYTES: u64 = 256 << 10;

/// Reads back what the trial has written, through the page cache, outside of its window.
pub fn verify(trial: &Trial<'_>, measurement: &mut Measurement) -> Result<(), Fault> {
    let task = Task::new(trial)?;
    if !task.entry.real {
        return Ok(());
    }
    let file = File::open(&task.path).map_err(|error| {
        let mut fault = task.failed("read back", &error);
        if error.kind() == io::ErrorKind::NotFound {
            fault.cause += ": something else removes files in this directory; name another one";
        }
        fault
    })?;
    let bytes = file.metadata().map_err(|error| task.failed("look at", &error))?.len();
    if task.direct && cached(&file, bytes) {
        measurement.flags.push(Code::DirectBuffered);
    }
    let mut back = Back {
        file: &file,
        pool: &task.pool()?,
        same: match task.shared {
            true => (task.own_end_bytes..=task.end_bytes).contains(&bytes),
            false => bytes == task.end_bytes,
        },
        crc: CrcStream::default(),
    };
    let all: u64 = {
        let mut sum = 0;
        task.layout.each_range(|range| sum += range.end - range.start);
        sum
    };
    let seed = trial.subject.map_or(0, |subject| subject.seed);
    let choice = PieceChoice::new(all, draw(seed, measurement));
    let (mut index, mut checked_bytes, mut result) = (0, 0, Ok(()));
    task.layout.each_range(|range| {
        for piece in pieces(range) {
            if result.is_ok() && choice.takes(index) {
                checked_bytes += piece.end - piece.start;
                result = back.read(task.base_bytes, piece);
            }
            index += 1;
        }
    });
    result.map_err(|error| task.failed("read back", &error))?;
    back.crc.end_pass();
    let same = back.same;
    let digest = back.crc.finish().and_then(|partial| partial.digest());
    let (kind, hex) = digest.ok_or_else(|| Fault::new("digest a file", "it has no digest"))?;
    measurement.proof.digest = Some(Digest { kind: kind.into(), hex, matches: Some(same) });
    tell(measurement, checked_bytes, all);
    if !same {
        measurement.flags.push(Code::CheckFailed);
    }
    Ok(())
}

/// Whether more of a file that was written directly is in the page cache than its odd end. Asked
/// before it is read back.
fn cached(file: &File, bytes: u64) -> bool {
    let page_bytes = crate::sys::page::page_bytes();
    let pages =
        cachestat(file).map(|seen| seen.cached_pages).or_else(|_| mincore_pages(file, bytes));
    // Without a probe nothing is claimed: the trial itself was asked to be direct.
    pages.is_ok_and(|pages| pages > 1 + bytes / page_bytes / 10)
}

fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(PIECE_BYTES as usize).map(move |at| at..end.min(at + PIECE_BYTES))
}

/// What is read back, against what should be there.
struct Back<'a> {
    file: &'a File,
    pool: &'a Pool,
    same: bool,
    crc: CrcStream,
}

impl Back<'_> {
    /// A file that is too short is wrong, and no fault.
    fn read(&mut self, base_bytes: u64, piece: Range<u64>) -> io::Result<()> {
        let mut buffer = vec![0; (piece.end - piece.start) as usize];
        match self.file.read_exact_at(&mut buffer, base_bytes + piece.start) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.same = false,
            Err(error) => return Err(error),
        }
        self.same &= self.pool.matches(piece.start, &buffer);
        self.crc.block(piece.start, &buffer);
        Ok(())
    }
}
