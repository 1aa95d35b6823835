//! Waiting until nothing is left to be written: writeback beside a trial would be measured with it.

use std::path::Path;
use std::time::{Duration, Instant};

use iolab_model::result::Fault;

/// Dirty memory that is always there on a living machine (logs) and too little to disturb.
const QUIET_BYTES: u64 = 1 << 20;

/// Whether dirty and writeback pages were gone in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// False: set the flag `NOT_DRAINED`.
    pub drained: bool,
    /// Dirty and writeback bytes of the whole machine at the end; the kernel counts them by
    /// machine, not by file system (/proc/meminfo).
    pub left_bytes: u64,
}

/// Writes the file system of `directory` back and waits, at most `limit` after that, until less
/// than 1 MiB is dirty or under writeback on the machine.
pub fn drain(directory: &Path, limit: Duration) -> Result<Drained, Fault> {
    let doing = || format!("write back the file system of {}", directory.display());
    if let Some(left_bytes) = left_bytes().filter(|left| *left < QUIET_BYTES) {
        return Ok(Drained { drained: true, left_bytes });
    }
    let handle = std::fs::File::open(directory).map_err(|e| Fault::of(doing(), &e))?;
    rustix::fs::syncfs(&handle).map_err(|e| Fault::of(doing(), &e.into()))?;
    let start = Instant::now();
    loop {
        let left_bytes = left_bytes().unwrap_or(0);
        let drained = left_bytes < QUIET_BYTES;
        if drained || start.elapsed() >= limit {
            return Ok(Drained { drained, left_bytes });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn left_bytes() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Dirty and writeback bytes of /proc/meminfo, which gives kB of 1024.
fn parse(meminfo: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    field("Dirty:")?.checked_add(field("Writeback:")?)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn meminfo_is_parsed_and_odd_text_gives_nothing() {
        let text = "MemTotal: 1 kB\nDirty:      12 kB\nWriteback:   4 kB\nWritebackTmp: 9 kB\n";
        assert_eq!(parse(text), Some(16 * 1024));
        for odd in ["", "Dirty: x kB\nWriteback: 1 kB", "Dirty: 99999999999999999999 kB", "Dirty:"]
        {
            assert_eq!(parse(odd), None);
        }
    }
}
