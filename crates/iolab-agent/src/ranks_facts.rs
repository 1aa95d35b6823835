//! What all ranks of an MPI job can have, of what each of them has.

use iolab_model::plan::{Facts, RankFacts};

use super::crew::Crew;

/// What all can have. They share the space, and those of one machine its memory.
pub fn facts(crew: &Crew, all: Vec<(usize, Facts)>) -> Facts {
    let count = all.len() as u64;
    // No limit is more than any.
    let file_limit = |facts: &Facts| facts.greatest_file_bytes.unwrap_or(u64::MAX);
    let ranks = RankFacts {
        count,
        space: least(crew, &all, |facts| facts.free_bytes),
        inodes: least(crew, &all, |facts| facts.free_inodes),
        file_limit: least(crew, &all, file_limit),
    };
    let mut each = all.into_iter();
    let Some((_, mut facts)) = each.next() else { return Facts::default() };
    for (number, other) in each {
        facts.free_bytes = facts.free_bytes.min(other.free_bytes);
        facts.free_inodes = facts.free_inodes.min(other.free_inodes);
        let limits = [facts.greatest_file_bytes, other.greatest_file_bytes];
        facts.greatest_file_bytes = limits.into_iter().flatten().min();
        let memory = &mut facts.available_memory_bytes;
        *memory = (*memory).min(other.available_memory_bytes);
        facts.processors = facts.processors.min(other.processors);
        for (id, why) in other.unavailable {
            facts.unavailable.entry(id).or_insert(format!("{}: {why}", crew.name(number)));
        }
        for (path, seen) in other.files {
            if facts.files.get(&path).is_some_and(|first| first.is_ok() && *first != seen) {
                let differs = || "it is another file than that of rank 0".to_owned();
                let why = seen.err().unwrap_or_else(differs);
                facts.files.insert(path, Err(format!("{}: {why}", crew.name(number))));
            }
        }
    }
    facts.free_bytes /= count;
    facts.free_inodes /= count;
    facts.available_memory_bytes /= crew.most_on_one();
    facts.ranks = Some(ranks);
    facts
}

/// The first of those that have least of something.
fn least(crew: &Crew, all: &[(usize, Facts)], of: impl Fn(&Facts) -> u64) -> String {
    let first = all.iter().min_by_key(|(_, facts)| of(facts));
    first.map_or_else(String::new, |(number, _)| crew.name(*number))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::facts;
    use crate::crew::Crew;
    use iolab_model::plan::Facts;

    #[test]
    fn ranks_share_space_and_those_of_a_machine_its_memory() {
        let host = |name: &str| (name.to_owned(), format!("boot of {name}"));
        let crew = Crew { hosts: vec![host("a"), host("a"), host("b")] };
        let mut one = Facts { free_bytes: 900, available_memory_bytes: 64, ..Facts::default() };
        let file = PathBuf::from("/data/f");
        one.files.insert(file.clone(), Ok(5));
        let mut other = Facts { free_bytes: 600, ..one.clone() };
        other.unavailable.insert("mmap".into(), "no".into());
        other.files.insert(file.clone(), Ok(6));
        let limited = Facts { greatest_file_bytes: Some(7), ..one.clone() };
        let together = facts(&crew, vec![(0, one), (1, limited), (2, other)]);
        assert_eq!((together.free_bytes, together.available_memory_bytes), (200, 32));
        assert_eq!(together.greatest_file_bytes, Some(7), "a rank may write no longer file");
        assert_eq!(together.unavailable["mmap"], "rank 2 on b: no");
        let why = together.files[&file].clone().unwrap_err();
        assert!(why.starts_with("rank 2 on b: ") && why.contains("another file"), "{why}");
        let ranks = together.ranks.unwrap();
        assert_eq!((ranks.count, &*ranks.space), (3, "rank 2 on b"));
        assert_eq!((&*ranks.inodes, &*ranks.file_limit), ("rank 0 on a", "rank 1 on a"));
    }
}
