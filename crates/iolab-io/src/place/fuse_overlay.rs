//! fuse-overlayfs: an overlay served by a process, which ends with us.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::fault;
use super::kind::Missing;
use super::mounts::Mount;
use super::tool::Tool;
use crate::sys::child::dies_with_us;
use crate::sys::mount::mounted_at;
use iolab_model::result::Fault;

/// The program.
pub const FUSE_OVERLAYFS: Tool = Tool { command: "fuse-overlayfs", package: "fuse-overlayfs" };
const LIMIT: Duration = Duration::from_secs(10);

/// The running program.
#[derive(Debug)]
pub struct Server {
    child: Child,
}

impl Server {
    /// Starts it over lower, upper and work, and waits until it has mounted `target`.
    ///
    /// # Errors
    /// It ended, with what it said, or did not mount in ten seconds.
    pub fn start(layers: [&Path; 3], target: &Path) -> Result<(Server, Mount), Fault> {
        let doing = || format!("mount fuse-overlayfs at {}", target.display());
        // It resolves links before it splits at these characters, and has no way to quote them.
        if layers.iter().any(|path| path.as_os_str().as_bytes().iter().any(|b| b",:\\".contains(b)))
        {
            let reason = "fuse-overlayfs cannot work in a path with a comma, colon or backslash";
            return Err(Missing::new(reason, "name another directory").fault(doing()));
        }
        let program = FUSE_OVERLAYFS.find().map_err(|missing| missing.fault(doing()))?;
        let mut options = OsString::new();
        for (key, path) in ["lowerdir=", ",upperdir=", ",workdir="].iter().zip(layers) {
            options.push(key);
            options.push(path);
        }
        let mut command = Command::new(program);
        command.args(["-f", "-o"]).arg(&options).arg(target);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = dies_with_us(&mut command).spawn().map_err(|e| fault(doing(), &e, ""))?;
        let mut server = Server { child };
        let start = Instant::now();
        while mounted_at(target).ok().flatten().is_none() {
            let ended = server.child.try_wait().is_ok_and(|status| status.is_some());
            if ended || start.elapsed() > LIMIT {
                let said = server.last_words();
                return Err(Missing::new(format!("it did not mount: {said}"), "see its manual")
                    .fault(doing()));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok((server, Mount::adopt(target)?))
    }

    fn last_words(&mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = stderr.read_to_string(&mut said);
        }
        let lines = said.lines().filter(|line| !line.starts_with("unknown argument ignored"));
        lines.collect::<Vec<_>>().join(" / ")
    }

    /// Waits for its end, which unmounting brings.
    ///
    /// # Errors
    /// It had to be killed.
    pub fn end(mut self) -> Result<(), Fault> {
        let start = Instant::now();
        while self.child.try_wait().is_ok_and(|status| status.is_none()) {
            if start.elapsed() > LIMIT {
                return Err(Missing::new("it did not end with its mount", "it was killed")
                    .fault("end fuse-overlayfs"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
