//! Whether a trial did what it says. Numbers and sizes of files are always counted; contents are
//! compared for all files where that is quick, else for a seeded choice of them, and the proof says
//! for how many.

use std::fs::File as Handle;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::assign_files::{passes, segments};
use super::build::open_root;
use super::errors::fault;
use super::listing::{Listing, Opener};
use super::settings::Settings;
use super::task::numbered;
use crate::sys::fold::xor32;
use crate::workload::piece_choice::{CHECKED_BYTES, draw};
use iolab_model::catalog::{Code, path_to_text};
use iolab_model::catalog::{Consume, FileOperation, mix};
use iolab_model::result::{Digest, Fault, Measurement};
use iolab_model::tree::Content;

/// Files whose content is compared in one trial, at most.
const CHECKED_FILES: u64 = 2000;
/// Compared at a time; a multiple of four.
const PIECE: usize = 256 << 10;

/// The contents that files should have: made again from the seed, or read from the original.
struct Original<'a> {
    listing: &'a Listing,
    content: Option<Content>,
    root: OwnedFd,
    opener: Opener,
}

impl<'a> Original<'a> {
    fn of(settings: &Settings<'a>, there: &Path) -> Result<Original<'a>, Errno> {
        let content = match settings.listing {
            Listing::Made(tree) => Some(tree.content(0)),
            Listing::Found(_) => None,
        };
        let root = open_root(if content.is_some() { there } else { settings.root })?;
        Ok(Original { listing: settings.listing, content, root, opener: Opener::default() })
    }

    /// Hands every piece of a file that should be there to `each`; false where `each` said so.
    fn pieces(
        &mut self,
        file: u64,
        mut each: impl FnMut(u64, &[u8]) -> Result<bool, Errno>,
    ) -> Result<bool, Errno> {
        let size = self.listing.size(file);
        let mut buffer = vec![0; PIECE.min(size as usize)];
        let theirs = match &self.content {
            Some(_) => None,
            None => Some(open(self.listing, &self.root, &mut self.opener, file)?),
        };
        let mut at = 0;
        while at < size {
            let count = (size - at).min(PIECE as u64) as usize;
            let piece = &mut buffer[..count];
            match (&self.content, &theirs) {
                (Some(content), _) => content.fill(file, size, at, piece),
                (None, Some(theirs)) => theirs.read_exact_at(piece, at).map_err(errno_of)?,
                (None, None) => return Err(Errno::BADF),
            }
            if !each(at, piece)? {
                return Ok(false);
            }
            at += count as u64;
        }
        Ok(true)
    }
}

fn errno_of(error: std::io::Error) -> Errno {
    match error.kind() {
        // A file that has become shorter is not the one it was.
        std::io::ErrorKind::UnexpectedEof => Errno::STALE,
        _ => Errno::from_io_error(&error).unwrap_or(Errno::IO),
    }
}

/// Opens one file of a tree for reading.
fn open(
    listing: &Listing,
    root: &OwnedFd,
    opener: &mut Opener,
    number: u64,
) -> Result<Handle, Errno> {
    let mut cursor = listing.cursor(number..number + 1);
    let file = cursor.advance::<false>().ok_or(Errno::NOENT)?;
    let directory = opener.open(listing, root.as_fd(), file.directory)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    // The last access of the person's files is theirs, where it may be left alone.
    let opened = match openat(&directory, file.name, flags | OFlags::NOATIME, Mode::empty()) {
        Err(Errno::PERM) => openat(&directory, file.name, flags, Mode::empty()),
        other => other,
    };
    Ok(Handle::from(opened?))
}

/// The files of a trial whose content is compared, in order: one of each run of neighbours, drawn
/// anew for every trial.
fn chosen(settings: &Settings<'_>, draw: u64) -> Vec<u64> {
    let segments = segments(settings.listing.files(), settings.extent);
    let count: u64 = segments.iter().map(|s| s.end - s.start).sum();
    let all: Vec<u64> = match count <= CHECKED_FILES {
        true => segments.into_iter().flatten().collect(),
        false => {
            let from =
                |n: u64| (u128::from(n) * u128::from(count) / u128::from(CHECKED_FILES)) as u64;
            let one = |n: u64| from(n) + mix(draw, n) % (from(n + 1) - from(n));
            let file = |position: u64| (segments[0].start + position) % settings.listing.files();
            (0..CHECKED_FILES).map(|n| file(one(n))).collect()
        }
    };
    let mut left = CHECKED_BYTES;
    let fits = |file: &u64| {
        let size = settings.listing.size(*file);
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    };
    let first = all.first().copied();
    let mut some: Vec<u64> = all.into_iter().filter(fits).collect();
    if some.is_empty() {
        some.extend(first);
    }
    some
}

/// What was compared: how much, with which outcome, and the XOR of its words for a name.
#[derive(Default)]
struct Compared {
    files: u64,
    bytes: u64,
    word: u32,
    wrong: bool,
    /// Only some of the files were to be compared.
    in_part: bool,
}

impl Compared {
    fn into(self, kind: &str, measurement: &mut Measurement) {
        if self.in_part {
            measurement.flags.push(Code::PartChecked);
        }
        measurement.metrics.insert("checked_files".into(), self.files as f64);
        measurement.metrics.insert("checked_bytes".into(), self.bytes as f64);
        let (hex, matches) = (format!("{:08x}", self.word), Some(!self.wrong));
        measurement.proof.digest = Some(Digest { kind: kind.into(), hex, matches });
        if self.wrong && !measurement.flags.contains(&Code::CheckFailed) {
            measurement.flags.push(Code::CheckFailed);
        }
    }
}

/// A read trial: bytes counted, and what each of the chosen files gave.
pub(super) fn read(
    settings: &Settings<'_>,
    seen: &[(u64, u32)],
    touches: bool,
    measurement: &mut Measurement,
) -> Result<(), Fault> {
    if !touches {
        sizes(settings, "bytes", measurement.bytes, measurement);
        return Ok(());
    }
    let failed = |errno| fault("check what was read", errno, &path_to_text(settings.root));
    let mut original = Original::of(settings, settings.root).map_err(failed)?;
    let fold = xor32();
    let word = seen.iter().fold(0, |all, (_, word)| all ^ word);
    let mut compared = Compared { word, ..Compared::default() };
    let mut by_file = seen.to_vec();
    by_file.sort_unstable();
    let chosen = chosen(settings, draw(0, measurement));
    compared.in_part = (chosen.len() as u64) < files_of_pass(settings);
    for file in chosen {
        let Ok(at) = by_file.binary_search_by_key(&file, |(number, _)| *number) else { continue };
        let mut should = 0;
        let same = original.pieces(file, |at, piece| {
            should ^= fold(piece).rotate_left(8 * (at % 4) as u32);
            Ok(true)
        });
        compared.files += 1;
        compared.bytes += settings.listing.size(file);
        compared.wrong |= same != Ok(true) || should != by_file[at].1;
    }
    let expected = all_bytes(settings);
    let complete = !measurement.flags.contains(&Code::TreeChanged);
    compared.wrong |= complete && measurement.bytes != expected;
    compared.into(Consume::Xor.word(), measurement);
    Ok(())
}

/// Whether a trial did as many files and bytes as it was to do; one that met a full disk or a tree
/// that changed has said so.
pub(super) fn done_as_planned(settings: &Settings<'_>, measurement: &mut Measurement) {
    let told = [Code::Truncated, Code::TreeChanged, Code::CheckFailed];
    if measurement.flags.iter().any(|flag| told.contains(flag)) {
        return;
    }
    let files = files_of_pass(settings);
    let bytes = match settings.operation {
        FileOperation::Read | FileOperation::Write | FileOperation::Copy => all_bytes(settings),
        FileOperation::Create | FileOperation::Stat | FileOperation::Remove => 0,
    };
    let planned = (files.saturating_mul(passes(settings.extent)), bytes);
    if (measurement.operations, measurement.bytes) != planned {
        measurement.flags.push(Code::CheckFailed);
    }
}

fn files_of_pass(settings: &Settings<'_>) -> u64 {
    let ranges = segments(settings.listing.files(), settings.extent);
    ranges.iter().map(|range| range.end - range.start).sum()
}

fn all_bytes(settings: &Settings<'_>) -> u64 {
    let files = segments(settings.listing.files(), settings.extent).into_iter().flatten();
    let bytes: u64 = files.map(|file| settings.listing.size(file)).sum();
    bytes.saturating_mul(passes(settings.extent))
}

/// A trial that leaves a sum of sizes alone.
pub(super) fn sizes(settings: &Settings<'_>, kind: &str, seen: u64, measurement: &mut Measurement) {
    let complete = !measurement.flags.contains(&Code::TreeChanged);
    let wrong = complete && seen != all_bytes(settings);
    let digest = Digest { kind: kind.into(), hex: format!("{seen:x}"), matches: Some(!wrong) };
    measurement.proof.digest = Some(digest);
    if wrong {
        measurement.flags.push(Code::CheckFailed);
    }
}

/// A trial that made or removed trees: what lies there now.
pub(super) fn own_trees(
    settings: &Settings<'_>,
    measurement: &mut Measurement,
) -> Result<(), Fault> {
    let failed = |errno| fault("check what was made", errno, &path_to_text(&settings.own));
    let mut there = 0;
    for pass in 0..passes(settings.extent) {
        let root = numbered(&settings.own, pass);
        there += count(settings, &root).map_err(failed)?;
    }
    let broken = measurement.flags.iter().any(|f| matches!(f, Code::Truncated | Code::TreeChanged));
    let mut compared = Compared::default();
    match settings.operation {
        FileOperation::Remove => {
            let (hex, matches) = (format!("{there:x}"), Some(there == 0));
            measurement.proof.digest = Some(Digest { kind: "left over".into(), hex, matches });
            if there > 0 {
                measurement.flags.push(Code::CheckFailed);
            }
            return Ok(());
        }
        // Where files failed, some may lie there half made.
        _ if broken => compared.wrong = there < measurement.operations,
        _ => {
            compared.wrong = there != measurement.operations;
            let root = numbered(&settings.own, passes(settings.extent) - 1);
            let chosen = chosen(settings, draw(0, measurement));
            compared.in_part = (chosen.len() as u64) < files_of_pass(settings);
            contents(settings, &root, &chosen, &mut compared).map_err(failed)?;
        }
    }
    compared.into("content", measurement);
    Ok(())
}

/// Regular files in the directories of a tree; where others have theirs in them, too, those of its
/// own names.
fn count(settings: &Settings<'_>, root: &Path) -> Result<u64, Errno> {
    let listing = settings.listing;
    let top = open_root(root)?;
    let mut opener = Opener::default();
    let mut files = 0;
    for directory in 0..=listing.directories() {
        let opened = opener.open(listing, top.as_fd(), directory)?;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    FileType::from_raw_mode(statat(&opened, entry.file_name(), flags)?.st_mode)
                }
                known => known,
            };
            let own = !settings.shared || listing.has_name(entry.file_name());
            files += u64::from(kind == FileType::RegularFile && own);
        }
    }
    Ok(files)
}

