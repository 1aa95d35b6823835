//! The file system that a directory is on.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statvfs, statx};

use super::tree::{Facts, Tree};
use crate::sys::direct::alignment_in;
use iolab_model::catalog::{Fact, path_to_text};

/// One line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// Its number.
    pub id: u64,
    /// `major:minor`; anonymous for file systems without a device of their own.
    pub device: String,
    /// Where it is.
    pub point: PathBuf,
    /// Options of this mount.
    pub options: String,
    /// `ext4`, `overlay`, `fuse.sshfs`.
    pub fs_type: String,
    /// The device or what stands for it.
    pub source: PathBuf,
    /// Options of the file system.
    pub super_options: String,
}

impl Mount {
    /// The mount that a path is on.
    pub fn of(tree: &Tree, path: &Path) -> Option<Mount> {
        let text = std::fs::read(tree.path("proc/self/mountinfo")).ok()?;
        let mounts: Vec<Mount> = text.split(|b| *b == b'\n').filter_map(parse).collect();
        let by_id = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)
            .ok()
            .filter(|about| about.stx_mask & StatxFlags::MNT_ID.bits() != 0)
            .map(|about| about.stx_mnt_id);
        if let Some(mount) = mounts.iter().find(|mount| Some(mount.id) == by_id) {
            return Some(mount.clone());
        }
        // Kernels before 5.8: the longest mount point above the path; of equal ones the last.
        let whole = std::fs::canonicalize(path).ok()?;
        let above = mounts.into_iter().filter(|mount| whole.starts_with(&mount.point));
        above.max_by_key(|mount| mount.point.as_os_str().len())
    }

    /// The value of an option of the file system: `upperdir` of an overlay.
    pub fn super_option(&self, name: &str) -> Option<&str> {
        let value = |option: &&str| option.split_once('=').is_some_and(|(key, _)| key == name);
        self.super_options.split(',').find(value).and_then(|o| o.split_once('=')).map(|(_, v)| v)
    }

    /// Whether caches on another side serve it.
    pub fn is_remote(&self) -> bool {
        let fs = self.fs_type.as_str();
        const REMOTE: [&str; 13] = [
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "smbfs",
            "9p",
            "virtiofs",
            "ceph",
            "afs",
            "lustre",
            "glusterfs",
            "gpfs",
            "beegfs",
        ];
        REMOTE.contains(&fs) || fs.starts_with("fuse") && fs != "fuseblk"
    }
}

/// Gathers `mount.*`, `fs.*`, `space.*` and `dio.*` of a directory.
pub fn gather(tree: &Tree, directory: &Path, facts: &mut Facts) {
    facts.put(Fact::Directory, Some(path_to_text(directory)));
    if let Some(mount) = Mount::of(tree, directory) {
        facts.put(Fact::MountJournal, journal(tree, &mount));
        facts.put(Fact::MountFsType, Some(mount.fs_type));
        facts.put(Fact::MountSource, Some(path_to_text(&mount.source)));
        facts.put(Fact::MountPoint, Some(path_to_text(&mount.point)));
        facts.put(Fact::MountOptions, Some(mount.options));
        facts.put(Fact::MountSuperOptions, Some(mount.super_options));
    }
    if let Ok(space) = crate::place::space(directory) {
        facts.put(Fact::SpaceFreeBytes, Some(space.free_bytes));
        facts.put(Fact::SpaceReserveBytes, Some(space.reserve_bytes));
        let inodes = Some(space.free_inodes).filter(|inodes| *inodes != u64::MAX);
        facts.put(Fact::SpaceFreeInodes, inodes);
    }
    if let Ok(stat) = statvfs(directory) {
        facts.put(Fact::FsBlockBytes, Some(stat.f_bsize));
        facts.put(Fact::FsTotalBytes, stat.f_blocks.checked_mul(stat.f_frsize));
    }
    let preferred = std::fs::metadata(directory).ok().map(|about| about.blksize());
    facts.put(Fact::FsPreferredIoBytes, preferred);
    if let Some(alignment) = alignment_in(directory) {
        facts.put(Fact::DioMemoryAlignBytes, Some(alignment.memory_bytes));
        facts.put(Fact::DioOffsetAlignBytes, Some(alignment.offset_bytes));
    }
}

