//! Taking a file out of the page cache and bringing it in.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Advice, OFlags, fadvise, fdatasync, syncfs};
use rustix::io::Errno;

use crate::sys::primer::read_from;
use iolab_model::result::Fault;

/// Asks the kernel to drop a file from the page cache: writes it back first, because
/// `POSIX_FADV_DONTNEED` drops clean pages only and reports success whatever happened
/// (posix_fadvise(2)). Says nothing of the outcome: probe for it.
pub fn evict(file: &File) -> Result<(), Fault> {
    write_back(file).map_err(|e| Fault::of("write a file back before evicting it", &e))?;
    evict_written(file)
}

/// The same of a file whose file system was just synced: of many files each would wait for a flush
/// of the device.
pub fn evict_written(file: &File) -> Result<(), Fault> {
    fadvise(file, 0, None, Advice::DontNeed)
        .map_err(|e| Fault::of("evict a file from the page cache", &e.into()))
}

/// Waits until a file's dirty pages are on the device. `fdatasync` works on descriptors opened
/// for reading; where a file system refuses it (`EROFS`, `EINVAL`), `syncfs` writes all back.
/// An error of the device is told once: asked again, the kernel says that all is well, and the pages
/// are gone (errseq_t).
pub(super) fn write_back(file: &File) -> io::Result<()> {
    match fdatasync(file) {
        Ok(()) => Ok(()),
        Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
        Err(_) => match syncfs(file) {
            Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
            _ => Ok(()),
        },
    }
}

/// Reads a file once from start to end in calls of 128 KiB through a descriptor of its own, so
/// that the read-ahead state of `file` stays fresh. Returns the bytes read.
pub fn prime(file: &File) -> Result<u64, Fault> {
    prime_from(file, 0)
}

/// Reads the last bytes of a file likewise.
///
/// # Errors
/// The file cannot be read.
pub fn prime_end(file: &File, bytes: u64) -> Result<u64, Fault> {
    let whole = file.metadata().map_or(0, |about| about.len());
    prime_from(file, whole.saturating_sub(bytes))
}

fn prime_from(file: &File, offset: u64) -> Result<u64, Fault> {
    let own = reopen(file);
    read_from(own.as_ref().unwrap_or(file), offset)
        .map_err(|e| Fault::of("read a file into the page cache", &e.into()))
}

/// The same file by a new open-file description: its own position, flags and read-ahead state.
/// Reading through it leaves the access time alone where that is permitted (O_NOATIME, open(2)).
pub(super) fn reopen(file: &File) -> Option<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let quietly = OFlags::NOATIME.bits() as i32;
    let quiet = OpenOptions::new().read(true).custom_flags(quietly).open(&path);
    quiet.or_else(|_| OpenOptions::new().read(true).open(&path)).ok()
}

/// What there is to be done where a file stays in the page cache whatever is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastResort {
    /// The whole machine was written back and its clean page cache dropped.
    Dropped,
    /// This process has done so before: it disturbs everything that runs here, so it is done once.
    Spent,
    /// This user may not.
    Denied,
}

/// Whether the machine's page cache was dropped by this process, which serves one run.
static DROPPED: AtomicBool = AtomicBool::new(false);

/// Writes the whole machine back and drops its clean page cache, the first time that it is asked
/// for; root only.
pub(super) fn drop_caches() -> io::Result<LastResort> {
    if DROPPED.load(Ordering::Relaxed) {
        return Ok(LastResort::Spent);
    }
    let Some(knob) = open_knob()? else { return Ok(LastResort::Denied) };
    DROPPED.store(true, Ordering::Relaxed);
    rustix::fs::sync();
    knob.write_at(b"1", 0).map(|_| LastResort::Dropped)
}

/// `None`: not permitted, or not there.
fn open_knob() -> io::Result<Option<File>> {
    match OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches") {
        Ok(knob) => Ok(Some(knob)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) if error.raw_os_error() == Some(libc_erofs()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// /proc/sys is mounted read-only in most containers.
fn libc_erofs() -> i32 {
    Errno::ROFS.raw_os_error()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use rustix::io::Errno;

    use super::write_back;
    use crate::sys::testing::{among_mounts, skip};

    /// A second fdatasync after one that had failed said that all was well: a file whose bytes had
    /// never reached the disk was measured.
    #[test]
    fn an_error_of_the_device_is_not_asked_away() {
        let test = "cache::evict::tests::an_error_of_the_device_is_not_asked_away";
        // A device of 64 MiB of which 8 can be written.
        let script = "mkdir t m; mount -t tmpfs -o size=8m none t || exit 77; truncate -s 64M t/i
            mkfs.ext4 -q -F -O ^has_journal -N 64 -E lazy_itable_init=0,nodiscard t/i || exit 77
            mount -o loop,errors=continue t/i m || exit 77";
        let Some(dir) = among_mounts(test, script) else { return };
        let mut file = File::create(dir.join("m/file")).unwrap();
        let piece = vec![0x5a; 1 << 20];
        for _ in 0..32 {
            file.write_all(&piece).unwrap();
        }
        // Such a device fails twice; the second time is asked for here.
        if rustix::fs::fdatasync(&file) != Err(Errno::NOSPC) {
            return skip(test, "this kernel tells the error of the device otherwise");
        }
        let error = write_back(&file).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::IO.raw_os_error()), "{error}");
        write_back(&file).unwrap();
    }
}
