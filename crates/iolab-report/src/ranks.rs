//! What is to be said of the ranks of an MPI job: how far apart they were done, which was the slowest,
//! and how together they began.

use std::collections::BTreeMap;

use iolab_model::catalog::{Factor, count_text, rate_text, ratio_text, so_many, time_text};
use iolab_model::result::{CellRecord, Document, Measurement};
use iolab_stats::median;

use super::machines::Machines;

/// One line for all cells in which several ranks worked.
pub(super) fn first(doc: &Document) -> Option<String> {
    let all: Vec<&Measurement> = doc.cells.iter().flat_map(steady).collect();
    let middle = |id: &str| middle(&all, id);
    let (spread, machines) = (middle("ranks_spread")?, Machines::of(doc));
    Some(format!(
        "Ranks: the last was done {} after the first{}. They left the barrier, which costs {}, within {}, \
         and made the first call {} after it (medians)",
        ratio_text(spread),
        slowest(&machines, &all),
        time_text(middle("barrier_ns")?),
        time_text(middle("barrier_skew_ns")?),
        time_text(middle("barrier_to_call_ns")?),
    ))
}

/// A line for each cell in which several ranks worked.
pub(super) fn notes(doc: &Document) -> Vec<String> {
    let machines = Machines::of(doc);
    let note = |cell: &CellRecord| {
        let all: Vec<&Measurement> = steady(cell).collect();
        let first = middle(&all, "ranks_first_ns")?;
        let walls: Vec<f64> = all.iter().map(|m| m.wall_ns as f64).collect();
        let last = median(&walls)?;
        let (sum, is_bytes) = (middle(&all, "ranks_sum_rate")?, all.first()?.bytes > 0);
        let sum = match is_bytes {
            true => rate_text(sum),
            false => format!("{} operations/s", count_text(sum as u64)),
        };
        let each = by_machine(&machines, &all).map_or(String::new(), |each| format!("; {each}"));
        Some(format!(
            "{}: from the barrier the first rank was done after {}, the last after {}{}; the ranks' own \
             rates add up to {sum}{each}",
            cell.id,
            time_text(first),
            time_text(last),
            slowest(&machines, &all),
        ))
    };
    doc.cells.iter().filter_map(note).collect()
}

/// What counts of a cell with more than one rank.
fn steady(cell: &CellRecord) -> impl Iterator<Item = &Measurement> {
    let several = cell.factors.number(Factor::Ranks).is_some_and(|ranks| ranks > 1);
    let samples = cell.samples.iter().filter(move |sample| several && sample.is_steady());
    samples.map(|sample| &sample.measurement)
}

fn middle(all: &[&Measurement], id: &str) -> Option<f64> {
    let values: Vec<f64> = all.iter().filter_map(|m| m.metrics.get(id).copied()).collect();
    median(&values)
}

/// The machine whose ranks were the last far more often than chance has it; else the rank.
fn slowest(machines: &Machines, all: &[&Measurement]) -> String {
    if let Some((machine, ranks, count)) = machines.slow_one(all) {
        let whose = match ranks {
            1 => format!("the rank of {machine}"),
            _ => format!("the {ranks} ranks of {machine}"),
        };
        return format!(", {whose} in {count} of {}", so_many(all.len(), "trial"));
    }
    slowest_rank(all)
}

/// The rank that was last most often, where it was so more often than chance has it.
fn slowest_rank(all: &[&Measurement]) -> String {
    let mut times: BTreeMap<u64, usize> = BTreeMap::new();
    for rank in all.iter().filter_map(|m| m.metrics.get("ranks_slowest")) {
        *times.entry(*rank as u64).or_default() += 1;
    }
    match times.iter().max_by_key(|(_, count)| **count) {
        Some((rank, count)) if 2 * count > all.len() && all.len() > 1 => {
            format!(", rank {rank} in {count} of {}", so_many(all.len(), "trial"))
        }
        _ => String::new(),
    }
}

/// Most machines that have a figure of their own in a line.
const NAMED: usize = 8;

