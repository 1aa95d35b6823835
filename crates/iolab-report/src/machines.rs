//! The machines that the ranks of an MPI job were on, and which of them keeps the others waiting.

use std::collections::BTreeMap;

use iolab_model::catalog::Fact;
use iolab_model::result::{Document, Measurement};

/// A machine is named where its ranks were the last in so many trials that chance has it less often
/// than this, over all machines together.
pub(crate) const BY_CHANCE: f64 = 1e-3;

/// The ranks of each machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machines {
    by_name: BTreeMap<String, Vec<usize>>,
    all: usize,
}

impl Machines {
    /// As the record has them: `node1*4,node2*4`; none of an older one.
    pub(crate) fn of(doc: &Document) -> Machines {
        let mut machines = Machines::default();
        let told = doc.environment.shown(Fact::RunMachines).unwrap_or_default();
        for (name, count) in told.split(',').filter_map(|row| row.rsplit_once('*')) {
            // No job has so many; a record may be anybody's.
            let count = count.parse().unwrap_or(0).min(1 << 20);
            let ranks = machines.all..machines.all + count;
            machines.by_name.entry(name.to_owned()).or_default().extend(ranks);
            machines.all += count;
        }
        machines
    }

    /// Each once.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The machine of a rank.
    pub(crate) fn of_rank(&self, rank: usize) -> Option<&str> {
        let has = |(_, ranks): &(&String, &Vec<usize>)| ranks.contains(&rank);
        self.by_name.iter().find(has).map(|(name, _)| name.as_str())
    }

    /// Work a second of a machine until its last rank was done; each rank has as much as any other.
    pub(crate) fn rate(&self, name: &str, measured: &Measurement) -> Option<f64> {
        let ranks_ns = &measured.ranks_ns;
        let own = self.by_name.get(name)?.iter().filter_map(|rank| ranks_ns.get(*rank));
        let (count, last_ns) = own.fold((0_u64, 0), |(n, last), ns| (n + 1, *ns.max(&last)));
        let work = if measured.bytes > 0 { measured.bytes } else { measured.operations };
        let share = work as f64 * count as f64 / ranks_ns.len().max(1) as f64;
        (count > 0 && last_ns > 0).then(|| share * 1e9 / last_ns as f64)
    }

    /// The machine all of whose ranks were the last to be done far more often than chance has it: its
    /// name, how many ranks it has, and in how many trials.
    pub(crate) fn slow_one(&self, all: &[&Measurement]) -> Option<(&str, usize, usize)> {
        let of = |(name, ranks): (&'_ String, &Vec<usize>)| {
            let counted = all.iter().filter(|m| m.ranks_ns.len() > ranks.len());
            let there = |m: &&&Measurement| ranks.iter().all(|rank| *rank < m.ranks_ns.len());
            let trials: Vec<&&Measurement> = counted.filter(there).collect();
            let late = trials.iter().filter(|m| are_last(ranks, &m.ranks_ns)).count();
            let ranks_of_all = trials.iter().map(|m| m.ranks_ns.len()).min()?;
            let chance = 1.0 / choices(ranks_of_all, ranks.len());
            let by_luck = at_least(trials.len(), late, chance) * self.by_name.len() as f64;
            let proven = 2 * late > trials.len() && by_luck < BY_CHANCE;
            proven.then(|| (name.clone(), ranks.len(), late))
        };
        let (name, ranks, late) =
            self.by_name.iter().filter_map(of).max_by_key(|(.., late)| *late)?;
        let (name, _) = self.by_name.get_key_value(&name)?;
        (self.by_name.len() > 1).then_some((name.as_str(), ranks, late))
    }
}

/// Whether each of these took longer than every other one.
fn are_last(ranks: &[usize], ranks_ns: &[u64]) -> bool {
    let own = |rank: &usize| ranks.contains(rank);
    let (last, rest): (Vec<usize>, Vec<usize>) = (0..ranks_ns.len()).partition(own);
    let soonest = last.iter().map(|rank| ranks_ns[*rank]).min();
    soonest > rest.iter().map(|rank| ranks_ns[*rank]).max()
}

/// In how many ways so many can be chosen.
fn choices(of: usize, so_many: usize) -> f64 {
    (0..so_many).map(|at| (of - at) as f64 / (at + 1) as f64).product()
}

/// The chance of at least so many hits in so many trials.
pub(crate) fn at_least(trials: usize, hits: usize, chance: f64) -> f64 {
    let term = |hits: usize| {
        choices(trials, hits)
            * chance.powi(hits as i32)
            * (1.0 - chance).powi((trials - hits) as i32)
    };
    (hits..=trials).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::{at_least, choices};
    use crate::machines::Machines;
    use iolab_model::catalog::Fact;
    use iolab_model::result::Measurement;
    use iolab_test::documents;

    #[test]
    fn chance_is_that_of_a_coin() {
        assert_eq!((choices(4, 2), choices(6, 3), choices(5, 0)), (6.0, 20.0, 1.0));
        assert!((at_least(10, 8, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((at_least(20, 0, 0.3) - 1.0).abs() < 1e-9);
    }

    /// Of two machines one is last in half of the trials whatever it does.
    #[test]
    fn a_machine_that_is_last_now_and_then_is_not_blamed() {
        let mut doc = documents::winner();
        doc.environment.put(Fact::RunMachines, "a*2,b*2,a*0");
        let machines = Machines::of(&doc);
        assert_eq!((machines.of_rank(1), machines.of_rank(2)), (Some("a"), Some("b")));
        assert_eq!(machines.of_rank(4), None);
        let trial = |late: bool| {
            let ranks_ns = if late { [1, 2, 3, 4] } else { [3, 4, 1, 2] };
            Measurement { ranks_ns: ranks_ns.into(), bytes: 400, ..Measurement::default() }
        };
        let named = |late: usize, trials: usize| {
            let all: Vec<Measurement> = (0..trials).map(|at| trial(at < late)).collect();
            let all: Vec<&Measurement> = all.iter().collect();
            machines.slow_one(&all).map(|(name, ranks, count)| (name.to_owned(), ranks, count))
        };
        assert_eq!(named(17, 20), Some(("b".into(), 2, 17)));
        assert_eq!(named(10, 20), None);
        assert_eq!(named(3, 3), None, "three trials prove nothing");
        assert_eq!(machines.rate("a", &trial(true)), Some(200.0 * 1e9 / 2.0));
    }
}
