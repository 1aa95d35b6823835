//! The directory to work under: whether it will do, and which will where it need not be that one.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use super::asked::Asked;
use super::messages::{Objection, Subject};
use iolab_model::catalog::path_to_text;

/// Checks the directory where files are to be made in it.
///
/// # Errors
/// It does not exist, cannot be written to, or lies in a tree that is copied.
pub fn check(asked: &Asked) -> Result<(), Objection> {
    let theirs = asked.theirs().next().is_some();
    // A copy goes there, whoever's file it is of.
    match (theirs, asked.copies()) {
        (false, _) => usable(&asked.directory, "name a directory of yours, or a file to read"),
        (true, false) => Ok(()),
        (true, true) => {
            usable(
                &asked.directory,
                "cd to a directory that you may write to: copies are made where you are",
            )?;
            match asked.works_on_trees() {
                true => outside(&asked.directory, asked.theirs()),
                false => Ok(()),
            }
        }
    }
}

/// The directory, or where no file is made in it and it cannot be written to, one that is made for
/// such use.
pub fn choose(directory: PathBuf, only_reads: bool) -> PathBuf {
    let is_writable = |path: &PathBuf| writable(path).is_ok();
    if !only_reads || is_writable(&directory) {
        return directory;
    }
    // On a disk first: tmpfs has no cold state, so that the probes could not be tested there.
    let others = [PathBuf::from("/var/tmp"), std::env::temp_dir()];
    others.into_iter().find(is_writable).unwrap_or(directory)
}

fn writable(directory: &Path) -> Result<(), Errno> {
    accessat(CWD, directory, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
}

/// A directory that files can be made in.
fn usable(directory: &Path, fix: &str) -> Result<(), Objection> {
    let name = path_to_text(directory);
    let wrong = |text: String| Objection::wrong(Subject::Directory, text);
    let metadata = fs::metadata(directory).map_err(|error| {
        wrong(format!("{name}: {error}; name a directory or a file that exists"))
    })?;
    if !metadata.is_dir() {
        return Err(wrong(format!("{name} is not a directory; name one")));
    }
    writable(directory).map_err(|error| {
        let why = match error {
            Errno::ROFS => " is on a read-only mount".to_owned(),
            error => format!(": {error}"),
        };
        let text = format!("{name}{why}, and a file must be made there; {fix}");
        Objection::refused(Subject::Directory, text)
    })
}

/// A copy within the tree that is copied would change what is measured.
fn outside<'a>(
    directory: &Path,
    mut trees: impl Iterator<Item = &'a PathBuf>,
) -> Result<(), Objection> {
    let Ok(directory) = fs::canonicalize(directory) else { return Ok(()) };
    let holds =
        |tree: &PathBuf| fs::canonicalize(tree).is_ok_and(|tree| directory.starts_with(tree));
    match trees.any(holds) {
        false => Ok(()),
        true => Err(Objection::refused(
            Subject::Directory,
            format!(
                "{} lies in the tree that is to be copied, which is never written to; cd to a directory outside of it that has room: copies are made where you are",
                path_to_text(&directory)
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::choose;

    #[test]
    fn only_what_reads_may_be_sent_elsewhere() {
        let nowhere = PathBuf::from("/no/such");
        assert_eq!(choose(nowhere.clone(), false), nowhere);
        assert_ne!(choose(nowhere, true), Path::new("/no/such"));
        let here = tempfile::tempdir().unwrap();
        assert_eq!(choose(here.path().to_owned(), true), here.path());
    }
}
