//! Which control groups this process may make: version 2, version 1, or through systemd.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::place::kind::Missing;
use crate::place::marker::{self, Marker};
use crate::sys::child::try_in_child;
use crate::sys::mount::mounts;

/// How the name of a group of ours begins; process, start time and a number follow.
const PREFIX: &str = "iolab-";

/// How a limit can be set here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CgroupBackend {
    /// Version 2: groups are made below this one.
    V2(PathBuf),
    /// Version 1: groups are made below this one.
    V1(PathBuf),
    /// systemd starts the agent in a scope: [`scope_command`].
    Scope,
}

/// Finds a way by going it: a group is made, limited, entered by a child and removed.
///
/// # Errors
/// None works, with what would.
pub fn cgroup_backend() -> Result<CgroupBackend, Missing> {
    let candidates = candidates();
    let mut refused = None;
    for way in candidates {
        match attempt(&way) {
            Ok(()) => return Ok(way),
            Err(error) => refused = Some(error),
        }
    }
    if scope_works() {
        return Ok(CgroupBackend::Scope);
    }
    let reason = refused.map_or("no memory control groups".into(), |e| format!("refused: {e}"));
    Err(Missing::new(
        format!("no memory limit can be set here ({reason})"),
        "run as root, or in a login session of systemd",
    ))
}

/// The words before the agent's that have systemd limit it.
pub fn scope_command(limit_bytes: u64) -> Vec<String> {
    ["systemd-run", "--user", "--scope", "--quiet", "--collect"]
        .into_iter()
        .map(str::to_owned)
        .chain([
            "-p".to_owned(),
            format!("MemoryMax={limit_bytes}"),
            "-p".to_owned(),
            "MemorySwapMax=0".to_owned(),
            "--".to_owned(),
        ])
        .collect()
}

fn scope_works() -> bool {
    let words = scope_command(super::LEAST_LIMIT_BYTES * 4);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg("true").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The group of this process and those above it, nearest first: a group that holds processes
/// cannot give controllers to its children in version 2, one above it may.
fn candidates() -> Vec<CgroupBackend> {
    let text = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounted = mounts().unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let v1 = controllers.split(',').any(|c| c == "memory");
        if !v1 && !controllers.is_empty() {
            continue;
        }
        let root = mounted.iter().find(|m| match v1 {
            true => m.fs_type == "cgroup" && m.fs_options.split(',').any(|o| o == "memory"),
            false => m.fs_type == "cgroup2",
        });
        let Some(root) = root.map(|m| m.target.clone()) else { continue };
        let own = root.join(path.trim_start_matches('/'));
        let above = own.ancestors().take_while(|p| p.starts_with(&root)).map(Path::to_owned);
        found.extend(
            above.map(|path| if v1 { CgroupBackend::V1(path) } else { CgroupBackend::V2(path) }),
        );
    }
    found
}

fn attempt(way: &CgroupBackend) -> io::Result<()> {
    let group = make_group(way, super::LEAST_LIMIT_BYTES * 4)?;
    let entered = try_in_child(|| fs::write(group.path.join("cgroup.procs"), "0"));
    group.remove()?;
    entered
}

/// Makes a limited group, swap off, and returns its directory. What is set is read back.
pub fn make_group(way: &CgroupBackend, limit_bytes: u64) -> io::Result<Group> {
    let (CgroupBackend::V2(parent) | CgroupBackend::V1(parent)) = way else {
        return Err(io::Error::other("systemd makes this group itself"));
    };
    let marker = Marker::of_this_process();
    let name = |number: u32| format!("{PREFIX}{}-{}-{number}", marker.pid, marker.start_ticks);
    let mut number = 0;
    let group = loop {
        let group = parent.join(name(number));
        match fs::create_dir(&group) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            other => break other.map(|()| group)?,
        }
    };
    // Without it limits are not to be had in the group above; then it is asked for, for as long.
    let given = matches!(way, CgroupBackend::V2(_)) && !group.join("memory.max").exists();
    let group = Group { path: group, given: given.then(|| parent.clone()) };
    limit_group(way, parent, &group.path, limit_bytes)
        .inspect_err(|_| drop(group.remove()))
        .map(|()| group)
}

/// A group that was made.
#[derive(Debug)]
pub struct Group {
    /// Its directory.
    pub path: PathBuf,
    /// The group above, where the controller was given to its children for this one.
    given: Option<PathBuf>,
}

impl Group {
    /// Removes it, and takes back what was given for it.
    ///
    /// # Errors
    /// It cannot be removed. That the controller stays is no fault: something else may use it by now.
    pub fn remove(&self) -> io::Result<()> {
        remove_group(&self.path)?;
        if let Some(parent) = &self.given {
            let _ = take_controller_back(parent);
        }
        Ok(())
    }
}

