//! The first process of the guest: it mounts what a program needs, loads the modules, opens the
//! port, and says that it is there.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::modules::ORDER;
use crate::sys::mount::mount;

/// Name of the port, on both sides.
pub const PORT_NAME: &str = "iolab";
/// How the first line through the port begins; the kernel's version follows.
pub const GREETING: &str = "iolab-guest";
const PORT_LIMIT: Duration = Duration::from_secs(60);

/// The open port.
#[derive(Debug)]
pub struct Port {
    /// Both directions.
    pub file: File,
}

/// Makes this process the guest's init and returns the port, greeted. Errors go to the console.
///
/// # Errors
/// Whatever is needed does not work; the guest should end.
pub fn become_init() -> io::Result<Port> {
    for (fs_type, target) in
        [("devtmpfs", "/dev"), ("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp")]
    {
        mount(fs_type, OsStr::new(fs_type), Path::new(target), &[])
            .map_err(|e| io::Error::other(format!("{target}: {e}")))?;
    }
    for module in fs::read_to_string(Path::new("/").join(ORDER))?.lines() {
        if let Err(error) = load(Path::new(module)) {
            eprintln!("iolab guest: {module}: {error}");
        }
    }
    let port = find_port()?;
    let mut file = OpenOptions::new().read(true).write(true).open(port)?;
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    file.write_all(format!("{GREETING} {release}\n").as_bytes())?;
    Ok(Port { file })
}

fn load(module: &Path) -> io::Result<()> {
    let file = File::open(module)?;
    match rustix::system::finit_module(&file, c"", 0) {
        // Built into the kernel after all, or loaded by another one.
        Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn find_port() -> io::Result<PathBuf> {
    let start = Instant::now();
    loop {
        for entry in fs::read_dir("/sys/class/virtio-ports").into_iter().flatten().flatten() {
            let name = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            let device = Path::new("/dev").join(entry.file_name());
            if name.trim() == PORT_NAME && device.exists() {
                return Ok(device);
            }
        }
        if start.elapsed() > PORT_LIMIT {
            return Err(io::Error::other("the port did not appear"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends the guest: nothing is left to be written that anybody would read.
pub fn end() -> ! {
    rustix::fs::sync();
    let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    // Only a process that is not init gets here.
    std::process::exit(1)
}
