//! What is done, as records and command lines name it.

use super::axis_word::words;

words! {
    /// A workload. A record of another tool may have one that is none of these.
    WorkloadId, "workload":
    /// Bytes of files are read.
    Read "read",
    /// Bytes are written to a file.
    Write "write",
    /// A file is copied.
    Copy "copy",
    /// One system call, over and over.
    Syscall "syscall",
    /// Something is done with each of many files.
    Files "files",
    /// One call on the names and attributes of files.
    Meta "meta",
    /// What a recorded program did with files.
    Replay "replay",
}

impl WorkloadId {
    /// Whether its operations are single calls, whose time is that of a call and not of a byte.
    pub const fn is_of_calls(self) -> bool {
        matches!(self, WorkloadId::Syscall | WorkloadId::Meta)
    }

    /// What it does, as the first words of a title.
    pub const fn title(self) -> &'static str {
        match self {
            WorkloadId::Read => "Reading",
            WorkloadId::Write => "Writing",
            WorkloadId::Copy => "Copying",
            WorkloadId::Syscall => "System calls",
            WorkloadId::Meta => "Metadata calls",
            WorkloadId::Files => "Many files",
            WorkloadId::Replay => "Replays",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WorkloadId;

    #[test]
    fn words_are_read_back() {
        for workload in WorkloadId::ALL {
            assert_eq!(workload.word().parse(), Ok(*workload));
        }
        assert!("reed".parse::<WorkloadId>().unwrap_err().choices.contains("read, write, copy"));
    }
}
