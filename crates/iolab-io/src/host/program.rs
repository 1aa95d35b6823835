//! Programs of this machine: where they are, and which version.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sys::child::dies_with_us;

/// Longest that a program may think about its version.
const VERSION_LIMIT: Duration = Duration::from_secs(2);
const VERSION_BYTES: u64 = 4096;

/// Where a program is: by its path, or in PATH. `None`: it cannot be run.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        let about = std::fs::metadata(path).ok()?;
        (about.is_file() && about.permissions().mode() & 0o111 != 0).then_some(())
    };
    if name.contains('/') {
        let path = PathBuf::from(name);
        return runs(&path).map(|()| path);
    }
    let list = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&list).map(|dir| dir.join(name)).find(|path| runs(path).is_some())
}

/// The first line that a program prints when asked for its version.
pub fn version_line(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = dies_with_us(&mut command).spawn().ok()?;
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().ok()? {
            break status;
        }
        if started.elapsed() > VERSION_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if !status.success() {
        return None;
    }
    // It has ended: what it printed lies in the pipe, and no more comes.
    let mut said = Vec::new();
    child.stdout.take()?.take(VERSION_BYTES).read_to_end(&mut said).ok()?;
    let said = String::from_utf8_lossy(&said);
    let line: String = said.lines().next()?.chars().filter(|c| !c.is_control()).collect();
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{find_program, version_line};

    #[test]
    fn programs_are_found_and_say_their_version() {
        let sh = find_program("sh").unwrap();
        assert_eq!(find_program(sh.to_str().unwrap()), Some(sh));
        assert_eq!(find_program("no-such-program"), None);
        assert_eq!(find_program("/etc/passwd"), None);
        let cp = version_line(&find_program("cp").unwrap()).unwrap();
        assert!(cp.contains("cp") && !cp.contains('\n'), "{cp}");
        assert_eq!(version_line(&find_program("false").unwrap()), None);
    }
}
