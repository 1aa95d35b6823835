//! Programs of this machine: where they are, and which version.

use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::sys::child::dies_with_us;

/// Longest that a program may think about its version.
const VERSION_LIMIT: Duration = Duration::from_secs(2);
const VERSION_BYTES: u64 = 4096;
/// A directory in which nobody can make a file (proc(5)).
const NOTHING_THERE: &str = "/proc/self/fdinfo";

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

/// Where a distribution has its programs; who may write there is root.
const PACKAGED: [&str; 6] =
    ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/nix/store"];

/// Whether a program lies where a distribution puts it, and nobody but root may change it.
pub fn is_packaged(program: &Path) -> bool {
    let Ok(program) = program.canonicalize() else { return false };
    let kept = |path: &Path| {
        path.metadata().is_ok_and(|about| about.uid() == 0 && about.mode() & 0o022 == 0)
    };
    PACKAGED.iter().any(|place| program.starts_with(place)) && kept(&program)
}

/// The first line that a program prints when asked for its version. Nothing of the person's lies
/// where it is started: what does not know the word may take it for the name of a file.
pub fn version_line(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.current_dir(NOTHING_THERE);
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
    use std::os::unix::fs::PermissionsExt;

    use super::{find_program, is_packaged, version_line};

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

    /// A script of the person's was run with `--version`, where they stood: it took that for the
    /// name of what it should make.
    #[test]
    fn a_program_of_the_persons_is_not_packaged() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("cp");
        std::fs::write(&script, "#!/bin/sh\necho 1.0\n: >made\n").unwrap();
        assert!(!is_packaged(&script) && !is_packaged(std::path::Path::new("/no/such")));
        assert!(is_packaged(&find_program("cp").unwrap()));
        // Whatever is asked is asked where it can make nothing.
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(version_line(&script), None, "it failed to make its file");
        assert!(!std::path::Path::new("made").exists());
    }
}