/// What each machine did, in medians: of many, the slowest and the fastest.
fn by_machine(machines: &Machines, all: &[&Measurement]) -> Option<String> {
    let is_bytes = all.first()?.bytes > 0;
    let mut rates: Vec<(f64, &str)> = machines
        .names()
        .filter_map(|name| {
            let rates: Vec<f64> = all.iter().filter_map(|m| machines.rate(name, m)).collect();
            Some((median(&rates)?, name))
        })
        .collect();
    if rates.len() < 2 {
        return None;
    }
    let text = |(rate, name): &(f64, &str)| match is_bytes {
        true => format!("{name} {}", rate_text(*rate)),
        false => format!("{name} {} operations/s", count_text(*rate as u64)),
    };
    if rates.len() > NAMED {
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (slowest, fastest) = (text(rates.first()?), text(rates.last()?));
        return Some(format!(
            "of {} machines {slowest} is the slowest, {fastest} the fastest",
            rates.len()
        ));
    }
    let each: Vec<String> = rates.iter().map(text).collect();
    Some(each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{first, notes};
    use iolab_model::catalog::{Fact, Factor, Level};
    use iolab_model::result::Metrics;
    use iolab_test::documents;

    /// A node that is slow in every trial must be seen, and one that was last by chance not be blamed.
    #[test]
    fn the_rank_that_is_last_in_most_trials_is_named() {
        let mut doc = documents::winner();
        assert_eq!((first(&doc), notes(&doc)), (None, vec![]), "of one machine nothing is said");
        let of_ranks = |slowest: f64| {
            Metrics::from([
                ("ranks_first_ns", 2e6),
                ("ranks_spread", 1.5),
                ("ranks_slowest", slowest),
                ("ranks_sum_rate", 3e9),
                ("barrier_ns", 14e3),
                ("barrier_skew_ns", 34e3),
                ("barrier_to_call_ns", 1e6),
            ])
        };
        let cell = &mut doc.cells[0];
        cell.factors.set(Factor::Ranks, Level::Number(4));
        for sample in &mut cell.samples {
            sample.measurement.metrics = of_ranks(2.0);
        }
        let said = first(&doc).unwrap();
        assert!(said.contains("1.50× after the first, rank 2 in "), "{said}");
        assert!(said.contains("costs 14.0 µs, within 34.0 µs"), "{said}");
        let id = doc.cells[0].id.clone();
        let [note] = &notes(&doc)[..] else { panic!("{:?}", notes(&doc)) };
        assert!(note.starts_with(&format!("{id}: ")) && note.contains("after 2.00 ms"), "{note}");
        for (at, sample) in doc.cells[0].samples.iter_mut().enumerate() {
            sample.measurement.metrics = of_ranks((at % 4) as f64);
        }
        assert!(!first(&doc).unwrap().contains(", rank"), "{:?}", first(&doc));
    }

    /// "rank 3 in 11 of 20 trials" named one of the two ranks of the slow node, and not the node.
    #[test]
    fn the_machine_whose_ranks_are_the_last_is_named() {
        let mut doc = documents::winner();
        doc.environment.put(Fact::RunMachines, "a*2,b*2");
        let cell = &mut doc.cells[0];
        cell.factors.set(Factor::Ranks, Level::Number(4));
        for (at, sample) in cell.samples.iter_mut().enumerate() {
            let late = at as u64 % 2;
            let measurement = &mut sample.measurement;
            measurement.ranks_ns = [1_000, 1_100, 2_000 + late, 2_001 - late].into();
            (measurement.bytes, measurement.wall_ns) = (4_000_000, 2_001);
            measurement.metrics = Metrics::from([
                ("ranks_first_ns", 1_000.0),
                ("ranks_spread", 2.0),
                ("ranks_slowest", if late == 1 { 2.0 } else { 3.0 }),
                ("ranks_sum_rate", 3e9),
                ("barrier_ns", 14e3),
                ("barrier_skew_ns", 34e3),
                ("barrier_to_call_ns", 1e6),
            ]);
        }
        let said = first(&doc).unwrap();
        assert!(said.contains("after the first, the 2 ranks of b in "), "{said}");
        let [note] = &notes(&doc)[..] else { panic!("{:?}", notes(&doc)) };
        assert!(note.ends_with("; a 1.65 TiB/s, b 931 GiB/s"), "{note}");
    }
}
