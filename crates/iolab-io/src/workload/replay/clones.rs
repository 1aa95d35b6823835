//! Whether files can be clones of one another where a replay is done.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use crate::sys::raw_call::clone_file;

/// No names of ours are like these (`iolab_trace::replay`).
const FROM: &str = "clone-from";
const TO: &str = "clone-to";
/// A block: of nothing some file systems make a clone that have none.
const BYTES: usize = 4096;

/// Tries it with two small files in a directory, which are gone afterwards.
///
/// # Errors
/// They cannot be made there.
pub(super) fn are_made(directory: &OwnedFd) -> std::io::Result<bool> {
    let new = |name| {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        openat(directory, name, flags | OFlags::NOFOLLOW, Mode::RUSR | Mode::WUSR).map(File::from)
    };
    let tried = new(FROM).and_then(|from| {
        let written = from.write_all_at(&[1; BYTES], 0);
        written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(clone_file(from.as_raw_fd(), new(TO)?.as_raw_fd()) == 0)
    });
    for name in [FROM, TO] {
        match unlinkat(directory.as_fd(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(tried?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{Made, scene};
    use crate::sys::testing::among_mounts;
    use iolab_model::catalog::Levels;
    use iolab_model::result::Measurement;

    /// Where a copy lies: as cp asks it, with this answer.
    fn copy(answer: &str) -> Vec<String> {
        let clone = format!("1 ioctl(4</w/out>, BTRFS_IOC_CLONE or FICLONE, 3</w/in>) = {answer}");
        [
            "1 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in>",
            "1 fstat(3</w/in>, {st_mode=S_IFREG|0644, st_size=9000, ...}) = 0",
            "1 openat(AT_FDCWD</w>, \"out\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4</w/out>",
            &clone,
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn trial(lines: &[String], below: &Path) -> Measurement {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let made = Made::below(tempfile::tempdir_in(below).unwrap(), scene(&lines));
        assert_eq!(made.scene.replay.coverage.lost(), (0, 0));
        made.trial(&Levels::new()).unwrap()
    }

    /// The attempt that ext4 refuses was left out everywhere, a tenth of the calls of `cp -R`; and one
    /// that XFS had taken was replayed from the copy into its source.
    #[test]
    fn a_refused_clone_is_refused_again_or_left_out_and_a_clone_is_made() {
        let test = "workload::replay::clones::tests::\
            a_refused_clone_is_refused_again_or_left_out_and_a_clone_is_made";
        let script = "truncate -s 400M x; truncate -s 64M e; mkdir takes refuses; \
            mkfs.xfs -q -m reflink=1 x || mkfs.btrfs -q x || exit 77; \
            mount -o loop x takes || exit 77; \
            mkfs.ext4 -q -F e || exit 77; mount -o loop e refuses || exit 77";
        let Some(dir) = among_mounts(test, script) else { return };
        let (takes, refuses) = (dir.join("takes"), dir.join("refuses"));
        let mut refused = copy("-1 EOPNOTSUPP (Operation not supported)");
        refused.push("1 copy_file_range(3</w/in>, NULL, 4</w/out>, NULL, 9000, 0) = 9000".into());
        let left_out = |done: &Measurement| done.metrics.get("clones_left_out").copied();
        let again = trial(&refused, &refuses);
        assert_eq!((again.operations, left_out(&again)), (5, None));
        let without = trial(&refused, &takes);
        assert_eq!((without.operations, left_out(&without)), (4, Some(1.0)));
        assert_eq!(trial(&copy("0"), &takes).operations, 4);
    }
}
