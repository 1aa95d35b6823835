//! Stable codes of flags and warnings. `iolab explain CODE` prints the text that stands here.
//! Adding a code is one line in the table.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a code does to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; changes nothing.
    Note,
    /// Read the answer with this in mind.
    Caution,
    /// No winner is printed.
    Invalid,
}

macro_rules! codes {
    ($($name:ident $text:literal $severity:ident $summary:literal $explanation:literal;)*) => {
        /// A stable code of a flag (on a sample) or a warning (on an answer or a run).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            schemars::JsonSchema)]
        pub enum Code {
            $(#[doc = $summary] #[serde(rename = $text)] $name,)*
        }
        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];
            /// The text of the code.
            pub const fn id(self) -> &'static str { match self { $(Code::$name => $text,)* } }
            /// What it does to an answer.
            pub const fn severity(self) -> Severity { match self { $(Code::$name => Severity::$severity,)* } }
            /// One line.
            pub const fn summary(self) -> &'static str { match self { $(Code::$name => $summary,)* } }
            /// What it means, how it was found and what to do.
            pub const fn explanation(self) -> &'static str { match self { $(Code::$name => $explanation,)* } }
        }
    };
}

codes! {
    // Flags of a trial
    UnequalWork "UNEQUAL_WORK" Note "cells did different amounts of work"
        "The slowest cell would have passed the time limit of a trial with the work of the fastest, so each cell has an amount of its own. Times are compared per unit of work. Nothing to do, unless a cell has a fixed cost per trial.";
    Bounded "BOUNDED" Note "a trial did part of a pass"
        "Twenty rounds of whole passes would not have fitted into the budget, so a trial does a part of one: in each round the same part for all cells of an answer, and the next round goes on where it ended. Times are per unit of work.";
    TimerLimited "TIMER_LIMITED" Caution "a cold trial is too short for the clock"
        "A cold trial cannot be repeated within one measurement, and this one is so short that the cost of reading the clock is more than 1 % of it. Use a larger file.";
    ColdUnproven "COLD_UNPROVEN" Caution "the cold state could not be proven"
        "After eviction pages were still resident, or after the trial the device had delivered less than 99 % of the bytes. The trial is recorded and enters no comparison. Another process may hold the file mapped; as root iolab can also drop caches.";
    WarmUnproven "WARM_UNPROVEN" Caution "the warm state could not be proven"
        "Pages were missing before the trial, or the device was read during it. The trial is recorded and enters no comparison. The file may be larger than the memory that is free.";
    ProofsDisagree "PROOFS_DISAGREE" Caution "two proofs of the cache state disagree"
        "Residency and device bytes say different things. The trial is void. Overlay file systems and device bytes that are served by a lower cache are the usual reasons.";
    CachesDropped "CACHES_DROPPED" Note "the page cache of the whole machine was dropped, once"
        "A file stayed in the page cache however often it was evicted, so as root iolab wrote the whole machine back and dropped its clean page cache (sync, drop_caches) before this trial. Everything that runs here met a cold cache once. It is done once a run; later trials whose file cannot be evicted are recorded as unproven.";
    NotDrained "NOT_DRAINED" Note "dirty pages were still being written"
        "Dirty or writeback pages had not drained within 2 s before the trial. Something else is writing on this machine.";
    CheckFailed "CHECK_FAILED" Invalid "the bytes were not what they should be"
        "The digest of the bytes that the trial saw differs from that of the file. The trial does not count; the file may have changed during the run, or there is a defect: please report it.";
    PartChecked "PART_CHECKED" Note "a part of the bytes of a trial was compared"
        "Of a trial that wrote more than 64 MiB, or worked on more than 2000 files, pieces are read back and compared, drawn anew for each trial (metrics checked_bytes, checked_files); of random reads of more than 16 MiB one trial in eight is compared. How many bytes and files there were is counted for all of them.";
    OnlySize "ONLY_SIZE" Caution "a command made a file of the right size and left most of it empty"
        "More than half of what a command was to write is a hole, or space that was reserved and not written: truncate and fallocate set a size at once. Such a command has not written its bytes, and its speed is none. Give a command that writes them.";
    SourceChanged "SOURCE_CHANGED" Caution "a command changed what it was to read"
        "After the rounds a file of yours, or a file or directory of a tree, was not as it was before: its size, its times, its inode. iolab opens them for reading alone; a command of the run may have written to them, or something else did meanwhile. See to your files. Trees of up to 10 000 files, and files, are looked at after each trial of a command, too, and such a trial fails.";
    ClockMoved "CLOCK_MOVED" Invalid "the clock was set or ran at another rate"
        "The clock that trials are timed with went backwards, or its rate was over 1000 ppm away from that of the raw hardware clock (NTP slews by 500 ppm at most). No time of this run means anything. Look at what sets the clock (a guest that was paused or moved, adjtimex), then measure again.";
    Truncated "TRUNCATED" Caution "the file system became full during a trial"
        "All workers stopped at the file that met no space or no inode (ENOSPC, EDQUOT); what was done until then is the trial's result, per file, and everything it made was removed. A file system that is nearly full is not as fast as one that is not: free space, or take fewer or smaller files.";
    TreeChanged "TREE_CHANGED" Caution "files of a tree could not be worked on"
        "Files of the tree vanished, changed or could not be opened during the trial. They are counted in failed_operations and are in no rate. Measure a tree that stays as it is.";
    TrialFailed "TRIAL_FAILED" Caution "a trial failed"
        "The trial ended by a signal, an error or its time limit. It costs this trial alone; the sample says why.";
    Outlier "OUTLIER" Note "a trial is an outlier"
        "Its residual lies more than 3.5 robust standard deviations from its round. It stays in every figure; the answer is computed again without such trials and the report says if that changes it.";
    StealHigh "STEAL" Caution "the host took processor time away"
        "More than 1 % of the processor time was stolen by the host while a trial ran. Another time of day, or a machine of one's own, helps.";
    // Answers
    NonTransitive "NON_TRANSITIVE" Note "the pairwise ratios are not transitive"
        "In records of earlier versions: A is faster than B in the median round and B than C, yet C than A. Medians of ratios allow that where differences are small.";
    NonStationary "NONSTATIONARY" Caution "the difference changed during the run"
        "In records of earlier versions: the intervals of the past have no value in common, so there was not one difference to estimate.";
    ContrastDrift "CONTRAST_DRIFT" Caution "the difference between two cells drifts"
        "A trend or a step in the difference itself, larger than what matters, was found (Mann–Kendall or Pettitt, p < 0.01). What is said of these two cells covers the difference at both ends of the run; where one was faster at first and the other later, neither is called slower.";
    MachineDrift "MACHINE_DRIFT" Note "the machine changed speed during the run"
        "All cells became faster or slower together. Comparisons within rounds are not harmed; absolute figures are.";
    MachineShifted "MACHINE_SHIFTED" Caution "the machine changed speed a lot during the run"
        "All cells became faster or slower together, by a quarter or more. Comparisons within rounds are not harmed; a speed or a time of this run is no measure of the machine. Measure again when nothing else runs.";
    CarryOver "CARRY_OVER" Caution "a trial depends on what ran before it"
        "Residuals differ by the preceding cell or by the position in the round. What the preceding cell leaves behind (dirty pages, warm caches) can make a difference of the size that is stated: differences up to that are not claimed, and bounds are wider by it. Positions are drawn at random, so they favour nobody.";
    Autocorrelated "AUTOCORRELATED" Note "neighbouring rounds are alike"
        "The differences of neighbouring rounds are correlated, so rounds were merged before the interval was computed; it is wider for it.";
    Quantised "QUANTISED" Caution "the clock is too coarse for this trial"
        "Times repeat a few values only. Trials need to be longer: use a larger file or budget.";
    FirstRun "FIRST_RUN" Note "the first run was slower than the steady state"
        "Round 0 took more than 1.5 times the steady time. It is reported alone and is in no comparison.";
    TwoStates "TWO_STATES" Caution "samples fall into two clusters"
        "Cold reads whose pages are newly given by the host are slower than those that reuse freed pages. Both clusters are reported; do not quote the mean.";
    OneLayout "ONE_LAYOUT" Caution "measured on few layouts of the file"
        "Fewer than five instances of the file were used. Where cached pages lie can change a figure by 10 %. A larger budget renews the file more often.";
    TwinOff "TWIN_OFF" Caution "the same cell measured twice differed"
        "In each round one cell, drawn at random, is measured twice; the two trials differ by more than half of what is called a difference here. For the answer that means: a difference of up to the size that the warning names is as large as what nothing makes here, so do not choose by it; one that is several times larger stands. What bounds are stated are still those of the run. Measure where nothing else runs, or for longer (`iolab more last 60s`), and see whether it goes.";
    TwinBroken "TWIN_BROKEN" Invalid "the same cell measured twice is proven different"
        "The evidence that two identical cells differ is beyond 100 : 1. The measurement itself is biased; no winner is printed.";
    FewRounds "FEW_ROUNDS" Caution "too few rounds to say anything"
        "Nothing is said under five steady rounds. Give a larger --budget or fewer cells.";
    InsufficientBudget "INSUFFICIENT_BUDGET" Caution "the budget cannot buy the fewest rounds"
        "Even with the shortest honest trials the budget does not reach the number of rounds that could separate two cells. The message says how many seconds would.";
    OutliersMatter "OUTLIERS_MATTER" Caution "the answer changes without the outliers"
        "A few trials far from their round (OUTLIER) decide the answer: computed again without them it is another one, which the warning names. No trial was left out of what is stated. Outliers that come with the work itself (a flush, a garbage collection of the device) belong to the answer; those of something else that ran do not. Give it more rounds (`iolab more last 60s`), where nothing else runs (`iolab doctor`): if both answers stay apart, take what `iolab show --details` shows of the two and choose by what matters to you, the usual time or the rare long one.";
    OverheadHigh "OVERHEAD" Caution "the clock costs as much as the effect"
        "Reading the clock is more than 1 % of a trial and more than a fifth of the difference that is shown. Trials need to be longer: a larger file.";
    // Hazards of the machine
    PageReporting "PAGE_REPORTING" Caution "this machine gives free memory back to its host"
        "/sys/module/page_reporting is active: freed page cache returns to the host and the next first touch is slow, by a factor of up to 10. What allocates page cache (cold reads, writes, copies) varies for it, from round to round and from run to run; warm reads and system calls do not. Nothing has to be done where the question is which is faster: cells are compared within a round, and what varies is in the interval. Where it is open for this, give more rounds (`iolab more last 60s`) or ask of warm files (--cache warm).";
    SmallerThanCache "SMALLER_THAN_CACHE" Caution "the file fits into the processor's cache"
        "The file is smaller than the last-level cache, so warm reads may never reach memory. Between cells of this run the comparison holds, for a file of this size that is used again and again. Where yours is larger, or is not read twice in a row, take one of the size of yours (--file-size, where iolab makes it). A tree of small files is not warned of: there calls and not bytes take the time.";
    UnalignedBlock "UNALIGNED_BLOCK" Note "a block size is not a multiple of the page"
        "Calls straddle pages, which costs extra look-ups and copies. If such a block stands out, this is why.";
    DirtyThrottling "DIRTY_THROTTLING" Note "small buffered writes run at memory speed"
        "Up to vm.dirty_background_ratio of memory is written to the cache before the kernel starts to write back. Look at the durable time.";
    NetworkFs "NETWORK_FS" Caution "the directory is on a network or FUSE file system"
        "Caches on the other side cannot be seen from here; cold means cold on this machine only.";
    Zram "ZRAM" Caution "the directory is on compressed memory"
        "The device is zram: speeds depend on how compressible the data is. iolab writes random data by default.";
    CopyUpFsync "COPY_UP_FSYNC" Caution "a copy-up of metadata alone waits for the device"
        "Where overlayfs is mounted without metacopy, kernels since 6.12 sync the copied inode although no data were copied (found by trying it on an empty file). What metacopy seems to gain is then partly a sync that is not made. Measure overlay+volatile and overlay+metacopy+volatile beside it: neither syncs.";
    NoColdState "NO_COLD_STATE" Note "this file system has no cold state"
        "tmpfs and ramfs keep files in the page cache only.";
    InodesHeldBack "INODES_HELD_BACK" Caution "this file system is slow to make files where some were just removed"
        "ext4 without a journal does not give an inode out again for one to five minutes after its file was removed (recently_deleted in fs/ext4/ialloc.c), and looks at each of those for every file that it makes: creating, writing or copying files round after round can take 10 to 30 times as long as the first time. iolab asks for every tree to lie in a block group of its own, which avoids most of it as long as there are groups enough. Where trials still become slower over the rounds, take fewer --rounds or fewer --files, or measure in a directory whose file system has a journal; --place ext4 makes an image of one, where it can be mounted (iolab doctor).";
    HostsDiffer "HOSTS_DIFFER" Caution "the machines that are compared differ"
        "Several machines were compared (--on a,b), and these are the facts in which they differ and which may explain a difference. Which of them it is the run does not say: change one of them, or ask on one machine. All that is known of each stands in the record (keys that begin with on.).";
    Container "CONTAINER" Note "running inside a container"
        "Limits of the container (cgroup, seccomp) may hide or throttle what the machine can do.";
    Virtualised "VIRTUALISED" Note "running on a virtual machine"
        "The host's cache, scheduler and other guests take part in every figure. Ratios from the same round are sound; absolute figures hold for this machine today.";
    Emulated "EMULATED" Caution "the cells ran in an emulated machine"
        "A file system that this kernel lacks was measured in a virtual machine whose processor is a program (no KVM, or KVM did not boot). All cells of the run were in it, so they compare with each other; never compare such figures with those of another run.";
    ClockSource "CLOCK_SOURCE" Caution "the clock source is slow"
        "The clock source is neither tsc nor kvm-clock, so that reading the time is a system call.";
    StoreOnTarget "STORE_ON_TARGET" Note "the history is on the file system under test"
        "The record is kept in memory during the run and moved at the end, so that it does not disturb the measurement.";
    ReadaheadLarge "READAHEAD_LARGE" Note "read-ahead of the device is unusually large"
        "Read-ahead of 1 MiB or more makes small cold blocks look as fast as large ones and random cold reads slow.";
    SwapActive "SWAP_ACTIVE" Note "memory is being swapped"
        "Pages were swapped while the run was under way.";
    BusyMachine "BUSY_MACHINE" Caution "something else is running"
        "The load or the pressure before the run was high. Intervals will be wider.";
    AtimeNotWritten "ATIME_NOT_WRITTEN" Caution "what the places differ in was not measured"
        "Mount options such as noatime, relatime and strictatime decide when the time of the last access is written. iolab opens files with O_NOATIME, so that a measurement changes nothing of them: then no mount writes it, and such places are alike. With --atime kept files are opened as most programs open them.";
    Unconsumed "UNCONSUMED" Caution "the bytes were never touched"
        "With --consume none, and with calls that move bytes inside the kernel, no program looked at the data. Such a figure is not a bandwidth that a program can have.";
    DirectBuffered "DIRECT_BUFFERED" Caution "O_DIRECT went through the page cache all the same"
        "After a trial that was asked to bypass the page cache the file's pages were in it. tmpfs keeps files nowhere else, and some file systems turn direct I/O into buffered I/O where it is not aligned, or where they must checksum or compress (btrfs). The figure is not one of the device alone.";
    StartUp "START_UP" Note "the time of a command includes the start of its process"
        "A command is timed from before it is started until its end, as whoever calls it would. What a process costs that does nothing (`true`) is measured right after each trial and stands beside (metric startup_ns); it is never taken off. Where it is a large part of the time, the command is compared by its start and not by its work: take a larger file.";
    OwnFigure "OWN_FIGURE" Note "what a command says of itself stands beside what was measured"
        "fio prints the speed of its own loop, without the start of its processes and its preparations. iolab times the whole command. Both figures are of the same trials.";
    ReadAssumed "READ_ASSUMED" Note "what a command reads is assumed and not checked"
        "The speed of a command that reads is that of the whole file or tree. What it writes is looked at after each trial, but that it read all bytes, or any, cannot be told for every way of reading (mappings, io_uring, splice are in no counter of its process): a command that reads less looks faster than it is.";
    ClassMixed "CLASS_MIXED" Caution "cells of different kinds are not ranked against each other"
        "A clone is not a copy, and a call that touches no byte is not a read.";
}

