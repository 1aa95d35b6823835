//! Tables of descriptors. The processes of a program have one each; a replay is one process, and in a
//! table that its threads share every look-up is atomic, and a read at the offset of a file takes a lock:
//! 90 ns more a read, 50 ns more an fstat were measured. So threads of a replay that stand for processes
//! have a table each, where none of them needs what another has opened.

use std::collections::HashMap;

use super::step::{Action, Step};
use crate::call::NONE;
use crate::trace::Trace;

/// Whether each of these lanes may have a table of its own, with what was open before.
pub(super) fn are_apart(lanes: &[Vec<Step>], trace: &Trace) -> bool {
    let mut threads = trace.threads.iter().enumerate();
    let processes = threads.all(|(number, thread)| thread.process as usize == number);
    lanes.len() > 1 && processes && !any_is_shared(lanes)
}

/// Whether a file is opened in one lane and used in another.
fn any_is_shared(lanes: &[Vec<Step>]) -> bool {
    let lanes = || lanes.iter().enumerate();
    // One that must fail opens nothing.
    let opens = |step: &&Step| step.action == Action::Open && step.slot != NONE;
    let opened_by: HashMap<u32, usize> = lanes()
        .flat_map(|(lane, steps)| steps.iter().filter(opens).map(move |step| (step.slot, lane)))
        .collect();
    let by_another = |lane: usize, slot: u32| opened_by.get(&slot).is_some_and(|by| *by != lane);
    lanes().any(|(lane, steps)| steps.iter().flat_map(slots).any(|slot| by_another(lane, slot)))
}

/// The places for open files that a step names, if only as none.
fn slots(step: &Step) -> impl Iterator<Item = u32> {
    let two = matches!(step.action, Action::CopyRange | Action::SendFile | Action::Clone);
    let other = (two || step.action.is_below()).then_some(step.other);
    [Some(step.slot), other].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use crate::replay::logs::trace;
    use crate::replay::{Choice, Program};

    /// Two processes, or threads of one, with these calls of the second.
    fn apart(flags: &str, second: &[&str], choice: Choice) -> bool {
        let mut lines = vec![
            "1 openat(AT_FDCWD</d>, \"a\", O_RDONLY) = 3</d/a>".to_owned(),
            "1 openat(AT_FDCWD</d>, \"none\", O_RDONLY) = -1 ENOENT (No such file or directory)"
                .to_owned(),
            format!("1 clone(child_stack=NULL, flags={flags}) = 2"),
            "1 read(3</d/a>, \"\"..., 10) = 10".to_owned(),
        ];
        lines.extend(second.iter().map(|call| format!("2 {call}")));
        lines.push("1 read(3</d/a>, \"\"..., 10) = 10".to_owned());
        let program =
            Program::of(&trace(&lines.iter().map(String::as_str).collect::<Vec<_>>()), choice);
        assert!(program.lanes.len() > 1);
        program.own_descriptors
    }

    /// A gcc was replayed with one table for its three processes, and its reads and fstats seemed dearer.
    #[test]
    fn processes_that_need_nothing_of_one_another_have_a_table_each() {
        let own = [
            "openat(AT_FDCWD</d>, \"none\", O_RDONLY) = -1 ENOENT (No such file or directory)",
            "openat(AT_FDCWD</d>, \"b\", O_RDONLY) = 4</d/b>",
            "read(4</d/b>, \"\"..., 10) = 10",
            "read(0</d/in>, \"\"..., 10) = 10",
        ];
        let (process, recorded) = ("SIGCHLD", Choice::default());
        assert!(apart(process, &own, recorded));
        assert!(
            !apart(process, &["read(3</d/a>, \"\"..., 10) = 10"], recorded),
            "opened by the first"
        );
        let thread = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM";
        assert!(!apart(thread, &own, recorded), "the program has one table");
        assert!(
            !apart(process, &own, Choice { threads: 2, ..recorded }),
            "as its own threads would"
        );
    }
}
