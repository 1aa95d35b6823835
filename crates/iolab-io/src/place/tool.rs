//! The distribution's own tools: found, run, and quoted where they fail.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::fault;
use super::missing::Missing;
use crate::sys::child::dies_with_us;
use iolab_model::result::Fault;

/// Where tools are on a distribution, beside PATH: an ordinary user's lacks sbin.
const SBIN: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// A tool and the package that has it.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Its name: `mkfs.ext4`.
    pub command: &'static str,
    /// Its package in Debian.
    pub package: &'static str,
}

impl Tool {
    /// Where it is.
    ///
    /// # Errors
    /// It is not installed; the package is named.
    pub fn find(&self) -> Result<PathBuf, Missing> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = [path, OsString::from(SBIN)];
        let found = all.iter().flat_map(|list| std::env::split_paths(list)).find_map(|dir| {
            let file = dir.join(self.command);
            let about = std::fs::metadata(&file).ok()?;
            (about.is_file() && about.permissions().mode() & 0o111 != 0).then_some(file)
        });
        found.ok_or_else(|| {
            let remedy = format!("install the package {}", self.package);
            Missing::new(format!("{} is not installed", self.command), remedy)
        })
    }

    /// Runs it to its end and returns the words of the command.
    ///
    /// # Errors
    /// It is missing, or failed: with what it said.
    pub fn run(&self, arguments: &[&OsStr]) -> Result<Vec<String>, Fault> {
        let words: Vec<String> = std::iter::once(self.command.to_owned())
            .chain(arguments.iter().map(|word| word.to_string_lossy().into_owned()))
            .collect();
        let doing = || format!("run {}", words.join(" "));
        let path = self.find().map_err(|missing| missing.fault(doing()))?;
        let mut command = Command::new(path);
        command.args(arguments).stdin(Stdio::null()).env("LC_ALL", "C");
        // Where no relative name is anybody's file or device.
        command.current_dir("/proc/self/task");
        let output = dies_with_us(&mut command).output().map_err(|e| fault(doing(), &e, ""))?;
        if output.status.success() {
            return Ok(words);
        }
        let said = [output.stderr, output.stdout].concat();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> =
            said.lines().map(str::trim).filter(|line| !line.is_empty()).take(4).collect();
        let cause = format!("{}: {}", output.status, lines.join(" / "));
        Err(Fault::new(doing(), cause))
    }
}
