//! A report into a file: whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

use super::chart::{Chart, charts_for};
use super::drawing::export::{ExportError as PictureError, FOLDERS, write_all};
use super::whole_file::{Fill, write_whole};
use super::{FORMATS, TextStyle};
use iolab_model::result::Document;

/// Why there is no export. Whatever the file held before is still there.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// No such format.
    #[error("unknown format {id:?} in an export; known are {known}")]
    Format {
        /// What was asked for.
        id: String,
        /// What there is.
        known: String,
    },
    /// The file could not be written.
    #[error("cannot export to {}: {source}; {fix}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
        /// What to do.
        fix: &'static str,
    },
    /// The pictures could not be written.
    #[error(transparent)]
    Pictures(#[from] PictureError),
}

/// Writes the run, as one screen or with all `details` where it is a report for people, to a new file beside `path` and puts it there when it is whole. What is no
/// regular file (a FIFO, `/dev/stdout`) is written to as it is.
///
/// # Errors
/// The format is unknown, or the file cannot be written; then nothing was changed.
pub fn export(
    format_id: &str,
    path: &Path,
    doc: &Document,
    details: bool,
) -> Result<(), ExportError> {
    let document = std::slice::from_ref(doc);
    if let Some(folder) = FOLDERS.iter().find(|f| f.id == format_id) {
        write_all(&charts_for(document), path, folder.kind)?;
        return Ok(());
    }
    let format = super::format(format_id).ok_or_else(|| ExportError::Format {
        id: format_id.to_owned(),
        known: known().join(", "),
    })?;
    let look = TextStyle { details, ..TextStyle::default() };
    to_file(path, &|out| (format.write)(doc, &look, out))
}

/// Writes several runs as one page or as one set of pictures, laid over each other.
///
/// # Errors
/// The format holds one run, the runs have no chart in common, or the file cannot be written.
pub fn export_several(format_id: &str, path: &Path, runs: &[Document]) -> Result<(), ExportError> {
    match format_id {
        "html" => export_page(path, runs),
        _ => export_charts(format_id, path, &charts_for(runs)),
    }
}

/// Writes charts as files into a directory, in a format that makes several files.
///
/// # Errors
/// The format makes one file, there is no chart, or the directory cannot be written.
pub fn export_charts(format_id: &str, dir: &Path, charts: &[Chart]) -> Result<(), ExportError> {
    match FOLDERS.iter().find(|f| f.id == format_id) {
        Some(folder) => Ok(write_all(charts, dir, folder.kind).map(drop)?),
        None => Err(ExportError::Format {
            id: format_id.to_owned(),
            known: FOLDERS.iter().map(|f| f.id).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Writes whatever `fill` writes, whole or not at all.
///
/// # Errors
/// The file cannot be written; then nothing was changed.
pub fn export_with(path: &Path, fill: &Fill<'_>) -> Result<(), ExportError> {
    to_file(path, fill)
}

/// Writes the HTML report of several runs, whole or not at all.
///
/// # Errors
/// The file cannot be written; then nothing was changed.
pub fn export_page(path: &Path, runs: &[Document]) -> Result<(), ExportError> {
    to_file(path, &|out| super::html::write(runs, out))
}

/// Every name that an export can have.
fn known() -> Vec<&'static str> {
    FORMATS.iter().map(|f| f.id).chain(FOLDERS.iter().map(|f| f.id)).collect()
}

fn to_file(path: &Path, fill: &Fill<'_>) -> Result<(), ExportError> {
    write_whole(path, fill).map_err(|source| ExportError::Write {
        path: path.to_path_buf(),
        fix: fix(&source),
        source,
    })
}

fn fix(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "make the directory first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space or name a file elsewhere; the run itself is in the history"
        }
        io::ErrorKind::IsADirectory => "name a file in that directory",
        _ => "name a file that you may write",
    }
}
