//! Names of errors, as numbers of Linux (asm-generic/errno.h; the same on most architectures).

const NAMES: &[(&str, u32)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("E2BIG", 7),
    ("ENOEXEC", 8),
    ("EBADF", 9),
    ("ECHILD", 10),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOTTY", 25),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("ERANGE", 34),
    ("ENAMETOOLONG", 36),
    ("ENOSYS", 38),
    ("ENOTEMPTY", 39),
    ("ELOOP", 40),
    ("ENODATA", 61),
    ("EOVERFLOW", 75),
    ("EOPNOTSUPP", 95),
    ("ENOTSUP", 95),
    ("ESTALE", 116),
    ("EDQUOT", 122),
];

/// An error whose name is none of the above.
const ANOTHER: u32 = 4095;

/// The number of an error; [`ANOTHER`] for one that is not in the list.
pub(super) fn errno(name: &[u8]) -> u32 {
    let known = NAMES.iter().find(|(known, _)| known.as_bytes() == name);
    known.map_or(ANOTHER, |(_, number)| *number)
}
