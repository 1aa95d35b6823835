//! What to say of an errno, and what it means for the rest of a trial.

use rustix::io::Errno;

use iolab_model::result::Fault;

/// A fault with the fix where one is known; `name` is the file, or empty.
pub(super) fn fault(doing: impl Into<String>, errno: Errno, name: &str) -> Fault {
    let text = std::io::Error::from(errno);
    let fix = match errno {
        Errno::MFILE => {
            "; raise the limit of open files (ulimit -n), take fewer --threads, or --descriptors own"
        }
        Errno::NFILE => "; the machine has no open file left: take fewer --threads",
        Errno::NOSPC => "; free space or inodes (df, df -i), or take fewer or smaller files",
        Errno::DQUOT => "; the quota is used up: take fewer or smaller files",
        Errno::EXIST => "; something is there already that iolab did not make",
        _ => "",
    };
    let cause = match name {
        "" => format!("{text}{fix}"),
        name => format!("{name}: {text}{fix}"),
    };
    Fault::new(doing, cause).errno(Some(errno.raw_os_error()))
}

/// The file system is full: what was done until then is a result.
pub(super) fn is_full(errno: Errno) -> bool {
    matches!(errno, Errno::NOSPC | Errno::DQUOT)
}

/// Nothing further can be done in this process.
pub(super) fn is_fatal(errno: Errno) -> bool {
    matches!(errno, Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::ROFS)
}

/// The errno of an I/O error.
pub(super) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
