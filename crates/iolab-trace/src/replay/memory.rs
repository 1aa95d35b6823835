//! Where in its memory a program read: new pages and the place in a page are a matter of the buffer, and
//! cost as much as many calls do.

use std::collections::HashMap;

use super::step::{Act, Action};
use crate::trace::{ReadMemory, Trace};

/// Tells reads of one buffer where it was, as far as the trace knows.
pub(super) fn with_memory(mut acts: Vec<Act>, trace: &Trace) -> Vec<Act> {
    let mut known = trace.read_memory.iter().peekable();
    // Of each thread, where its last read went.
    let mut buffer_offset: HashMap<u32, u16> = HashMap::new();
    for act in acts.iter_mut().filter(|act| is_of_one_buffer(act)) {
        let mut new_pages = 0;
        while let Some(memory) = known.next_if(|memory| memory.call <= act.step.call) {
            let Some(call) = trace.calls.get(memory.call as usize) else { continue };
            buffer_offset.insert(call.thread, memory.buffer_offset);
            new_pages = if memory.call == act.step.call { memory.new_pages } else { 0 };
        }
        act.step.new_share = new_share(new_pages, act.step.expected.unsigned_abs());
        act.step.flags = buffer_offset.get(&act.thread).map_or(0, |at| u32::from(*at) + 1);
    }
    acts
}

fn is_of_one_buffer(act: &Act) -> bool {
    matches!(act.step.action, Action::Read | Action::ReadAt) && act.step.parts <= 1
}

/// How many of the whole pages that so many bytes fill are new, in 255ths, rounded up.
fn new_share(new_pages: u32, moved: u64) -> u8 {
    let all = (moved / ReadMemory::PAGE_BYTES).max(1);
    u8::try_from((u64::from(new_pages) * 255).div_ceil(all)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::logs::{on_a, reads};
    use super::super::{Choice, Program};
    use crate::trace::ReadMemory;

    /// Offset in a page and new pages of each read.
    fn memory(program: &Program) -> Vec<(Option<usize>, u64)> {
        let reads = program.lanes.iter().flatten().filter(|step| step.action.reads());
        reads.map(|step| (step.buffer_offset(), step.new_pages(4096))).collect()
    }

    /// A read of which nothing is said goes where the last one did; a gathered block is in a buffer of its
    /// own, wherever the reads were that it stands for.
    #[test]
    fn reads_go_where_the_program_read_to() {
        let mut trace = on_a(&reads(4, 40 << 10));
        let plain = memory(&Program::of(&trace, Choice::default()));
        assert_eq!(plain, [(None, 0); 4]);
        let of = |call, new_pages, buffer_offset| ReadMemory { call, new_pages, buffer_offset };
        trace.read_memory = vec![of(2, 9, 336), of(4, 10, 0)];
        let known = memory(&Program::of(&trace, Choice::default()));
        assert_eq!(known, [(None, 0), (Some(336), 9), (Some(336), 0), (Some(0), 10)]);
        let gathered = Choice { block_bytes: Some(80 << 10), ..Choice::default() };
        assert_eq!(memory(&Program::of(&trace, gathered)), [(None, 0); 2]);
    }
}
