//! Which packages would bring what this machine lacks, by distribution.

use super::fuse_overlay::FUSE_OVERLAYFS;
use super::read_only::{EROFS, SQUASHFS};
use super::tool::Tool;
use super::{FILE_SYSTEMS, vm};

/// A distribution and its command.
const COMMANDS: [(&str, &str); 3] = [
    ("Debian, Ubuntu", "sudo apt-get install"),
    ("Fedora", "sudo dnf install"),
    ("Arch", "sudo pacman -S --needed"),
];

/// Packages by Debian's name whose name is another one in Fedora or Arch.
const OTHER_NAMES: [(&str, &str, &str); 2] = [
    ("nilfs-tools", "nilfs-utils", "nilfs-utils"),
    ("qemu-system-x86", "qemu-system-x86-core", "qemu-system-x86"),
];

/// The command that installs everything a place or a guest lacks here, by distribution; nothing where
/// nothing is missing.
pub fn install_commands() -> Vec<(&'static str, String)> {
    let missing = tools().filter(|tool| tool.find().is_err());
    commands(&missing.map(|tool| tool.package).collect::<Vec<_>>())
}

fn tools() -> impl Iterator<Item = Tool> {
    let made = FILE_SYSTEMS.iter().map(|file_system| file_system.mkfs);
    made.chain([SQUASHFS.tool, EROFS.tool, FUSE_OVERLAYFS, vm::QEMU])
}

fn commands(packages: &[&'static str]) -> Vec<(&'static str, String)> {
    let mut packages = packages.to_vec();
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return Vec::new();
    }
    let named = |at: usize, debian: &'static str| {
        let other = OTHER_NAMES.iter().find(|(name, ..)| *name == debian);
        match (at, other) {
            (1, Some((_, fedora, _))) => *fedora,
            (2, Some((.., arch))) => *arch,
            _ => debian,
        }
    };
    let command = |(at, (who, command)): (usize, &(&'static str, &str))| {
        let names: Vec<&str> = packages.iter().map(|package| named(at, package)).collect();
        (*who, format!("{command} {}", names.join(" ")))
    };
    COMMANDS.iter().enumerate().map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::{commands, tools};

    #[test]
    fn each_package_is_named_once_in_the_words_of_each_distribution() {
        let said = commands(&["xfsprogs", "nilfs-tools", "xfsprogs"]);
        assert_eq!(said[0].1, "sudo apt-get install nilfs-tools xfsprogs");
        assert_eq!(said[1].1, "sudo dnf install nilfs-utils xfsprogs");
        assert_eq!(said[2].1, "sudo pacman -S --needed nilfs-utils xfsprogs");
        assert!(commands(&[]).is_empty());
        assert!(tools().any(|tool| tool.command == "mkfs.jfs"));
    }
}
