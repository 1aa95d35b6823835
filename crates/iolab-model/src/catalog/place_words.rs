//! Which words of a person's go to a tool that makes a file system, or to the kernel that mounts it.
//! As root a word that names a device or a path is a device formatted, or a directory written to,
//! that nobody allowed: none is passed on.

use super::place_error::{PlaceError, wrong};

/// Keys of sub-options by which tools are told of a device or a file: `-J device=…` (mke2fs(8)),
/// `-l logdev=…`, `-d name=…` (mkfs.xfs(8)).
const TOOL_KEYS: [&str; 6] = ["device", "file", "logdev", "name", "rootdir", "rtdev"];

/// Keys of mount options that name a device, a file or a directory: ext4(5), xfs(5), btrfs(5), the
/// kernel's overlayfs.rst and erofs.rst, tmpfs has none. A `+` may follow (`lowerdir+=…`).
const MOUNT_KEYS: [&str; 16] = [
    "cache_fscache",
    "datadir",
    "device",
    "domain_id",
    "fd",
    "fsid",
    "journal_dev",
    "journal_path",
    "logdev",
    "loop",
    "lowerdir",
    "rtdev",
    "source",
    "subvolrootid",
    "upperdir",
    "workdir",
];

const NO_PATH: &str = "names a path, and none is passed on: it could be a disk of yours";

/// Checks the words for the tool that makes a file system.
///
/// # Errors
/// A word that could name a device or a path.
pub(super) fn check_tool_words(words: &[String]) -> Result<(), PlaceError> {
    let mut takes_value = false;
    for word in words {
        let is_option = word.starts_with('-') && word != "-" && word != "--";
        if word.contains('/') {
            return Err(wrong(word, NO_PATH, "leave it out; a device is --place device:PATH"));
        }
        if !is_option && !takes_value {
            let problem = "is no option: the tool would take it for the name of a device";
            return Err(wrong(word, problem, "write options alone, as in mkfs=[-O ^has_journal]"));
        }
        let text = if is_option { word.trim_start_matches('-') } else { word };
        for part in text.split(',') {
            let mut key = part.split('=').next().unwrap_or_default();
            // `-Jdevice=x` is `-J device=x`.
            if is_option && !word.starts_with("--") {
                key = key.get(1..).unwrap_or_default();
            }
            if part.contains('=') && TOOL_KEYS.contains(&key) {
                return Err(wrong(word, NO_PATH, format!("leave {key}= out")));
            }
        }
        takes_value = is_option && !word.contains('=');
    }
    Ok(())
}

/// Checks one mount option.
///
/// # Errors
/// It names a device, a file or a directory.
pub(super) fn check_mount_option(key: &str, value: Option<&str>) -> Result<(), PlaceError> {
    let name = key.trim_end_matches('+');
    if MOUNT_KEYS.contains(&name) || value.is_some_and(|value| value.contains('/')) {
        return Err(wrong(key, NO_PATH, format!("leave {key}= out")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_mount_option, check_tool_words};

    fn words(text: &str) -> Result<(), String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        check_tool_words(&words).map_err(|error| error.to_string())
    }

    /// `btrfs:mkfs=[/dev/sdb]` once formatted that disk.
    #[test]
    fn no_word_for_a_tool_names_a_device() {
        for text in [
            "-O ^has_journal,^extent",
            "-b 1024 -O ^metadata_csum",
            "-N 700",
            "--csum xxhash",
            "--csum=xxhash",
            "-zlz4",
            "-K -m reflink=0,crc=1",
            "-E lazy_itable_init=0",
        ] {
            assert_eq!(words(text), Ok(()), "{text}");
        }
        for text in [
            "/dev/sdb",
            "-K /dev/sdb",
            "sdb",
            "-O x sdb",
            "--csum=x sdb",
            "-J device=UUID=1",
            "-Jdevice=LABEL=x",
            "-l logdev=sdb,size=1",
            "-d name=x",
            "-d agcount=4,name=x",
            "-r ../data",
            "--rootdir=data",
            "- sdb",
            "-- sdb",
        ] {
            assert!(words(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_mount_option_names_a_path() {
        let check = |text: &str| {
            let (key, value) = match text.split_once('=') {
                Some((key, value)) => (key, Some(value)),
                None => (text, None),
            };
            check_mount_option(key, value).is_ok()
        };
        for text in [
            "noatime",
            "nodev",
            "nodiratime",
            "dirsync",
            "data=writeback",
            "compress=zstd:3",
            "redirect_dir=on",
            "logbsize=256k",
            "commit=30",
            "huge=always",
        ] {
            assert!(check(text), "{text}");
        }
        for text in [
            "upperdir=/x",
            "upperdir=x",
            "lowerdir+=x",
            "workdir=x",
            "device=sdb",
            "device=/dev/sdb",
            "logdev=sdb",
            "journal_path=x",
            "usrjquota=../x",
            "loop",
        ] {
            assert!(!check(text), "{text}");
        }
    }
}
