//! Files that the kernel makes up.

use std::os::fd::AsFd;

use rustix::fs::{FsWord, fstatfs};

/// File systems whose files are made up when they are read (include/uapi/linux/magic.h): procfs,
/// sysfs, debugfs, tracefs, cgroup, cgroup2, securityfs, configfs.
const MADE_UP: [FsWord; 8] = [
    0x9fa0,
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x0027_e0eb,
    0x6367_7270,
    0x7363_6673,
    0x6265_6570,
];

/// Whether an open file is of such a file system.
pub fn is_made_up(file: impl AsFd) -> bool {
    fstatfs(file).is_ok_and(|fs| MADE_UP.contains(&fs.f_type))
}
