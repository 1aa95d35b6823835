//! How a trial does the work of its trace, by its levels.

use iolab_model::catalog::{Factor, Levels, ReplayMethod, ReplaySync};
use iolab_model::result::Fault;
use iolab_trace::replay::{Choice, How, When};

/// The way that levels ask for. A block that is no number is as recorded.
pub(super) fn choice(levels: &Levels) -> Result<Choice, Fault> {
    let refuse = |cause: String| Fault::new("replay a trace", cause);
    let how = match levels.word_or(ReplayMethod::Recorded).map_err(|e| refuse(e.to_string()))? {
        ReplayMethod::Recorded => How::Recorded,
        ReplayMethod::Pread => How::Pread,
        ReplayMethod::Mmap => How::Mmap,
    };
    let sync = match levels.word_or(ReplaySync::Recorded).map_err(|e| refuse(e.to_string()))? {
        ReplaySync::Recorded => When::Recorded,
        ReplaySync::None => When::Never,
        ReplaySync::End => When::AtEnd,
    };
    Ok(Choice { how, block_bytes: levels.number(Factor::Block), sync })
}
