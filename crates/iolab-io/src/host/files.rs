//! Whether a file of the person's can be read by an experiment.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::io::Errno;

use crate::sys::made_up::is_made_up;
use iolab_model::catalog::path_to_text;

/// The size of a file in bytes, or in one line why it cannot be used and what to do. Only regular
/// files that can be opened for reading are; a FIFO or a device is never opened.
pub fn file_facts(path: &Path) -> Result<u64, String> {
    let name = path_to_text(path);
    let about = std::fs::metadata(path).map_err(|error| refusal(&name, &error))?;
    let kind = about.file_type();
    let (what, fix) = match kind {
        _ if kind.is_dir() => ("is a directory", "name the files in it, or `--file-size`"),
        _ if kind.is_fifo() => ("is a FIFO", "name a regular file"),
        _ if kind.is_socket() => ("is a socket", "name a regular file"),
        _ if kind.is_char_device() => ("is a character device", "name a regular file"),
        _ if kind.is_block_device() => ("is a block device", "name a file on a file system on it"),
        _ => return open_facts(path, &name),
    };
    Err(format!("{name} {what}: {fix}"))
}

fn open_facts(path: &Path, name: &str) -> Result<u64, String> {
    // What has become a FIFO since must not make this wait.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| refusal(name, &error))?;
    if is_made_up(&file) {
        return Err(format!(
            "{name} is made by the kernel as it is read and has no size: name a file on a disk"
        ));
    }
    match file.metadata() {
        Ok(about) if !about.is_file() => Err(format!("{name} changed its kind: try again")),
        Ok(about) if about.len() == 0 => Err(format!("{name} is empty: name a file with bytes")),
        Ok(about) => Ok(about.len()),
        Err(error) => Err(refusal(name, &error)),
    }
}

fn refusal(name: &str, error: &io::Error) -> String {
    let fix = match error.kind() {
        io::ErrorKind::NotFound => "does not exist: check the name",
        io::ErrorKind::PermissionDenied => "may not be read: allow it, or be another user",
        io::ErrorKind::NotADirectory => "goes through something that is no directory",
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            "is a link that leads to itself: name a file"
        }
        io::ErrorKind::InvalidFilename => "has a name that is too long",
        _ => return format!("{name} cannot be opened: {error}"),
    };
    format!("{name} {fix}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::file_facts;
    use crate::sys::testing::{as_nobody, open_directory};

    #[test]
    fn every_odd_file_gets_one_line_with_the_fix() {
        let dir = open_directory();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("empty"), "").unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let refusals = [
            (at("missing"), "does not exist"),
            (dir.path().to_owned(), "is a directory"),
            (at("fifo"), "is a FIFO"),
            (at("socket"), "is a socket"),
            ("/dev/null".into(), "is a character device"),
            ("/proc/self/status".into(), "made by the kernel"),
            ("/sys/kernel/notes".into(), "made by the kernel"),
            (at("empty"), "is empty"),
            (at("empty").join("x"), "no directory"),
            (at("loop"), "leads to itself"),
            (at(&"x".repeat(300)), "too long"),
        ];
        for (path, words) in refusals {
            let said = file_facts(&path).unwrap_err();
            assert!(said.contains(words) && !said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn odd_names_are_read_and_shown_on_one_line() {
        let dir = open_directory();
        for name in [b"a\nb".as_slice(), b"\xff\xfe", b" ", b"-x", b"\\"] {
            let path = dir.path().join(Path::new(std::ffi::OsStr::from_bytes(name)));
            fs::write(&path, "12345").unwrap();
            assert_eq!(file_facts(&path), Ok(5));
            fs::remove_file(&path).unwrap();
            let said = file_facts(&path).unwrap_err();
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
    }

    #[test]
    fn an_ordinary_user_is_told_what_may_not_be_read() {
        let test = "host::files::tests::an_ordinary_user_is_told_what_may_not_be_read";
        let prepare = |dir: &Path| {
            fs::write(dir.join("secret"), "x").unwrap();
            fs::set_permissions(dir.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        };
        let Some(dir) = as_nobody(test, prepare) else { return };
        let said = file_facts(&dir.join("secret")).unwrap_err();
        assert!(said.contains("may not be read"), "{said}");
    }
}