/// Whether a file system of the ext4 driver has a journal: it then says in which way its data are
/// ordered against it. Absent for others, and where the driver does not tell.
fn journal(tree: &Tree, mount: &Mount) -> Option<bool> {
    if !mount.fs_type.starts_with("ext") {
        return None;
    }
    let name = tree.link_name(format!("sys/dev/block/{}", mount.device))?;
    let options = tree.text(format!("proc/fs/ext4/{name}/options"))?;
    Some(options.lines().any(|line| line.starts_with("data=")))
}

/// `id parent major:minor root point options [optional…] - type source super-options`.
fn parse(line: &[u8]) -> Option<Mount> {
    let words: Vec<&[u8]> = line.split(|b| *b == b' ').collect();
    let text = |at: usize| Some(String::from_utf8_lossy(words.get(at)?).into_owned());
    // Any number of optional fields stands before the dash.
    let dash = words.iter().skip(6).position(|word| *word == b"-")? + 6;
    Some(Mount {
        id: text(0)?.parse().ok()?,
        device: text(2)?,
        point: unescape(words.get(4)?),
        options: text(5)?,
        fs_type: text(dash + 1)?,
        source: unescape(words.get(dash + 2)?),
        super_options: text(dash + 3).unwrap_or_default(),
    })
}

/// Space, tab, newline and backslash are written as `\040` and so on.
fn unescape(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| *first == b'\\');
        let code = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// The bytes of a path as the option of a mount writes it.
pub fn option_path(value: &str) -> PathBuf {
    unescape(Path::new(value).as_os_str().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::{Mount, journal, parse};
    use crate::host::tree::Tree;

    #[test]
    fn a_line_with_optional_fields_and_escapes_is_understood() {
        let line = br"36 35 98:0 / /mnt/a\040b\134c rw,noatime master:1 shared:2 - ext4 /dev/sd\011a rw,errors=continue";
        let mount = parse(line).unwrap();
        assert_eq!((mount.id, mount.device.as_str()), (36, "98:0"));
        assert_eq!(mount.point, PathBuf::from("/mnt/a b\\c"));
        assert_eq!(mount.source, PathBuf::from("/dev/sd\ta"));
        assert_eq!((mount.fs_type.as_str(), mount.options.as_str()), ("ext4", "rw,noatime"));
        assert_eq!(mount.super_option("errors"), Some("continue"));
        assert_eq!(mount.super_option("rw"), None);
    }

    #[test]
    fn remote_file_systems_are_known() {
        let is_remote = |fs: &str| Mount { fs_type: fs.into(), ..Mount::default() }.is_remote();
        assert!(is_remote("nfs4") && is_remote("fuse.sshfs") && is_remote("fuse"));
        assert!(!is_remote("ext4") && !is_remote("fuseblk"), "fuseblk is ntfs-3g on a disk");
    }

    #[test]
    fn a_journal_is_seen_in_what_the_driver_says() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| std::fs::create_dir_all(dir.path().join(name)).unwrap();
        make("sys/dev/block");
        make("proc/fs/ext4/sda1");
        std::os::unix::fs::symlink("../../devices/x/sda1", dir.path().join("sys/dev/block/8:1"))
            .unwrap();
        let tree = Tree::fixture(dir.path());
        let on = |fs: &str, device: &str| Mount {
            fs_type: fs.into(),
            device: device.into(),
            ..Mount::default()
        };
        let says = |text: &str| {
            std::fs::write(dir.path().join("proc/fs/ext4/sda1/options"), text).unwrap();
            journal(&tree, &on("ext4", "8:1"))
        };
        assert_eq!(says("rw\nstripe=0\ndata=ordered\n"), Some(true));
        assert_eq!(says("rw\nstripe=0\ndiscard\n"), Some(false));
        assert_eq!(journal(&tree, &on("xfs", "8:1")), None);
        assert_eq!(journal(&tree, &on("ext4", "8:2")), None);
    }

    #[test]
    fn proc_is_found_here() {
        let mount = Mount::of(&Tree::machine(), Path::new("/proc/self/fd")).unwrap();
        assert_eq!((mount.fs_type.as_str(), mount.point.as_path()), ("proc", Path::new("/proc")));
    }

    proptest! {
        #[test]
        fn odd_lines_never_panic(line in proptest::collection::vec(any::<u8>(), 0..120)) {
            let _ = parse(&line);
        }

        #[test]
        fn nearly_right_lines_never_panic(line in "[0-9 :/\\\\a-c,=-]{0,80}") {
            let _ = parse(line.as_bytes());
        }
    }
}
