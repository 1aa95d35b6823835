//! Mounts that end with the process: a mount namespace of one's own, and without root a user
//! namespace around it (unshare(2), user_namespaces(7)).

use std::fs;
use std::io;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::thread::UnshareFlags;

/// Takes the calling thread into a mount namespace of its own, in which nothing that is mounted
/// is seen outside (systemd makes `/` shared, so private is said explicitly). Needs `CAP_SYS_ADMIN`.
/// When the thread and all children made after this have ended, every mount in it is gone.
pub fn enter_private_mounts() -> io::Result<()> {
    // SAFETY: CLONE_NEWNS alone shares no descriptors or memory differently than before; the file
    // system context (working directory, umask) becomes this thread's own.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)? };
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// The same without root: inside a new user namespace in which this user is root.
/// The process must have one thread (`EINVAL` else). `EPERM` or `ENOSPC` where an administrator
/// has forbidden it.
pub fn enter_user_namespace() -> io::Result<()> {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    // SAFETY: as above; CLONE_NEWUSER changes credentials only, and of a single thread.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)? };
    // Without this an ordinary user may not map a group (user_namespaces(7)).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1"))?;
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}
