//! How a trial does the work of its trace, by its levels.

use std::path::Path;

use crate::sys::direct::alignment_in;
use iolab_model::catalog::{
    Factor, Levels, ReplayMethod, ReplayReadahead, ReplaySync, ReplayThink, UnknownWord,
};
use iolab_model::result::Fault;
use iolab_trace::replay::{Advice, Choice, How, When};

/// What direct I/O moves multiples of, at most, where the kernel does not say.
const USUAL_UNIT_BYTES: u64 = 4096;
/// Side by side for each thread of the program, at most: a program may have had a thousand.
const MOST_THREADS: u32 = 256;

/// The way that levels ask for, of files below this directory: that clones are made there is not known
/// here. A block that is no number is as recorded.
pub(super) fn choice(levels: &Levels, root: &Path) -> Result<Choice, Fault> {
    let refuse = |unknown: UnknownWord| Fault::new("replay a trace", unknown.to_string());
    let how = match levels.word_or(ReplayMethod::Recorded).map_err(refuse)? {
        ReplayMethod::Recorded => How::Recorded,
        ReplayMethod::Pread => How::Pread,
        ReplayMethod::Mmap => How::Mmap,
        ReplayMethod::IoUring => How::Ring,
        ReplayMethod::Direct => How::Direct(direct_unit(root)?),
    };
    let sync = match levels.word_or(ReplaySync::Recorded).map_err(refuse)? {
        ReplaySync::Recorded => When::Recorded,
        ReplaySync::None => When::Never,
        ReplaySync::Close => When::AtClose,
        ReplaySync::End => When::AtEnd,
    };
    let readahead = match levels.word_or(ReplayReadahead::Recorded).map_err(refuse)? {
        ReplayReadahead::Recorded => Advice::Recorded,
        ReplayReadahead::Normal => Advice::Normal,
        ReplayReadahead::Sequential => Advice::Sequential,
        ReplayReadahead::Random => Advice::Random,
    };
    let think = levels.word_or(ReplayThink::None).map_err(refuse)? != ReplayThink::None;
    let (block_bytes, threads) = (levels.number(Factor::Block), threads(levels)?);
    Ok(Choice { how, block_bytes, sync, readahead, think, threads, ..Choice::default() })
}

/// Whether the calls alone are counted.
pub(super) fn counts_calls_alone(levels: &Levels) -> bool {
    levels.word() == Some(ReplayThink::Uncounted)
}

/// Why it cannot be done with these levels together.
pub(super) fn impossible(levels: &Levels) -> Option<String> {
    let side_by_side = levels.number(Factor::Threads).is_some_and(|threads| threads > 1);
    (side_by_side && counts_calls_alone(levels)).then(|| {
        "--think uncounted adds up the calls of all threads, however many work side by side: leave \
         --threads out, or take --think none or recorded"
            .into()
    })
}

/// How many threads work in the place of each of the program's; 0 where as many as there were.
fn threads(levels: &Levels) -> Result<u32, Fault> {
    let threads = levels.number(Factor::Threads).unwrap_or(0);
    let few = u32::try_from(threads).ok().filter(|threads| *threads <= MOST_THREADS);
    few.ok_or_else(|| {
        let cause = format!("a replay has at most {MOST_THREADS} for each; take fewer --threads");
        Fault::new(format!("replay a trace with {threads} threads for each of its own"), cause)
    })
}

/// What direct I/O moves multiples of, below a directory.
fn direct_unit(root: &Path) -> Result<u64, Fault> {
    let Some(told) = alignment_in(root) else { return Ok(USUAL_UNIT_BYTES) };
    let refuse = || {
        let cause = "the file system has no direct I/O; take another --place or --method";
        Fault::new("replay a trace past the page cache", cause)
    };
    told.block_bytes().ok_or_else(refuse)
}
