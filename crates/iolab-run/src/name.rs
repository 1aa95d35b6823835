//! What a cell is called in a sentence: the levels that tell it from its rivals.

use iolab_model::catalog::{
    AxisWord, Consume, Factor, Kind, Level, Levels, bytes_text, path_to_text,
};
use iolab_model::plan::{Condition, Plan};

/// A name for each cell of an answer, in its order.
pub(super) fn names_of(plan: &Plan, condition: &Condition) -> Vec<String> {
    let cells: Vec<&Levels> = condition.cells.iter().map(|c| &plan.cells[*c].levels).collect();
    let mut names: Vec<String> = match varying(&cells) {
        factors if factors.is_empty() => condition
            .cells
            .iter()
            .map(|c| {
                name(&plan.cells[*c].levels, &[Factor::Method, Factor::Operation, Factor::Block])
            })
            .collect(),
        factors => cells.iter().map(|levels| name(levels, &factors)).collect(),
    };
    for (name, cell) in names.iter_mut().zip(&condition.cells) {
        if name.is_empty() {
            name.clone_from(&plan.cells[*cell].id);
        }
    }
    names
}

/// Factors whose level is not the same for all that have one; where there is none, those that some
/// cells lack.
fn varying(cells: &[&Levels]) -> Vec<Factor> {
    let differs = |f: &Factor| {
        let mut levels = cells.iter().filter_map(|levels| levels.get(*f));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    };
    let lacks = |f: &Factor| cells.windows(2).any(|w| w[0].get(*f) != w[1].get(*f));
    let factors: Vec<Factor> = Factor::ALL.into_iter().filter(differs).collect();
    match factors.is_empty() {
        true => Factor::ALL.into_iter().filter(lacks).collect(),
        false => factors,
    }
}

/// `pread with 64 KiB blocks and 4 threads`.
fn name(levels: &Levels, factors: &[Factor]) -> String {
    let mut heads = Vec::new();
    let mut tails = Vec::new();
    for (factor, level) in factors.iter().filter_map(|f| Some((*f, levels.get(*f)?))) {
        match factor {
            Factor::Method | Factor::Operation | Factor::Contender | Factor::File => {
                heads.push(word(level));
            }
            Factor::Place => heads.push(format!("on {}", word(level))),
            _ => tails.push(phrase(factor, level)),
        }
    }
    let head = heads.join(" ");
    let tail = tails.join(" and ");
    match (head.is_empty(), tail.is_empty()) {
        (_, true) => head,
        (true, false) => tail,
        (false, false) => format!("{head} with {tail}"),
    }
}

fn word(level: &Level) -> String {
    match level {
        Level::Path(path) => path_to_text(path),
        other => other.to_string(),
    }
}

fn phrase(factor: Factor, level: &Level) -> String {
    let plural = |n: u64, one: &str| if n == 1 { one.to_owned() } else { format!("{one}s") };
    match (factor, level) {
        (Factor::Block, Level::Number(n)) => format!("{} blocks", bytes_text(*n)),
        (Factor::Threads, Level::Number(n)) => format!("{n} {}", plural(*n, "thread")),
        (Factor::IdleThreads, Level::Number(n)) => format!("{n} idle {}", plural(*n, "thread")),
        (Factor::Files, Level::Number(n)) => format!("{n} {}", plural(*n, "file")),
        (Factor::FileSize, Level::Number(n)) => format!("a file of {}", bytes_text(*n)),
        (Factor::Memory, Level::Number(n)) => format!("{} of memory", bytes_text(*n)),
        (Factor::Memory, Level::Word(ratio)) => format!("a file of {ratio} the memory"),
        (Factor::Consume, level) if *level == Consume::None.level() => "bytes untouched".to_owned(),
        (Factor::Cache, level) => format!("cache {level}"),
        (Factor::Pattern, level) => format!("{level} order"),
        (factor, Level::Number(n)) if factor.kind() == Kind::Bytes => {
            format!("{factor} {}", bytes_text(*n))
        }
        (factor, level) => format!("{factor} {level}"),
    }
}

/// Whether a name wants "are".
pub(super) fn is_plural(name: &str) -> bool {
    let counted = name.ends_with(" blocks") || name.ends_with(" threads");
    counted && !name.contains(" with ")
}

#[cfg(test)]
mod tests {
    use super::{is_plural, name};
    use iolab_model::catalog::{Factor, Level, Levels};

    #[test]
    fn names_read_as_a_person_would_say_them() {
        let levels = Levels::new()
            .with(Factor::Method, Level::word("pread"))
            .with(Factor::Block, Level::Number(65536))
            .with(Factor::Threads, Level::Number(4))
            .with(Factor::File, Level::Path("a\nb".into()));
        assert_eq!(name(&levels, &[Factor::Method]), "pread");
        assert_eq!(name(&levels, &[Factor::Block]), "64 KiB blocks");
        let all = [Factor::Method, Factor::Block, Factor::Threads];
        assert_eq!(name(&levels, &all), "pread with 64 KiB blocks and 4 threads");
        assert_eq!(name(&levels, &[Factor::File]), "a\\x0ab");
        // A mapping has no block.
        let mapped = Levels::new().with(Factor::Method, Level::word("mmap"));
        assert_eq!(name(&mapped, &all), "mmap");
        assert!(is_plural("64 KiB blocks") && !is_plural("pread with 64 KiB blocks"));
    }
}
