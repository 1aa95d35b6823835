//! A file that is written whole or not at all: under a new name beside it, and renamed.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What fills a file.
pub type Fill<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// Writes to a new file beside `path` and puts it there when it is whole. What is no regular file (a
/// FIFO, `/dev/stdout`) is written to as it is. A link is followed where it is this user's or root's,
/// and the file that it names is replaced; another user's is refused.
///
/// # Errors
/// The file cannot be written; then nothing was changed.
pub fn write_whole(path: &Path, fill: &Fill<'_>) -> io::Result<()> {
    refuse_link_of_others(path)?;
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(meta) if !meta.is_file() => {
            let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
            fill(&mut out)?;
            out.flush()
        }
        Ok(meta) => replace(&fs::canonicalize(path)?, fill, Some(meta.permissions())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => replace(path, fill, None),
        Err(e) => Err(e),
    }
}

/// The owner of a link chooses what is overwritten.
fn refuse_link_of_others(path: &Path) -> io::Result<()> {
    let Ok(link) = fs::symlink_metadata(path) else { return Ok(()) };
    // A process owns its own entry of /proc.
    let us = fs::metadata("/proc/self").map(|about| about.uid());
    if link.is_symlink() && link.uid() != 0 && us.is_ok_and(|us| us != link.uid()) {
        let said = format!("it is a link of user {}, which is not followed", link.uid());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, said));
    }
    Ok(())
}

fn replace(path: &Path, fill: &Fill<'_>, permissions: Option<Permissions>) -> io::Result<()> {
    if permissions.is_some() {
        // Renaming over a file asks for no right to it; writing to it would.
        OpenOptions::new().write(true).open(path)?;
    }
    let (temporary, file) = create_beside(path)?;
    let written = put(fill, file, permissions).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn put(fill: &Fill<'_>, file: File, permissions: Option<Permissions>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    fill(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    // Some file systems say only now that there is no space.
    file.sync_all()
}

/// Under a name that nobody can know before, and that is not there yet.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    for attempt in 0..100_u32 {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{:016x}.tmp", RandomState::new().hash_one(attempt)));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).mode(0o666).open(&temporary) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (temporary, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::write_whole;

    /// Who laid a link to a file of root's under the name of an export, or of its part (the number
    /// of a process is guessed), had root overwrite that file.
    #[test]
    fn a_link_of_another_user_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, link) = (dir.path().join("victim"), dir.path().join("run.json"));
        fs::write(&victim, "kept").unwrap();
        symlink(&victim, &link).unwrap();
        // Ours is followed, and stays a link.
        write_whole(&link, &|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"new");
        assert!(link.is_symlink());
        if std::os::unix::fs::lchown(&link, Some(65534), None).is_err() {
            return eprintln!("SKIP a_link_of_another_user_is_not_followed: needs root");
        }
        let refused = write_whole(&link, &|out| out.write_all(b"theirs")).unwrap_err();
        assert!(refused.to_string().contains("65534"), "{refused}");
        assert_eq!(fs::read(&victim).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left beside");
    }
}
