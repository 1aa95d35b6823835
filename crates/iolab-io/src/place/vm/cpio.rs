//! The archive that a kernel unpacks as its first root: cpio, format `newc`
//! (Documentation/driver-api/early-userspace/buffer-format.rst).

use std::collections::BTreeSet;
use std::path::Path;

/// An archive that is being written. Directories above a file are made by themselves.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    made: BTreeSet<String>,
    number: u32,
}

const DIRECTORY: u32 = 0o040_755;
const REGULAR: u32 = 0o100_000;

impl Archive {
    /// An empty one.
    pub fn new() -> Archive {
        Archive::default()
    }

    /// An empty directory.
    pub fn directory(&mut self, path: &str) {
        self.above(path);
        if self.made.insert(path.to_owned()) {
            self.entry(path, DIRECTORY, &[]);
        }
    }

    /// A file; one that is there already stays.
    pub fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        let path = path.trim_start_matches('/');
        self.above(path);
        if self.made.insert(path.to_owned()) {
            self.entry(path, REGULAR | mode, content);
        }
    }

    /// The whole archive.
    pub fn end(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn above(&mut self, path: &str) {
        if let Some(parent) = Path::new(path).parent().and_then(Path::to_str)
            && !parent.is_empty()
        {
            self.directory(parent);
        }
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.number += 1;
        let name_bytes = path.len() as u32 + 1;
        // inode, mode, uid, gid, links, time, size, four device numbers, length of name, checksum
        let fields =
            [self.number, mode, 0, 0, 1, 0, content.len() as u32, 0, 0, 0, 0, name_bytes, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::Archive;

    #[test]
    fn the_tool_of_the_same_name_reads_it() {
        let mut archive = Archive::new();
        archive.file("/a/b/file", 0o755, b"content");
        archive.file("a/b/file", 0o755, b"another");
        archive.directory("empty");
        let bytes = archive.end();
        let mut reader = Command::new("cpio");
        reader.args(["-t", "--quiet"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut reader) = reader.spawn() else {
            return crate::sys::testing::skip("the_tool_of_the_same_name_reads_it", "no cpio");
        };
        reader.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = reader.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "a\na/b\na/b/file\nempty\n");
    }
}
