//! So that a reader does not read what its own machine wrote, and still has in memory: how many ranks
//! further on the one lies whose part it reads.

use iolab_model::catalog::{AxisWord, Factor, FileOperation, Level, Share, Shift, WorkloadId};
use iolab_model::plan::Plan;
use iolab_model::spec::Experiment;

/// Puts a number in the place of `auto`. `machines`: on which machine each rank is.
///
/// # Errors
/// It cannot be had, or would be none.
pub fn settle(experiment: &mut Experiment, machines: &[usize]) -> Result<(), String> {
    let Some(asked) = experiment.factors.get(&Factor::Shift).cloned() else { return Ok(()) };
    let counts = numbers(experiment.factors.get(&Factor::Ranks));
    let is_on = |level: &Level| *level != Shift::Off.level();
    if asked.iter().any(is_on) {
        fits(experiment, &counts)?;
    }
    let mut levels: Vec<Level> = Vec::new();
    for level in asked {
        let level = match level {
            Level::Number(shift) => number(shift, &counts)?,
            word if word == Shift::Auto.level() => automatic(machines, &counts)?,
            word => word,
        };
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    experiment.factors.insert(Factor::Shift, levels);
    Ok(())
}

/// What is to be said of a shift that does not bring every rank to another machine.
pub fn note(plan: &Plan, machines: &[usize]) -> Option<String> {
    let counts = numbers(plan.factors.get(&Factor::Ranks));
    let shifts = numbers(plan.factors.get(&Factor::Shift)).into_iter();
    let at_home = |shift: u64| {
        let stays = |count: &u64| (home(machines, *count, shift), *count);
        counts.iter().map(stays).find(|(stay, _)| *stay > 0).map(|at| (shift, at))
    };
    let (shift, (stay, count)) = shifts.filter_map(at_home).next()?;
    Some(format!(
        "with --{} {shift}, {stay} of {count} ranks work on what their own machine wrote, and may have it \
         in memory",
        Factor::Shift
    ))
}

fn numbers(levels: Option<&Vec<Level>>) -> Vec<u64> {
    levels.into_iter().flatten().filter_map(Level::number).collect()
}

/// How many of the first so many ranks read what their own machine wrote.
fn home(machines: &[usize], count: u64, shift: u64) -> usize {
    let machine = |rank: u64| usize::try_from(rank).ok().and_then(|at| machines.get(at));
    (0..count).filter(|rank| machine(*rank) == machine((rank + shift) % count)).count()
}

fn fits(experiment: &Experiment, counts: &[u64]) -> Result<(), String> {
    let name = Factor::Shift;
    if experiment.factors.contains_key(&Factor::File) {
        let what = if is_files(experiment) { "tree" } else { "file" };
        return Err(format!(
            "--{name} with a {what} of yours: no rank has written it; leave it out"
        ));
    }
    if let Some(own) = makes_its_own(experiment) {
        return Err(format!(
            "--{name} with files {own}: a rank makes the files of such a trial itself, so that none is \
             another's; take {} and {} by themselves",
            FileOperation::Read,
            FileOperation::Stat
        ));
    }
    let shares = experiment.factors.get(&Factor::Share);
    let strided = shares.is_some_and(|levels| levels.contains(&Share::Strided.level()));
    match strided && counts.len() > 1 {
        true => Err(format!(
            "--{name} with --{} {} and several numbers of ranks: whose block is whose depends on how \
             many write; take one --{}",
            Factor::Share,
            Share::Strided,
            Factor::Ranks
        )),
        false => Ok(()),
    }
}

fn is_files(experiment: &Experiment) -> bool {
    experiment.workload == WorkloadId::Files.word()
}

/// An operation on many files that are made for each trial.
fn makes_its_own(experiment: &Experiment) -> Option<FileOperation> {
    let named = experiment.factors.get(&Factor::Operation).filter(|_| is_files(experiment));
    let words = named.into_iter().flatten().filter_map(|level| match level {
        Level::Word(word) => word.parse::<FileOperation>().ok(),
        _ => None,
    });
    words.into_iter().find(|word| word.has_own())
}

fn number(shift: u64, counts: &[u64]) -> Result<Level, String> {
    match counts.iter().find(|count| shift.is_multiple_of(**count)) {
        Some(count) => Err(format!(
            "--{} {shift}: of {count} {} each would read its own; take 1 to one less than the ranks",
            Factor::Shift,
            if *count == 1 { "rank" } else { "ranks" }
        )),
        None => Ok(Level::Number(shift)),
    }
}

fn automatic(machines: &[usize], counts: &[u64]) -> Result<Level, String> {
    let name = Factor::Shift;
    if machines.iter().all(|machine| *machine == machines[0]) {
        return Err(format!(
            "--{name} {}: all ranks are on one machine, which writes all that is read; start the job on \
             several, or take --{name} 1 to read what another rank wrote",
            Shift::Auto
        ));
    }
    let most = counts.iter().copied().max().unwrap_or(1);
    let leaves = |shift: &u64| counts.iter().all(|count| home(machines, *count, *shift) == 0);
    (1..most).find(leaves).map(Level::Number).ok_or_else(|| {
        format!(
            "--{name} {}: no shift brings each rank to what another machine wrote with every number of \
             ranks; take such --{} as fill several machines evenly",
            Shift::Auto,
            Factor::Ranks
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use iolab_model::spec::Protocol;

    use super::{Experiment, Factor, Level, automatic, home, number, settle};

    /// Two ranks a node: a shift of 1 left every other rank with what its own node still had in memory.
    #[test]
    fn the_shift_to_another_machine_is_found() {
        let two_a_node = [0, 0, 2, 2, 4, 4];
        assert_eq!(automatic(&two_a_node, &[6]), Ok(Level::Number(2)));
        assert_eq!((home(&two_a_node, 6, 1), home(&two_a_node, 6, 2)), (3, 0));
        assert_eq!(automatic(&[0, 1, 0, 1], &[4, 2]), Ok(Level::Number(1)), "in turn");
        assert!(
            automatic(&two_a_node, &[1, 6]).unwrap_err().contains("evenly"),
            "of one rank none"
        );
        assert!(automatic(&[0, 0, 0], &[3]).unwrap_err().contains("one machine"));
        assert!(number(4, &[4, 8]).unwrap_err().contains("read its own"));
    }

    fn experiment(workload: &str) -> Experiment {
        let factors =
            [(Factor::Shift, vec![Level::Number(1)]), (Factor::Ranks, vec![Level::Number(4)])];
        Experiment {
            title: None,
            workload: workload.into(),
            directory: "/".into(),
            factors: BTreeMap::from(factors),
            protocol: Protocol::new(1),
        }
    }

    #[test]
    fn a_file_of_the_person_s_was_written_by_no_rank() {
        for (workload, what) in [("read", "a file of yours"), ("files", "a tree of yours")] {
            let mut experiment = experiment(workload);
            assert!(settle(&mut experiment, &[0; 4]).is_ok());
            experiment.factors.insert(Factor::File, vec![Level::Path("/f".into())]);
            assert!(settle(&mut experiment, &[0; 4]).unwrap_err().contains(what));
        }
    }

    /// Files that a trial makes and removes are read by no other rank.
    #[test]
    fn files_of_another_rank_are_read_and_looked_at_alone() {
        let settled = |operations: &[&str], shift: &str| {
            let mut experiment = experiment("files");
            let words = operations.iter().map(|word| Level::word(*word)).collect();
            experiment.factors.insert(Factor::Operation, words);
            experiment.factors.insert(Factor::Shift, vec![Level::word(shift)]);
            settle(&mut experiment, &[0, 0, 2, 2])
                .map(|()| experiment.factors[&Factor::Shift].clone())
        };
        assert_eq!(settled(&["read", "stat"], "auto"), Ok(vec![Level::Number(2)]));
        for own in ["create", "write", "copy", "remove"] {
            let why = settled(&["read", own], "auto").unwrap_err();
            assert!(
                why.contains(&format!("files {own}")) && why.contains("read and stat"),
                "{why}"
            );
            assert!(settled(&["read", own], "off").is_ok(), "nobody shifts");
        }
    }
}