fn limit_group(
    way: &CgroupBackend,
    parent: &Path,
    group: &Path,
    limit_bytes: u64,
) -> io::Result<()> {
    let limit = limit_bytes.to_string();
    let file = match way {
        CgroupBackend::V1(_) => {
            fs::write(group.join("memory.limit_in_bytes"), &limit)?;
            // Memory and swap together: no more than memory alone. Absent without swap accounting.
            absent_is_fine(write_there(&group.join("memory.memsw.limit_in_bytes"), &limit))?;
            absent_is_fine(write_there(&group.join("memory.swappiness"), "0"))?;
            "memory.limit_in_bytes"
        }
        _ => {
            if !group.join("memory.max").exists() {
                write_there(&parent.join("cgroup.subtree_control"), "+memory")?;
            }
            write_there(&group.join("memory.max"), &limit)?;
            absent_is_fine(write_there(&group.join("memory.swap.max"), "0"))?;
            "memory.max"
        }
    };
    let is = fs::read_to_string(group.join(file))?;
    // The kernel rounds down to whole pages.
    match is.trim().parse::<u64>() {
        Ok(is) if is <= limit_bytes && limit_bytes - is < 1 << 16 => Ok(()),
        _ => Err(io::Error::other(format!("the limit reads back as {}", is.trim()))),
    }
}

/// Writes to a file that is there; creating one is not possible in these file systems, and
/// trying to gives EACCES instead of ENOENT.
fn write_there(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    fs::OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a group once its processes have gone; a killed one may take a moment.
pub fn remove_group(group: &Path) -> io::Result<()> {
    for _ in 0..200 {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => return other,
        }
    }
    fs::remove_dir(group)
}

/// Takes a controller back that was given to the children of a group for ours alone: a group of another
/// iolab that runs may live by it.
pub(super) fn take_controller_back(parent: &Path) -> io::Result<()> {
    let ours = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(PREFIX);
    if fs::read_dir(parent)?.flatten().any(|entry| ours(&entry.file_name())) {
        return Ok(());
    }
    write_there(&parent.join("cgroup.subtree_control"), "-memory")
}

/// Removes groups that a killed iolab has left. Returns their paths.
pub fn sweep_groups() -> Vec<PathBuf> {
    let mut removed = Vec::new();
    for way in candidates() {
        let (CgroupBackend::V2(parent) | CgroupBackend::V1(parent)) = way else { continue };
        let Ok(entries) = fs::read_dir(parent) else { continue };
        let abandoned = entries.flatten().filter(|entry| {
            entry.file_name().to_str().is_some_and(|name| is_abandoned(name) == Some(true))
        });
        removed.extend(abandoned.map(|e| e.path()).filter(|path| remove_group(path).is_ok()));
    }
    removed
}

fn is_abandoned(name: &str) -> Option<bool> {
    let mut fields = name.strip_prefix(PREFIX)?.split('-');
    let (pid, start) = (fields.next()?, fields.next()?.parse::<u64>().ok()?);
    fields.next()?.parse::<u32>().ok()?;
    pid.parse::<u32>().ok()?;
    Some(marker::start_ticks(pid) != Some(start))
}

#[cfg(test)]
mod tests {
    use super::{is_abandoned, scope_command, take_controller_back};
    use crate::place::marker::Marker;

    #[test]
    fn only_names_of_ours_and_only_of_the_dead_are_abandoned() {
        let marker = Marker::of_this_process();
        let (pid, start) = (marker.pid, marker.start_ticks);
        assert_eq!(is_abandoned(&format!("iolab-{pid}-{start}-0")), Some(false));
        assert_eq!(is_abandoned(&format!("iolab-{pid}-{}-3", start - 1)), Some(true));
        for other in ["iolab", "iolab-", "iolab-a-1-0", "iolab-1-2", "user.slice", "iolab-1-2-x"] {
            assert_eq!(is_abandoned(other), None, "{other}");
        }
    }

    /// The group above kept the memory controller for ever after one run with a limit.
    #[test]
    fn the_controller_goes_back_with_the_last_group_of_ours() {
        let above = tempfile::tempdir().unwrap();
        let control = above.path().join("cgroup.subtree_control");
        let said = || std::fs::read_to_string(&control).unwrap();
        std::fs::write(&control, "memory\n").unwrap();
        let other = above.path().join("iolab-1-2-0");
        std::fs::create_dir(&other).unwrap();
        take_controller_back(above.path()).unwrap();
        assert_eq!(said(), "memory\n", "another run has a limit there");
        std::fs::remove_dir(&other).unwrap();
        take_controller_back(above.path()).unwrap();
        assert_eq!(said(), "-memory");
    }

    #[test]
    fn systemd_is_told_the_limit_and_no_swap() {
        let words = scope_command(1 << 20).join(" ");
        assert!(
            words.contains("MemoryMax=1048576") && words.contains("MemorySwapMax=0"),
            "{words}"
        );
        assert!(words.ends_with("--"));
    }
}
