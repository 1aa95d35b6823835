//! What works in a user namespace, tried in a child.

use std::ffi::OsStr;

use super::kind::Missing;
use crate::sys::child::try_in_child;
use crate::sys::mount::mount;
use crate::sys::namespace::enter_user_namespace;

/// Whether this user may mount overlayfs (Linux 5.11, unless an administrator or a distribution
/// forbids it). The layers of the attempt are in a tmpfs of the child's own.
///
/// # Errors
/// What forbids it.
pub fn overlay_works() -> Result<(), Missing> {
    let attempt = || {
        enter_user_namespace()?;
        let here = std::path::Path::new("/tmp");
        mount("tmpfs", OsStr::new("iolab"), here, &[]).map_err(|e| e.error)?;
        for name in ["l", "u", "w"] {
            std::fs::create_dir(here.join(name))?;
        }
        let option = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
        let options = [
            option("lowerdir", "/tmp/l"),
            option("upperdir", "/tmp/u"),
            option("workdir", "/tmp/w"),
            ("userxattr".to_owned(), None),
        ];
        mount("overlay", OsStr::new("iolab"), &here.join("l"), &options).map_err(|e| e.error)
    };
    try_in_child(attempt).map_err(|error| {
        Missing::new(
            format!("no overlayfs in a user namespace here ({error})"),
            "run as root, or use fuse-overlayfs",
        )
    })
}
