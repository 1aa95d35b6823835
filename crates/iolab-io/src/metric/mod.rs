//! What is counted beside time: one row each. Counters are read before the first clock read of a
//! trial and after the last; between them nothing is opened, allocated or parsed.

mod source;

use std::path::Path;

use iolab_model::catalog::{Better, MetricInfo, Unit};
use iolab_model::result::Metrics;
use source::{Counters, Sources};

/// A metric: what it is, and how it follows from the counters at both ends of the window.
#[derive(Debug)]
pub struct Metric {
    /// Name, summary, unit, which way is better.
    pub info: MetricInfo,
    /// `None` where this machine does not count it or the window is too short for it.
    change: fn(&Counters, &Counters) -> Option<f64>,
}

/// A counter that only grows.
macro_rules! grows {
    ($id:literal, $unit:ident, $summary:literal, $read:expr) => {
        Metric {
            info: MetricInfo {
                id: $id,
                summary: $summary,
                unit: Unit::$unit,
                better: Better::Lower,
            },
            change: |start, finish| {
                let read: fn(&Counters) -> Option<u64> = $read;
                Some(read(finish)?.checked_sub(read(start)?)? as f64)
            },
        }
    };
}

/// What a workload measures itself: no counter shows it.
macro_rules! given {
    ($id:literal, $unit:ident, $summary:literal) => {
        given!($id, $unit, $summary; Lower)
    };
    ($id:literal, $unit:ident, $summary:literal; $better:ident) => {
        Metric {
            info: MetricInfo {
                id: $id,
                summary: $summary,
                unit: Unit::$unit,
                better: Better::$better,
            },
            change: |_, _| None,
        }
    };
}

