//! For tests: the same test again, as another user or among other mounts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// `nobody` on every distribution we know.
pub const NOBODY: u32 = 65534;
const TEST: &str = "IOLAB_TEST_AGAIN";
const DIRECTORY: &str = "IOLAB_TEST_DIRECTORY";

/// Ends this process as a kill does: nothing of it runs any more.
///
/// # Errors
/// What kill(2) answers.
pub fn die() -> Result<(), rustix::io::Errno> {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
}

/// Prints why a test does nothing here.
pub fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
}

/// Whether this process is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A directory on the disk (/tmp may be tmpfs) in which anyone may make files of their own; removed
/// when dropped.
pub fn open_directory() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    dir
}

/// Runs the test named `test` again as `nobody`, within a directory that `prepare` has filled.
/// `Some(directory)`: this is the second run. `None`: it is done, or was skipped.
pub fn as_nobody(test: &str, prepare: impl FnOnce(&Path)) -> Option<PathBuf> {
    if let Some(directory) = inside(test) {
        return Some(directory);
    }
    if !is_root() {
        skip(test, "needs root to become another user");
        return None;
    }
    let directory = open_directory();
    prepare(directory.path());
    let exe = copy_of_this_binary(directory.path());
    let (id, mut command) = (NOBODY.to_string(), Command::new("setpriv"));
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]).arg(exe);
    again(&mut command, test, directory.path());
    None
}

/// Runs the test again in a private mount namespace in which `script` has been run as root.
pub fn among_mounts(test: &str, script: &str) -> Option<PathBuf> {
    if inside(test).is_none() && !is_root() {
        skip(test, "needs root to mount");
        return None;
    }
    in_shell(test, &["unshare", "-m", "--propagation", "private", "sh", "-ec"], script)
}

/// The same beside a directory `m` where ext4 without a journal is mounted: of so many mebibytes in block
/// groups of 1024 inodes, with these directories.
pub fn among_block_groups(test: &str, mebibytes: u32, directories: &str) -> Option<PathBuf> {
    let inodes = mebibytes * 256;
    let script = format!(
        "truncate -s {mebibytes}M i; mkdir m; \
         mkfs.ext4 -q -F -O ^has_journal,^flex_bg -g 1024 -b 4096 -N {inodes} i || exit 77; \
         mount -o loop i m || exit 77; mkdir {directories}"
    );
    among_mounts(test, &script)
}

/// Runs the test again under the limits that `script` has set.
pub fn under_limits(test: &str, script: &str) -> Option<PathBuf> {
    in_shell(test, &["sh", "-ec"], script)
}

/// A line for the end of a script that goes on as `nobody`.
pub const GO_ON_AS_NOBODY: &str = "cp \"$0\" test-binary
    exec setpriv --reuid 65534 --regid 65534 --clear-groups ./test-binary \"$@\"";

/// `script` runs in the directory (sh -e); exit status 77 says that the machine lacks something.
fn in_shell(test: &str, shell: &[&str], script: &str) -> Option<PathBuf> {
    if let Some(directory) = inside(test) {
        return Some(directory);
    }
    let directory = open_directory();
    let line = format!("cd \"${DIRECTORY}\"\n{script}\nexec \"$0\" \"$@\"");
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg(line).arg(std::env::current_exe().unwrap());
    again(&mut command, test, directory.path());
    None
}

/// From now on this thread gets `errno` from one system call, as a container's filter gives it.
/// False where no filter can be set.
pub fn forbid(call: libc::c_long, errno: i32) -> bool {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUALS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // The number of the call is the first word of seccomp_data (seccomp(2)).
    let mut filter = [
        step(LOAD, 0, 0, 0),
        step(EQUALS, 0, 1, call as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: both calls change this thread only; the kernel copies the program, which is live.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// A file mapped and touched, so that its pages cannot be evicted while this lives.
#[derive(Debug)]
pub struct HeldMapped {
    at: *mut std::ffi::c_void,
    bytes: usize,
}

impl HeldMapped {
    /// Maps the first `bytes` bytes and reads one of each page.
    pub fn new(file: &std::fs::File, bytes: usize) -> HeldMapped {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice, never accessed from here.
        let at = unsafe { mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, flags, file, 0) };
        HeldMapped { at: at.unwrap(), bytes }
    }
}

impl Drop for HeldMapped {
    fn drop(&mut self) {
        // SAFETY: unmaps what `new` has mapped, once.
        let _ = unsafe { rustix::mm::munmap(self.at, self.bytes) };
    }
}

fn inside(test: &str) -> Option<PathBuf> {
    let again = std::env::var_os(TEST)?;
    (again == test).then(|| PathBuf::from(std::env::var_os(DIRECTORY).unwrap()))
}

/// The build directory may be closed to others. Copied by another process: a child that another
/// test forks while this one writes would hold it open, and it could not be run (`ETXTBSY`).
fn copy_of_this_binary(directory: &Path) -> PathBuf {
    let copy = directory.join("test-binary");
    let mut cp = Command::new("cp");
    cp.arg("--").arg(std::env::current_exe().unwrap()).arg(&copy);
    assert!(cp.status().unwrap().success());
    let mut chmod = Command::new("chmod");
    assert!(chmod.arg("755").arg(&copy).status().unwrap().success());
    copy
}

fn again(command: &mut Command, test: &str, directory: &Path) {
    command.args(["--exact", test, "--nocapture"]);
    command.env(TEST, test).env(DIRECTORY, directory);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) {
        return skip(test, errors.trim());
    }
    assert!(output.status.success(), "{test} in its other setting:\n{said}\n{errors}");
    assert!(said.contains("1 passed"), "no test is named {test}:\n{said}");
    for line in errors.lines().filter(|line| line.starts_with("SKIP")) {
        eprintln!("{line}");
    }
}
