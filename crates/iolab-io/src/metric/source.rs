//! Where the counters come from: files of /proc that stay open, and `getrusage`.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::sys::usage::{Usage, usage};

/// The sources, open.
#[derive(Debug)]
pub struct Sources {
    io: Option<File>,
    schedstat: Option<File>,
    stat: Option<File>,
    io_pressure: Option<File>,
    /// `/sys/dev/block/…/stat` of the disk or partition below; a file system on several, or on none,
    /// has no such number.
    disk: Option<File>,
}

/// Counters at one moment; `None` where the machine does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Faults and switches of this process.
    pub usage: Usage,
    /// Bytes read from devices for this process, its ended threads included.
    pub device_read_bytes: Option<u64>,
    /// Bytes that it made dirty or wrote past the cache: what becomes of them is not known here.
    pub dirtied_bytes: Option<u64>,
    /// Bytes that the disk delivered, to whomever.
    pub disk_read_bytes: Option<u64>,
    /// Bytes that the disk took in, journal and metadata included.
    pub disk_write_bytes: Option<u64>,
    /// Time spent ready but not running.
    pub run_queue_wait_ns: Option<u64>,
    /// Ticks stolen and ticks in all, over all processors.
    pub steal_and_all_ticks: Option<(u64, u64)>,
    /// Time that at least one task of the machine waited for I/O.
    pub io_pressure_ns: Option<u64>,
}

impl Sources {
    /// Opens what this machine has; `on` lies on the disk that is looked at.
    pub fn open(on: &Path) -> Sources {
        let disk = std::fs::metadata(on).ok().and_then(|about| {
            let (major, minor) = (rustix::fs::major(about.dev()), rustix::fs::minor(about.dev()));
            File::open(format!("/sys/dev/block/{major}:{minor}/stat")).ok()
        });
        Sources {
            disk,
            io: File::open("/proc/self/io").ok(),
            schedstat: File::open("/proc/self/schedstat").ok(),
            stat: File::open("/proc/stat").ok(),
            io_pressure: File::open("/proc/pressure/io").ok(),
        }
    }

    /// Reads every counter into memory of the stack, the process's own first.
    pub fn read(&self) -> Counters {
        let mut counters = Counters { usage: usage(), ..Counters::default() };
        let mut buffer = [0; 512];
        if let Some(text) = text_of(self.io.as_ref(), &mut buffer) {
            counters.device_read_bytes = labelled(text, b"read_bytes: ");
            counters.dirtied_bytes = labelled(text, b"write_bytes: ");
        }
        if let Some(text) = text_of(self.disk.as_ref(), &mut buffer) {
            // Sectors of 512 bytes, whatever the disk's are (the kernel's admin-guide/iostats).
            let bytes = |field| nth_number(text, field)?.checked_mul(512);
            (counters.disk_read_bytes, counters.disk_write_bytes) = (bytes(2), bytes(6));
        }
        if let Some(text) = text_of(self.schedstat.as_ref(), &mut buffer) {
            counters.run_queue_wait_ns = nth_number(text, 1);
        }
        if let Some(text) = text_of(self.stat.as_ref(), &mut buffer) {
            counters.steal_and_all_ticks = ticks(text);
        }
        if let Some(text) = text_of(self.io_pressure.as_ref(), &mut buffer) {
            counters.io_pressure_ns = stalled_ns(text);
        }
        counters
    }
}

/// The share of processor time stolen between two readings; `None` where the window was shorter
/// than a tick.
pub fn steal_share(start: &Counters, finish: &Counters) -> Option<f64> {
    let (steal, all) = start.steal_and_all_ticks?;
    let (steal_end, all_end) = finish.steal_and_all_ticks?;
    let ticks = all_end.checked_sub(all).filter(|ticks| *ticks > 0)?;
    Some(steal_end.checked_sub(steal)? as f64 / ticks as f64)
}

fn text_of<'a>(file: Option<&File>, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let count = file?.read_at(buffer, 0).ok()?;
    buffer.get(..count)
}

/// The number after a label at the start of a line.
fn labelled(text: &[u8], label: &[u8]) -> Option<u64> {
    let line = text.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(label))?;
    number(line)
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn nth_number(text: &[u8], n: usize) -> Option<u64> {
    number(text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).nth(n)?)
}

/// The first line of /proc/stat: `cpu user nice system idle iowait irq softirq steal guest …`.
/// Guest time is part of user time already (proc(5)).
fn ticks(text: &[u8]) -> Option<(u64, u64)> {
    let line = text.split(|b| *b == b'\n').next()?.strip_prefix(b"cpu ")?;
    let mut all = 0_u64;
    for n in 0..8 {
        all = all.checked_add(nth_number(line, n)?)?;
    }
    Some((nth_number(line, 7)?, all))
}

/// `some avg10=… avg60=… avg300=… total=MICROSECONDS` of a pressure file.
fn stalled_ns(text: &[u8]) -> Option<u64> {
    let line = text.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(b"some "))?;
    let total = line.split(|b| *b == b' ').find_map(|word| word.strip_prefix(b"total="))?;
    number(total)?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Counters, labelled, nth_number, stalled_ns, steal_share, ticks};

    #[test]
    fn the_kernels_files_are_understood() {
        let io = b"rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 3\n";
        assert_eq!(labelled(io, b"read_bytes: "), Some(4096));
        assert_eq!(labelled(io, b"write_bytes: "), Some(8192));
        assert_eq!(nth_number(b"123 456 7\n", 1), Some(456));
        let stat = b"cpu  10 20 30 40 50 60 70 80 5 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(ticks(stat), Some((80, 360)));
        let psi = b"some avg10=0.00 avg60=0.12 avg300=0.00 total=3677\nfull avg10=0 total=1\n";
        assert_eq!(stalled_ns(psi), Some(3_677_000));
    }

    #[test]
    fn a_window_without_a_tick_has_no_share() {
        let at = |steal, all| Counters {
            steal_and_all_ticks: Some((steal, all)),
            ..Counters::default()
        };
        assert_eq!(steal_share(&at(1, 100), &at(1, 100)), None);
        assert_eq!(steal_share(&at(1, 100), &at(3, 200)), Some(0.02));
        assert_eq!(steal_share(&at(3, 100), &at(1, 200)), None, "a counter that went back");
    }

    proptest! {
        #[test]
        fn odd_text_never_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (labelled(&text, b"read_bytes: "), nth_number(&text, 1), ticks(&text), stalled_ns(&text));
            let lines = [b"cpu ".as_slice(), &text].concat();
            let _ = ticks(&lines);
        }
    }
}