/// Every metric. A new one is a row here, and a source where none has it yet.
pub const METRICS: &[Metric] = &[
    grows!("minor_faults", Count, "page faults that needed no device", |c| Some(
        c.usage.minor_faults
    )),
    grows!("major_faults", Count, "page faults that waited for the device", |c| Some(
        c.usage.major_faults
    )),
    grows!("voluntary_switches", Count, "times it gave the processor up", |c| Some(
        c.usage.voluntary_switches
    )),
    grows!("involuntary_switches", Count, "times the processor was taken away", |c| Some(
        c.usage.involuntary_switches
    )),
    grows!("device_read_bytes", Bytes, "bytes the device delivered for it", |c| c
        .device_read_bytes),
    grows!("dirtied_bytes", Bytes, "bytes it made dirty, or wrote past the cache", |c| c
        .dirtied_bytes),
    grows!("disk_read_bytes", Bytes, "bytes that the disk delivered, whoever asked", |c| c
        .disk_read_bytes),
    grows!("disk_write_bytes", Bytes, "bytes that the disk took in, whoever wrote", |c| c
        .disk_write_bytes),
    grows!(
        "run_queue_wait_ns",
        Nanoseconds,
        "time its main thread was ready and waited for a processor",
        |c| c.run_queue_wait_ns
    ),
    grows!(
        "io_pressure_ns",
        Nanoseconds,
        "time that something on the machine waited for I/O",
        |c| c.io_pressure_ns
    ),
    Metric {
        info: MetricInfo {
            id: "steal_share",
            summary: "share of processor time that the host took",
            unit: Unit::Ratio,
            better: Better::Lower,
        },
        change: source::steal_share,
    },
    given!("startup_ns", Nanoseconds, "a process that does nothing, started beside a command"),
    Metric {
        info: MetricInfo {
            id: "own_bytes_per_second",
            summary: "what the command says of itself",
            unit: Unit::Bytes,
            better: Better::Higher,
        },
        change: |_, _| None,
    },
    given!("return_ns", Nanoseconds, "until the last write call had returned"),
    given!("close_ns", Nanoseconds, "until the written file was closed"),
    given!("durable_ns", Nanoseconds, "until the written data were durable"),
    given!("namespace_ns", Nanoseconds, "until the file's name was durable too"),
    given!("sync_ns", Nanoseconds, "a sync, with the writes before it where it follows each block"),
    given!("pipe_bytes", Bytes, "size of the pipe that a copy went through"),
    given!("ns_per_byte", Nanoseconds, "time for each byte written"),
    given!("rate_last", Count, "files a second, until the last worker had ended"; Higher),
    given!("rate_first", Count, "files a second, until the first worker had ended"; Higher),
    given!("rate_sum", Count, "files a second, each worker's own rate added up"; Higher),
    given!("processor_ns_per_file", Nanoseconds, "processor time for each file"),
    given!("failed_operations", Count, "files that could not be worked on"),
    given!("checked_files", Count, "files whose content was compared after the trial"; Higher),
    given!("checked_bytes", Bytes, "bytes that were compared after the trial"; Higher),
    given!(
        "limit_refaults",
        Count,
        "pages that came back after a memory limit had pushed them out"
    ),
    given!("limit_peak_bytes", Bytes, "most memory that was charged to a memory limit"),
    given!("direct_calls", Count, "reads and writes of a replay that went past the page cache"; Higher),
    given!("clones_left_out", Count, "refused clones of a replay that would be made here"),
    given!(
        "clock_pair_ns",
        Nanoseconds,
        "what timing a call adds to it, taken off each call of a replay"
    ),
    given!("direct_bytes", Bytes, "bytes of them"; Higher),
    given!("copy_up_inodes", Count, "inodes that came to the upper layer of an overlay"),
    given!("copy_up_bytes", Bytes, "data that came to the upper layer of an overlay"),
    given!("copy_up_allocated_bytes", Bytes, "space that they take there"),
    given!("copy_up_metacopies", Count, "files of which metadata alone came to the upper layer"),
    given!("copy_up_whiteouts", Count, "names of the lower layer that were covered"),
    given!(
        "made_again",
        Count,
        "times a trial was done again: it met freed inodes that ext4 held back"
    ),
    given!("ranks_first_ns", Nanoseconds, "from the barrier until the first rank was done"),
    given!("ranks_spread", Ratio, "time of the last rank to that of the first"),
    given!("ranks_slowest", Count, "the rank that was done last"),
    given!("ranks_sum_rate", Count, "work a second, each rank's own rate added up"; Higher),
    given!("nodes_least_rate", Count, "work a second of the slowest machine"; Higher),
    given!("nodes_most_rate", Count, "work a second of the fastest machine"; Higher),
    given!("barrier_ns", Nanoseconds, "what a barrier costs the last rank that comes to it"),
    given!("barrier_skew_ns", Nanoseconds, "from the first to the last rank that left the barrier"),
    given!("barrier_to_call_ns", Nanoseconds, "from there to the first call, at the last rank"),
    // With --latency; of many files by their steps, of which a stat and a remove have one, the call.
    given!("latency_p50_ns", Nanoseconds, "half of the operations took no longer"),
    given!("latency_p90_ns", Nanoseconds, "90 % of the operations took no longer"),
    given!("latency_p99_ns", Nanoseconds, "99 % of the operations took no longer"),
    given!("latency_p99_9_ns", Nanoseconds, "99.9 % of the operations took no longer"),
    given!("latency_p99_99_ns", Nanoseconds, "99.99 % of the operations took no longer"),
    given!("latency_max_ns", Nanoseconds, "the longest operation"),
    given!("timed_operations", Count, "operations that were timed one by one"; Higher),
    given!("open_latency_p50_ns", Nanoseconds, "half of the opens took no longer"),
    given!("open_latency_p99_ns", Nanoseconds, "99 % of the opens took no longer"),
    given!("open_latency_p99_9_ns", Nanoseconds, "99.9 % of the opens took no longer"),
    given!("open_latency_max_ns", Nanoseconds, "the longest of the opens"),
    given!("transfer_latency_p50_ns", Nanoseconds, "half of the transfers took no longer"),
    given!("transfer_latency_p99_ns", Nanoseconds, "99 % of the transfers took no longer"),
    given!("transfer_latency_p99_9_ns", Nanoseconds, "99.9 % of the transfers took no longer"),
    given!("transfer_latency_max_ns", Nanoseconds, "the longest of the transfers"),
    given!("sync_latency_p50_ns", Nanoseconds, "half of the syncs took no longer"),
    given!("sync_latency_p99_ns", Nanoseconds, "99 % of the syncs took no longer"),
    given!("sync_latency_p99_9_ns", Nanoseconds, "99.9 % of the syncs took no longer"),
    given!("sync_latency_max_ns", Nanoseconds, "the longest of the syncs"),
    given!("close_latency_p50_ns", Nanoseconds, "half of the closes took no longer"),
    given!("close_latency_p99_ns", Nanoseconds, "99 % of the closes took no longer"),
    given!("close_latency_p99_9_ns", Nanoseconds, "99.9 % of the closes took no longer"),
    given!("close_latency_max_ns", Nanoseconds, "the longest of the closes"),
    given!("call_latency_p50_ns", Nanoseconds, "half of the calls took no longer"),
    given!("call_latency_p99_ns", Nanoseconds, "99 % of the calls took no longer"),
    given!("call_latency_p99_9_ns", Nanoseconds, "99.9 % of the calls took no longer"),
    given!("call_latency_max_ns", Nanoseconds, "the longest of the calls"),
];

