//! What the kernel charged to this process: `getrusage(2)`.

/// Resources used by a process with all its threads, ended ones too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode. Split from system time by ticks on most kernels; the sum is exact.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Page faults that needed no device.
    pub minor_faults: u64,
    /// Page faults that waited for the device.
    pub major_faults: u64,
    /// Times that it gave the processor up.
    pub voluntary_switches: u64,
    /// Times that the processor was taken away.
    pub involuntary_switches: u64,
}

/// The usage of this process so far. Cannot fail with these arguments (getrusage(2)).
pub fn usage() -> Usage {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `raw` is a writable rusage; an all-zero rusage is a valid one.
    let raw = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, raw.as_mut_ptr());
        raw.assume_init()
    };
    Usage::from(raw)
}

impl From<libc::rusage> for Usage {
    fn from(raw: libc::rusage) -> Usage {
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        Usage {
            user_ns: ns(raw.ru_utime),
            system_ns: ns(raw.ru_stime),
            minor_faults: raw.ru_minflt as u64,
            major_faults: raw.ru_majflt as u64,
            voluntary_switches: raw.ru_nvcsw as u64,
            involuntary_switches: raw.ru_nivcsw as u64,
        }
    }
}
