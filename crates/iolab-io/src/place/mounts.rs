//! Mounts of one's own: the namespace they live in, making them, and taking them away.

use std::ffi::OsStr;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::fault;
use super::missing::Missing;
use crate::sys::child::try_in_child;
use crate::sys::mount::{self, MountError, Mounted};
use crate::sys::namespace::{enter_private_mounts, enter_user_namespace};
use iolab_model::result::Fault;

/// How long a busy mount is waited for: a process that was just killed may still be dying.
const BUSY_WAIT: Duration = Duration::from_secs(2);

/// Proof that this thread mounts privately: what it mounts is seen by nobody else and is gone when
/// the process is, however it ends. It belongs to the thread that entered.
#[derive(Clone, Copy, Debug)]
pub struct Mounts {
    privileged: bool,
    not_send: PhantomData<*const ()>,
}

impl Mounts {
    /// Enters a private mount namespace, as root at once, else through a user namespace (which
    /// needs a process with a single thread).
    ///
    /// # Errors
    /// Neither is allowed here.
    pub fn enter() -> Result<Mounts, Fault> {
        let doing = "enter a private mount namespace";
        if enter_private_mounts().is_ok() {
            return Ok(Mounts { privileged: true, not_send: PhantomData });
        }
        match enter_user_namespace() {
            Ok(()) => Ok(Mounts { privileged: false, not_send: PhantomData }),
            Err(error) => Err(fault(doing, &error, USER_NAMESPACE_REMEDY)),
        }
    }

    /// Whether it is root's: loop devices and file systems on them can be mounted.
    pub fn privileged(&self) -> bool {
        self.privileged
    }
}

const USER_NAMESPACE_REMEDY: &str = "run as root, or allow user namespaces (sysctl \
    user.max_user_namespaces, kernel.unprivileged_userns_clone, \
    kernel.apparmor_restrict_unprivileged_userns)";

/// Whether this process may mount at all, tried in a child.
///
/// # Errors
/// What forbids it.
pub fn may_mount() -> Result<(), Missing> {
    if may_mount_as_root().is_ok() {
        return Ok(());
    }
    try_in_child(enter_user_namespace).map_err(|error| {
        Missing::new(format!("no mount without root here ({error})"), USER_NAMESPACE_REMEDY)
    })
}

/// Whether this process may mount file systems of devices.
///
/// # Errors
/// It is not root, or root without `CAP_SYS_ADMIN` as in a container.
pub fn may_mount_as_root() -> Result<(), Missing> {
    try_in_child(enter_private_mounts).map_err(|error| {
        let root = rustix::process::geteuid().is_root();
        match root {
            false => Missing::new("mounting an image needs root", "run with sudo, or use --vm"),
            true => Missing::new(
                format!("root here may not mount ({error})"),
                "run outside of the container, or give it CAP_SYS_ADMIN",
            ),
        }
    })
}

/// One mount; dropped, it is unmounted.
#[derive(Debug)]
pub struct Mount {
    target: PathBuf,
    mounted: Mounted,
    up: bool,
}

/// What to mount.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file system's name.
    pub fs_type: &'a str,
    /// A device, or empty.
    pub source: &'a OsStr,
    /// As after `mount -o`.
    pub options: &'a [(String, Option<String>)],
}

/// The kernel's refusal, and how options are written where one of them was refused.
fn refused(what: &Source<'_>, error: &MountError, doing: String) -> Fault {
    let option = what.options.iter().any(|(key, _)| error.step.contains(key.as_str()));
    let remedy = if option {
        "options are those of mount -o, after a colon: ext4:noatime,data=writeback"
    } else {
        ""
    };
    Fault::new(doing, error.to_string()).errno(error.error.raw_os_error()).remedy(remedy)
}

impl Mount {
    /// Mounts at `target`, which is made where it is not there, and reads back what came of it.
    ///
    /// # Errors
    /// The kernel's refusal in its own words.
    pub fn make(_: Mounts, target: &Path, what: &Source<'_>) -> Result<Mount, Fault> {
        Mount::attach(target, what)
    }

    fn attach(target: &Path, what: &Source<'_>) -> Result<Mount, Fault> {
        let doing = || format!("mount {} at {}", what.fs_type, target.display());
        std::fs::create_dir_all(target).map_err(|e| fault(doing(), &e, ""))?;
        mount::mount(what.fs_type, what.source, target, what.options)
            .map_err(|e| refused(what, &e, doing()))?;
        Mount::adopt(target)
    }

    /// Takes over what another process has mounted at `target` (FUSE).
    ///
    /// # Errors
    /// Nothing is mounted there.
    pub fn adopt(target: &Path) -> Result<Mount, Fault> {
        let doing = || format!("read back the mount at {}", target.display());
        let mounted = mount::mounted_at(target).map_err(|e| fault(doing(), &e, ""))?;
        let mounted = mounted.ok_or_else(|| {
            Missing::new("nothing is mounted there", "please report it").fault(doing())
        })?;
        Ok(Mount { target: target.to_owned(), mounted, up: true })
    }

    /// Where it is.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// As mountinfo shows it.
    pub fn mounted(&self) -> &Mounted {
        &self.mounted
    }

    /// Unmounts and calls `between`, then mounts again.
    ///
    /// # Errors
    /// It is in use, or the kernel refuses it now.
    pub fn again(
        &mut self,
        what: &Source<'_>,
        between: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.unmount()?;
        between()?;
        *self = Mount::attach(&self.target, what)?;
        Ok(())
    }

    /// Unmounts, waiting a while for the last user to go. A second call does nothing.
    ///
    /// # Errors
    /// It is still in use; it was taken out of the tree and ends with its last user.
    pub fn unmount(&mut self) -> Result<(), Fault> {
        if !self.up {
            return Ok(());
        }
        let start = Instant::now();
        loop {
            let doing = || format!("unmount {}", self.target.display());
            match mount::unmount_at(&self.target) {
                Ok(()) => break,
                Err(e) if is_busy(&e) && start.elapsed() < BUSY_WAIT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(e) => {
                    self.up = false;
                    // Gone from the tree at least, and for good when its last user ends.
                    let _ = mount::unmount_lazily(&self.target);
                    return Err(fault(doing(), &e, "end the process that uses it"));
                }
            }
        }
        self.up = false;
        Ok(())
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = self.unmount();
    }
}

/// Whether an option is among those that mountinfo shows: `compress=zstd` is where
/// `compress=zstd:3` is shown.
pub fn shown(mounted: &Mounted, key: &str, value: Option<&str>) -> bool {
    let all = mounted.options.split(',').chain(mounted.fs_options.split(','));
    all.into_iter().any(|option| match (option.split_once('='), value) {
        (None, None) => option == key,
        (Some((name, is)), Some(value)) => {
            name == key && (is == value || is.starts_with(&format!("{value}:")))
        }
        _ => false,
    })
}

/// Removes an empty directory that is a mount point no more.
pub fn remove_mount_point(target: &Path) -> io::Result<()> {
    match std::fs::remove_dir(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