impl Code {
    /// The same in a line of a screen, as a sentence that says what to do where that is short: what was
    /// seen may not fit there.
    pub const fn on_screen(self) -> &'static str {
        match self {
            Code::InodesHeldBack => "making files slows down over the rounds: take fewer --rounds",
            Code::ReadaheadLarge => "the device reads far ahead, so small cold blocks look fast",
            Code::PageReporting => "the host takes free memory back, so times vary: measure again",
            Code::SmallerThanCache => "the file fits into the processor's cache: take a larger one",
            Code::TwinOff => "a cell measured twice differed: little differences mean little",
            Code::CarryOver => "what ran before a trial shows in it: bounds are wider for it",
            Code::MachineShifted => "the machine changed speed a lot: ratios hold, speeds do not",
            Code::BusyMachine => "something else is running, so intervals are wider",
            Code::AtimeNotWritten => "access times were not written: give --atime kept",
            Code::OneLayout => "measured on few layouts of the file: a larger --budget has more",
            _ => self.summary(),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl FromStr for Code {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Code::ALL.iter().copied().find(|c| c.id().eq_ignore_ascii_case(text)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    /// "… so that making files may slow down over the …": a warning was cut in its middle.
    #[test]
    fn each_code_has_a_sentence_that_stands_in_one_line_of_a_screen() {
        for code in Code::ALL {
            let line = format!("{code}: {}", code.on_screen());
            assert!(line.chars().count() <= 80 && !line.ends_with('.'), "{line}");
        }
    }
}