/// The row of a metric.
pub fn find(id: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.info.id == id)
}

/// The counters at the start of a window, and the files that they are read from again.
#[derive(Debug)]
pub struct Baseline {
    sources: Sources,
    start: Counters,
}

/// Opens the sources and reads the counters; `on` lies on the disk that is looked at. Call it in the process that does the work (a forked
/// child has counters of its own), last before the first clock read.
pub fn start(on: &Path) -> Baseline {
    let sources = Sources::open(on);
    // Once for the caches of the kernel's own path, once for the record.
    sources.read();
    let mut start = sources.read();
    // Faults and switches of the reading itself belong to no window.
    start.usage = crate::sys::usage::usage();
    Baseline { sources, start }
}

/// What has changed since: metric id → value. Metrics that this machine lacks are left out. Call
/// it right after the last clock read.
pub fn finish(baseline: &Baseline) -> Metrics {
    let finish = baseline.sources.read();
    METRICS
        .iter()
        .filter_map(|metric| {
            let value = (metric.change)(&baseline.start, &finish)?;
            Some((metric.info.id, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use super::{METRICS, find, finish, start};
    use crate::sys::testing::{open_directory, skip};

    #[test]
    fn ids_are_unique_and_found() {
        for (at, metric) in METRICS.iter().enumerate() {
            let id = metric.info.id;
            assert_eq!(METRICS.iter().position(|m| m.info.id == id), Some(at));
            assert!(find(id).is_some() && !metric.info.summary.is_empty());
        }
    }

    #[test]
    fn a_cold_read_is_seen_by_the_device_counter() {
        let dir = open_directory();
        let path = dir.path().join("f");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let mut file = std::fs::File::open(&path).unwrap();
        rustix::fs::fdatasync(&file).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let baseline = start(Path::new("/"));
        file.read_to_end(&mut Vec::new()).unwrap();
        // A device may answer before anybody has to wait for it; this waits.
        std::thread::sleep(std::time::Duration::from_millis(1));
        let seen = finish(&baseline);
        if !seen.contains_key("device_read_bytes") {
            return skip("a_cold_read_is_seen_by_the_device_counter", "no /proc/self/io");
        }
        assert!(seen["device_read_bytes"] >= (1 << 20) as f64, "{seen:?}");
        assert!(seen["voluntary_switches"] >= 1.0, "it waited: {seen:?}");
    }

    #[test]
    fn touching_new_memory_is_seen_as_minor_faults() {
        let baseline = start(Path::new("/"));
        let pages = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert_eq!(pages[pages.len() / 2], 1);
        let seen = finish(&baseline);
        // Huge pages may serve 512 at a time.
        assert!(seen["minor_faults"] >= 32.0, "{seen:?}");
    }

    #[test]
    fn a_window_in_which_nothing_happens_counts_next_to_nothing() {
        // Other tests share this process, so the quietest of several windows is looked at.
        let quietest = (0..50).map(|_| finish(&start(Path::new("/")))["minor_faults"] as u64).min();
        assert!(quietest.unwrap() <= 1, "reading the counters itself is counted: {quietest:?}");
    }
}