/// Compares the chosen files byte for byte.
fn contents(
    settings: &Settings<'_>,
    root: &Path,
    chosen: &[u64],
    compared: &mut Compared,
) -> Result<(), Errno> {
    let mut original = Original::of(settings, root)?;
    let (made, mut opener) = (open_root(root)?, Opener::default());
    let (fold, mut buffer) = (xor32(), vec![0; PIECE]);
    let empty = settings.operation == FileOperation::Create;
    for &file in chosen {
        let handle = open(settings.listing, &made, &mut opener, file)?;
        let size = if empty { 0 } else { settings.listing.size(file) };
        compared.files += 1;
        compared.bytes += size;
        let length = handle.metadata().map_err(errno_of)?.len();
        compared.wrong |= length != size;
        if empty || length != size {
            continue;
        }
        let mut word = 0;
        let same = original.pieces(file, |at, piece| {
            let there = &mut buffer[..piece.len()];
            handle.read_exact_at(there, at).map_err(errno_of)?;
            word ^= fold(there);
            Ok(there == piece)
        });
        compared.word ^= word;
        compared.wrong |= same != Ok(true);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Listing;
    use super::super::settings::Settings;
    use super::{chosen, done_as_planned};
    use crate::workload::{Extent, Subject, Trial};
    use iolab_model::catalog::{Code, Factor, Level, Levels};
    use iolab_model::result::Measurement;
    use iolab_model::tree::{Body, Shape, Tree};

    fn with_settings(operation: &str, test: impl FnOnce(&Settings<'_>)) {
        let (sizes, shape) = ("1000".parse().unwrap(), Shape::Shared);
        let tree =
            Tree { files: 5000, sizes, shape, body: Body::Random, seed: 1, first: 0, rank: 0 };
        let listing = Listing::Made(tree);
        let levels = Levels::new().with(Factor::Operation, Level::word(operation));
        let path = Path::new("/nonexistent");
        let subject = Some(Subject::tree(path, 0, 1, &listing));
        let trial = Trial { levels: &levels, extent: Extent::Passes(2), subject, scratch: path };
        test(&Settings::of(&trial).unwrap());
    }

    /// A way to copy or to write that moved fewer bytes than it was to was seen only where one of the
    /// compared files was hit.
    #[test]
    fn what_was_done_is_held_against_the_plan() {
        for (operation, bytes) in [("write", 10_000_000), ("copy", 10_000_000), ("create", 0)] {
            with_settings(operation, |settings| {
                for (operations, bytes, right) in
                    [(10_000, bytes, true), (10_000, bytes + 1, false), (9_999, bytes, false)]
                {
                    let mut seen = Measurement { operations, bytes, ..Measurement::default() };
                    done_as_planned(settings, &mut seen);
                    let wrong = seen.flags.contains(&Code::CheckFailed);
                    assert_eq!(wrong, !right, "{operations} files, {bytes} bytes");
                }
            });
        }
    }

    #[test]
    fn files_are_drawn_anew_one_of_each_run_of_neighbours() {
        with_settings("write", |settings| {
            let (first, second) = (chosen(settings, 1), chosen(settings, 2));
            assert_eq!(first.len(), super::CHECKED_FILES as usize);
            assert!(first.is_sorted_by(|a, b| a < b), "each once, all over the tree");
            assert_ne!(first, second, "the same files were compared in every trial");
        });
    }
}
