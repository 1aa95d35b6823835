//! Two trees, name for name. Links are compared by what they say and never followed, so that no
//! loop of them and none that leads outside matters; FIFOs, sockets and devices are never opened.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use iolab_model::catalog::{bytes_text, path_to_text};

use super::compare::{Allocation, Difference, allocation, compare_files};

/// What a comparison of two trees has seen, and whom it tells.
pub struct Walk<'a> {
    /// Told every difference, one line each, at once.
    pub tell: &'a mut dyn FnMut(&str),
    /// Files that were compared.
    pub files: u64,
    /// Bytes of one side that were compared.
    pub bytes: u64,
    /// Differences that were told.
    pub differences: u64,
    /// What equal files take on both sides.
    pub takes: (Allocation, Allocation),
}

impl<'a> Walk<'a> {
    /// Nothing seen yet.
    pub fn new(tell: &'a mut dyn FnMut(&str)) -> Walk<'a> {
        let none = Allocation { apparent_bytes: 0, allocated_bytes: 0 };
        Walk { tell, files: 0, bytes: 0, differences: 0, takes: (none, none) }
    }

    fn differs(&mut self, name: &Path, what: &str) {
        self.differences += 1;
        let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
        (self.tell)(&format!("{}: {what}", path_to_text(name)));
    }
}

/// Compares everything below two directories. What cannot be read is a difference too, and the
/// walk goes on.
pub fn compare_trees(a: &Path, b: &Path, walk: &mut Walk<'_>) {
    // Directories still to be looked at, by their path below both roots; the last is next.
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let names = (names(&a.join(&below)), names(&b.join(&below)));
        let (left, right) = match names {
            (Ok(left), Ok(right)) => (left, right),
            (left, right) => {
                for (side, error) in [("A", left.err()), ("B", right.err())] {
                    if let Some(error) = error {
                        walk.differs(&below, &format!("cannot be listed in {side}: {error}"));
                    }
                }
                continue;
            }
        };
        let mut deeper = Vec::new();
        for (name, about) in &left {
            let path = below.join(name);
            match right.get(name) {
                None => walk.differs(&path, "only in A"),
                Some(other) => {
                    if entry(a, b, &path, (about, other), walk) {
                        deeper.push(path);
                    }
                }
            }
        }
        for name in right.keys().filter(|name| !left.contains_key(*name)) {
            walk.differs(&below.join(name), "only in B");
        }
        open.extend(deeper.into_iter().rev());
    }
}

type Entries = BTreeMap<OsString, Result<Metadata, String>>;

fn names(directory: &Path) -> io::Result<Entries> {
    let about = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        // Gone since it was listed, or not to be looked at: said where it is compared.
        Ok((entry.file_name(), entry.metadata().map_err(|error| error.to_string())))
    };
    fs::read_dir(directory)?.map(about).collect()
}

/// One name that both have. True: both are directories, to be looked into.
fn entry(
    a: &Path,
    b: &Path,
    path: &Path,
    abouts: (&Result<Metadata, String>, &Result<Metadata, String>),
    walk: &mut Walk<'_>,
) -> bool {
    let (about, other) = match abouts {
        (Ok(about), Ok(other)) => (about, other),
        (Err(error), _) | (_, Err(error)) => {
            walk.differs(path, &format!("cannot be looked at: {error}"));
            return false;
        }
    };
    let kinds = (kind(about.file_type()), kind(other.file_type()));
    if kinds.0 != kinds.1 {
        walk.differs(path, &format!("{} in A, {} in B", kinds.0, kinds.1));
        return false;
    }
    let (left, right) = (a.join(path), b.join(path));
    if about.is_file() {
        file(&left, &right, path, (about, other), walk);
    } else if about.is_symlink() {
        let links = (fs::read_link(&left), fs::read_link(&right));
        match links {
            (Ok(one), Ok(two)) if one == two => {}
            (Ok(one), Ok(two)) => walk.differs(
                path,
                &format!("leads to {} in A, to {} in B", path_to_text(&one), path_to_text(&two)),
            ),
            (Err(error), _) | (_, Err(error)) => {
                walk.differs(path, &format!("cannot be looked at: {error}"));
            }
        }
    }
    about.is_dir()
}

fn file(
    left: &Path,
    right: &Path,
    path: &Path,
    (about, other): (&Metadata, &Metadata),
    walk: &mut Walk<'_>,
) {
    walk.files += 1;
    match compare_files(left, right) {
        Ok(None) => {
            walk.bytes += about.len();
            for (sum, about) in [(&mut walk.takes.0, about), (&mut walk.takes.1, other)] {
                let takes = allocation(about);
                sum.apparent_bytes += takes.apparent_bytes;
                sum.allocated_bytes += takes.allocated_bytes;
            }
        }
        Ok(Some(difference)) => walk.differs(path, &difference.to_string()),
        Err(fault) => walk.differs(path, &fault.to_string()),
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (one, two) = self.sizes;
        if one != two {
            write!(f, "{} in A, {} in B", size(one), size(two))?;
        }
        match (self.first_byte, one == two) {
            (Some(at), true) => write!(f, "differs from byte {at} on, in {} of {one}", self.bytes),
            (Some(at), false) => write!(f, "; differs from byte {at} on"),
            (None, _) => write!(f, "; the same as far as the shorter goes"),
        }
    }
}

/// The exact size, with what it is about where that is easier to read.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        _ => format!("{bytes} bytes ({})", bytes_text(bytes)),
    }
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a link"
    } else if kind.is_file() {
        "a file"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
